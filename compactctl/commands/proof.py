"""Proof that a new file says what the stages meant, before it is published."""

from collections.abc import Sequence

from compactctl.commands.reading import Loaded, parse, split
from compactctl.errors import IntegrityError
from compactctl.model.message import Message
from compactctl.tokens.meter import part_texts


def prove_layout(data: bytes, loaded: Loaded, expected: Sequence[Message]) -> None:
    """Read the new file back and compare its effective history with what it should be.

    Raises IntegrityError at the first message that differs; nothing has been written then.
    """
    lines, chosen = split(data, "the new file", loaded.format.name)
    found = parse(lines, chosen).effective
    for index, (new, old) in enumerate(zip(found, expected, strict=False)):
        if _content(new) != _content(old):
            raise _refusal(loaded, f"message {index + 1} (line {old.line + 1}) differs")
    if len(found) != len(expected):
        raise _refusal(loaded, f"{len(found)} messages instead of {len(expected)}")


def _content(message: Message) -> tuple[object, ...]:
    texts = tuple(text for part in message.parts for text in part_texts(part))
    return (message.conversation, texts)


def _refusal(loaded: Loaded, what: str) -> IntegrityError:
    return IntegrityError(
        f"{loaded.source.path or 'standard input'}: the new file would not read back as intended "
        f"({what}); nothing was written, please report this"
    )
