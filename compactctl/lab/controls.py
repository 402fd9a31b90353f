"""Baseline contexts of a given size, built without regard to content, for comparison."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b

from compactctl.history.pairs import cut_points
from compactctl.lab.text_content import WORD, without_reasoning
from compactctl.model.message import Message, MessageId, Part, TextPart, ToolResultPart
from compactctl.records import replace
from compactctl.summaries.extract.passages import read_passages
from compactctl.tokens.meter import Meter

Control = Callable[[Sequence[Message], int, Meter, int], tuple[Message, ...]]
"""Takes messages, the tokens to keep, a meter and a seed; returns the messages of a context."""

MASK_TEXT = "[old output left out]"


def keep_all(
    messages: Sequence[Message],
    room: int,
    meter: Meter,
    seed: int,
) -> tuple[Message, ...]:
    """Keep all messages, whatever the size."""
    return tuple(messages)


def keep_newest(
    messages: Sequence[Message],
    room: int,
    meter: Meter,
    seed: int,
) -> tuple[Message, ...]:
    """Keep the newest messages that fit; a tool call is never separated from its result."""
    remaining, start = room, len(messages)
    for cut in reversed(cut_points(messages)[:-1]):
        remaining -= meter.total(messages[cut:start])
        if remaining < 0:
            break
        start = cut
    return tuple(messages[start:])


def mask_oldest_results(
    messages: Sequence[Message],
    room: int,
    meter: Meter,
    seed: int,
) -> tuple[Message, ...]:
    """Replace the oldest tool results by a placeholder until the rest fits."""
    excess = meter.total(messages) - room
    stub = meter.text(MASK_TEXT)
    masked: list[Message] = []
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if excess > 0 and isinstance(part, ToolResultPart) and meter.part(part) > stub:
                excess -= meter.part(part) - stub
                part = replace(part, text=MASK_TEXT, media=())  # noqa: PLW2901 - the part as it is sent
            parts.append(part)
        masked.append(replace(message, parts=tuple(parts)))
    return tuple(masked)


def keep_random_lines(
    messages: Sequence[Message], room: int, meter: Meter, seed: int
) -> tuple[Message, ...]:
    """Keep as many lines as fit, in the order of a hash of ``seed`` and their position."""
    texts = [passage.text.split("\n") for passage in without_reasoning(read_passages(messages))]
    positions = [
        (index, row)
        for index, lines in enumerate(texts)
        for row, line in enumerate(lines)
        if WORD.search(line)
    ]
    sizes = meter.counter.count_many([texts[index][row] for index, row in positions])
    drawn: dict[int, set[int]] = {}
    for index, row, size in sorted(
        ((index, row, size) for (index, row), size in zip(positions, sizes, strict=True)),
        key=lambda line: _random_key(seed, *line[:2]),
    ):
        # A line end is usually one token.
        if size < room:
            room -= size + 1
            drawn.setdefault(index, set()).add(row)
    return tuple(_message(index, texts[index], drawn[index]) for index in sorted(drawn))


CONTROLS: Mapping[str, Control] = {
    "none": keep_all,
    "newest": keep_newest,
    "random": keep_random_lines,
    "mask": mask_oldest_results,
}


def _random_key(seed: int, index: int, row: int) -> bytes:
    return blake2b(f"{seed} {index} {row}".encode(), digest_size=8).digest()


def _message(index: int, lines: Sequence[str], rows: set[int]) -> Message:
    text = "\n".join(line for row, line in enumerate(lines) if row in rows)
    name = MessageId(f"drawn-{index}")
    return Message(id=name, role="assistant", parts=(TextPart(text=text),), line=index)
