"""All formats, in the order in which they are tried."""

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from compactctl.errors import NotATranscriptError, NotUnderstoodError, UsageError, suggestion
from compactctl.formats.agent_code import AgentCode
from compactctl.formats.ai_sdk import AISdk
from compactctl.formats.anthropic_messages import AnthropicMessages
from compactctl.formats.api_format import API_LOG, Ambiguous, ApiFormat, ApiLog
from compactctl.formats.bedrock_converse import BedrockConverse
from compactctl.formats.claude_code.adapter import ClaudeCode
from compactctl.formats.claude_code.native import ClaudeNativeAppend
from compactctl.formats.cline.adapter import Cline, Roo
from compactctl.formats.codex.adapter import Codex
from compactctl.formats.codex.native import CodexNativeAppend
from compactctl.formats.copilot_cli.adapter import CopilotCli
from compactctl.formats.format import Format, NativeAppend
from compactctl.formats.gemini_api import GeminiApi
from compactctl.formats.gemini_cli.adapter import GeminiCli
from compactctl.formats.neurolink import NeuroLink
from compactctl.formats.openai_chat import OpenAIChat
from compactctl.formats.openai_responses import OpenAIResponses
from compactctl.formats.opencode.adapter import OpenCode
from compactctl.formats.pi.adapter import Pi
from compactctl.formats.pi.native import PiNativeAppend
from compactctl.formats.records.decode import Decoded, complete_value
from compactctl.formats.records.envelope import from_dotted
from compactctl.formats.spring_ai import SpringAi
from compactctl.formats.unsupported import (
    describe_file,
    describe_non_json,
    describe_records,
    docker_advice,
    guess_messages_path,
    join_advice,
    prefix_advice,
)
from compactctl.formats.vscode_chat.adapter import VsCodeChat
from compactctl.history.conversation_view import Between
from compactctl.model.message import Message, Role

# The first of those that read a conversation alike is taken.
DIALECTS: tuple[ApiFormat, ...] = (
    OpenAIChat(),
    AnthropicMessages(),
    BedrockConverse(),
    GeminiApi(),
    AISdk(),
    OpenAIResponses(),
)
_API_LOG = ApiLog(DIALECTS)
_OF_APIS: tuple[Format, ...] = (*DIALECTS, _API_LOG)

ALL_FORMATS: tuple[Format, ...] = (
    # Before Codex: its oldest rollouts hold bare items, and pi has entries of the same types.
    Pi(),
    Codex(),
    ClaudeCode(),
    CopilotCli(),
    GeminiCli(),
    VsCodeChat(),
    SpringAi(),
    # Before Claude Code, whose lines have UUIDs as well: these stand in a document.
    AgentCode(),
    OpenCode(),
    Roo(),
    Cline(),
    NeuroLink(),
    *_OF_APIS,
)

# Formats whose sessions can be changed by appending to them.
_APPENDING: Mapping[str, NativeAppend] = {
    "claude-code": ClaudeNativeAppend(),
    "codex": CodexNativeAppend(),
    "pi": PiNativeAppend(),
}

_JSON_TYPES = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
}

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# Enough to get past leading metadata records, as few as an interactive answer allows.
MAX_SNIFFED = 50


def format_named(name: str) -> Format:
    """Return the format called ``name``; raises UsageError with what there is.

    ``openai-chat:request.messages`` reads messages of a dialect at a path of each row, and
    ``api-log:request.messages`` those of any.
    """
    name, _, path = name.partition(":")
    if path:
        return _at_path(name, path)
    for candidate in ALL_FORMATS:
        if candidate.name == name:
            return candidate
    known = (candidate.name for candidate in ALL_FORMATS)
    hint = suggestion(name, known, f"there are {_names()}")
    raise UsageError(f"unknown format {name!r}; {hint}")


def _at_path(name: str, path: str) -> Format:
    dialects = [dialect for dialect in DIALECTS if name in (dialect.name, API_LOG)]
    if not dialects:
        known = ", ".join((API_LOG, *(dialect.name for dialect in DIALECTS)))
        raise UsageError(f"{name} has no messages at a path of rows; {known} have")
    usual = None if name == API_LOG else dialects[0]
    return ApiLog(dialects, usual, from_dotted(path))


def recognizes(chosen: Format, lines: Iterable[Decoded]) -> bool:
    """Tell whether a format recognizes the records on some lines, or these have none."""
    records = _records([value for line in lines for value in line.values])
    return not records or chosen.sniff(records)


def native_append_of(name: str) -> NativeAppend | None:
    """Return how sessions of a format are changed by appending, None where that is not known."""
    return _APPENDING.get(name)


def can_write_assistant(name: str) -> bool:
    """Tell whether the format called ``name`` writes halves of tool pairs."""
    return any(each.can_write_assistant for each in ALL_FORMATS if each.name == name)


def between(name: str) -> Between | None:
    """Return what tells the roles that have to stand between two messages of a format.

    In files of several APIs that is what the second of them demands; clients demand nothing.
    """
    name, _, _ = name.partition(":")
    demanding = {dialect.name: dialect for dialect in DIALECTS}
    if name != API_LOG and name not in demanding:
        return None

    def roles(first: Message, second: Message) -> tuple[Role, ...]:
        dialect = demanding.get(second.dialect or first.dialect or name)
        return dialect.between(first, second) if dialect else ()

    return roles


def detect(lines: Iterable[Decoded], where: str, head: bytes = b"") -> Format:
    """Return the first format that recognises the first records.

    ``head`` is the start of the file, to name in the error what is not JSON at all.

    Raises:
        NotATranscriptError: no format fits.
        NotUnderstoodError: it is of a format that is known by sight, or what is left of a
            transcript that was cut off or overwritten.
    """
    rest = iter(lines)
    opening = [line for line in islice(rest, 1) if line.values or line.damage]
    cut: list[Decoded] = []
    values = (value for line in _noting_cut(chain(opening, rest), cut) for value in line.values)
    first = list(islice(values, MAX_SNIFFED))
    records = _records(first)
    foreign = describe_file(head) or describe_records(records)
    if foreign is not None:
        helps = foreign.hint(where) or f"--format forces one of {_names()}"
        raise NotUnderstoodError(f"{where}: {foreign.description}; {helps}")
    fitting = _fitting(first)
    if isinstance(fitting, Ambiguous):
        raise NotUnderstoodError(f"{where}: {fitting.description}")
    if fitting is not None:
        return fitting
    for line in cut:
        joining = join_advice(line.damage, where)
        raise NotUnderstoodError(f"{where}: line {line.index + 1}: {line.damage}; {joining}")
    behind = None if first else prefix_advice(head, where) or docker_advice(head, where)
    if behind is not None:
        raise NotUnderstoodError(f"{where}: {behind}")
    if not any(isinstance(line.values[0], Mapping | list) for line in opening if not line.damage):
        _check_whole(head, where)
    if not first:
        raise NotATranscriptError(f"{where}: {describe_non_json(head, where)}")
    if all(value in ([], {}) for value in first):
        raise NotATranscriptError(f"{where}: holds empty JSON only, so there is no message in it")
    what = _describe_content(first, records)
    path = next(filter(None, map(guess_messages_path, records[:1])), None)
    if path is not None:
        helps = f"messages seem to stand at {path}: --messages-at {path}"
    else:
        helps = f"name one with --format ({_names()})"
    raise NotATranscriptError(f"{where}: {what}; {helps}")


def _noting_cut(lines: Iterable[Decoded], cut: list[Decoded]) -> Iterator[Decoded]:
    """Yield lines; the first that is a piece of a longer one is put into ``cut``."""
    for line in lines:
        if not cut and join_advice(line.damage, "") is not None:
            cut.append(line)
        yield line


def _fitting(first: Sequence[Any]) -> Format | Ambiguous | None:
    """Return the first format that recognizes these values; dialects are tried together."""
    records = _records(first)
    # A stray array among records is damage, and does not make the file one of arrays.
    arrays = not any(isinstance(value, Mapping) for value in first)
    for candidate in ALL_FORMATS:
        if candidate in _OF_APIS:
            continue
        if (candidate.reads_arrays or not arrays) and candidate.sniff(records):
            return candidate
    return _API_LOG.classify(_records(first, deep=True))


def _check_whole(head: bytes, where: str) -> None:
    """Raise NotUnderstoodError where a file begins as JSON that was cut off or overwritten."""
    if b"\0" in head and not head.startswith(_UTF_16):
        raise NotUnderstoodError(
            f"{where}: holds NUL bytes, so it is damaged or not text; "
            f"if it is a transcript, name its format with --format ({_names()})"
        )
    value = complete_value(head)
    fitting = None if value is None else _fitting([value])
    if value:
        known = None if isinstance(fitting, Ambiguous) else fitting
        begins = "" if known is None else f"begins as {known.name} and "
        raise NotUnderstoodError(
            f"{where}: {begins}is not whole JSON; it was cut off or overwritten, so restore it "
            "from a backup"
        )


def _records(first: Sequence[Any], *, deep: bool = False) -> list[Mapping[str, Any]]:
    """Return the objects among values, those in arrays included; ``deep``: in arrays of arrays."""
    items = (item for value in first for item in (value if isinstance(value, list) else [value]))
    if deep:
        items = (
            item for value in items for item in (value if isinstance(value, list) else [value])
        )
    return list(islice((item for item in items if isinstance(item, Mapping)), MAX_SNIFFED))


def _describe_content(first: list[Any], records: list[Mapping[str, Any]]) -> str:
    if not records:
        return f"its lines are JSON of type {_JSON_TYPES[type(first[0])]}, not records"
    keys = ", ".join(sorted(map(str, records[0]))[:6]) or "no keys"
    return f"no known transcript format fits (first record has: {keys})"


def _names() -> str:
    return ", ".join(candidate.name for candidate in ALL_FORMATS)
