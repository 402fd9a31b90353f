"""Write a conversation as one text that labels every message with its speaker."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Literal

from compactctl.history.stand_ins import is_proven
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

Speaker = Literal[Role, "client"]
# Kinds of parts whose text nobody in the conversation says.
_SHOWN = (ToolResultPart, FilePart)
_SPEAKERS: Mapping[Speaker, str] = {
    "system": "System",
    "user": "User",
    "assistant": "Assistant",
    "tool": "Tool",
    "client": "Client",
}
_OPENING, _CLOSING = "<conversation>", "</conversation>"


def label_messages(
    messages: Sequence[Message], style: LabelStyle, limit: int, mask: Callable[[str], str]
) -> str:
    """Return messages as one text, each masked and then cut after ``limit`` characters.

    ``xml`` puts each into a tag, as Codebuddy's code does; ``role`` writes ``user: text`` as
    NeuroLink does, ``speaker`` writes ``User: text`` as agent-code does and Codebuddy documents.
    Includes tool calls and results, but neither reasoning nor messages without text. Results and
    files that share a message with other texts stand under the tool's label, and what a client put
    into a message of the user or the operator under the client's. No text can pass for a tag or a
    label, see ``escape_structure``.
    """
    spoken = [
        (speaker, "\n".join(text for _, text in texts))
        for message in messages
        for speaker, texts in groupby(_texts(message, mask), key=itemgetter(0))
    ]
    if style == "xml":
        tagged = (_tagged(speaker, truncate_text(text, limit)) for speaker, text in spoken)
        return "\n".join((_OPENING, *tagged, _CLOSING))
    return "\n\n".join(_labelled(_label(speaker, style), text, limit) for speaker, text in spoken)


def prose(message: Message) -> str:
    """Return the text of a message without tools and files."""
    texts = (part.text for part in message.parts if isinstance(part, TextPart))
    return "\n".join(texts).strip()


def previous_summary(messages: Sequence[Message]) -> str:
    """Return the text of the newest earlier summary among messages, "" if there is none.

    One of which only its text says that it is one counts where there is no other.
    """
    summaries = [message for message in reversed(messages) if message.origin.is_summary]
    newest = max(summaries, key=lambda m: is_proven(m) or not m.origin.is_synthetic, default=None)
    return prose(newest) if newest else ""


def _tagged(speaker: Speaker, text: str) -> str:
    return f'<message role="{_SPEAKERS[speaker]}">\n{text}\n</message>'


def _labelled(label: str, text: str, limit: int) -> str:
    """Put a label before a text; if the text is cut, the limit includes the label."""
    label = f"{label}: "
    return label + (text if len(text) <= limit else truncate_text(text, limit - len(label)))


def _label(speaker: Speaker, style: LabelStyle) -> str:
    return speaker if style == "role" else _SPEAKERS[speaker]


def _texts(message: Message, mask: Callable[[str], str]) -> Iterator[tuple[Speaker, str]]:
    """Yield the texts of a message that are not blank, each with its speaker.

    Each is masked as a whole and then escaped. Some APIs send results with the user's words.
    """
    default: Speaker = "client" if _is_by_client(message) else message.role
    for part in message.parts:
        if isinstance(part, TextPart):
            pieces = _by_author(message, part, default, mask)
            yield from ((speaker, escape_structure(text)) for speaker, text in pieces if text)
        else:
            speaker = "tool" if isinstance(part, _SHOWN) else default
            yield from ((speaker, text) for text in _labeled_texts(part, mask))


def _is_by_client(message: Message) -> bool:
    """Whether a client wrote all of a message, even if a command of the user asked for it."""
    return message.origin.is_injected and not message.origin.is_synthetic


def _by_author(
    message: Message, part: TextPart, speaker: Speaker, mask: Callable[[str], str]
) -> Iterator[tuple[Speaker, str]]:
    """Yield the pieces of a masked text: the user's words, and what a client put around them.

    Some may be "". The text is masked before it is split, since half a secret may not look like
    one. If a secret reaches across the border, all is the client's.
    """
    text = mask(part.text)
    if speaker not in ("user", "system") or part.typed is None or message.origin.is_synthetic:
        yield speaker, text if text.strip() else ""
        return
    words = message.words(part).strip()
    masked = mask(words)
    before, match, after = text.partition(masked) if words else (text, "", "")
    yield "client", before.strip()
    # Words that are in several places of the text are not in it as a whole.
    yield speaker, masked if match or words not in part.text else ""
    yield "client", after.strip()


def _labeled_texts(part: Part, mask: Callable[[str], str]) -> Iterator[str]:
    def shown(text: str) -> str:
        return escape_structure(mask(text))

    def named(name: str) -> str:
        return escape_name(mask(name))

    match part:
        case ToolCallPart(tool=tool, arguments=arguments):
            yield f"[tool call {named(tool)}] {shown(arguments)}"
        case ToolResultPart(text=text, tool=tool):
            failed = "failed " if part.has_failed and not part.is_inferred else ""
            yield f"[{failed}tool result {named(tool)}] {shown(text)}"
            yield from map(media_text, part.media)
        case FilePart(text=text, file_path=path):
            yield f"[file {named(path)}]\n{shown(text)}"
        case MediaPart():
            yield media_text(part)
        case _:
            return


def truncate_text(text: str, limit: int) -> str:
    """Cut a text at a word after ``limit`` characters, and note how many are omitted."""
    end = word_end(text, limit)
    omitted = len(text) - end
    return f"{text[:end]}\n[... {omitted:,} chars truncated]" if omitted > 0 else text
