"""A conversation as one sequence of passages, with every tool call joined to its result."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from compactctl.history.pairs import PartIndex
from compactctl.history.pairs import tool_pairs as places_of_pairs
from compactctl.history.read_calls import edited_paths, read_request
from compactctl.model.message import (
    FilePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.summaries.extract.command_lines import command_line
from compactctl.summaries.extract.sentences import SpokenKind, find_quoted_words

PassageKind = (
    SpokenKind | Literal["reply", "thought", "call", "result", "file", "summary", "reminder"]
)


class SourceRef(NamedTuple):
    """Where something stands: a line of the file or a message of a document, from 1."""

    number: int
    unit: Literal["L", "M"] = "L"

    def __str__(self) -> str:
        """Write it as summaries refer to it."""
        return f"[{self.unit}{self.number}]"

    @property
    def legend(self) -> str:
        """What such a reference means."""
        what = "line" if self.unit == "L" else "message"
        return f"[{self.unit}12] is {what} 12 of what was compacted."


NO_REF = SourceRef(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPair:
    """A tool call and its result.

    Attributes:
        tool: the tool's name.
        arguments: the call's arguments; empty when they are not a JSON object.
        text: the texts in the arguments, one after another.
        ref: where the call stands.
        age: how many model calls were made since.
        reads: the file it shows, None when it shows no single file.
        changes: the files it writes, edits or patches.
        command: the command line it runs, None when it runs none.
        result: what came back, None when nothing did.
    """

    tool: str
    arguments: Mapping[str, object]
    text: str
    ref: SourceRef
    age: int
    reads: str | None
    changes: tuple[str, ...]
    command: str | None
    result: ToolResultPart | None

    @property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """The texts in the arguments in order, each with the name that it has there."""
        return tuple(_texts(self.arguments)) or (("", self.text),)

    @property
    def subject(self) -> str:
        """What the call is about: calls with one subject are tries of the same thing."""
        subjects = (*self.changes, self.reads, self.command, self.text)
        return next((subject for subject in subjects if subject), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One text of a conversation, with its place and its age in model calls.

    ``name`` is the tool's name or the attached file's path; ``pair`` is set for tool calls, and
    for results whose call is known; ``part_index`` is the part among the messages that were read.
    """

    kind: PassageKind
    text: str
    name: str
    ref: SourceRef
    age: int
    part_index: PartIndex
    pair: ToolPair | None = None


def read_passages(
    messages: Sequence[Message], cwd: str | None = None, *, staying: Collection[int] = ()
) -> tuple[Passage, ...]:
    """Read messages as passages in order; parts without text and cleared results give none.

    To those ``staying``, by index, nobody will refer.
    """
    steps = _steps(messages)
    ages = [steps[-1] - step for step in steps]
    spots = _refs_beside(messages, staying)
    pairs = _pairs(messages, ages, spots, cwd)
    return tuple(
        Passage(
            kind=kind,
            text=text,
            name=name,
            ref=spots[place.message],
            age=age,
            part_index=place,
            pair=pairs.get(place),
        )
        for place, message, age, part in _parts(messages, ages)
        for kind, text, name in _passage_texts(message, part, pairs.get(place))
        if text.strip()
    )


def source_refs(messages: Sequence[Message]) -> list[SourceRef]:
    """Return where messages stand: by line, or by number where all are on one line.

    Those from several states of a transcript, whose lines and numbers mean nothing to one another,
    are counted.
    """
    is_document = len(messages) > 1 and len({message.line for message in messages}) == 1
    if is_document:
        spots = [SourceRef(_number(message, n), "M") for n, message in enumerate(messages, start=1)]
    else:
        spots = [SourceRef(message.line + 1) for message in messages]
    if spots == sorted(spots):
        return spots
    return [SourceRef(number, "M") for number in range(1, len(messages) + 1)]


def _refs_beside(messages: Sequence[Message], staying: Collection[int]) -> list[SourceRef]:
    """Return where messages stand, those ``staying`` behind all others.

    So what they were read from decides nothing about how the others are referred to.
    """
    if not staying:
        return source_refs(messages)
    others = [message for index, message in enumerate(messages) if index not in staying]
    spots = source_refs(others)
    last = max(spots, default=NO_REF)
    waiting = iter(spots)
    return [
        SourceRef(last.number + 1 + index, last.unit) if index in staying else next(waiting)
        for index in range(len(messages))
    ]


def _number(message: Message, otherwise: int) -> int:
    """Return the number of a message in its document, from 1."""
    paths = (part.path for part in message.parts)
    return next((step + 1 for path in paths for step in path if isinstance(step, int)), otherwise)


def tool_pairs(passages: Sequence[Passage]) -> tuple[ToolPair, ...]:
    """Return the tool pairs in the order of their calls."""
    return tuple(passage.pair for passage in passages if passage.kind == "call" and passage.pair)


def _steps(messages: Sequence[Message]) -> list[int]:
    """Number the model calls: a run of assistant messages, or one response id, is one call."""
    steps, step, response = [], 0, ""
    for message in messages:
        current = (message.response_id or "?") if message.role == "assistant" else ""
        if current and current != response:
            step += 1
        # A response may go on after the result of its own first call.
        if current or not message.results or response == "?":
            response = current
        steps.append(step)
    return steps


def _parts(
    messages: Sequence[Message], ages: Sequence[int]
) -> Iterator[tuple[PartIndex, Message, int, Part]]:
    for index, (message, age) in enumerate(zip(messages, ages, strict=True)):
        for position, part in enumerate(message.parts):
            yield PartIndex(index, position), message, age, part


def _pairs(
    messages: Sequence[Message], ages: Sequence[int], spots: Sequence[SourceRef], cwd: str | None
) -> dict[PartIndex, ToolPair]:
    """Give the pair at the place of each call, and of each result that has a call."""
    calls_of = places_of_pairs(messages)
    results = {call: messages[place.message].parts[place.part] for place, call in calls_of.items()}
    pairs = {
        place: _pair(part, results.get(place), spot=spots[place.message], age=age, cwd=cwd)
        for place, _, age, part in _parts(messages, ages)
        if isinstance(part, ToolCallPart)
    }
    return pairs | {place: pairs[call] for place, call in calls_of.items()}


def _pair(
    call: ToolCallPart, result: Part | None, *, spot: SourceRef, age: int, cwd: str | None
) -> ToolPair:
    arguments = _arguments(call.arguments)
    read = read_request(call, cwd=cwd)
    return ToolPair(
        tool=call.tool,
        arguments=arguments,
        text="\n".join(text for _, text in _texts(arguments)) if arguments else call.arguments,
        ref=spot,
        age=age,
        reads=read.path if read else None,
        changes=edited_paths(call, cwd=cwd),
        command=command_line(call.tool, arguments),
        result=result if isinstance(result, ToolResultPart) else None,
    )


def _arguments(text: str) -> Mapping[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _texts(arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Walk nested arguments in order, without recursion: their depth is the sender's choice."""
    waiting: list[tuple[str, object]] = [("", arguments)]
    while waiting:
        name, value = waiting.pop()
        match value:
            case str(text):
                yield name, text
            case dict(items):
                waiting.extend(reversed(items.items()))
            case list(items):
                waiting.extend((name, item) for item in reversed(items))
            case _:
                continue


def _passage_texts(
    message: Message, part: Part, pair: ToolPair | None
) -> Iterator[tuple[PassageKind, str, str]]:
    """Yield the kind, text and name of what a part says; the text may be empty.

    What a person wrote stands apart from what a client put around it.
    """
    match part:
        case TextPart(text=text):
            words = message.words(part)
            around = "" if words == text else _around(text, words)
            typed, inserted = (_author(message), words, ""), (_client(message), around, "")
            if message.origin.is_synthetic and message.origin.is_summary:
                quoted = ((kind, quotation, "") for kind, quotation in find_quoted_words(around))
                yield from (inserted, *quoted, typed)
            else:
                yield from (typed, inserted)
        case ReasoningPart(text=text, opaque=False):
            yield "thought", text, ""
        case ToolCallPart(tool=tool):
            yield "call", pair.text if pair else "", tool
        case ToolResultPart(text=text, tool=tool, cleared=False):
            yield "result", text, tool
            yield "answer", message.words(part), tool
        case FilePart(text=text, file_path=path):
            yield "file", text, path
        case _:
            return


def _author(message: Message) -> PassageKind:
    is_instruction = message.role == "system" or message.origin.is_instruction
    return "instruction" if is_instruction else "request"


def _client(message: Message) -> PassageKind:
    if message.origin.is_summary:
        return "summary"
    return "reply" if message.role == "assistant" else "reminder"


def _around(text: str, words: str) -> str:
    """Return what a client put around a person's words, all of ``text`` where they are apart."""
    before, passages, after = text.partition(words) if words else (text, "", "")
    return "\n".join(filter(None, (before.strip(), after.strip()))) if passages else text
