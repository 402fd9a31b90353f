"""All formats, in the order in which they are tried."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from compactctl.errors import NotUnderstoodError, UsageError, suggestion
from compactctl.formats.agent_code import AgentCode
from compactctl.formats.anthropic_messages import AnthropicMessages
from compactctl.formats.claude_code.adapter import ClaudeCode
from compactctl.formats.claude_code.appending import ClaudeAppending
from compactctl.formats.cline.adapter import Cline, Roo
from compactctl.formats.codex.adapter import Codex
from compactctl.formats.codex.appending import CodexAppending
from compactctl.formats.copilot_cli.adapter import CopilotCli
from compactctl.formats.format import Appending, Format
from compactctl.formats.gemini_cli.adapter import GeminiCli
from compactctl.formats.neurolink import NeuroLink
from compactctl.formats.openai_chat import OpenAIChat
from compactctl.formats.opencode.adapter import OpenCode
from compactctl.formats.pi.adapter import Pi
from compactctl.formats.pi.appending import PiAppending
from compactctl.formats.records.decode import Decoded
from compactctl.formats.spring_ai.adapter import SpringAi
from compactctl.formats.unsupported import foreign_file, foreign_records
from compactctl.formats.vscode_chat.adapter import VsCodeChat

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
    AnthropicMessages(),
    NeuroLink(),
    OpenAIChat(),
)

# Formats whose sessions can be changed by appending to them.
_APPENDING: Mapping[str, Appending] = {
    "claude-code": ClaudeAppending(),
    "codex": CodexAppending(),
    "pi": PiAppending(),
}

_JSON_TYPES = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
}

# Enough to get past leading metadata records, as few as an interactive answer allows.
SNIFFED_RECORDS = 50


def format_named(name: str) -> Format:
    """Return the format called ``name``; raises UsageError with what there is."""
    for candidate in ALL_FORMATS:
        if candidate.name == name:
            return candidate
    known = (candidate.name for candidate in ALL_FORMATS)
    hint = suggestion(name, known, f"there are {_names()}")
    raise UsageError(f"unknown format {name!r}; {hint}")


def appending_of(name: str) -> Appending | None:
    """Return how sessions of a format are changed by appending, None where that is not known."""
    return _APPENDING.get(name)


def writes_pairs(name: str) -> bool:
    """Tell whether the format called ``name`` writes halves of tool pairs."""
    return any(each.writes_pairs for each in ALL_FORMATS if each.name == name)


def detect(lines: Iterable[Decoded], where: str, head: bytes = b"") -> Format:
    """Return the first format that recognises the first records.

    ``head`` is the start of the file, to name in the error what is not JSON at all.

    Raises:
        NotUnderstoodError: no format fits; the error names a format that is known by sight.
    """
    values = (value for line in lines for value in line.values)
    first = list(islice(values, SNIFFED_RECORDS))
    records = _records(first)
    foreign = foreign_file(head) or foreign_records(records)
    if foreign is not None:
        raise NotUnderstoodError(f"{where}: {foreign}; --format forces one of {_names()}")
    # A stray array among records is damage, and does not make the file one of arrays.
    arrays = not any(isinstance(value, Mapping) for value in first)
    for candidate in ALL_FORMATS:
        if (candidate.reads_arrays or not arrays) and candidate.sniff(records):
            return candidate
    if not first:
        raise NotUnderstoodError(f"{where}: holds no JSON; transcripts are JSON or JSON lines")
    what = _what_it_is(first, records)
    raise NotUnderstoodError(f"{where}: {what}; name one with --format ({_names()})")


def _records(first: list[Any]) -> list[Mapping[str, Any]]:
    """Return the objects among values, those in arrays included."""
    items = (item for value in first for item in (value if isinstance(value, list) else [value]))
    return list(islice((item for item in items if isinstance(item, Mapping)), SNIFFED_RECORDS))


def _what_it_is(first: list[Any], records: list[Mapping[str, Any]]) -> str:
    if not records:
        return f"its lines are JSON of type {_JSON_TYPES[type(first[0])]}, not records"
    keys = ", ".join(sorted(map(str, records[0]))[:6])
    return f"no known transcript format fits (first record has: {keys})"


def _names() -> str:
    return ", ".join(candidate.name for candidate in ALL_FORMATS)
