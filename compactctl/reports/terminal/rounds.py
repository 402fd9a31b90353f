"""The rounds of a session on a terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence

from compactctl.history.rounds import Mark, Round, Rounds
from compactctl.reports.rendering.screen import Fact, Facts, ScreenItem
from compactctl.reports.rendering.tables import Table, number, table, text
from compactctl.reports.rendering.text import one_line, plural, share_text
from compactctl.reports.rendering.wording import tokens_text

_NONE = "no requests to list: the file does not record what the provider reported for them"
_WORDS: dict[Mark, str] = {
    "compacted": "client compacted",
    "compactctl": "compactctl compacted",
    "fell": "context fell",
    "missed": "cache missed",
}
# Where a tool's name tells more.
_BY_TOOL = frozenset({"tool results", "file reads"})
_MOST_ENTERED = 3
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def rounds_screen(found: Rounds) -> Iterator[ScreenItem]:
    """Yield the table of rounds and what they come to; a sentence where there are none."""
    if not found.rounds:
        yield _NONE
        return
    yield _round_table(found)
    yield ""
    yield Facts(tuple(_facts(found)))


def _round_table(found: Rounds) -> Table:
    columns = (
        text("Turn"),
        number("Line", spare=2),
        number("Context"),
        number("New"),
        number("Cached"),
        number("Paid again", spare=3),
        number("Output"),
        text("Marks", "end", least=9),
        text("Entered", "end", least=16, spare=1),
    )
    many = len({each.conversation for each in found.rounds}) > 1
    rows = [_cells(each, many=many) for each in found.rounds]
    # A document stands on one line, whatever the round.
    kept = [at for at, column in enumerate(columns) if column.title != "Line" or _tells(rows, at)]
    return table([columns[at] for at in kept], ([row[at] for at in kept] for row in rows))


def _tells(rows: Sequence[Sequence[str]], at: int) -> bool:
    return len(rows) == 1 or len({row[at] for row in rows}) > 1


def _cells(each: Round, *, many: bool) -> tuple[str, ...]:
    turn = f"{each.turn}.{each.step}"
    return (
        f"{each.conversation + 1}: {turn}" if many else turn,
        f"{each.line + 1:,}",
        f"{each.context:,}",
        f"{each.new:,}",
        "" if each.cache_read is None else f"{each.cache_read:,}",
        "" if each.paid_again is None else f"{each.paid_again:,}",
        f"{each.output:,}" if each.is_output_reported else f"~{each.output:,}",
        ", ".join(_mark_texts(each)),
        _entered_text(each),
    )


def _mark_texts(each: Round) -> Iterator[str]:
    for mark in each.marks:
        if mark == "model":
            yield f"now {one_line(each.model or 'an unnamed model', 40)}"
        elif mark == "idle":
            yield f"idle {_span_text(each.idle or 0)}"
        elif mark != "fell" or not {"compacted", "compactctl"} & set(each.marks):
            yield _WORDS[mark]


def _span_text(seconds: float) -> str:
    if seconds >= _DAY:
        return f"{seconds / _DAY:.1f} d"
    return f"{seconds / _HOUR:.1f} h" if seconds >= _HOUR else f"{seconds / _MINUTE:.0f} min"


def _entered_text(each: Round) -> str:
    """Return the most that entered, by tool where it is results."""
    entered: Counter[str] = Counter()
    entered.update({name: size for name, size in each.entered.items() if name not in _BY_TOOL})
    for tool, size in each.tools.items():
        entered[tool or "tool results"] += size
    most = entered.most_common(_MOST_ENTERED)
    return ", ".join(f"{one_line(name, 40)} {size:,}" for name, size in most)


def _facts(found: Rounds) -> Iterator[Fact]:
    turns = f"{len(found.rounds):>11,} in {plural(found.turns, 'turn')}"
    beside = f"; {plural(found.aside, 'request')} of subagents left out" if found.aside else ""
    yield Fact("rounds", turns + beside)
    yield Fact("sent", f"{tokens_text(found.sent)}, the contexts of all rounds added up")
    yield from _cache_facts(found)
    counted = sum(not each.is_output_reported for each in found.rounds)
    note = f", {counted:,} of the answers by count (~)" if counted else ""
    yield Fact("output", tokens_text(found.output) + note)
    client, own = found.marked("compacted"), found.marked("compactctl")
    yield Fact("compactions", f"{client:>11,} by the client, {own:,} by compactctl")


def _cache_facts(found: Rounds) -> Iterator[Fact]:
    if not found.cache_reports:
        yield Fact("cached", "     not reported")
        return
    share = share_text(found.cache_read / found.sent)
    yield Fact("cached", f"{tokens_text(found.cache_read)}, {share} of what was sent")
    missed, idle = found.marked("missed"), found.marked("missed", "idle")
    why = f"the cache was missed in {plural(missed, 'round')}, {idle:,} of them after idle gaps"
    yield Fact("paid again", f"{tokens_text(found.paid_again)} at most; {why}")
