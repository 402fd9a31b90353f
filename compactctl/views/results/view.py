"""Messages and their parts, as text and as a document."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from compactctl.commands.inspect.view import ViewedMessage, ViewResult, records_of
from compactctl.model.island import Island
from compactctl.model.message import (
    FilePart,
    MediaPart,
    OmittedPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
    media_text,
)
from compactctl.model.tags import tag_fields
from compactctl.views.encode import encoded, record
from compactctl.views.facts import clock_text, utc_text, warning_lines
from compactctl.views.islands import continue_command, island_document
from compactctl.views.terminal.screen import Paged, Raw
from compactctl.views.terminal.text import line_text, path_name, plural, safe_text

# A part is cut here on screen unless ``--full`` asks for all of it; in characters.
_SHORT_TEXT = 2_000
_TO_THE_SECOND = len("2026-01-31 12:00:00")
_KINDS: Mapping[type[Part], str] = {
    TextPart: "text",
    ReasoningPart: "reasoning",
    ToolCallPart: "tool_call",
    ToolResultPart: "tool_result",
    FilePart: "file",
    ToolDefinitionPart: "tool_definition",
    MediaPart: "media",
    OmittedPart: "omitted",
}
# Fields about how a part is stored, which the model does not see.
_STORAGE = ("path", "embedded", "caller", "is_summary", "is_compaction", "own_texts")


def view_terminal(result: ViewResult) -> Iterator[Paged | Raw]:
    """Yield the output: the messages as text or, if requested, the raw lines."""
    if result.options.jsonl:
        yield Raw(records_of(result))
    else:
        yield Paged(_text(result, full=result.options.full))


def view_document(result: ViewResult) -> dict[str, Any]:
    """Return the messages with their parts, whatever the transcript's format."""
    return {
        "schema": "compactctl.view/1",
        "path": result.options.input.path,
        "what": result.options.what,
        "found": len(result.messages) if result.n_matches is None else result.n_matches,
        "before": result.before,
        "messagesInAll": result.n_all,
        "islands": [island_document(island) for island in result.islands],
        "messages": encoded(result.messages),
        "warnings": encoded(result.warnings),
    }


def view_messages(result: ViewResult) -> Iterator[str]:
    """Yield the lines for standard error: the number of matches, or why nothing is shown."""
    yield from warning_lines(result.warnings)
    if result.n_matches is not None:
        name = path_name(result.options.input.reference)
        yield f"{name}: {_matches_text(result, result.n_matches)}"
    elif not result.messages:
        is_archive = result.options.what == "archived"
        nothing = "nothing is hidden" if is_archive else "there are no messages"
        yield f"{path_name(result.options.input.reference)}: {nothing}"


def _text(result: ViewResult, *, full: bool) -> Iterator[str]:
    if result.messages:
        yield _heading(result)
        yield ""
    numbers = dict.fromkeys(viewed.message.conversation for viewed in result.messages)
    newest = None
    island = None
    for viewed in sorted(result.messages, key=_island_number):
        if viewed.island is not None and viewed.island != island:
            island = viewed.island
            yield f"══ {_island_heading(result, result.islands[island])}"
        if len(numbers) > 1 and viewed.message.conversation != newest:
            newest = viewed.message.conversation
            yield f"══ conversation {newest + 1}"
        yield _title(viewed, "line " if result.options.what == "effective" else "#")
        for part in viewed.message.parts:
            yield part_text(part, partial(_cut, full=full))
        yield ""


def _heading(result: ViewResult) -> str:
    """Return what is shown of which file, on one line."""
    count, n_all = f"{len(result.messages):,}", plural(result.n_all, "message")
    if result.n_matches is not None:
        what = f"{count} of {plural(result.n_matches, 'matching message')}"
    elif result.options.what == "all":
        what = n_all
    else:
        what = f"{count} of {n_all} {'sent' if result.options.what == 'effective' else 'not sent'}"
    tokens = sum(viewed.tokens or 0 for viewed in result.messages)
    return f"{what}, {plural(tokens, 'token')}: {path_name(result.options.input.reference)}"


def _island_number(viewed: ViewedMessage) -> int:
    """Return by what messages are sorted: hidden ones, then those of each island."""
    return -1 if viewed.island is None else viewed.island


def _island_heading(result: ViewResult, island: Island) -> str:
    """Return what an island is, and the command that continues there."""
    what = f"{island.kind}: {island.describe('record')}"
    command = continue_command(result.options.input.reference, island)
    return f"{what}; continue there: {command}" if command else what


def _title(viewed: ViewedMessage, place: str) -> str:
    """Return a message's heading; ``place`` says what its number counts.

    For hidden messages, these are the lines that ``--jsonl`` prints.
    """
    message, hidden = viewed.message, viewed.hidden
    marks = [
        "summary" if message.origin.is_summary else "",
        "marker" if message.tags.is_truncation_marker else "",
        "rewritten" if message.tags.edit_id else "",
        "injected" if message.origin.is_injected and not message.origin.is_synthetic else "",
        f"hidden by {line_text(hidden.group)}" if hidden else "",
        line_text(hidden.stage) if hidden and hidden.stage else "",
    ]
    facts = (
        f"{place}{message.line + 1}",
        message.role,
        ", ".join(mark for mark in marks if mark),
        clock_text(utc_text(message.timestamp))[:_TO_THE_SECOND],
        "" if viewed.tokens is None else plural(viewed.tokens, "token"),
    )
    return f"── {' · '.join(filter(None, facts))}"


def part_text(part: Part, shown: Callable[[str], str]) -> str:
    """Return the text of a part; ``shown`` makes its content safe, and cuts it if requested."""
    match part:
        case TextPart():
            return "\n".join(filter(None, (shown(part.text), _added_text(part.added))))
        case ReasoningPart():
            text = "(not readable: encrypted or signature only)" if part.opaque else part.text
            return f"thinking: {shown(text)}"
        case ToolCallPart():
            called = f"→ {safe_text(part.tool)} {shown(part.arguments)}"
            return "\n".join(filter(None, (called, _added_text(part.added))))
        case ToolResultPart():
            failed = f" ({part.outcome})" if part.has_failed else ""
            images = "".join(f"\n{media_text(item)}" for item in part.media)
            tool = safe_text(part.tool) or "result"
            return f"← {tool}{failed}: {shown(part.text)}{images}"
        case FilePart():
            return f"file {safe_text(part.file_path)}: {shown(part.text)}"
        case ToolDefinitionPart():
            return f"tools {safe_text(part.name)}: {shown(part.text)}"
        case MediaPart():
            return media_text(part)
        case OmittedPart():
            return f"(not sent: {part.noun} {part.detail})"


def _added_text(text: str) -> str:
    return f"(the client adds: {text})" if text else ""


def _cut(text: str, *, full: bool) -> str:
    if full or len(text) <= _SHORT_TEXT:
        return safe_text(text)
    remaining = len(text) - _SHORT_TEXT
    return (
        f"{safe_text(text[:_SHORT_TEXT])}\n[… {remaining:,} more characters; see them with --full]"
    )


def _matches_text(result: ViewResult, count: int) -> str:
    """Return how many messages match a search, and which of them are shown if not all."""
    matches = plural(count, "matching message")
    if len(result.messages) == count:
        return matches
    first, last = result.before + 1, result.before + len(result.messages)
    shown = f"{first:,} to {last:,} shown" if result.messages else "none on this page"
    return f"{matches}, {shown}"


@encoded.register
def _message_document(viewed: ViewedMessage) -> dict[str, Any]:
    message, hidden = viewed.message, viewed.hidden
    return {
        "id": message.id,
        "line": message.line + 1,
        "conversation": message.conversation + 1,
        "role": message.role,
        "time": utc_text(message.timestamp) or None,
        "tokens": viewed.tokens,
        "summary": message.origin.is_summary,
        "injected": message.origin.is_injected,
        "hiddenBy": hidden.group if hidden else None,
        "stage": hidden.stage if hidden else None,
        "island": viewed.island,
        "tags": tag_fields(message.tags),
        "parts": [_part_document(part) for part in message.parts],
    }


def _part_document(part: Part) -> dict[str, Any]:
    return {"kind": _KINDS[type(part)], **record(part, without=_STORAGE)}


@encoded.register
def _media_document(part: MediaPart) -> dict[str, Any]:
    """Encode media that a tool returned besides its text; they have no ``kind`` there."""
    return record(part, without=_STORAGE)
