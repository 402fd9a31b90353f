"""Proof that a new file says what the stages meant, before it is published."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compactctl.commands.reading.transcript import document_of, parse
from compactctl.errors import IntegrityError
from compactctl.formats.format import Format
from compactctl.model.message import Message
from compactctl.tokens.meter import part_texts


@dataclass(frozen=True, slots=True)
class ExpectedMessage:
    """What the model is to read of a message, as a digest, and the line the message stood on."""

    content: bytes
    line: int


def expected_messages(messages: Iterable[Message]) -> tuple[ExpectedMessage, ...]:
    """Return what the effective history is to say, so that the messages need not be held."""
    return tuple(ExpectedMessage(_content(message), message.line) for message in messages)


def prove_layout(
    lines: Iterable[bytes], chosen: Format, expected: Sequence[ExpectedMessage], name: str
) -> None:
    """Read the new file back and compare its effective history with what it should be.

    ``name`` is the transcript named in the IntegrityError for the first message that differs;
    nothing has been written then.
    """
    document = document_of(lines)
    found = parse(lines if document is None else (document,), chosen).effective
    for index, (new, old) in enumerate(zip(found, expected, strict=False)):
        if _content(new) != old.content:
            raise _refusal(name, f"message {index + 1} (line {old.line + 1}) differs")
    if len(found) != len(expected):
        raise _refusal(name, f"{len(found)} messages instead of {len(expected)}")


def _content(message: Message) -> bytes:
    digest = hashlib.sha256(b"%d" % message.conversation)
    for part in message.parts:
        for text in part_texts(part):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b" %d " % len(data))
            digest.update(data)
    return digest.digest()


def _refusal(name: str, what: str) -> IntegrityError:
    return IntegrityError(
        f"{name}: the new file would not read back as intended "
        f"({what}); nothing was written, please report this"
    )
