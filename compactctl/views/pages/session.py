"""``stats`` as a page: where the context of a session went, over its life and now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.measuring.timeline import OVERHEAD, Timeline
from compactctl.commands.output_files import PageChoice
from compactctl.history.usage.costs import UNSEEN, RoundCost
from compactctl.history.usage.rounds import Round, RoundMark
from compactctl.model.message import MessageId
from compactctl.tokens.fit import fit_of
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
    file_bars,
    largest_messages,
    message_bars,
    message_rows,
    read_rows,
    request_pieces,
    request_rows,
    tool_bars,
)
from compactctl.views.terminal.graph import short_count
from compactctl.views.terminal.text import path_name, plural, share_text, size_text

# More are drawn no finer than a wide screen has dots for them.
_MOST_COLUMNS = 720
_CACHE_ORDER = ("read from the cache", "sent the first time", "paid again")
# From the bottom up: what stays the same, what people and model say, what tools bring.
ORDER = (
    OVERHEAD, "system prompt", "tool definitions", "summaries", "user", "assistant", "reasoning",
    "tool calls", "tool results", "file reads", "attachments", "media", "other", UNSEEN,
)  # fmt: skip
_WORDS: Mapping[RoundMark, str] = {
    "compacted": "compacted by the client",
    "compactctl": "compacted by compactctl",
    "fell": "fell",
    "missed": "cache missed",
    "idle": "idle before",
}
# A window that is higher than so many times all there is makes everything flat.
_HIGHEST = 3
_HEADROOM = 1.14
_MOST_LABELS = 6
_LOW_LINES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestColumn:
    """One request, or the largest of several that follow one another.

    ``marks`` are those of all of them, ``shared`` is how many they are.
    """

    round: Round
    held: Mapping[str, int]
    cost: RoundCost | None
    marks: tuple[RoundMark, ...]
    shared: int

    @property
    def cache(self) -> Mapping[str, int]:
        """The context by what a cache had to do with it; nothing where that is not known."""
        read, again = self.round.usage.cache_read, self.round.cache_miss_tokens
        if read is None or again is None:
            return {}
        parts = (read, self.round.usage.context - read - again, again)
        return dict(zip(_CACHE_ORDER, parts, strict=True))


def stats_page(result: StatsResult, choice: PageChoice) -> str:
    """Return the page; the result was asked for with its timeline."""
    timeline = result.timeline
    if timeline is None:
        raise ValueError("a page is drawn from the timeline of a session, which was not asked for")
    names = PageNames(choice)
    columns = _columns_of(result, timeline)
    chosen = largest_messages(timeline)
    texts, cut = shown_texts([timeline.messages[at].message for at in chosen], choice)
    anchors = {timeline.messages[at].message.id: anchor_of(at) for at in chosen}
    titles, rows = _request_table(columns, anchors, names)
    return page_of(
        "session",
        {
            "title": _title(result, choice, names),
            "facts": list(_facts(result, choice, names)),
            "holds": list(page_contents(choice, cut, len(timeline.messages) - len(chosen))),
            "warnings": _warnings(result, choice, names),
            **_request(result),
            **_drawn(result, columns),
            "is_reported": timeline.is_reported,
            "aside": timeline.rounds.subagent_requests,
            "totals": list(_totals(result, timeline)),
            "titles": titles,
            "table": rows,
            "lists": (
                *(
                    each
                    for each in (tool_bars(result, names), file_bars(timeline, names))
                    if each.rows
                ),
                message_bars(timeline, names),
            ),
            "reads": read_rows(timeline, names),
            "messages": message_rows(timeline, chosen, texts, names),
            "gone": sum(not each.is_sent for each in timeline.messages),
            "redacted": choice.redact,
            "class_of": class_of,
        },
    )


def _columns_of(result: StatsResult, timeline: Timeline) -> tuple[RequestColumn, ...]:
    """Return what is drawn of the requests, and how many share a column."""
    found = timeline.rounds.rounds
    costs = result.costs.rounds if result.costs and timeline.is_reported else (None,) * len(found)
    shared = -(-len(found) // _MOST_COLUMNS) or 1
    every = list(zip(found, timeline.contexts, costs, strict=True))
    return tuple(_column(every[at : at + shared]) for at in range(0, len(every), shared))


def _column(some: Sequence[tuple[Round, Mapping[str, int], RoundCost | None]]) -> RequestColumn:
    found, held, cost = max(some, key=lambda each: each[0].usage.context)
    marks = dict.fromkeys(mark for each, _, _ in some for mark in each.marks)
    return RequestColumn(round=found, held=held, cost=cost, marks=tuple(marks), shared=len(some))


def _request_table(
    columns: Sequence[RequestColumn], anchors: Mapping[MessageId, str], names: PageNames
) -> tuple[list[str], list[list[tuple[str, str]]]]:
    """Return titles, and rows of texts with where each leads to; ``anchors`` are by message."""
    kinds = _kinds_of(columns)
    has_cache = any(each.cache for each in columns)
    has_cost = any(each.cost for each in columns)
    titles = ["Request", "Turn", "Time", "Context", "New"]
    titles += ["Cached", "Paid again"] if has_cache else []
    titles += ["Output", *(["Cost $"] if has_cost else []), "Marks", *kinds]
    rows = []
    for each in columns:
        found = each.round
        row = [
            (f"{found.place.number:,}", anchors.get(found.place.message, "")),
            (f"{found.place.turn}.{found.place.step}", ""),
            (clock_text(utc_text(found.time)), ""),
        ]
        sizes: list[int | None] = [found.usage.context, found.context_growth]
        sizes += [found.usage.cache_read, found.cache_miss_tokens] if has_cache else []
        sizes.append(found.output)
        row += [("" if size is None else f"{size:,}", "") for size in sizes]
        row += [(f"{each.cost.total:.4f}" if each.cost else "", "")] if has_cost else []
        row.append((", ".join(_mark_texts(each, names)), ""))
        row += [(f"{each.held.get(kind, 0):,}", "") for kind in kinds]
        rows.append(row)
    return titles, rows


def _kinds_of(columns: Iterable[RequestColumn]) -> list[str]:
    """Return the categories that occur, from the bottom of a drawing up."""
    found = {name for each in columns for name, size in each.held.items() if size}
    return [name for name in ORDER if name in found]


def _mark_texts(each: RequestColumn, names: PageNames) -> Iterator[str]:
    for mark in each.marks:
        if mark == "model":
            yield f"now {names.model(each.round.model or 'an unnamed model')}"
        else:
            yield _WORDS[mark]


def _title(result: StatsResult, choice: PageChoice, names: PageNames) -> str:
    if choice.redact:
        return f"a session of {result.transcript.format}"
    path = result.options.input.path
    return path_name(path) if path == "-" else names.line(PurePath(path).name)


def _facts(result: StatsResult, choice: PageChoice, names: PageNames) -> Iterator[str]:
    transcript, path = result.transcript, result.options.input.path
    if not choice.redact and path != "-":
        yield names.line(path)
    lines = plural(transcript.n_lines, "line")
    yield f"{transcript.format}: {lines}, {size_text(transcript.n_bytes)}"
    scope = "in the full history" if result.options.scope == "full" else "in the context"
    counts = plural(result.counts.messages, "message"), plural(result.counts.turns, "turn")
    yield f"{' and '.join(counts)} {scope}"
    yield from names.measured(result.measure)


def _warnings(result: StatsResult, choice: PageChoice, names: PageNames) -> list[str]:
    found = (*filter(None, (result.unread,)), *result.transcript.warnings, *result.warnings)
    return [] if choice.redact else [names.line(warning) for warning in found]


def _request(result: StatsResult) -> dict[str, object]:
    """Return the values of the next request and the bar that it fills."""
    tokens, budget, limits = result.usage.tokens, result.measure.budget, result.measure.limits
    rows = request_rows(result)
    fit = fit_of(tokens, limits)
    whole = max(budget.window, tokens)
    limit = None
    if limits.client is not None and limits.compacts_at is not None:
        limit = (limits.client.name, limits.compacts_at, percent(limits.compacts_at, whole))
    return {
        "tokens": tokens,
        "or_more": bool(result.size.unreported),
        "is_largest": result.counts.conversations > 1,
        "window": budget.window,
        "share": share_text(tokens / budget.window) if budget.window else "",
        "left": fit.window_left,
        "until": fit.until_compaction,
        "limit": limit,
        "window_at": percent(budget.window, whole),
        "level": result.usage.level if fit.fits else "over",
        "pieces": request_pieces(rows, tokens, whole),
        "kinds": category_bars(rows, sum(rows.values())),
        "source": result.size.source,
    }


def _drawn(result: StatsResult, columns: tuple[RequestColumn, ...]) -> dict[str, object]:
    chart = _context_chart(result, columns)
    return {
        "columns": columns,
        "shared": max((each.shared for each in columns), default=1),
        "chart": chart,
        "far": _far_limits(result, chart),
        "legend": _kinds_of(columns)[::-1],
        "cache": _cache_chart(columns),
        "cache_legend": _CACHE_ORDER,
        "cost": _cost_chart(columns),
    }


def _context_chart(result: StatsResult, columns: Sequence[RequestColumn]) -> Chart:
    """Return the contexts by category, with window, the client's own limit and compactions."""
    limits = list(_limits(result))
    peak = max((each.round.usage.context for each in columns), default=1)
    shown = [size for _, size, _ in limits if size <= _HIGHEST * peak]
    top = _HEADROOM * max(peak, *shown, 1)
    return Chart(
        label=f"context of {plural(len(columns), 'request')}, at most {peak:,} tokens",
        columns=len(columns),
        areas=tuple(areas([each.held for each in columns], ORDER, top)),
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
    found = [
        (at, mark)
        for at, each in enumerate(columns)
        for mark in ("compacted", "compactctl")
        if mark in each.marks
    ]
    for at, mark in found:
        label = _WORDS[mark] if len(found) <= _MOST_LABELS else ""
        yield ChartLine(label=label, at=across(at, len(columns)), kind=mark)


def _far_limits(result: StatsResult, chart: Chart) -> tuple[str, ...]:
    """Return the names of limits that are far above a drawing."""
    drawn = {line.label for line in chart.limits}
    return tuple(label for label, _, _ in _limits(result) if label not in drawn)


def _cache_chart(columns: Sequence[RequestColumn]) -> Chart | None:
    """Return what of the contexts came from the cache; None where nothing tells of one."""
    if not any(each.cache for each in columns):
        return None
    top = _HEADROOM * max(each.round.usage.context for each in columns)
    return Chart(
        label="what of each request was read from the cache, new, and paid again",
        columns=len(columns),
        areas=tuple(areas([each.cache for each in columns], _CACHE_ORDER, top)),
        grid=grid(top, short_count, _LOW_LINES),
    )


def _cost_chart(columns: Sequence[RequestColumn]) -> Chart | None:
    """Return what each request cost, in US dollars; None where no price is known."""
    costs = [{"cost": round(MILLION * each.cost.total) if each.cost else 0} for each in columns]
    most = max((each["cost"] for each in costs), default=0)
    if not most:
        return None
    top = _HEADROOM * most
    return Chart(
        label=f"cost of each request (estimate), at most $ {most / MILLION:,.4f}",
        columns=len(columns),
        areas=tuple(areas(costs, ("cost",), top)),
        grid=grid(top, lambda value: f"$ {value / MILLION:g}", _LOW_LINES),
    )


def _totals(result: StatsResult, timeline: Timeline) -> Iterator[tuple[str, str]]:
    """Yield figures of all requests together, and what each is."""
    found = timeline.rounds
    yield f"{len(found.rounds):,}", f"requests in {plural(found.turns, 'turn')}"
    yield f"{found.sent:,}", "tokens sent by all of them together"
    if found.cache_reports:
        yield share_text(found.cache_read / max(1, found.sent)), "of that read from the cache"
        yield f"{found.cache_miss_tokens:,}", "tokens paid again, at most"
    if timeline.is_reported:
        yield f"{found.count_marked('compacted'):,}", "compactions by the client"
    if result.costs is not None and result.costs.priced_rounds and timeline.is_reported:
        yield dollars(result.costs.input + result.costs.output), "for what has a price (estimate)"
