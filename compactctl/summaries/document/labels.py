"""Write a conversation as one text that labels every message with its speaker."""

from collections.abc import Callable, Iterator, Sequence

from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.summary import LabelStyle
from compactctl.summaries.extract.words import word_end

_SPEAKERS = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"}
_OPENING, _CLOSING = "<conversation>", "</conversation>"


def label_messages(
    messages: Sequence[Message], style: LabelStyle, limit: int, mask: Callable[[str], str]
) -> str:
    """Return messages as one text, each masked and then cut after ``limit`` characters.

    ``xml`` puts each into a tag that its text cannot close, as Codebuddy's code does; ``role``
    writes ``user: text`` as NeuroLink does, ``speaker`` writes ``User: text`` as agent-code does
    and Codebuddy documents. Includes tool calls and results, but neither reasoning nor messages
    without text.
    """
    texts = [(message, mask(text)) for message in messages if (text := _text(message))]
    if style == "xml":
        tagged = (_tagged(message, truncate_text(text, limit)) for message, text in texts)
        return "\n".join((_OPENING, *tagged, _CLOSING))
    return "\n\n".join(_labelled(_label(message, style), text, limit) for message, text in texts)


def prose(message: Message) -> str:
    """Return the text of a message without tools and files."""
    texts = (part.text for part in message.parts if isinstance(part, TextPart))
    return "\n".join(texts).strip()


def previous_summary(messages: Sequence[Message]) -> str:
    """Return the text of the newest earlier summary among messages, "" if there is none."""
    return next((prose(message) for message in reversed(messages) if message.origin.is_summary), "")


def _tagged(message: Message, text: str) -> str:
    # A closing tag in the text must not end the message.
    inner = text.replace("</message", "<\\/message").replace(_CLOSING, "<\\/conversation>")
    return f'<message role="{_SPEAKERS[message.role]}">\n{inner}\n</message>'


def _labelled(label: str, text: str, limit: int) -> str:
    """Put a label before a text; if the text is cut, the limit includes the label."""
    label = f"{label}: "
    return label + (text if len(text) <= limit else truncate_text(text, limit - len(label)))


def _label(message: Message, style: LabelStyle) -> str:
    return message.role if style == "role" else _SPEAKERS[message.role]


def _text(message: Message) -> str:
    return "\n".join(text for part in message.parts for text in _part_texts(part) if text.strip())


def _part_texts(part: Part) -> Iterator[str]:
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
    """Cut a text at a word after ``limit`` characters, and note how many are omitted."""
    end = word_end(text, limit)
    omitted = len(text) - end
    return f"{text[:end]}\n[... {omitted:,} chars truncated]" if omitted > 0 else text
