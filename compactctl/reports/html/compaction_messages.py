"""The messages of a compaction on a page: each with its fate, what it said and what it says now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from compactctl.commands.compact.compared import ComparedMessage, Comparison
from compactctl.commands.planning.explain import MessageFate
from compactctl.reports.html.areas import areas, grid
from compactctl.reports.html.choice import PageChoice
from compactctl.reports.html.figures import Chart
from compactctl.reports.html.session_lists import MOST_MESSAGES, anchor_of
from compactctl.reports.html.texts import PageNames, shown_texts
from compactctl.reports.rendering.scale import short_count
from compactctl.reports.rendering.text import one_line

FATES: tuple[MessageFate, ...] = ("kept", "rewritten", "written", "hidden")
_MOST_COLUMNS = 720
_HEADROOM = 1.14
_LINES = 2
# How much of a message is shown while it is folded, in characters.
_BEGINNING = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class FateStrip:
    """The messages in a row, before above after, and which one each column leads to."""

    before: Chart
    after: Chart
    targets: tuple[str, ...]
    shared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FateRow:
    """A message, what became of it and why; ``now`` is what it says since it was rewritten."""

    anchor: str
    line: int
    role: str
    says: str
    fate: MessageFate
    why: str
    tokens: int
    tokens_after: int
    text: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FateCount:
    """How many messages have a fate, with their tokens before and after."""

    fate: MessageFate
    messages: int
    before: int
    after: int


def listed_fates(compared: Comparison) -> list[int]:
    """Return the indices of the messages on a page: all, or the largest where there are many."""
    indices = range(len(compared.messages))
    if len(indices) <= MOST_MESSAGES:
        return list(indices)

    def size(at: int) -> int:
        row = compared.messages[at].explained
        return max(row.tokens, row.tokens_after)

    return sorted(nlargest(MOST_MESSAGES, indices, key=size))


def fate_counts(compared: Comparison) -> list[FateCount]:
    """Return how many messages have each fate that occurs."""
    rows = [each.explained for each in compared.messages]
    counts = (
        FateCount(
            fate=fate,
            messages=sum(row.fate == fate for row in rows),
            before=sum(row.tokens for row in rows if row.fate == fate),
            after=sum(row.tokens_after for row in rows if row.fate == fate),
        )
        for fate in FATES
    )
    return [count for count in counts if count.messages]


def fate_strip(compared: Comparison, listed: Sequence[int]) -> FateStrip | None:
    """Return the listed messages as bars, several side by side as one; None without any."""
    if not listed:
        return None
    shared = -(-len(listed) // _MOST_COLUMNS)
    groups = [listed[at : at + shared] for at in range(0, len(listed), shared)]
    rows = [each.explained for each in compared.messages]
    before = [_tokens_by_fate((rows[at].fate, rows[at].tokens) for at in group) for group in groups]
    after = [
        _tokens_by_fate((rows[at].fate, rows[at].tokens_after) for at in group) for group in groups
    ]
    top = _HEADROOM * max(sum(sizes.values()) for sizes in (*before, *after)) or 1.0
    return FateStrip(
        before=_chart("messages before", before, top),
        after=_chart("messages after", after, top),
        targets=tuple(
            anchor_of(max(group, key=lambda at: max(rows[at].tokens, rows[at].tokens_after)))
            for group in groups
        ),
        shared=shared,
    )


def _tokens_by_fate(rows: Iterable[tuple[MessageFate, int]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for fate, tokens in rows:
        sizes[fate] = sizes.get(fate, 0) + tokens
    return sizes


def _chart(label: str, columns: Sequence[Mapping[str, int]], top: float) -> Chart:
    return Chart(
        label=label,
        columns=len(columns),
        areas=tuple(areas(columns, FATES, top)),
        grid=grid(top, short_count, _LINES),
    )


def fate_rows(
    compared: Comparison, listed: Sequence[int], choice: PageChoice, names: PageNames
) -> tuple[list[FateRow], int | None]:
    """Return the listed messages, and after how many characters their texts are cut, if any."""
    chosen = [compared.messages[at] for at in listed]
    rewritten = [each for each in chosen if each.explained.fate == "rewritten"]
    said = [each.before or each.after for each in chosen]
    now = [each.after for each in rewritten]
    texts, cut = shown_texts([each for each in (*said, *now) if each is not None], choice)
    anew = dict(zip((each.explained.id for each in rewritten), texts[len(said) :], strict=True))
    rows = [
        _row(at, each, text, anew.get(each.explained.id, ""), choice, names)
        for at, each, text in zip(listed, chosen, texts[: len(said)], strict=True)
    ]
    return rows, cut


def _row(  # noqa: PLR0913, PLR0917 - a row has these columns
    at: int,
    each: ComparedMessage,
    text: str,
    now: str,
    choice: PageChoice,
    names: PageNames,
) -> FateRow:
    told = each.explained
    by = f"by {told.stage}" if told.stage else ""
    reason = "" if choice.redact else names.line(told.reason)
    return FateRow(
        anchor=anchor_of(at),
        line=told.line,
        role=told.role,
        says=one_line(text, _BEGINNING) or ", ".join(map(names.tool, told.tools)),
        fate=told.fate,
        why=": ".join(filter(None, (" ".join(filter(None, (told.fate, by))), reason))),
        tokens=told.tokens,
        tokens_after=told.tokens_after,
        text=text,
        now=now,
    )
