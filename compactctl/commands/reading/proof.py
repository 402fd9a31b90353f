"""Proves, before a new file is published, that it reads back as the stages left the messages."""

import hashlib
from collections.abc import Iterable, Sequence

from compactctl.commands.reading.transcript import document_of, parse
from compactctl.errors import IntegrityError
from compactctl.formats.format import Format
from compactctl.model.message import Message, ReasoningPart
from compactctl.records import dataclass
from compactctl.tokens.meter import part_texts


@dataclass(frozen=True, slots=True)
class ExpectedMessage:
    """The digest of what the model reads of a message, and the line it was on before."""

    content: bytes
    line: int


def expected_messages(messages: Iterable[Message]) -> tuple[ExpectedMessage, ...]:
    """Return digests of the effective messages, so that the messages can be freed.

    Of an answer without parts the model reads nothing, so it may be left out.
    """
    return tuple(
        ExpectedMessage(_content(message), message.line) for message in messages if message.parts
    )


def prove_layout(
    lines: Iterable[bytes], chosen: Format, expected: Sequence[ExpectedMessage], name: str
) -> None:
    """Read the new file back and compare its effective messages with the expected ones.

    Raises IntegrityError for the first difference; ``name`` is the transcript named in it.
    """
    document = document_of(lines)
    effective = parse(lines if document is None else (document,), chosen).effective
    messages = expected_messages(effective)
    for index, (new, old) in enumerate(zip(messages, expected, strict=False)):
        if new.content != old.content:
            raise _refusal(name, f"message {index + 1} (line {old.line + 1}) differs")
    if len(messages) != len(expected):
        raise _refusal(name, f"{len(messages)} messages instead of {len(expected)}")


def _content(message: Message) -> bytes:
    """Return a digest of what the model reads, without reasoning.

    No stage edits reasoning, and how much of it is sent depends on the turns that remain.
    """
    digest = hashlib.sha256(b"%d" % message.conversation)
    for part in (part for part in message.parts if not isinstance(part, ReasoningPart)):
        for text in part_texts(part):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(b" %d " % len(data))
            digest.update(data)
    return digest.digest()


def _refusal(name: str, difference: str) -> IntegrityError:
    return IntegrityError(
        f"{name}: the new file would not read back as intended "
        f"({difference}); nothing was written; please report this"
    )
