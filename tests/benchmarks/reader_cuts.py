"""What a model is judged by: cuts of sessions, and spans of what the agent wrote after them.

Cuts and spans are chosen by characters and words of the session alone, before any context is made.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, dropwhile, islice, zip_longest

from benchmarks.sessions import RecordedSession
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.reading.transcript import InputOptions, scan
from compactctl.lab.cuts import Cut, cuts_every, split_at_compactions
from compactctl.model.message import (
    FilePart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.transcript import Transcript

MAX_CUTS, CUTS_PER_SESSION = 40, 2
# A cut is the first safe one after this many characters, about 9,000 tokens. A core reads some 200
# tokens per second and every cut has 18 contexts, so that a longer prefix costs hours.
_CUT_CHARS, _MAX_CHARS = 28_000, 60_000
_MAX_SPANS = 10
# A shorter span repeats by chance. A longer one is predicted from its own beginning.
_SPAN_CHARS = range(20, 81)
_LEAD_CHARS = 60
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text of a conversation, and who wrote it, as a model reads it before the text."""

    label: str
    text: str
    is_agents: bool = False

    def __str__(self) -> str:
        """Return the text below its label."""
        return f"[{self.label}]\n{self.text}"


@dataclass(frozen=True, slots=True)
class Span:
    """A text that the agent wrote again, and the end of what it wrote before it."""

    lead: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCut:
    """A cut of a session that has spans."""

    session: RecordedSession
    transcript: Transcript
    measured: Measurement
    cut: Cut
    spans: tuple[Span, ...]


def find_cuts(sessions: Sequence[RecordedSession]) -> list[SessionCut]:
    """Return up to 40 cuts of sessions that nothing was tuned on, second ones of a session last.

    A session of every project comes before the second session of one. No prefix comes twice.
    """
    by_project: dict[str, list[list[SessionCut]]] = {}
    for session in sessions:
        if session.is_untouched:
            by_project.setdefault(session.project, []).append(list(_cuts_of(session)))
    in_turn = [
        cuts for row in zip_longest(*by_project.values(), fillvalue=()) for cuts in row if cuts
    ]
    rounds = (cut for row in zip_longest(*in_turn) for cut in row if cut is not None)
    # Sessions that continue the same one begin alike.
    distinct: dict[str, SessionCut] = {}
    for cut in rounds:
        distinct.setdefault(context_text(cut.cut.prefix), cut)
    return list(distinct.values())[:MAX_CUTS]


def context_text(messages: Sequence[Message]) -> str:
    """Return the text of messages without reasoning and what a client sends with every request.

    It does not ask the package what that is, so that the contexts of all its versions are judged by
    the same text: immutable records, and what comes before the first prompt.
    """
    conversation = dropwhile(_is_setup, messages)
    texts = (_texts(message) for message in conversation if not message.locks.immutable_reason)
    return "\n\n".join(map(str, chain.from_iterable(texts)))


def choose_spans(
    prefix: Sequence[Message], future: Sequence[Sequence[Message]]
) -> tuple[Span, ...]:
    """Choose up to 10 spans, evenly from all that the agent wrote again in a future.

    A span is the longest run of words from 20 to 80 characters that is in the prefix, and that
    nothing after the cut held before.
    """
    spans = list(_spans(_collapse(context_text(prefix)), future))
    step = max(1.0, len(spans) / _MAX_SPANS)
    return tuple(spans[int(index * step)] for index in range(min(len(spans), _MAX_SPANS)))


def _cuts_of(session: RecordedSession) -> Iterator[SessionCut]:
    transcript = scan(InputOptions(path=str(session.path)))
    measured = measure(transcript, MeasureOptions())
    cuts = (
        cut
        for messages in split_at_compactions(transcript)
        for cut in cuts_every(messages, _CUT_CHARS, _size)
        if cut.tokens <= _MAX_CHARS
    )
    judged = (
        SessionCut(session=session, transcript=transcript, measured=measured, cut=cut, spans=spans)
        for cut in cuts
        if (spans := choose_spans(cut.prefix, cut.future))
    )
    yield from islice(judged, CUTS_PER_SESSION)


def _spans(before: str, future: Sequence[Sequence[Message]]) -> Iterator[Span]:
    since = ""
    for messages in future:
        texts = chain.from_iterable(map(_texts, messages))
        for text in sorted(texts, key=lambda text: not text.is_agents):
            if text.is_agents:
                yield from _spans_in(text, before, since)
            since += f" {_collapse(text.text)}"


def _spans_in(text: Text, before: str, since: str) -> Iterator[Span]:
    words = list(_WORD.finditer(text.text))
    index = 0
    while index < len(words):
        start, end = words[index].start(), index
        run = ""
        for after in range(index + 1, len(words) + 1):
            longer = _collapse(text.text[start : words[after - 1].end()])
            if len(longer) >= _SPAN_CHARS.stop or longer not in before:
                break
            run, end = longer, after
        if len(run) in _SPAN_CHARS and run not in since:
            lead = text.text[max(0, start - _LEAD_CHARS) : start]
            yield Span(f"[{text.label}]\n{lead}", text.text[start : words[end - 1].end()])
            since += f" {run}"
        index = max(end, index + 1)


def _size(message: Message) -> int:
    """Return the characters of a message that all versions of the package read alike."""
    is_fixed = message.role == "system" or message.locks.immutable_reason
    return 0 if is_fixed else sum(len(str(text)) for text in _texts(message))


def _is_setup(message: Message) -> bool:
    origin = message.origin
    is_conversation = origin.is_instruction or origin.is_summary or origin.is_synthetic
    return not is_conversation and (message.role == "system" or origin.is_injected)


def _collapse(text: str) -> str:
    return " ".join(text.split())


def _texts(message: Message) -> Iterator[Text]:
    for part in message.parts:
        text = _text(part, message.role)
        if text is not None and text.text.strip():
            yield text


def _text(part: Part, role: str) -> Text | None:
    match part:
        case TextPart(text=text):
            return Text(label=role, text=text, is_agents=role == "assistant")
        case ToolCallPart(tool=tool, arguments=arguments):
            return Text(label=f"call {tool}", text=_call_text(arguments), is_agents=True)
        case ToolResultPart(text=text, tool=tool):
            return Text(label=f"result {tool}", text=text)
        case FilePart(text=text, file_path=path):
            return Text(label=f"file {path}", text=text)
        case _:
            return None


def _call_text(arguments: str) -> str:
    """Return the strings in a call's arguments, a line each, as the model meant them."""
    try:
        return "\n".join(_strings(json.loads(arguments)))
    except (ValueError, RecursionError):
        return arguments


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            yield from chain.from_iterable(map(_strings, value.values()))
        case list():
            yield from chain.from_iterable(map(_strings, value))
        case _:
            return
