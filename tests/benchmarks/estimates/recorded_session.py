"""A recorded session as it lay there when each of its requests was sent, and its counters.

Reports that are none (an empty context, the numbers of the request before once more) are left out
and counted. Requests of subagents have a context of their own and are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.formats.format import Format
from compactctl.formats.records.decode import Decoded, decode_lines
from compactctl.model.message import Message
from compactctl.model.transcript import RawLine, Transcript
from compactctl.tokens.counters.claude import ClaudeCounter
from compactctl.tokens.counters.counter import Exactness, TokenCounter
from compactctl.tokens.counters.estimates import RatioCounter
from compactctl.tokens.counters.fast import exact_counter
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.models.lookup import ModelInfo, resolve_model

OURS, CTOK, NEUROLINK, CHARS, RAW = "compactctl", "ctok", "NeuroLink", "chars/4", "o200k_base"
OTHERS = (RAW, NEUROLINK, CHARS)
CODEX, OPENCODE = "Codex", "OpenCode"
FAMILY_OF_FORMAT = {"codex": CODEX, "opencode": OPENCODE}
FORMATS = ("claude-code", *FAMILY_OF_FORMAT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request by its answer: the first message of it and its line, and the context in tokens."""

    place: int
    line: int
    response: str
    context: int


class Remembering:
    """A counter that counts each distinct text once."""

    def __init__(self, counter: TokenCounter) -> None:
        self.id = counter.id
        self.exactness: Exactness = counter.exactness
        self._counter = counter
        self._known: dict[str, int] = {}

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(missing, self._counter.count_many(missing), strict=True))
        return [self._known[text] for text in texts]


class Session:
    """A recorded session, its requests, and what is counted of its texts."""

    def __init__(self, path: Path) -> None:
        loaded = load(InputOptions(path=str(path)))
        raw = (RawLine(index, line) for index, line in enumerate(loaded.lines))
        self.format: Format = loaded.format
        self.decoded: Sequence[Decoded] = tuple(decode_lines(raw))
        self.transcript = loaded.transcript
        self.requests, self.left_out = asked(self.transcript)
        if self.format.name == "codex":
            self.left_out += _token_counts(self.decoded) - len(self.requests)
        self._counters: dict[str, TokenCounter] = {}

    @property
    def family(self) -> str:
        """Whose tokens it counts: the client's where that says it, else the newest model's."""
        known = FAMILY_OF_FORMAT.get(self.format.name)
        return known or resolve_model(self.transcript.session.model).family

    @cached_property
    def turns(self) -> frozenset[int]:
        """The places of requests before which a person wrote something."""
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
        """The places of requests before which the client says that it compacted."""
        lines = [request.line for request in self.requests]
        marks = self.transcript.compactions.lines
        return frozenset(
            place
            for place in range(1, len(lines))
            if any(lines[place - 1] < mark < lines[place] for mark in marks)
        )

    def crosses(self, anchor: Asked, request: Asked) -> bool:
        """Tell whether a client's boundary lies between two requests."""
        lines = self.transcript.compactions.lines
        return any(anchor.line < line < request.line for line in lines)

    def before(self, request: Asked) -> Transcript:
        """Return the session as it lay there when a request was sent."""
        if self.format.name != OPENCODE.lower():
            return self.format.read(self.decoded[: request.line])
        index = self.transcript.messages[request.place].record_path[1]
        whole = self.decoded[0]
        assert isinstance(index, int)
        return self.format.read([replace(whole, values=(head_of(whole.values[0], index),))])

    def follows(self, request: Asked) -> bool:
        """Tell whether an answer belongs to the conversation, not to a branch of its own."""
        if self.format.name in FAMILY_OF_FORMAT:
            return True
        after = self.format.read(self.decoded[: request.line + 1])
        return any(m.response_id == request.response for m in after.effective)

    def counter(self, name: str, model: ModelInfo) -> TokenCounter:
        """Return the counter of an estimator; each text is counted once in a session."""
        if name == OURS:
            base = self._remembering(model.counter, exact_counter(model.counter))
            return base if model.is_exact else RatioCounter(base, model.factor, model.family)
        if name == CTOK:
            return self._remembering(model.reconstruction, ClaudeCounter(model.reconstruction))
        if name == RAW:
            return self._remembering(RAW, exact_counter(RAW))
        provider = "anthropic" if model.family.startswith("Claude") else "openai"
        return parse_counter(f"neurolink/{provider}" if name == NEUROLINK else name)

    def _remembering(self, name: str, counter: TokenCounter) -> TokenCounter:
        return self._counters.setdefault(name, Remembering(counter))


def asked(transcript: Transcript) -> tuple[tuple[Asked, ...], int]:
    """Return the requests of a session in file order, and how many reports are none."""
    found: dict[str, Asked] = {}
    empty: set[str] = set()
    first: dict[str, int] = {}
    newest = None
    for place, message in enumerate(transcript.messages):
        name = message.response_id
        if name is None or message.origin.is_subagent:
            continue
        first.setdefault(name, place)
        if message.usage is None or name in found:
            continue
        if message.usage.context <= 0 or message.usage == newest:
            empty.add(name)
            continue
        newest = message.usage
        start = first[name]
        line = transcript.messages[start].line
        found[name] = Asked(place=start, line=line, response=name, context=newest.context)
    return tuple(sorted(found.values(), key=lambda each: each.place)), len(empty - set(found))


def _token_counts(decoded: Sequence[Decoded]) -> int:
    """Return how many token counts Codex wrote, repeated ones included."""
    payloads = (value.get("payload") for line in decoded for value in line.values)
    found = (p for p in payloads if isinstance(p, Mapping) and p.get("type") == "token_count")
    return sum(bool(payload.get("info")) for payload in found)


def head_of(document: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return an OpenCode session as it was before its record ``count`` was made.

    What the client cleared later is there again; it keeps the content and a time.
    """
    records = document["messages"]
    made = records[count]["info"]["time"]["created"]
    info = {key: value for key, value in document["info"].items() if key != "revert"}
    head = [_as_of(made, record) for record in records[:count]]
    return {**document, "info": info, "messages": head}


def _as_of(made: float, record: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "parts": [_part_as_of(made, part) for part in record["parts"]]}


def _part_as_of(made: float, part: Mapping[str, Any]) -> Mapping[str, Any]:
    state = part.get("state") or {}
    time = state.get("time") or {}
    if time.get("compacted", 0) <= made:
        return part
    kept = {key: value for key, value in time.items() if key != "compacted"}
    return {**part, "state": {**state, "time": kept}}


def known_at(before: Transcript, anchor: Asked | None) -> Transcript:
    """Return a transcript without anything that was reported after the anchor's answer."""
    names = [message.response_id for message in before.messages]
    end = -1 if anchor is None else names.index(anchor.response)
    seen = set(filter(None, names[: end + 1]))

    def hidden(message: Message) -> Message:
        is_seen = message.usage is None or message.response_id in seen
        return message if is_seen else replace(message, usage=None)

    return replace(
        before,
        messages=tuple(map(hidden, before.messages)),
        effective=tuple(map(hidden, before.effective)),
        session=replace(before.session, client_counts=None),
    )


def is_replaced(before: Transcript, newest: Asked) -> bool:
    """Tell whether a compaction made void what was reported for the newest request."""
    reported = (m for m in before.effective if m.response_id == newest.response and m.usage)
    return before.compactions.by_client and next(reported, None) is None


def spread(places: Sequence[int], most: int) -> frozenset[int]:
    """Return at most ``most`` places, evenly spread."""
    if len(places) <= most:
        return frozenset(places)
    return frozenset(places[(2 * k + 1) * len(places) // (2 * most)] for k in range(most))
