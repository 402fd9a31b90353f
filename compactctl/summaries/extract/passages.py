"""A conversation as a sequence of passages, with every tool call joined to its result."""

import re
from collections.abc import Iterator, Mapping, Sequence

from compactctl.history.command_lines import command_line
from compactctl.history.pairs import PartIndex
from compactctl.history.pairs import tool_pairs as pair_indices
from compactctl.history.read_calls import edited_paths, read_request
from compactctl.history.references import SourceRef, refs_of
from compactctl.history.stand_ins import is_proven
from compactctl.model.json_parser import parse_json
from compactctl.model.message import (
    FAILURES,
    CallOutcome,
    FilePart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    media_text,
)
from compactctl.model.own_texts import find_own_texts
from compactctl.records import Record, replace
from compactctl.summaries.extract.items import clip_to_line
from compactctl.summaries.extract.own_passages import (
    ATTACHMENT,
    SPOKEN,
    PassageKind,
    SaidText,
    passages_in,
)
from compactctl.tokens.memory import Once, call

# Arguments with the name of a process that was left running: Codex, Claude Code, Copilot CLI, VS
# Code.
_PROCESS_KEYS = ("session_id", "bash_id", "task_id", "shell_id", "shellId", "id")
# The names of tools that end a process: what they return says nothing of its work.
_STOPPING = re.compile(r"kill|stop|terminate", re.IGNORECASE)
# Characters of the name of a file that a user attached.
_MAX_NAME_CHARS = 120


class ToolPair(Record):
    """A tool call and its result.

    Attributes:
        tool: the tool's name.
        arguments: the call's arguments; empty if they are not a JSON object.
        texts: the strings in the arguments in order, each with the name of its argument; without
            any, all of the arguments as one text.
        ref: the reference of the call.
        age: number of model calls since.
        reads: the file it shows, None if it does not show a single file.
        changes: the files it writes, edits or patches.
        command: the command line it runs, or whose process it asks for news; None without one.
        is_continued: it runs nothing of its own, but asks for news of a process.
        result: its result, None if there is none.
    """

    tool: str
    arguments: Mapping[str, object]
    texts: tuple[tuple[str, str], ...]
    ref: SourceRef
    age: int
    reads: str | None
    changes: tuple[str, ...]
    command: str | None
    result: ToolResultPart | None
    is_continued: bool = False

    @property
    def outcome(self) -> CallOutcome:
        """How the call ended; without a result nobody knows."""
        return self.result.outcome if self.result else "unknown"

    @property
    def has_failed(self) -> bool:
        """Whether the call is known not to have done what it was made for."""
        return self.outcome in FAILURES

    @property
    def is_done(self) -> bool:
        """Whether the call is known to have done what it was made for."""
        return self.outcome == "ok"

    @property
    def text(self) -> str:
        """The strings in the arguments, one per line."""
        return "\n".join(text for _, text in self.texts)

    @property
    def subject(self) -> str:
        """What the call is about; calls with the same subject are attempts at the same thing."""
        subjects = (*self.changes, self.reads, self.command, self.text)
        return next((subject for subject in subjects if subject), "")


class Passage(Record):
    """One text of a conversation.

    Attributes:
        kind: who says it, or what it is.
        text: never empty or blank, except of what has a title.
        name: the tool's name, the attached file's path, what a list lists, or what a description
            stands for.
        ref: the reference of its message.
        age: number of model calls since.
        part_index: its part among the messages that were read.
        pair: set for tool calls, and for results whose call is known.
        title: what an earlier digest says about it in a heading; "" for all else.
        is_from_digest: an earlier digest by compactctl quotes it.
        is_proven: False if only a text that looks like such a digest says it.
    """

    kind: PassageKind
    text: str
    name: str
    ref: SourceRef
    age: int
    part_index: PartIndex
    pair: ToolPair | None = None
    title: str = ""
    is_from_digest: bool = False
    is_proven: bool = True

    @property
    def is_attachment(self) -> bool:
        """Whether it describes what a user attached to a request, and quotes nothing."""
        return self.kind == "request" and self.name == ATTACHMENT


def read_passages(
    messages: Sequence[Message],
    cwd: str | None = None,
    *,
    merges: bool = False,
    once: Once = call,
) -> tuple[Passage, ...]:
    """Return the passages of messages in order; none for parts without text and cleared results.

    What a user attached is part of the request: a passage describes it, and says where it is.

    An earlier digest by compactctl is a summary, beside which the words that it quotes are passages
    of their own. With ``merges`` all that it quotes is, as if the messages were there.
    """
    steps = _steps(messages)
    ages = [steps[-1] - step for step in steps]
    refs = refs_of(messages)
    pairs = _pairs(messages, ages, refs, cwd, once)
    return tuple(
        Passage(
            kind=said.kind,
            text=said.text,
            name=said.name,
            ref=refs[index.message].without_line() if is_own else refs[index.message],
            age=age,
            part_index=index,
            pair=pairs.get(index),
            title=said.title,
            is_from_digest=is_own,
            is_proven=said.is_proven and (is_proven(message) or not is_own),
        )
        for index, message, age, part in _parts(messages, ages)
        for is_own, said in _said_in(message, part, pairs.get(index), refs[index.message], merges)
        if said.text.strip() or said.title or said.kind == "call"
    )


def _said_in(
    message: Message,
    part: Part,
    pair: ToolPair | None,
    ref: SourceRef,
    merges: bool,  # noqa: FBT001 - see ``read_passages``
) -> Iterator[tuple[bool, SaidText]]:
    """Yield each text in a part, with whether an earlier digest quotes it."""
    texts = _passage_texts(message, part, pair)
    if not (isinstance(part, TextPart) and part.own_texts):
        yield from ((False, said) for said in (*texts, *_attachment(message, part, ref)))
        return
    typed, whole = texts
    if not merges:
        yield False, whole
    quoted = (said for text in part.own_texts for said in passages_in(text))
    if merges and message.origin.is_summary:
        # What stands around it in a summary is one, too, by a model or a client.
        yield False, whole._replace(text=find_own_texts(part.text).rest)
    yield from ((True, said) for said in quoted if merges or said.kind in SPOKEN)
    yield False, typed


def tool_pairs(passages: Sequence[Passage]) -> tuple[ToolPair, ...]:
    """Return the tool pairs in the order of their calls."""
    return tuple(passage.pair for passage in passages if passage.kind == "call" and passage.pair)


def _steps(messages: Sequence[Message]) -> list[int]:
    """Return the number of the model call of each message.

    A run of assistant messages, or of messages with one response id, is one call.
    """
    steps, step, response = [], 0, ""
    for message in messages:
        current = (message.response_id or "?") if message.role == "assistant" else ""
        if current and current != response:
            step += 1
        # A response may continue after the result of its first call.
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
    messages: Sequence[Message],
    ages: Sequence[int],
    refs: Sequence[SourceRef],
    cwd: str | None,
    once: Once,
) -> dict[PartIndex, ToolPair]:
    """Return the pair of each call and of each result that has a call, by the part's index."""
    call_of = pair_indices(messages)
    results = {call: messages[index.message].parts[index.part] for index, call in call_of.items()}
    pairs: dict[PartIndex, ToolPair] = {}
    commands: dict[str, str] = {}
    for index, _, age, part in _parts(messages, ages):
        if isinstance(part, ToolCallPart):
            result = results.get(index)
            pair = replace(
                once(_unplaced_pair, part, cwd),
                ref=refs[index.message],
                age=age,
                result=result if isinstance(result, ToolResultPart) else None,
            )
            pairs[index] = pair = _with_process(pair, commands)
            if pair.command and pair.result and pair.result.process:
                commands[pair.result.process] = pair.command
    return pairs | {index: pairs[call] for index, call in call_of.items()}


def _unplaced_pair(call: ToolCallPart, cwd: str | None) -> ToolPair:
    """Return the pair of a call as if it were the only message."""
    arguments = _arguments(call.arguments)
    read = read_request(call, cwd=cwd)
    return ToolPair(
        tool=call.tool,
        arguments=arguments,
        texts=tuple(_texts(arguments)) or (("", "" if arguments else call.arguments),),
        ref=SourceRef(1),
        age=0,
        reads=read.path if read else None,
        changes=edited_paths(call, cwd=cwd),
        command=command_line(call.tool, arguments),
        result=None,
    )


def _with_process(pair: ToolPair, commands: Mapping[str, str]) -> ToolPair:
    """Return a call that asks for news of a process with the command that started it."""
    if pair.command or not commands or _STOPPING.search(pair.tool):
        return pair
    names = (str(pair.arguments[key]) for key in _PROCESS_KEYS if key in pair.arguments)
    command = next((commands[name] for name in names if name in commands), None)
    return replace(pair, command=command, is_continued=True) if command else pair


def _arguments(text: str) -> Mapping[str, object]:
    try:
        value = parse_json(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _texts(arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the strings in nested arguments in order, each with the nearest name.

    Without recursion, since a transcript may nest them arbitrarily deep.
    """
    stack: list[tuple[str, object]] = [("", arguments)]
    while stack:
        name, value = stack.pop()
        match value:
            case str(text):
                yield name, text
            case dict(items):
                stack.extend(reversed(items.items()))
            case list(items):
                stack.extend((name, item) for item in reversed(items))
            case _:
                continue


def _passage_texts(message: Message, part: Part, pair: ToolPair | None) -> Iterator[SaidText]:
    """Yield each passage in a part; the text may be empty.

    What the user wrote is separate from what the client put around it.
    """
    match part:
        case TextPart(text=text):
            words = message.words(part)
            around = "" if words == text else _around(text, words)
            yield SaidText(_author_kind(message), words)
            yield SaidText("summary" if part.is_summary else _client_kind(message), around)
        case ReasoningPart(text=text, opaque=False):
            yield SaidText("thought", text)
        case ToolCallPart(tool=tool):
            yield SaidText("call", pair.text if pair else "", tool)
        case ToolResultPart(text=text, tool=tool, cleared=False):
            yield SaidText("result", text, tool)
            yield SaidText("answer", message.words(part), tool)
        case FilePart(text=text, file_path=path):
            yield SaidText("file", text, path)
        case _:
            return


def _attachment(message: Message, part: Part, ref: SourceRef) -> Iterator[SaidText]:
    """Yield the description of a medium or a file that a user attached to a request.

    The reference tells equal media of several requests apart.
    """
    if message.starts_turn and isinstance(part, MediaPart | FilePart):
        yield SaidText("request", describe_attachment(part, ref), ATTACHMENT)


def describe_attachment(part: MediaPart | FilePart, ref: SourceRef) -> str:
    """Describe what a user attached: ``[image/png, 1,024x768, 245,112 bytes, at L12]``."""
    place = f", at {ref.name}]" if ref.number else "]"
    if isinstance(part, MediaPart):
        return media_text(part).removesuffix("]") + place
    # Its text may have been cut, so its length says nothing.
    return f"[file {clip_to_line(part.file_path, _MAX_NAME_CHARS)}".rstrip() + place


def _author_kind(message: Message) -> PassageKind:
    is_instruction = message.role == "system" or message.origin.is_instruction
    return "instruction" if is_instruction else "request"


def _client_kind(message: Message) -> PassageKind:
    if message.origin.is_summary:
        return "summary"
    return "reply" if message.role == "assistant" else "reminder"


def _around(text: str, words: str) -> str:
    """Return what a client put around the user's words, all of ``text`` if they are not in it."""
    before, match, after = text.partition(words) if words else (text, "", "")
    return "\n".join(filter(None, (before.strip(), after.strip()))) if match else text
