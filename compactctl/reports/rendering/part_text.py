"""A part of a message as text to be read."""

from collections.abc import Callable

from compactctl.model.message import (
    FilePart,
    MediaPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
)
from compactctl.reports.rendering.text import plural, safe_text, size_text


def part_text(part: Part, shown: Callable[[str], str]) -> str:
    """Return what a part says; ``shown`` makes safe text of its own, cut where that is wanted."""
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
            failed = " (error)" if part.is_error else ""
            images = "".join(f"\n{_media_text(item)}" for item in part.media)
            tool = safe_text(part.tool) or "result"
            return f"← {tool}{failed}: {shown(part.text)}{images}"
        case FilePart():
            return f"file {safe_text(part.file_path)}: {shown(part.text)}"
        case ToolDefinitionPart():
            return f"tools {safe_text(part.name)}: {shown(part.text)}"
        case MediaPart():
            return _media_text(part)


def _added_text(text: str) -> str:
    return f"(the client adds: {text})" if text else ""


def _media_text(part: MediaPart) -> str:
    sizes = (
        f", {part.width} x {part.height} pixels" if part.width else "",
        f", {part.seconds:,.1f} seconds" if part.seconds else "",
        f", {plural(part.pages, 'page')}" if part.pages else "",
    )
    return f"[{safe_text(part.media_type)}, {size_text(part.n_bytes)}{''.join(sizes)}]"
