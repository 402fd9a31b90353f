"""``stats`` as a page: what filled the context of a session, over its lifetime and now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.measuring.timeline import OVERHEAD, Timeline
from compactctl.commands.page_choice import PageChoice
from compactctl.history.usage.costs import UNSEEN, RoundCost
from compactctl.history.usage.rounds import Round, RoundMark
from compactctl.model.message import MessageId
from compactctl.records import Record
from compactctl.tokens.models.prices import MILLION
from compactctl.views.facts import clock_text, utc_text
from compactctl.views.pages.drawing import (
    Chart,
    ChartLine,
    across,
    areas,
    class_of,
    dollars,
    down,
    grid,
    percent,
)
from compactctl.views.pages.page import PageNames, page_contents, page_of, shown_texts
from compactctl.views.pages.session_lists import (
    anchor_of,
    category_bars,
    disagreement_text,
    file_bars,
    listed_messages,
    message_bars,
    message_rows,
    read_rows,
    request_rows,
    request_segments,
    tool_bars,
)
from compactctl.views.results.request import answer_lines, doubt_lines
from compactctl.views.terminal.graph import short_count
from compactctl.views.terminal.screen import Accent
from compactctl.views.terminal.text import plural, share_text, size_text

# A wide screen has no more pixels to draw them.
_MAX_COLUMNS = 720
_CACHE_ORDER = ("cache read", "new", "cache miss")
# From the bottom up: constant parts, words of user and model, tool calls and results.
ORDER = (
    OVERHEAD, "system prompt", "tool definitions", "summaries", "user", "assistant", "reasoning",
    "tool calls", "tool results", "file reads", "attachments", "media", "other", UNSEEN,
)  # fmt: skip
_MARK_LABELS: Mapping[RoundMark, str] = {
    "compacted": "compacted by the client",
    "compactctl": "compacted by compactctl",
    "fell": "fell",
    "missed": "cache miss",
    "idle": "idle before",
    "copied": "of the parent session",
}
# A limit higher than this many times the largest request would flatten the chart.
_MAX_LIMIT_RATIO = 3
_HEADROOM = 1.14
_MAX_LABELS = 6
_LOW_CHART_LINES = 2


class RequestColumn(Record):
    """One request, or the largest of several consecutive ones.

    ``marks`` are those of all of them, ``shared`` is their number.
    """

    round: Round
    held: Mapping[str, int]
    cost: RoundCost | None
    marks: tuple[RoundMark, ...]
    shared: int

    @property
    def cache(self) -> Mapping[str, int]:
        """The context by how the cache was used; empty if that is unknown."""
        read, missed = self.round.usage.cache_read, self.round.cache_miss_tokens
        if read is None or missed is None:
            return {}
        parts = (read, self.round.usage.context - read - missed, missed)
        return dict(zip(_CACHE_ORDER, parts, strict=True))


def stats_page(result: StatsResult, choice: PageChoice) -> str:
    """Return the page; the result must have a timeline."""
    timeline = result.timeline
    if timeline is None:
        raise ValueError("a page is drawn from the timeline of a session, which was not asked for")
    names = PageNames(choice)
    columns = _merge_columns(result, timeline)
    indices = listed_messages(timeline)
    texts, n_cut = shown_texts([timeline.messages[index].message for index in indices], choice)
    anchors = {timeline.messages[index].message.id: anchor_of(index) for index in indices}
    titles, rows = _request_table(columns, anchors, names)
    return page_of(
        "session",
        {
            "title": _title(result, choice, names),
            "facts": list(_facts(result, choice, names)),
            "holds": list(page_contents(choice, n_cut, len(timeline.messages) - len(indices))),
            "warnings": _warnings(result, choice, names),
            **_next_request(result, choice, names),
            **_charts(result, columns),
            "is_reported": timeline.is_reported,
            "aside": timeline.rounds.subagent_requests,
            "totals": list(_totals(result, timeline)),
            "titles": titles,
            "table": rows,
            "lists": (
                *(
                    bars
                    for bars in (tool_bars(result, names), file_bars(timeline, names))
                    if bars.rows
                ),
                message_bars(timeline, names),
            ),
            "reads": read_rows(timeline, names),
            "messages": message_rows(timeline, indices, texts, names),
            "gone": sum(not message.is_sent for message in timeline.messages),
            "redacted": choice.redact,
            "class_of": class_of,
        },
    )


def _merge_columns(result: StatsResult, timeline: Timeline) -> tuple[RequestColumn, ...]:
    """Return the columns to draw, with consecutive requests merged if there are too many."""
    rounds = timeline.rounds.rounds
    costs = result.costs.rounds if result.costs and timeline.is_reported else (None,) * len(rounds)
    shared = -(-len(rounds) // _MAX_COLUMNS) or 1
    requests = list(zip(rounds, timeline.contexts, costs, strict=True))
    return tuple(
        _merge_requests(requests[start : start + shared])
        for start in range(0, len(requests), shared)
    )


def _merge_requests(
    requests: Sequence[tuple[Round, Mapping[str, int], RoundCost | None]],
) -> RequestColumn:
    largest, held, cost = max(requests, key=lambda request: request[0].usage.context)
    marks = dict.fromkeys(mark for r, _, _ in requests for mark in r.marks)
    return RequestColumn(
        round=largest, held=held, cost=cost, marks=tuple(marks), shared=len(requests)
    )


def _request_table(
    columns: Sequence[RequestColumn], anchors: Mapping[MessageId, str], names: PageNames
) -> tuple[list[str], list[list[tuple[str, str]]]]:
    """Return titles, and rows of texts with their link targets; ``anchors`` are by message."""
    categories = _occurring_categories(columns)
    has_cache = any(column.cache for column in columns)
    has_cost = any(column.cost for column in columns)
    titles = ["Request", "Turn", "Time", "Context", "New"]
    titles += ["Cache read", "Cache miss"] if has_cache else []
    titles += ["Output", *(["Cost $"] if has_cost else []), "Marks", *categories]
    rows = []
    for column in columns:
        round_ = column.round
        row = [
            (f"{round_.place.number:,}", anchors.get(round_.place.message, "")),
            (f"{round_.place.turn}.{round_.place.step}", ""),
            (clock_text(utc_text(round_.time)), ""),
        ]
        sizes: list[int | None] = [round_.usage.context, round_.context_growth]
        sizes += [round_.usage.cache_read, round_.cache_miss_tokens] if has_cache else []
        sizes.append(round_.output)
        row += [("" if size is None else f"{size:,}", "") for size in sizes]
        row += [(f"{column.cost.total:.4f}" if column.cost else "", "")] if has_cost else []
        row.append((", ".join(_mark_texts(column, names)), ""))
        row += [(f"{column.held.get(category, 0):,}", "") for category in categories]
        rows.append(row)
    return titles, rows


def _occurring_categories(columns: Iterable[RequestColumn]) -> list[str]:
    """Return the categories that occur, from the bottom of the chart up."""
    present = {name for column in columns for name, size in column.held.items() if size}
    return [name for name in ORDER if name in present]


def _mark_texts(column: RequestColumn, names: PageNames) -> Iterator[str]:
    for mark in column.marks:
        if mark == "model":
            yield f"now {names.model(column.round.model or 'an unnamed model')}"
        else:
            yield _MARK_LABELS[mark]


def _title(result: StatsResult, choice: PageChoice, names: PageNames) -> str:
    if choice.redact:
        return f"{result.transcript.format} session"
    path = result.options.input.path
    return names.title(result.title, path)


def _facts(result: StatsResult, choice: PageChoice, names: PageNames) -> Iterator[str]:
    transcript, path = result.transcript, result.options.input.path
    if not choice.redact and path != "-":
        yield names.line(path)
    lines = plural(transcript.n_lines, "line")
    yield f"{transcript.format}, {lines}, {size_text(transcript.n_bytes)}"
    scope = "in the full history" if result.options.scope == "full" else "in the context"
    counts = plural(result.counts.messages, "message"), plural(result.counts.turns, "turn")
    yield f"{' and '.join(counts)} {scope}"
    yield from names.measured(result.measure)


def _warnings(result: StatsResult, choice: PageChoice, names: PageNames) -> list[str]:
    warnings = (*result.transcript.warnings, *result.warnings)
    return [] if choice.redact else [names.line(warning) for warning in warnings]


def _next_request(result: StatsResult, choice: PageChoice, names: PageNames) -> dict[str, object]:
    """Return the values of the next request and of its bar."""
    tokens, budget, limits = result.usage.tokens, result.measure.budget, result.measure.limits
    rows = request_rows(result)
    total = max(budget.window, tokens)
    limit_at = None if limits.compacts_at is None else percent(limits.compacts_at, total)
    return {
        "tokens": tokens,
        "is_largest": result.counts.conversations > 1,
        "window": budget.window,
        "answer": list(_answer(result, choice, names)),
        "limit_at": limit_at,
        "window_at": percent(budget.window, total),
        "pieces": request_segments(rows, tokens, total),
        "kinds": category_bars(rows),
        "disagreement": disagreement_text(rows),
        "source": result.size.source,
    }


def _answer(
    result: StatsResult, choice: PageChoice, names: PageNames
) -> Iterator[tuple[str, str, bool]]:
    """Yield the lines of the answer in two parts, and whether the second one is bad news.

    If redacted, the lines about what was assumed are left out: they may name a model.
    """
    doubts = sum(1 for _ in doubt_lines(result)) if choice.redact else 0
    lines = list(answer_lines(result))
    for line in lines[: len(lines) - doubts]:
        text, style = (line.text, line.style) if isinstance(line, Accent) else (str(line), "")
        fact, colon, verdict = names.line(text).partition(": ")
        yield fact + colon, verdict, "red" in style


def _charts(result: StatsResult, columns: tuple[RequestColumn, ...]) -> dict[str, object]:
    context = _context_chart(result, columns)
    return {
        "columns": columns,
        "shared": max((column.shared for column in columns), default=1),
        "chart": context,
        "far": _far_limits(result, context),
        "legend": _occurring_categories(columns)[::-1],
        "cache": _cache_chart(columns),
        "cache_legend": _CACHE_ORDER,
        "cost": _cost_chart(columns),
    }


def _context_chart(result: StatsResult, columns: Sequence[RequestColumn]) -> Chart:
    """Return the contexts by category, with window, client threshold and compactions."""
    limits = list(_limits(result))
    peak = max((column.round.usage.context for column in columns), default=1)
    drawn_limits = [size for _, size, _ in limits if size <= _MAX_LIMIT_RATIO * peak]
    top = _HEADROOM * max(peak, *drawn_limits, 1)
    return Chart(
        label=f"context of {plural(len(columns), 'request')}, at most {peak:,} tokens",
        columns=len(columns),
        areas=tuple(areas([column.held for column in columns], ORDER, top)),
        grid=grid(top, short_count),
        limits=tuple(
            ChartLine(label=label, at=down(size, top), kind=kind)
            for label, size, kind in limits
            if size <= top
        ),
        marks=tuple(_marks(columns)),
    )


def _limits(result: StatsResult) -> Iterator[tuple[str, int, str]]:
    limits = result.measure.limits
    yield f"window {limits.budget.window:,}", limits.budget.window, "window"
    if limits.client is not None and limits.compacts_at is not None:
        label = f"{limits.client.name} compacts at {limits.compacts_at:,}"
        yield label, limits.compacts_at, "client"


def _marks(columns: Sequence[RequestColumn]) -> Iterator[ChartLine]:
    compactions = [
        (index, mark)
        for index, column in enumerate(columns)
        for mark in ("compacted", "compactctl")
        if mark in column.marks
    ]
    for index, mark in compactions:
        label = _MARK_LABELS[mark] if len(compactions) <= _MAX_LABELS else ""
        yield ChartLine(label=label, at=across(index, len(columns)), kind=mark)


def _far_limits(result: StatsResult, chart: Chart) -> tuple[str, ...]:
    """Return the labels of limits that are far above the chart."""
    drawn = {line.label for line in chart.limits}
    return tuple(label for label, _, _ in _limits(result) if label not in drawn)


def _cache_chart(columns: Sequence[RequestColumn]) -> Chart | None:
    """Return the contexts by how the cache was used; None if no request reports it."""
    if not any(column.cache for column in columns):
        return None
    top = _HEADROOM * max(column.round.usage.context for column in columns)
    return Chart(
        label="cache reads, new tokens and cache misses of each request",
        columns=len(columns),
        areas=tuple(areas([column.cache for column in columns], _CACHE_ORDER, top)),
        grid=grid(top, short_count, _LOW_CHART_LINES),
    )


def _cost_chart(columns: Sequence[RequestColumn]) -> Chart | None:
    """Return the cost of each request in US dollars; None if no price is known."""
    costs = [round(MILLION * column.cost.total) if column.cost else 0 for column in columns]
    peak = max(costs, default=0)
    if not peak:
        return None
    top = _HEADROOM * peak
    return Chart(
        label=f"cost of each request (estimate), at most ${peak / MILLION:,.4f}",
        columns=len(columns),
        areas=tuple(areas([{"cost": cost} for cost in costs], ("cost",), top)),
        grid=grid(top, lambda value: f"${value / MILLION:g}", _LOW_CHART_LINES),
    )


def _totals(result: StatsResult, timeline: Timeline) -> Iterator[tuple[str, str]]:
    """Yield figures of all requests together, each with its description."""
    rounds = timeline.rounds
    yield f"{len(rounds.sent_rounds):,}", f"requests in {plural(rounds.turns, 'turn')}"
    yield f"{rounds.sent:,}", "input tokens of all requests"
    if rounds.cache_reports:
        yield share_text(rounds.cache_read / max(1, rounds.sent)), "of them read from the cache"
        yield f"{rounds.cache_miss_tokens:,}", "tokens of cache misses, at most"
    if timeline.is_reported:
        yield f"{rounds.count_marked('compacted'):,}", "compactions by the client"
    if result.costs is not None and result.costs.priced_rounds and timeline.is_reported:
        yield dollars(result.costs.input + result.costs.output), "cost (estimate)"
