"""``stats`` as a page: where the context of a session went, over its life and now."""

from collections.abc import Iterator
from pathlib import PurePath

from compactctl.commands.inspect.life import Timeline
from compactctl.commands.inspect.stats import StatsResult
from compactctl.reports.html.choice import PageChoice
from compactctl.reports.html.figures import class_of, dollars, percent
from compactctl.reports.html.page import page_of
from compactctl.reports.html.session_charts import (
    CACHE_ORDER,
    RequestColumn,
    cache_chart,
    columns_of,
    context_chart,
    cost_chart,
    far_limits,
    kinds_of,
    request_table,
)
from compactctl.reports.html.session_lists import (
    anchor_of,
    category_bars,
    chosen_messages,
    file_bars,
    message_bars,
    message_rows,
    read_rows,
    request_pieces,
    request_rows,
    tool_bars,
)
from compactctl.reports.html.texts import PageNames, holds_texts, shown_texts
from compactctl.reports.rendering.text import path_name, plural, share_text, size_text
from compactctl.tokens.fit import fit_of


def stats_page(result: StatsResult, choice: PageChoice) -> str:
    """Return the page; the result was asked for with its timeline."""
    timeline = result.timeline
    if timeline is None:
        raise ValueError("a page is drawn from the timeline of a session, which was not asked for")
    names = PageNames(choice)
    columns = columns_of(result, timeline)
    chosen = chosen_messages(timeline)
    texts, cut = shown_texts([timeline.messages[at].message for at in chosen], choice)
    anchors = {timeline.messages[at].message.id: anchor_of(at) for at in chosen}
    titles, rows = request_table(columns, anchors, names)
    return page_of(
        "session",
        {
            "title": _title(result, choice, names),
            "facts": list(_facts(result, choice, names)),
            "holds": list(holds_texts(choice, cut, len(timeline.messages) - len(chosen))),
            "warnings": _warnings(result, choice, names),
            **_request(result),
            **_drawn(result, columns),
            "is_reported": timeline.is_reported,
            "aside": timeline.rounds.aside,
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
    chart = context_chart(result, columns)
    return {
        "columns": columns,
        "shared": max((each.shared for each in columns), default=1),
        "chart": chart,
        "far": far_limits(result, chart),
        "legend": kinds_of(columns)[::-1],
        "cache": cache_chart(columns),
        "cache_legend": CACHE_ORDER,
        "cost": cost_chart(columns),
    }


def _totals(result: StatsResult, timeline: Timeline) -> Iterator[tuple[str, str]]:
    """Yield figures of all requests together, and what each is."""
    found = timeline.rounds
    yield f"{len(found.rounds):,}", f"requests in {plural(found.turns, 'turn')}"
    yield f"{found.sent:,}", "tokens sent by all of them together"
    if found.cache_reports:
        yield share_text(found.cache_read / max(1, found.sent)), "of that read from the cache"
        yield f"{found.paid_again:,}", "tokens paid again, at most"
    if timeline.is_reported:
        yield f"{found.marked('compacted'):,}", "compactions by the client"
    if result.costs is not None and result.costs.known and timeline.is_reported:
        yield dollars(result.costs.input + result.costs.output), "for what has a price (estimate)"
