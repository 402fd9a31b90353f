"""Proves, before a new file is published, that it reads back as the stages left the messages."""

import hashlib
from collections.abc import Iterable, Sequence

from compactctl.clients.format import Format
from compactctl.commands.reading.transcript import document_of, parse
from compactctl.errors import OutputFaultError
from compactctl.model.message import Message, Part, ReasoningPart
from compactctl.model.transcript import Transcript
from compactctl.records import Record
from compactctl.tokens.meter import part_texts


class ExpectedMessage(Record, kw_only=False):
    """Digests of what the model reads of a message, and the line it was on before.

    ``reasoning`` is None if the provider had cleared some: how much it clears depends on the turns
    that remain.
    """

    content: bytes
    reasoning: bytes | None
    line: int

    def reads_like(self, other: "ExpectedMessage") -> bool:
        """Whether a model reads the same of both."""
        is_cleared = self.reasoning is None or other.reasoning is None
        return self.content == other.content and (is_cleared or self.reasoning == other.reasoning)


def expected_messages(messages: Iterable[Message]) -> tuple[ExpectedMessage, ...]:
    """Return digests of the effective messages, so that the messages can be freed.

    Of an answer without parts the model reads nothing, so it may be left out.
    """
    return tuple(
        ExpectedMessage(_content(message), _reasoning(message), message.line)
        for message in messages
        if message.parts
    )


def prove_layout(
    lines: Iterable[bytes],
    chosen: Format,
    expected: Sequence[ExpectedMessage],
    name: str,
) -> Transcript:
    """Read the new file back and compare its effective messages with the expected ones.

    Returns what was read. Raises OutputFaultError for the first difference; ``name`` is the
    transcript named in it.
    """
    document = document_of(lines)
    transcript = parse(lines if document is None else (document,), chosen)
    messages = expected_messages(transcript.effective)
    for index, (new, old) in enumerate(zip(messages, expected, strict=False)):
        if not new.reads_like(old):
            raise _refusal(name, f"message {index + 1} (line {old.line + 1}) differs")
    if len(messages) != len(expected):
        raise _refusal(name, f"{len(messages)} messages instead of {len(expected)}")
    return transcript


def _content(message: Message) -> bytes:
    parts = [part for part in message.parts if not isinstance(part, ReasoningPart)]
    return _digest(parts, b"%d" % message.conversation)


def _reasoning(message: Message) -> bytes | None:
    parts = [part for part in message.parts if isinstance(part, ReasoningPart)]
    is_cleared = any(not (part.text or part.opaque or part.sealed) for part in parts)
    return None if is_cleared else _digest(parts, b"")


def _digest(parts: Iterable[Part], start: bytes) -> bytes:
    digest = hashlib.sha256(start)
    for part in parts:
        for text in part_texts(part):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b" %d " % len(data))
            digest.update(data)
    return digest.digest()


def _refusal(name: str, difference: str) -> OutputFaultError:
    return OutputFaultError(
        f"{name}: compactctl made a mistake: the new file would not read back as intended "
        f"({difference}); nothing was written, and this file is not at fault; please report this"
    )
