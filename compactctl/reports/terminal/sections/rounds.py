"""The rounds of a session on a terminal."""

from collections import Counter
from collections.abc import Iterator

from compactctl.history.usage.costs import Costs, RoundCost, priced
from compactctl.history.usage.rounds import Round, RoundMark, Rounds
from compactctl.reports.rendering.screen import Fact, Facts, ScreenItem
from compactctl.reports.rendering.tables import Table, number, table, text
from compactctl.reports.rendering.text import one_line, plural, share_text
from compactctl.reports.rendering.wording import tokens_text

_NONE = "no requests to list: the file does not record what the provider reported for them"
_WORDS: dict[RoundMark, str] = {
    "compacted": "client compacted",
    "compactctl": "compactctl compacted",
    "fell": "context fell",
    "missed": "cache missed",
}
# Where a tool's name tells more.
_BY_TOOL = frozenset({"tool results", "file reads"})
_MOST_ENTERED = 3
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def rounds_terminal(found: Rounds, costs: Costs | None = None) -> Iterator[ScreenItem]:
    """Yield the table of rounds and what they come to; a sentence where there are none."""
    if not found.rounds:
        yield _NONE
        return
    yield _round_table(found, costs)
    yield ""
    yield Facts((*_facts(found), *_cost_facts(costs, is_cache_known=found.cache_reports > 0)))
    if costs is not None and costs.carried:
        yield ""
        yield "What the input was spent on (estimate)"
        yield _carried_table(costs)


def _carried_table(costs: Costs) -> Table:
    total = sum(costs.carried.values()) or 1.0
    columns = (number("Cost $"), number("Share"), text("For"))
    rows = [
        (f"{amount:,.4f}", share_text(amount / total), name)
        for name, amount in costs.carried.items()
    ]
    return table(columns, rows)


def _round_table(found: Rounds, costs: Costs | None) -> Table:
    columns = (
        text("Turn"),
        number("Line", spare=4),
        number("Context"),
        number("New", spare=1),
        number("Cached"),
        number("Paid again", spare=5),
        number("Output", spare=2),
        number("Cost $"),
        text("Marks", "end", least=9),
        text("Entered", "end", least=16, spare=3),
    )
    many = len({each.conversation for each in found.rounds}) > 1
    rows = [_cells(each, cost, many=many) for each, cost in priced(found.rounds, costs)]
    # A document stands on one line, whatever the round.
    lines = {each.line for each in found.rounds}
    left_out = {*(["Line"] if len(lines) == 1 < len(rows) else []), *([] if costs else ["Cost $"])}
    kept = [at for at, column in enumerate(columns) if column.title not in left_out]
    return table([columns[at] for at in kept], ([row[at] for at in kept] for row in rows))


def _cells(each: Round, cost: RoundCost | None, *, many: bool) -> tuple[str, ...]:
    turn = f"{each.turn}.{each.step}"
    return (
        f"{each.conversation + 1}: {turn}" if many else turn,
        f"{each.line + 1:,}",
        f"{each.context:,}",
        f"{each.new:,}",
        "" if each.cache_read is None else f"{each.cache_read:,}",
        "" if each.paid_again is None else f"{each.paid_again:,}",
        f"{each.output:,}" if each.is_output_reported else f"~{each.output:,}",
        "" if cost is None else f"{cost.total:.4f}",
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
    resent = found.sent - sum(each.context for each in found.rounds)
    beside = f"; {resent:,} of them sent again by tools of the provider" if resent else ""
    yield Fact("sent", f"{tokens_text(found.sent)}, the contexts of all rounds added up{beside}")
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


def _cost_facts(costs: Costs | None, *, is_cache_known: bool) -> Iterator[Fact]:
    """Yield what the session cost; it is the most that it can be where nothing tells of a cache."""
    if costs is None:
        return
    if costs.known:
        parts = f"{costs.input:,.2f} for input, {costs.output:,.2f} for output"
        whole = costs.input + costs.output
        most = "" if is_cache_known else " at most"
        yield Fact("cost", f"{whole:>11,.2f} US dollars{most} (estimate): {parts}")
        again = f"{costs.again:>11,.2f} of it for what was paid again instead of read from a cache"
        yield Fact("", again if is_cache_known else "what was read from a cache was not reported")
        yield Fact("prices", _prices_text(costs))
    for model, count in costs.unpriced.items():
        named = one_line(model, 60)
        yield Fact("no price", f"{count:>11,} {'round' if count == 1 else 'rounds'} of {named}")


def _prices_text(costs: Costs) -> str:
    dates = f", as of {' and '.join(costs.dates)}" if costs.dates else ""
    return f"{one_line(costs.prices.name)}{dates}; without discounts and surcharges, not a bill"
