"""A recorded session, as it was when each of its requests was sent, and its counters.

Empty reports, and those that repeat the one before, are left out, and so are requests of subagents,
whose context is another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from compactctl.clients.format import Format
from compactctl.clients.records.decode import Decoded, decode_lines
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.model.message import Message
from compactctl.model.transcript import RawLine, Transcript
from compactctl.records import replace
from compactctl.tokens.counters.bpe import BpeCounter
from compactctl.tokens.counters.claude import ClaudeCounter
from compactctl.tokens.counters.counter import Exactness, TokenCounter
from compactctl.tokens.counters.estimates import RatioCounter
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.models.lookup import ModelInfo, resolve_model

OURS, CTOK, NEUROLINK, CHARS, RAW = "compactctl", "ctok", "NeuroLink", "chars/4", "o200k_base"
OTHERS = (RAW, NEUROLINK, CHARS)
CODEX, OPENCODE = "Codex", "OpenCode"
FAMILY_OF_FORMAT = {"codex": CODEX, "opencode": OPENCODE}
FORMATS = ("claude-code", *FAMILY_OF_FORMAT)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """A request: the place and line of its answer's first message, and its context in tokens."""

    place: int
    line: int
    response: str
    context: int


class CachingCounter:
    """Counts each distinct text once."""

    def __init__(self, counter: TokenCounter) -> None:
        self.id = counter.id
        self.exactness: Exactness = counter.exactness
        self._counter = counter
        self._counts: dict[str, int] = {}

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._counts]
        self._counts.update(zip(missing, self._counter.count_many(missing), strict=True))
        return [self._counts[text] for text in texts]


class Session:
    """A recorded session, its requests, and the counts of its texts."""

    def __init__(self, path: Path) -> None:
        loaded = load(InputOptions(path=str(path)))
        raw = (RawLine(index, line) for index, line in enumerate(loaded.lines))
        self.format: Format = loaded.format
        self.decoded: Sequence[Decoded] = tuple(decode_lines(raw))
        self.transcript = loaded.transcript
        self.requests = find_recorded_requests(self.transcript)
        self._counters: dict[str, TokenCounter] = {}

    @property
    def family(self) -> str:
        """The client if it uses one family of models, else the family of the newest model."""
        client = FAMILY_OF_FORMAT.get(self.format.name)
        return client or resolve_model(self.transcript.session.model).family

    @cached_property
    def turns(self) -> frozenset[int]:
        """The indices of requests that follow a prompt."""
        messages = self.transcript.messages
        starts = [-1, *(request.place for request in self.requests)]
        return frozenset(
            place
            for place, (start, end) in enumerate(pairwise(starts))
            if place
            and any(m.starts_turn and not m.origin.is_subagent for m in messages[start + 1 : end])
        )

    @cached_property
    def boundaries(self) -> frozenset[int]:
        """The indices of requests that follow a compaction recorded by the client."""
        lines = [request.line for request in self.requests]
        marks = self.transcript.compactions.lines
        return frozenset(
            place
            for place in range(1, len(lines))
            if any(lines[place - 1] < mark < lines[place] for mark in marks)
        )

    def crosses(self, anchor: RecordedRequest, request: RecordedRequest) -> bool:
        """Whether the client compacted between two requests."""
        lines = self.transcript.compactions.lines
        return any(anchor.line < line < request.line for line in lines)

    def before(self, request: RecordedRequest) -> Transcript:
        """Return the session as it was when a request was sent."""
        if self.format.name != OPENCODE.lower():
            return self.format.read(self.decoded[: request.line])
        index = self.transcript.messages[request.place].record_path[1]
        whole = self.decoded[0]
        assert isinstance(index, int)
        return self.format.read([replace(whole, values=(opencode_before(whole.values[0], index),))])

    def follows(self, request: RecordedRequest) -> bool:
        """Whether an answer belongs to the conversation, not to an abandoned branch."""
        if self.format.name in FAMILY_OF_FORMAT:
            return True
        after = self.format.read(self.decoded[: request.line + 1])
        return any(m.response_id == request.response for m in after.effective)

    def counter(self, name: str, model: ModelInfo) -> TokenCounter:
        """Return the counter of an estimator; each text is counted once in a session."""
        if name == OURS:
            base = self._caching(model.counter, BpeCounter(model.counter))
            return base if model.is_exact else RatioCounter(base, model.factor, model.family)
        if name == CTOK:
            return self._caching(model.reconstruction, ClaudeCounter(model.reconstruction))
        if name == RAW:
            return self._caching(RAW, BpeCounter(RAW))
        provider = "anthropic" if model.family.startswith("Claude") else "openai"
        return parse_counter(f"neurolink/{provider}" if name == NEUROLINK else name)

    def _caching(self, name: str, counter: TokenCounter) -> TokenCounter:
        return self._counters.setdefault(name, CachingCounter(counter))


def find_recorded_requests(transcript: Transcript) -> tuple[RecordedRequest, ...]:
    """Return the requests of a session whose usage was reported, in file order."""
    requests: dict[str, RecordedRequest] = {}
    first: dict[str, int] = {}
    newest = None
    for place, message in enumerate(transcript.messages):
        name = message.response_id
        if name is None or message.origin.is_subagent:
            continue
        first.setdefault(name, place)
        if message.usage is None or name in requests:
            continue
        if message.usage.context <= 0 or message.usage == newest:
            continue
        newest = message.usage
        start = first[name]
        line = transcript.messages[start].line
        requests[name] = RecordedRequest(
            place=start, line=line, response=name, context=newest.context
        )
    return tuple(sorted(requests.values(), key=lambda request: request.place))


def opencode_before(document: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return an OpenCode session as it was before its record ``count`` was created.

    What the client cleared later is restored; it keeps the content, and when it cleared it.
    """
    records = document["messages"]
    time = records[count]["info"]["time"]["created"]
    info = {key: value for key, value in document["info"].items() if key != "revert"}
    head = [_record_at(time, record) for record in records[:count]]
    return {**document, "info": info, "messages": head}


def _record_at(time: float, record: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "parts": [_part_at(time, part) for part in record["parts"]]}


def _part_at(time: float, part: Mapping[str, Any]) -> Mapping[str, Any]:
    state = part.get("state") or {}
    times = state.get("time") or {}
    if times.get("compacted", 0) <= time:
        return part
    others = {key: value for key, value in times.items() if key != "compacted"}
    return {**part, "state": {**state, "time": others}}


def hide_reports_after(before: Transcript, anchor: RecordedRequest | None) -> Transcript:
    """Return a transcript without any report after the anchor's answer."""
    names = [message.response_id for message in before.messages]
    end = -1 if anchor is None else names.index(anchor.response)
    visible = set(filter(None, names[: end + 1]))

    def hide(message: Message) -> Message:
        is_visible = message.usage is None or message.response_id in visible
        return message if is_visible else replace(message, usage=None)

    return replace(
        before,
        messages=tuple(map(hide, before.messages)),
        effective=tuple(map(hide, before.effective)),
        session=replace(before.session, client_counts=None),
    )


def is_report_void(before: Transcript, newest: RecordedRequest) -> bool:
    """Whether a compaction made the report of the newest request void."""
    reports = (m for m in before.effective if m.response_id == newest.response and m.usage)
    return before.compactions.by_client and next(reports, None) is None


def pick_evenly(places: Sequence[int], most: int) -> frozenset[int]:
    """Return at most ``most`` places, evenly pick_evenly."""
    if len(places) <= most:
        return frozenset(places)
    return frozenset(places[(2 * k + 1) * len(places) // (2 * most)] for k in range(most))
