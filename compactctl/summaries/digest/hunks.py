"""Group the lines of what the agent works on into hunks that are quoted whole."""

from collections.abc import Iterator, Mapping, Sequence

from compactctl.records import Record, replace
from compactctl.summaries.digest.fragments import (
    QUOTED_SECTIONS,
    Fragment,
    is_current_work,
)
from compactctl.summaries.digest.lines import quotable_text
from compactctl.summaries.extract.passages import Passage
from compactctl.tokens.memory import Once, call

# A hunk ends at a blank line after so many fragments, or after the maximum.
_MIN_FRAGMENTS, _MAX_FRAGMENTS = 8, 40
# The value of a hunk is a share of that of its passage, which grows with the root of its size: an
# edit needs a few lines of what was read, and of a large file any one is needed less often.
# Tuned on sessions of three projects, in which a character that the agent had written was part of a
# later edit four times as often as one that it had read.
_VALUE, _MIN_CHARS, _WRITTEN_SCALE = 0.15, 175, 4.0
# Model calls after which the value has halved.
_HALF_LIFE = 5


class Hunk(Record, kw_only=False):
    """Fragments that are worth more together, since an edit needs all of them.

    Attributes:
        members: the indexes of the fragments.
        whole: what they say together; ``reuse_value`` is what they are worth beyond their own
            values if all of them are quoted.
    """

    members: tuple[int, ...]
    whole: Fragment


def find_hunks(
    passages: Sequence[Passage], fragments: Sequence[Fragment], once: Once = call
) -> list[Hunk]:
    """Return the hunks of what the agent read and wrote lately."""
    # The fragments of each line, by passage, the newest first.
    rows_of: dict[int, dict[int, list[int]]] = {
        number: {} for number in reversed(range(len(passages))) if is_current_work(passages[number])
    }
    for index, fragment in enumerate(fragments):
        line = fragment.line
        if fragment.group.section in QUOTED_SECTIONS and line.passage in rows_of:
            rows_of[line.passage].setdefault(line.line, []).append(index)
    return [
        Hunk(tuple(members), _join([fragments[index] for index in members], passages[number]))
        for number, rows in rows_of.items()
        if rows
        for members in _split(quotable_text(passages[number], once).texts, rows)
    ]


def _split(lines: Sequence[str], rows: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Yield the fragments of each hunk, two or more; ``rows`` holds the fragments of each line."""
    members: list[int] = []
    for row, line in enumerate(lines):
        is_end = not line.strip() and len(members) >= _MIN_FRAGMENTS
        if len(members) > 1 and (is_end or len(members) >= _MAX_FRAGMENTS):
            yield members
            members = []
        members += rows.get(row, ())
    if len(members) > 1:
        yield members


def _join(fragments: Sequence[Fragment], passage: Passage) -> Fragment:
    chars = sum(len(fragment.text) for fragment in fragments)
    scale = _VALUE * (_WRITTEN_SCALE if passage.kind == "call" else 1.0)
    value = scale * chars / (len(passage.text) + _MIN_CHARS) ** 0.5
    return replace(
        fragments[0],
        describes=tuple(dict.fromkeys(name for line in fragments for name in line.describes)),
        mentions=tuple(dict.fromkeys(name for line in fragments for name in line.mentions)),
        facts=tuple(fact for line in fragments for fact in line.facts),
        reuse_value=value / (1 + passage.age / _HALF_LIFE),
    )
