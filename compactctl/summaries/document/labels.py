"""A conversation as one text in which every message says who speaks."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.summaries.extract.words import word_end

LabelStyle = Literal["xml", "role", "speaker"]

_SPEAKERS = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"}
_OPENING, _CLOSING = "<conversation>", "</conversation>"


def label_messages(
    messages: Sequence[Message], style: LabelStyle, limit: int, mask: Callable[[str], str]
) -> str:
    """Write messages one after another, ``mask`` applied, each cut after ``limit`` characters.

    ``xml`` puts each into a tag that its text cannot close, as Codebuddy does; ``role`` writes
    ``user: text`` as NeuroLink does, ``speaker`` writes ``User: text`` as agent-code does. Tool
    calls and their results are written as well; reasoning and messages without text are not.
    """
    said = [
        (message, truncate_text(mask(text), limit))
        for message in messages
        if (text := _text(message))
    ]
    if style == "xml":
        tagged = (_tagged(message, text) for message, text in said)
        return "\n".join((_OPENING, *tagged, _CLOSING))
    return "\n\n".join(f"{_label(message, style)}: {text}" for message, text in said)


def prose(message: Message) -> str:
    """Return what a message says apart from tools and files."""
    texts = (part.text for part in message.parts if isinstance(part, TextPart))
    return "\n".join(texts).strip()


def _tagged(message: Message, text: str) -> str:
    # A quoted tag must not end the message it is quoted in.
    inner = text.replace("</message", "<\\/message").replace(_CLOSING, "<\\/conversation>")
    return f'<message role="{_SPEAKERS[message.role]}">\n{inner}\n</message>'


def _label(message: Message, style: LabelStyle) -> str:
    return message.role if style == "role" else _SPEAKERS[message.role]


def _text(message: Message) -> str:
    return "\n".join(text for part in message.parts for text in _part(part) if text.strip())


def _part(part: Part) -> Iterator[str]:
    match part:
        case TextPart(text=text):
            yield text
        case ToolCallPart(tool=tool, arguments=arguments):
            yield f"[tool call {tool}] {arguments}"
        case ToolResultPart(text=text, tool=tool, is_error=is_error):
            yield f"[{'failed ' if is_error else ''}tool result {tool}] {text}"
            yield from map(_media, part.media)
        case FilePart(text=text, file_path=path):
            yield f"[file {path}]\n{text}"
        case MediaPart():
            yield _media(part)
        case _:
            return


def _media(part: MediaPart) -> str:
    is_image = part.media_type.startswith("image/")
    return "[Image was attached]" if is_image else f"[{part.media_type} was attached]"


def truncate_text(text: str, limit: int) -> str:
    """Return the words in the first ``limit`` characters of a text, and how many more there are.

    The characters that are left out are told.
    """
    kept = word_end(text, limit)
    rest = len(text) - kept
    return f"{text[:kept]}\n[... {rest:,} chars truncated]" if rest > 0 else text
