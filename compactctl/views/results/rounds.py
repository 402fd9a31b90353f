"""The requests of a session: on a terminal, as a graph, in a document and as a Parquet file."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactctl.commands.inspect.stats import StatsResult
from compactctl.history.categories import CATEGORIES, Category
from compactctl.history.usage.costs import Costs, RoundCost, with_costs
from compactctl.history.usage.rounds import Round, RoundMark, Rounds
from compactctl.views.terminal.graph import SHADES, Graph, short_count
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem
from compactctl.views.terminal.tables import Table, number, table, text
from compactctl.views.terminal.text import one_line, percent_text, plural, share_text

if TYPE_CHECKING:
    from compactctl.commands.measuring.timeline import Timeline

_NONE = "no rounds to list: the file records no usage"
_MARK_LABELS: dict[RoundMark, str] = {
    "compacted": "client compacted",
    "compactctl": "compactctl compacted",
    "fell": "context fell",
    "missed": "cache missed",
    "copied": "of the parent session",
}
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
# Shown by tool instead of by category.
_BY_TOOL = frozenset({"tool results", "file reads"})
_MAX_ENTERED = 3
# A limit higher than this many times the largest request would flatten the graph.
_MAX_LIMIT_RATIO = 3
_HEADROOM = 1.1
_OTHERS = "other"
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
# Column -> category of the tokens that entered.
ENTERED_COLUMNS: Mapping[str, Category] = {
    f"entered_{category.replace(' ', '_')}": category for category in CATEGORIES
}
ROUND_TYPES: Mapping[str, str] = {**ROUND_COLUMNS, **dict.fromkeys(ENTERED_COLUMNS, "int64")}
ROUNDS = "compactctl.rounds"
ROUNDS_VERSION = 1
"""Goes up when a column is removed or changes its meaning."""


def rounds_terminal(rounds: Rounds, costs: Costs | None = None) -> Iterator[ScreenItem]:
    """Yield what all rounds sent and cost, then a row for each; a sentence if there are none."""
    if not rounds.rounds:
        yield _NONE
        return
    yield Accent(_sent_text(rounds), "bold")
    if costs is not None and costs.priced_rounds:
        yield _cost_text(costs, is_cache_known=rounds.cache_reports > 0)
    yield ""
    yield _round_table(rounds, costs)
    yield ""
    yield Facts((*_facts(rounds), *_cost_facts(costs, is_cache_known=rounds.cache_reports > 0)))
    if costs is not None and costs.input_by_category:
        yield ""
        yield "Cost of the input by category (estimate)"
        yield _input_table(costs)


def _sent_text(rounds: Rounds) -> str:
    count = f"{plural(len(rounds.sent_rounds), 'round')} in {plural(rounds.turns, 'turn')}"
    sent = f"{count}: {rounds.sent:,} tokens sent"
    if not rounds.cache_reports:
        return f"{sent}, cache use not reported"
    missed = f"{percent_text(rounds.cache_miss_tokens / rounds.sent)} cache misses"
    return f"{sent}, {percent_text(rounds.cache_read / rounds.sent)} read from the cache, {missed}"


def _cost_text(costs: Costs, *, is_cache_known: bool) -> str:
    """Return the cost of the session; an upper limit if cache reads were not reported."""
    limit = "" if is_cache_known else "at most "
    total = costs.input + costs.output
    parts = f"${costs.input:,.2f} for input, ${costs.output:,.2f} for output"
    return f"{limit}${total:,.2f} (estimate): {parts}"


def round_fields(rounds: Rounds | None, costs: Costs | None) -> dict[str, Any]:
    """Return the fields about rounds and their costs; null if they were not requested."""
    if rounds is None:
        return {"rounds": None, "roundTotals": None, "costs": None}
    return {
        "rounds": [_round_fields(r, cost) for r, cost in with_costs(rounds.rounds, costs)],
        "roundTotals": _total_fields(rounds),
        "costs": None if costs is None else _cost_fields(costs),
    }


def _round_table(rounds: Rounds, costs: Costs | None) -> Table:
    columns = (
        text("Turn"),
        number("Line", spare=4),
        number("Context"),
        number("New", spare=1),
        number("Cached"),
        number("Cache misses", spare=5),
        number("Output", spare=2),
        number("Cost $"),
        text("Marks", "end", min_width=9),
        text("Entered", "end", min_width=16, spare=3),
    )
    has_conversations = len({r.place.conversation for r in rounds.rounds}) > 1
    rows = [
        _cells(r, cost, has_conversations=has_conversations)
        for r, cost in with_costs(rounds.rounds, costs)
    ]
    # In a document of one line, every round has the same one.
    lines = {r.place.line for r in rounds.rounds}
    hidden_titles = {
        *(["Line"] if len(lines) == 1 < len(rows) else []),
        *([] if costs else ["Cost $"]),
    }
    shown = [index for index, column in enumerate(columns) if column.title not in hidden_titles]
    total = _total_cells(rounds, costs)
    return table(
        [columns[index] for index in shown],
        ([row[index] for index in shown] for row in rows),
        [total[index] for index in shown],
    )


def _total_cells(rounds: Rounds, costs: Costs | None) -> tuple[str, ...]:
    is_cache_known = rounds.cache_reports > 0
    return (
        "total",
        "",
        f"{sum(r.usage.context for r in rounds.sent_rounds):,}",
        "",
        f"{rounds.cache_read:,}" if is_cache_known else "",
        f"{rounds.cache_miss_tokens:,}" if is_cache_known else "",
        f"{rounds.output:,}",
        "" if costs is None else f"{costs.input + costs.output:.4f}",
        "",
        "",
    )


def _cells(round_: Round, cost: RoundCost | None, *, has_conversations: bool) -> tuple[str, ...]:
    turn = f"{round_.place.turn}.{round_.place.step}"
    return (
        f"{round_.place.conversation + 1}: {turn}" if has_conversations else turn,
        f"{round_.place.line + 1:,}",
        f"{round_.usage.context:,}",
        f"{round_.context_growth:,}",
        "" if round_.usage.cache_read is None else f"{round_.usage.cache_read:,}",
        "" if round_.cache_miss_tokens is None else f"{round_.cache_miss_tokens:,}",
        f"{round_.output:,}" if round_.is_output_reported else f"~{round_.output:,}",
        "" if cost is None else f"{cost.total:.4f}",
        ", ".join(_mark_texts(round_)),
        _entered_text(round_),
    )


def _mark_texts(round_: Round) -> Iterator[str]:
    for mark in round_.marks:
        if mark == "model":
            yield f"now {one_line(round_.model or 'an unnamed model', 40)}"
        elif mark == "idle":
            yield f"idle {_span_text(round_.idle or 0)}"
        elif mark != "fell" or not {"compacted", "compactctl"} & set(round_.marks):
            yield _MARK_LABELS[mark]


def _span_text(seconds: float) -> str:
    if seconds >= _DAY:
        return f"{seconds / _DAY:.1f} d"
    return f"{seconds / _HOUR:.1f} h" if seconds >= _HOUR else f"{seconds / _MINUTE:.0f} min"


def _entered_text(round_: Round) -> str:
    """Return the largest parts that entered; tool results by tool."""
    entered: Counter[str] = Counter()
    entered.update({name: size for name, size in round_.entered.items() if name not in _BY_TOOL})
    for tool, size in round_.tools.items():
        entered[tool or "tool results"] += size
    largest = entered.most_common(_MAX_ENTERED)
    return ", ".join(f"{one_line(name, 40)} {size:,}" for name, size in largest)


def _facts(rounds: Rounds) -> Iterator[Fact]:
    """Yield what the table does not show."""
    n_copied = len(rounds.rounds) - len(rounds.sent_rounds)
    if n_copied:
        yield Fact("not included", f"{plural(n_copied, 'round')} of the parent session")
    if rounds.subagent_requests:
        yield Fact("not listed", f"{plural(rounds.subagent_requests, 'request')} of subagents")
    resent = rounds.sent - sum(r.usage.context for r in rounds.sent_rounds)
    if resent:
        yield Fact("sent again", f"{resent:,} tokens, by tools of the provider")
    if rounds.cache_reports:
        missed, idle = rounds.count_marked("missed"), rounds.count_marked("missed", "idle")
        tokens = f"at most {rounds.cache_miss_tokens:,} tokens"
        where = f"in {plural(missed, 'round')}, {idle:,} of them after idle gaps"
        yield Fact("cache misses", f"{tokens} {where}")
    n_counted = sum(not r.is_output_reported for r in rounds.sent_rounds)
    if n_counted:
        yield Fact("output", f"counted for {plural(n_counted, 'round')} (~), not reported")
    by_client, by_compactctl = rounds.count_marked("compacted"), rounds.count_marked("compactctl")
    yield Fact("compactions", f"{by_client:,} by the client, {by_compactctl:,} by compactctl")


def _cost_facts(costs: Costs | None, *, is_cache_known: bool) -> Iterator[Fact]:
    """Yield what the cost includes, and what has no price."""
    if costs is None:
        return
    if costs.priced_rounds:
        misses = f"${costs.cache_miss_cost:,.2f} for cache misses"
        yield Fact("of the cost", misses if is_cache_known else "cache reads were not reported")
        yield Fact("prices", _prices_text(costs))
    for model, count in costs.unpriced.items():
        yield Fact("no price", f"{plural(count, 'round')} of {one_line(model, 60)}")


def _prices_text(costs: Costs) -> str:
    dates = f", as of {' and '.join(costs.dates)}" if costs.dates else ""
    return f"{one_line(costs.prices.name)}{dates}; without discounts and surcharges, not a bill"


def _input_table(costs: Costs) -> Table:
    total = sum(costs.input_by_category.values()) or 1.0
    columns = (number("Cost $"), number("Share"), text("For"))
    rows = [
        (f"{amount:,.4f}", share_text(amount / total), name)
        for name, amount in costs.input_by_category.items()
    ]
    return table(columns, rows)


def _round_fields(round_: Round, cost: RoundCost | None) -> dict[str, Any]:
    return {
        "number": round_.place.number,
        "conversation": round_.place.conversation + 1,
        "turn": round_.place.turn,
        "step": round_.place.step,
        "message": round_.place.message,
        "line": round_.place.line + 1,
        "model": round_.model,
        "time": None if round_.time is None else _time_text(round_.time),
        "idleSeconds": round_.idle,
        "contextTokens": round_.usage.context,
        "newTokens": round_.context_growth,
        "cacheReadTokens": round_.usage.cache_read,
        "cacheWriteTokens": round_.usage.cache_write,
        "cacheHourTokens": round_.usage.cache_write_1h,
        "resentTokens": round_.usage.resent.context if round_.usage.resent else 0,
        "paidAgainTokens": round_.cache_miss_tokens,
        "outputTokens": round_.output,
        "outputReported": round_.is_output_reported,
        "reasoningTokens": round_.usage.reasoning,
        "entered": dict(round_.entered),
        "results": dict(round_.tools),
        "marks": list(round_.marks),
        "cost": None if cost is None else _round_cost_fields(cost),
    }


def _time_text(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _round_cost_fields(cost: RoundCost) -> dict[str, float]:
    return {"input": cost.input, "output": cost.output, "paidAgain": cost.cache_miss_cost}


def _total_fields(rounds: Rounds) -> dict[str, int]:
    return {
        "rounds": len(rounds.sent_rounds),
        "copiedRounds": len(rounds.rounds) - len(rounds.sent_rounds),
        "turns": rounds.turns,
        "subagentRequests": rounds.subagent_requests,
        "sentTokens": rounds.sent,
        "cacheReports": rounds.cache_reports,
        "cacheReadTokens": rounds.cache_read,
        "paidAgainTokens": rounds.cache_miss_tokens,
        "outputTokens": rounds.output,
        "clientCompactions": rounds.count_marked("compacted"),
        "ownCompactions": rounds.count_marked("compactctl"),
        "cacheMisses": rounds.count_marked("missed"),
        "idleGaps": rounds.count_marked("idle"),
    }


def _cost_fields(costs: Costs) -> dict[str, Any]:
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


def session_graph(result: StatsResult, timeline: "Timeline") -> Iterator[ScreenItem]:
    """Yield the graph and its legend; a sentence if there is nothing to draw."""
    if not timeline.contexts:
        yield "no requests to draw"
        return
    names = _largest_categories(timeline)
    peak = max(r.usage.context for r in timeline.rounds.rounds)
    limits = [(name, size) for name, size in _limits(result) if size <= _MAX_LIMIT_RATIO * peak]
    yield Graph(
        columns=tuple(_layers(tokens, names) for tokens in timeline.contexts),
        top=_HEADROOM * max(peak, *(size for _, size in limits), 1),
        limits=tuple(size for _, size in limits),
        marks=tuple(_compactions(timeline)),
    )
    requests = plural(len(timeline.contexts), "request")
    yield f"{requests}, at most {peak:,} tokens; {_limits_text(limits)}"
    yield _legend(names, timeline)


def _largest_categories(timeline: "Timeline") -> list[str]:
    """Return the categories with the most tokens in all requests, largest first."""
    sums: Counter[str] = Counter()
    for tokens in timeline.contexts:
        sums.update(tokens)
    return [name for name, size in sums.most_common(len(SHADES) - 1) if size]


def _limits(result: StatsResult) -> Iterator[tuple[str, int]]:
    limits = result.measure.limits
    if limits.client is not None and limits.compacts_at is not None:
        yield f"{limits.client.name} compacts", limits.compacts_at
    yield "the window ends", limits.budget.window


def _layers(tokens: Mapping[str, int], names: list[str]) -> tuple[float, ...]:
    sizes = [tokens.get(name, 0) for name in names]
    return (*sizes, sum(tokens.values()) - sum(sizes))


def _compactions(timeline: "Timeline") -> Iterator[int]:
    for index, round_ in enumerate(timeline.rounds.rounds):
        if {"compacted", "compactctl"} & set(round_.marks):
            yield index


def _limits_text(limits: list[tuple[str, int]]) -> str:
    labels = [f"{name} at {short_count(size)}" for name, size in limits]
    return " and ".join(labels) or "far below the window"


def _legend(names: list[str], timeline: "Timeline") -> str:
    labels = [f"{shade} {name}" for shade, name in zip(SHADES, [*names, _OTHERS], strict=False)]
    if any(True for _ in _compactions(timeline)):
        labels.append("▲ compacted")
    if not timeline.is_reported:
        labels.append("counted, since no usage was recorded")
    return "  ".join(labels)


def write_rounds(
    rounds: Rounds, costs: Costs | None, path: str | Path, *, force: bool = False
) -> tuple[str, ...]:
    """Write one line per round, in the format of the extension; see ``write_table``."""
    from compactctl.commands.output_files import TABLE_FORMATS, format_by_extension
    from compactctl.views.table_file import write_table, write_text
    from compactctl.views.table_text import rows_text

    kind = format_by_extension("--rounds-out", str(path), TABLE_FORMATS)
    rows = (round_row(r, cost) for r, cost in with_costs(rounds.rounds, costs))
    if kind == "parquet":
        return write_table(rows, ROUND_TYPES, {ROUNDS: ROUNDS_VERSION}, path, force=force)
    return write_text(rows_text(kind, ROUND_TYPES, rows), path, force=force)


def round_row(round_: Round, cost: RoundCost | None) -> dict[str, object]:
    """Return a value for each of ``ROUND_TYPES``.

    Conversations and lines count from 1, ``results`` is a JSON object of tokens by tool.
    """
    place, usage = round_.place, round_.usage
    return {
        "number": place.number,
        "conversation": place.conversation + 1,
        "turn": place.turn,
        "step": place.step,
        "message": place.message,
        "line": place.line + 1,
        "model": round_.model,
        "time": round_.time,
        "idle": round_.idle,
        "context": usage.context,
        "new": round_.context_growth,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "cache_hour": usage.cache_write_1h,
        "resent": usage.resent.context if usage.resent else 0,
        "paid_again": round_.cache_miss_tokens,
        "output": round_.output,
        "output_reported": int(round_.is_output_reported),
        "reasoning": usage.reasoning,
        "marks": round_.marks,
        "results": json.dumps(dict(round_.tools)),
        "cost_input": cost and cost.input,
        "cost_output": cost and cost.output,
        "cost_paid_again": cost and cost.cache_miss_cost,
        **{name: round_.entered.get(category, 0) for name, category in ENTERED_COLUMNS.items()},
    }
