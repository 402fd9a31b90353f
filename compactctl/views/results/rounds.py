"""The requests of a session: as a table, as a graph, in a document and as a Parquet file."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.measuring.timeline import Timeline
from compactctl.history.categories import CATEGORIES, Category
from compactctl.history.usage.costs import Costs, RoundCost, with_costs
from compactctl.history.usage.rounds import Round, RoundMark, Rounds
from compactctl.views.facts import tokens_text
from compactctl.views.table_file import write_table
from compactctl.views.terminal.graph import SHADES, Graph, short_count
from compactctl.views.terminal.screen import Fact, Facts, ScreenItem
from compactctl.views.terminal.tables import Table, number, table, text
from compactctl.views.terminal.text import one_line, plural, share_text

_NONE = "no requests to list: the file does not record what the provider reported for them"
_WORDS: dict[RoundMark, str] = {
    "compacted": "client compacted",
    "compactctl": "compactctl compacted",
    "fell": "context fell",
    "missed": "cache missed",
}
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
# Where a tool's name tells more.
_BY_TOOL = frozenset({"tool results", "file reads"})
_MOST_ENTERED = 3
# A window that is so many times higher than all there is would make everything flat.
_HIGHEST = 3
_HEADROOM = 1.1
_OTHERS = "all else"
# Column -> Arrow type; ``round_row`` has the values.
ROUND_COLUMNS: Mapping[str, str] = {
    "number": "int64",
    "conversation": "int64",
    "turn": "int64",
    "step": "int64",
    "message": "large_string",
    "line": "int64",
    "model": "large_string",
    "time": "float64",
    "idle": "float64",
    "context": "int64",
    "new": "int64",
    "cache_read": "int64",
    "cache_write": "int64",
    "cache_hour": "int64",
    "resent": "int64",
    "paid_again": "int64",
    "output": "int64",
    "output_reported": "int64",
    "reasoning": "int64",
    "marks": "large_string",
    "results": "large_string",
    "cost_input": "float64",
    "cost_output": "float64",
    "cost_paid_again": "float64",
}
# Column -> category, of what entered.
ENTERED_COLUMNS: Mapping[str, Category] = {
    f"entered_{category.replace(' ', '_')}": category for category in CATEGORIES
}
ROUND_TYPES: Mapping[str, str] = {**ROUND_COLUMNS, **dict.fromkeys(ENTERED_COLUMNS, "int64")}
ROUNDS = "compactctl.rounds"
ROUNDS_VERSION = 1
"""Goes up when a column is removed or changes its meaning."""


def rounds_terminal(found: Rounds, costs: Costs | None = None) -> Iterator[ScreenItem]:
    """Yield the table of rounds and what they come to; a sentence where there are none."""
    if not found.rounds:
        yield _NONE
        return
    yield _round_table(found, costs)
    yield ""
    yield Facts((*_facts(found), *_cost_facts(costs, is_cache_known=found.cache_reports > 0)))
    if costs is not None and costs.input_by_category:
        yield ""
        yield "What the input was spent on (estimate)"
        yield _carried_table(costs)


def round_fields(found: Rounds | None, costs: Costs | None) -> dict[str, Any]:
    """Return the fields about rounds and their costs; null where nobody asked for them."""
    if found is None:
        return {"rounds": None, "roundTotals": None, "costs": None}
    return {
        "rounds": [_round(*each) for each in with_costs(found.rounds, costs)],
        "roundTotals": _totals(found),
        "costs": None if costs is None else _costs(costs),
    }


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
        text("Marks", "end", min_width=9),
        text("Entered", "end", min_width=16, spare=3),
    )
    many = len({each.place.conversation for each in found.rounds}) > 1
    rows = [_cells(each, cost, many=many) for each, cost in with_costs(found.rounds, costs)]
    # A document stands on one line, whatever the round.
    lines = {each.place.line for each in found.rounds}
    left_out = {*(["Line"] if len(lines) == 1 < len(rows) else []), *([] if costs else ["Cost $"])}
    kept = [at for at, column in enumerate(columns) if column.title not in left_out]
    return table([columns[at] for at in kept], ([row[at] for at in kept] for row in rows))


def _cells(each: Round, cost: RoundCost | None, *, many: bool) -> tuple[str, ...]:
    turn = f"{each.place.turn}.{each.place.step}"
    return (
        f"{each.place.conversation + 1}: {turn}" if many else turn,
        f"{each.place.line + 1:,}",
        f"{each.usage.context:,}",
        f"{each.context_growth:,}",
        "" if each.usage.cache_read is None else f"{each.usage.cache_read:,}",
        "" if each.cache_miss_tokens is None else f"{each.cache_miss_tokens:,}",
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
    beside = (
        f"; {plural(found.subagent_requests, 'request')} of subagents left out"
        if found.subagent_requests
        else ""
    )
    yield Fact("rounds", turns + beside)
    resent = found.sent - sum(each.usage.context for each in found.rounds)
    beside = f"; {resent:,} of them sent again by tools of the provider" if resent else ""
    yield Fact("sent", f"{tokens_text(found.sent)}, the contexts of all rounds added up{beside}")
    yield from _cache_facts(found)
    counted = sum(not each.is_output_reported for each in found.rounds)
    note = f", {counted:,} of the answers by count (~)" if counted else ""
    yield Fact("output", tokens_text(found.output) + note)
    client, own = found.count_marked("compacted"), found.count_marked("compactctl")
    yield Fact("compactions", f"{client:>11,} by the client, {own:,} by compactctl")


def _cache_facts(found: Rounds) -> Iterator[Fact]:
    if not found.cache_reports:
        yield Fact("cached", "     not reported")
        return
    share = share_text(found.cache_read / found.sent)
    yield Fact("cached", f"{tokens_text(found.cache_read)}, {share} of what was sent")
    missed, idle = found.count_marked("missed"), found.count_marked("missed", "idle")
    why = f"the cache was missed in {plural(missed, 'round')}, {idle:,} of them after idle gaps"
    yield Fact("paid again", f"{tokens_text(found.cache_miss_tokens)} at most; {why}")


def _cost_facts(costs: Costs | None, *, is_cache_known: bool) -> Iterator[Fact]:
    """Yield what the session cost; it is the most that it can be where nothing tells of a cache."""
    if costs is None:
        return
    if costs.priced_rounds:
        parts = f"{costs.input:,.2f} for input, {costs.output:,.2f} for output"
        whole = costs.input + costs.output
        most = "" if is_cache_known else " at most"
        yield Fact("cost", f"{whole:>11,.2f} US dollars{most} (estimate): {parts}")
        again = costs.cache_miss_cost
        missed = f"{again:>11,.2f} of it for what was paid again instead of read from a cache"
        yield Fact("", missed if is_cache_known else "what was read from a cache was not reported")
        yield Fact("prices", _prices_text(costs))
    for model, count in costs.unpriced.items():
        named = one_line(model, 60)
        yield Fact("no price", f"{count:>11,} {'round' if count == 1 else 'rounds'} of {named}")


def _prices_text(costs: Costs) -> str:
    dates = f", as of {' and '.join(costs.dates)}" if costs.dates else ""
    return f"{one_line(costs.prices.name)}{dates}; without discounts and surcharges, not a bill"


def _carried_table(costs: Costs) -> Table:
    total = sum(costs.input_by_category.values()) or 1.0
    columns = (number("Cost $"), number("Share"), text("For"))
    rows = [
        (f"{amount:,.4f}", share_text(amount / total), name)
        for name, amount in costs.input_by_category.items()
    ]
    return table(columns, rows)


def _round(each: Round, cost: RoundCost | None) -> dict[str, Any]:
    return {
        "number": each.place.number,
        "conversation": each.place.conversation + 1,
        "turn": each.place.turn,
        "step": each.place.step,
        "message": each.place.message,
        "line": each.place.line + 1,
        "model": each.model,
        "time": None if each.time is None else _time_text(each.time),
        "idleSeconds": each.idle,
        "contextTokens": each.usage.context,
        "newTokens": each.context_growth,
        "cacheReadTokens": each.usage.cache_read,
        "cacheWriteTokens": each.usage.cache_write,
        "cacheHourTokens": each.usage.cache_write_1h,
        "resentTokens": each.usage.resent.context if each.usage.resent else 0,
        "paidAgainTokens": each.cache_miss_tokens,
        "outputTokens": each.output,
        "outputReported": each.is_output_reported,
        "reasoningTokens": each.usage.reasoning,
        "entered": dict(each.entered),
        "results": dict(each.tools),
        "marks": list(each.marks),
        "cost": None if cost is None else _cost(cost),
    }


def _time_text(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _cost(cost: RoundCost) -> dict[str, float]:
    return {"input": cost.input, "output": cost.output, "paidAgain": cost.cache_miss_cost}


def _totals(found: Rounds) -> dict[str, int]:
    return {
        "rounds": len(found.rounds),
        "turns": found.turns,
        "subagentRequests": found.subagent_requests,
        "sentTokens": found.sent,
        "cacheReports": found.cache_reports,
        "cacheReadTokens": found.cache_read,
        "paidAgainTokens": found.cache_miss_tokens,
        "outputTokens": found.output,
        "clientCompactions": found.count_marked("compacted"),
        "ownCompactions": found.count_marked("compactctl"),
        "cacheMisses": found.count_marked("missed"),
        "idleGaps": found.count_marked("idle"),
    }


def _costs(costs: Costs) -> dict[str, Any]:
    return {
        "currency": "USD",
        "exactness": "estimate",
        "prices": costs.prices.name,
        "priceDates": list(costs.dates),
        "total": costs.input + costs.output,
        "input": costs.input,
        "output": costs.output,
        "paidAgain": costs.cache_miss_cost,
        "carried": dict(costs.input_by_category),
        "unpriced": dict(costs.unpriced),
    }


def session_graph(result: StatsResult, timeline: Timeline) -> Iterator[ScreenItem]:
    """Yield the graph and what it shows; a sentence where there is nothing to draw."""
    if not timeline.contexts:
        yield "there is no request to draw"
        return
    names = _largest(timeline)
    peak = max(each.usage.context for each in timeline.rounds.rounds)
    limits = [(name, size) for name, size in _limits(result) if size <= _HIGHEST * peak]
    yield Graph(
        columns=tuple(_layers(held, names) for held in timeline.contexts),
        top=_HEADROOM * max(peak, *(size for _, size in limits), 1),
        limits=tuple(size for _, size in limits),
        marks=tuple(_compactions(timeline)),
    )
    yield f"{plural(len(timeline.contexts), 'request')}, at most {peak:,} tokens; {_lines(limits)}"
    yield _legend(names, timeline)


def _largest(timeline: Timeline) -> list[str]:
    """Return the categories that take most of all requests, the largest first."""
    sums: Counter[str] = Counter()
    for held in timeline.contexts:
        sums.update(held)
    return [name for name, size in sums.most_common(len(SHADES) - 1) if size]


def _limits(result: StatsResult) -> Iterator[tuple[str, int]]:
    limits = result.measure.limits
    if limits.client is not None and limits.compacts_at is not None:
        yield f"{limits.client.name} compacts", limits.compacts_at
    yield "the window ends", limits.budget.window


def _layers(held: Mapping[str, int], names: list[str]) -> tuple[float, ...]:
    known = [held.get(name, 0) for name in names]
    return (*known, sum(held.values()) - sum(known))


def _compactions(timeline: Timeline) -> Iterator[int]:
    for at, each in enumerate(timeline.rounds.rounds):
        if {"compacted", "compactctl"} & set(each.marks):
            yield at


def _lines(limits: list[tuple[str, int]]) -> str:
    told = [f"{name} at {short_count(size)}" for name, size in limits]
    return " and ".join(told) or "its window is far above"


def _legend(names: list[str], timeline: Timeline) -> str:
    told = [f"{shade} {name}" for shade, name in zip(SHADES, [*names, _OTHERS], strict=False)]
    if any(True for _ in _compactions(timeline)):
        told.append("▲ compacted")
    if not timeline.is_reported:
        told.append("counted, for nothing was reported")
    return "  ".join(told)


def write_rounds(
    found: Rounds, costs: Costs | None, path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write one line per round; see ``write_table``."""
    rows = (round_row(*each) for each in with_costs(found.rounds, costs))
    return write_table(rows, ROUND_TYPES, {ROUNDS: ROUNDS_VERSION}, path, force=force)


def round_row(each: Round, cost: RoundCost | None) -> dict[str, object]:
    """Return a value for each of ``ROUND_TYPES``.

    Conversations and lines count from 1, ``results`` is a JSON object of tokens by tool.
    """
    place, usage = each.place, each.usage
    return {
        "number": place.number,
        "conversation": place.conversation + 1,
        "turn": place.turn,
        "step": place.step,
        "message": place.message,
        "line": place.line + 1,
        "model": each.model,
        "time": each.time,
        "idle": each.idle,
        "context": usage.context,
        "new": each.context_growth,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "cache_hour": usage.cache_write_1h,
        "resent": usage.resent.context if usage.resent else 0,
        "paid_again": each.cache_miss_tokens,
        "output": each.output,
        "output_reported": int(each.is_output_reported),
        "reasoning": usage.reasoning,
        "marks": each.marks,
        "results": json.dumps(dict(each.tools)),
        "cost_input": cost and cost.input,
        "cost_output": cost and cost.output,
        "cost_paid_again": cost and cost.cache_miss_cost,
        **{name: each.entered.get(category, 0) for name, category in ENTERED_COLUMNS.items()},
    }
