"""Contexts of a size made without looking at what they hold, to compare others with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from compactctl.history.pairs import cut_points
from compactctl.lab.text_content import WORD, without_reasoning
from compactctl.model.message import Message, MessageId, Part, TextPart, ToolResultPart
from compactctl.summaries.extract.passages import read_passages
from compactctl.tokens.meter import Meter

Control = Callable[[Sequence[Message], int, Meter, int], tuple[Message, ...]]
"""Takes messages, the tokens that may be kept, what counts them, and a seed."""

MASK_TEXT = "[old output left out]"


def keep_all(
    messages: Sequence[Message],
    room: int,
    meter: Meter,
    seed: int,
) -> tuple[Message, ...]:
    """Keep everything."""
    return tuple(messages)


def keep_newest(
    messages: Sequence[Message],
    room: int,
    meter: Meter,
    seed: int,
) -> tuple[Message, ...]:
    """Keep the newest messages, and no call without its result."""
    left, start = room, len(messages)
    for cut in reversed(cut_points(messages)[:-1]):
        left -= meter.total(messages[cut:start])
        if left < 0:
            break
        start = cut
    return tuple(messages[start:])


def mask_oldest_results(
    messages: Sequence[Message],
    room: int,
    meter: Meter,
    seed: int,
) -> tuple[Message, ...]:
    """Keep everything but the oldest results of tools, as many of them as are too much."""
    excess = meter.total(messages) - room
    stub = meter.text(MASK_TEXT)
    shown: list[Message] = []
    for message in messages:
        parts: list[Part] = []
        for part in message.parts:
            if excess > 0 and isinstance(part, ToolResultPart) and meter.part(part) > stub:
                excess -= meter.part(part) - stub
                part = replace(part, text=MASK_TEXT, media=())  # noqa: PLW2901 - the part as it is sent
            parts.append(part)
        shown.append(replace(message, parts=tuple(parts)))
    return tuple(shown)


def keep_random_lines(
    messages: Sequence[Message], room: int, meter: Meter, seed: int
) -> tuple[Message, ...]:
    """Keep lines drawn by a hash of ``seed`` and their places, as many as there is room for."""
    texts = [passage.text.split("\n") for passage in without_reasoning(read_passages(messages))]
    lines = [
        (place, row)
        for place, rows in enumerate(texts)
        for row, line in enumerate(rows)
        if WORD.search(line)
    ]
    sizes = meter.counter.count_many([texts[place][row] for place, row in lines])
    kept: dict[int, set[int]] = {}
    for place, row, size in sorted(
        ((place, row, size) for (place, row), size in zip(lines, sizes, strict=True)),
        key=lambda line: _random_key(seed, *line[:2]),
    ):
        # The end of a line is a token as a rule.
        if size < room:
            room -= size + 1
            kept.setdefault(place, set()).add(row)
    return tuple(_message(place, texts[place], kept[place]) for place in sorted(kept))


CONTROLS: Mapping[str, Control] = {
    "none": keep_all,
    "newest": keep_newest,
    "random": keep_random_lines,
    "mask": mask_oldest_results,
}


def _random_key(seed: int, place: int, row: int) -> bytes:
    return blake2b(f"{seed} {place} {row}".encode(), digest_size=8).digest()


def _message(place: int, lines: Sequence[str], rows: set[int]) -> Message:
    text = "\n".join(line for row, line in enumerate(lines) if row in rows)
    name = MessageId(f"drawn-{place}")
    return Message(id=name, role="assistant", parts=(TextPart(text=text),), line=place)
