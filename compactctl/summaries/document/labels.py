"""Write a conversation as one text that labels every message with its speaker."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    media_text,
)
from compactctl.model.summary import LabelStyle
from compactctl.summaries.document.escape import escape_name, escape_structure
from compactctl.summaries.extract.words import word_end

# Kinds of parts whose text nobody in the conversation says.
_SHOWN = (ToolResultPart, FilePart)
_SPEAKERS = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"}
_OPENING, _CLOSING = "<conversation>", "</conversation>"


def label_messages(
    messages: Sequence[Message], style: LabelStyle, limit: int, mask: Callable[[str], str]
) -> str:
    """Return messages as one text, each masked and then cut after ``limit`` characters.

    ``xml`` puts each into a tag, as Codebuddy's code does; ``role`` writes ``user: text`` as
    NeuroLink does, ``speaker`` writes ``User: text`` as agent-code does and Codebuddy documents.
    Includes tool calls and results, but neither reasoning nor messages without text. Results and
    files that share a message with other texts stand under the tool's label. No text can pass for
    a tag or a label, see ``escape_structure``.
    """
    spoken = [
        (role, text)
        for message in messages
        for role, parts in _by_speaker(message)
        if (text := "\n".join(_lines(parts, mask)))
    ]
    if style == "xml":
        tagged = (_tagged(role, truncate_text(text, limit)) for role, text in spoken)
        return "\n".join((_OPENING, *tagged, _CLOSING))
    return "\n\n".join(_labelled(_label(role, style), text, limit) for role, text in spoken)


def prose(message: Message) -> str:
    """Return the text of a message without tools and files."""
    texts = (part.text for part in message.parts if isinstance(part, TextPart))
    return "\n".join(texts).strip()


def previous_summary(messages: Sequence[Message]) -> str:
    """Return the text of the newest earlier summary among messages, "" if there is none."""
    return next((prose(message) for message in reversed(messages) if message.origin.is_summary), "")


def _by_speaker(message: Message) -> Iterator[tuple[Role, Iterator[Part]]]:
    """Yield the runs of parts with one speaker: some APIs send results with the user's words."""
    for is_shown, parts in groupby(message.parts, key=lambda part: isinstance(part, _SHOWN)):
        yield "tool" if is_shown else message.role, parts


def _tagged(role: Role, text: str) -> str:
    return f'<message role="{_SPEAKERS[role]}">\n{text}\n</message>'


def _labelled(label: str, text: str, limit: int) -> str:
    """Put a label before a text; if the text is cut, the limit includes the label."""
    label = f"{label}: "
    return label + (text if len(text) <= limit else truncate_text(text, limit - len(label)))


def _label(role: Role, style: LabelStyle) -> str:
    return role if style == "role" else _SPEAKERS[role]


def _lines(parts: Iterable[Part], mask: Callable[[str], str]) -> Iterator[str]:
    """Yield the texts of parts that are not blank, each masked as a whole and then escaped."""

    def shown(text: str) -> str:
        return escape_structure(mask(text))

    def named(name: str) -> str:
        return escape_name(mask(name))

    for part in parts:
        match part:
            case TextPart(text=text) if text.strip():
                yield shown(text)
            case ToolCallPart(tool=tool, arguments=arguments):
                yield f"[tool call {named(tool)}] {shown(arguments)}"
            case ToolResultPart(text=text, tool=tool, is_error=is_error):
                yield f"[{'failed ' if is_error else ''}tool result {named(tool)}] {shown(text)}"
                yield from map(media_text, part.media)
            case FilePart(text=text, file_path=path):
                yield f"[file {named(path)}]\n{shown(text)}"
            case MediaPart():
                yield media_text(part)
            case _:
                continue


def truncate_text(text: str, limit: int) -> str:
    """Cut a text at a word after ``limit`` characters, and note how many are omitted."""
    end = word_end(text, limit)
    omitted = len(text) - end
    return f"{text[:end]}\n[... {omitted:,} chars truncated]" if omitted > 0 else text
