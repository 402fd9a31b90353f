"""The next request of a session: whether it fits, how sure that is, and what it contains."""

from collections.abc import Iterable, Iterator, Mapping

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.measure import Measurement
from compactctl.tokens.fit import fit_of
from compactctl.views.facts import UNNAMED_MODEL, base_text, health_doubt
from compactctl.views.terminal.screen import Accent, ScreenItem, TextStyle
from compactctl.views.terminal.tables import Table, bar, number, table, text
from compactctl.views.terminal.text import line_text, one_line, percent_text, plural, share_text

REFUSED = "the provider refused the request as too large"
_STYLES: Mapping[str, TextStyle] = {
    "warning": "yellow",
    "critical": "bold red",
    "over": "bold red",
}
_DEFAULT_WINDOW = "default for unknown models"
# Smaller categories are one row, unless details are requested.
_MIN_SHARE = 0.002
_OTHER = "other"
_IN_TRANSCRIPT, _NOT_IN_TRANSCRIPT = "In the transcript", "Sent, not in the transcript"


def answer_lines(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield whether the next request fits, when the client compacts, and how sure that is."""
    if result.options.scope == "full":
        share = percent_text(result.usage.tokens / result.measure.budget.window)
        window = f"{result.measure.budget.window:,}"
        yield Accent(
            f"{result.usage.tokens:,} tokens in the full history: {share} of a window of {window}",
            "bold",
        )
    else:
        yield _fit_line(result)
        if not result.unread:
            yield from _limit_line(result)
    yield from doubt_lines(result)


def _fit_line(result: StatsResult) -> Accent:
    tokens, window = result.usage.tokens, result.measure.budget.window
    at_least = "at least " if result.size.unreported or result.unread else ""
    size = f"{at_least}{tokens:,} of {window:,} tokens ({percent_text(tokens / window)})"
    if result.counts.conversations > 1:
        size += f" in the largest of {result.counts.conversations:,} conversations"
    if tokens > window:
        return Accent(f"{size}: does not fit, {tokens - window:,} over", "bold red")
    if result.is_refused:
        return Accent(f"{size}: {REFUSED}", "bold red")
    match result.judgment.verdict:
        case "will be refused":
            return Accent(f"{size}: fits, but will be refused", "bold red")
        case "incomplete":
            return Accent(f"{size}: unknown whether it fits", "bold red")
        case _:
            return Accent(f"{size}: fits", "bold")


def _limit_line(result: StatsResult) -> Iterator[Accent]:
    """Yield where the client compacts, or what a reserve leaves for input if little is left."""
    usage, limits = result.usage, result.measure.limits
    style = _STYLES.get(usage.level, "")
    if limits.base != "available" and limits.client is not None:
        remaining = fit_of(usage.tokens, limits).until_compaction
        when = f"in {remaining:,} tokens" if remaining else "due now"
        yield Accent(f"{limits.client.name} compacts at {limits.compacts_at:,}: {when}", style)
    elif usage.level != "none":
        share = percent_text(usage.ratio)
        yield Accent(f"{share} of {base_text(limits)} ({limits.base_tokens:,}) is used", style)


def doubt_lines(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield what to know before trusting the size: what was assumed, estimated or not read."""
    if result.unread:
        yield Accent(f"incomplete: {line_text(result.unread)}", "bold red")
    lost = len({opaque.line for opaque in result.transcript.opaque})
    if lost and not result.unread:
        yield f"{plural(lost, 'line')} not recognized, so not counted"
    yield from assumption_lines(result.measure, result.size)
    if result.size.doubt and not result.size.unreported:
        yield "recorded usage is not credible (see the warning)"
    if result.size.range is not None:
        low, high = result.size.range
        yield f"between {low:,} and {high:,}: {result.size.unsure}"
    limits = result.measure.limits
    if limits.client is not None and limits.assumed_window is not None:
        late = limits.compacts_at is not None and limits.compacts_at > limits.budget.window
        yield (
            f"{limits.client.name} does not know this model and assumes a window of "
            f"{limits.assumed_window:,}{': it compacts too late' if late else ''}"
        )
    yield from (Accent(line, "yellow") for line in health_doubt(result.health))


def assumption_lines(measured: Measurement, size: ContextSize) -> Iterator[str]:
    """Yield what is assumed or estimated about the window and the counts, if anything."""
    is_counted = measured.counter.exactness == "estimate" and size.calibration is None
    counts = "counts are estimates" if is_counted else ""
    assumed = "; ".join(filter(None, (_window_doubt(measured), counts)))
    if assumed:
        yield assumed
    if size.unreported:
        yield _unreported(size)


def _window_doubt(measured: Measurement) -> str:
    model, source = measured.model, measured.budget.source
    if source == _DEFAULT_WINDOW:
        if model.name == UNNAMED_MODEL:
            return "window assumed, since the transcript names no model (use --model)"
        return f"window assumed, since {one_line(model.name)} is not a listed model (use --window)"
    _, _, doubt = source.partition("; ")
    return f"window {one_line(doubt)} (use --window)" if doubt else ""


def _unreported(size: ContextSize) -> str:
    """Return what a client sends besides the counted tokens, if no usage shows it."""
    recorded = "recorded usage is not credible" if size.doubt else "no usage recorded"
    sent = f"{size.unreported}'s system prompt and tools"
    if size.usual is None:
        return f"{recorded}; {sent} are not counted"
    usual = size.usual
    span = f"{usual.least:,} to {usual.most:,} in 9 of 10 sessions"
    return f"{recorded}; {sent} usually add {usual.usual:,} tokens ({span})"


def request_table(result: StatsResult) -> Table:
    """Return what the request contains, by category, and its total.

    Details list every category, however small.
    """
    total, unseen = result.usage.tokens, result.next_request.unseen
    rows = _category_rows(result)
    if unseen:
        indented = [(f"  {name}", tokens) for name, tokens in rows]
        sent = [(f"  {name}", tokens) for name, tokens in unseen_rows(result)]
        counted = (_IN_TRANSCRIPT, result.next_request.counted)
        rows = [counted, *indented, (_NOT_IN_TRANSCRIPT, unseen), *sent]
    columns = (text(""), number("Tokens"), number("Share"), text("", spare=1))
    name = "Next request" if result.counts.conversations <= 1 else "Largest request"
    return table(
        columns,
        (_request_cells(label, tokens, total) for label, tokens in rows),
        ("Full history" if result.options.scope == "full" else name, f"{total:,}", "", ""),
    )


def _request_cells(label: str, tokens: int, total: int) -> tuple[str, ...]:
    share = tokens / max(1, total)
    # A sum has no bar, and a correction has no share.
    is_part = label not in (_IN_TRANSCRIPT, _NOT_IN_TRANSCRIPT)
    shares = (share_text(share), bar(share) if is_part else "") if tokens >= 0 else ("", "")
    return (label, f"{tokens:,}", *shares)


def _category_rows(result: StatsResult) -> list[tuple[str, int]]:
    """Return the counted categories, the largest first."""
    rows = {str(name): tokens for name, tokens in result.categories.items() if tokens}
    min_tokens = _MIN_SHARE * result.usage.tokens
    small = [name for name in rows if name == _OTHER or rows[name] < min_tokens]
    if len(small) > 1 and not result.options.details:
        rows[_OTHER] = sum(rows.pop(name) for name in small)
    return _by_size(rows.items())


def unseen_rows(result: StatsResult) -> list[tuple[str, int]]:
    """Return what is sent besides the transcript, the largest first."""
    size = result.size
    rows = (
        ("system prompt and tools", size.overhead),
        ("message overhead", size.frames),
        ("hidden reasoning", size.hidden_reasoning),
        ("history missing from the file", size.missing),
        ("restored by the client", size.restored),
        ("unexplained", size.unexplained),
    )
    return _by_size((name, tokens) for name, tokens in rows if tokens)


def _by_size(rows: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted(rows, key=lambda row: -row[1])


def count_text(result: StatsResult) -> str:
    """Return what the file contains: format, model and counts."""
    counts, model = result.counts, result.measure.model
    parts = [result.transcript.format]
    if model.name != UNNAMED_MODEL:
        parts.append(one_line(model.name))
    if counts.conversations > 1:
        parts.append(plural(counts.conversations, "conversation"))
    parts.append(f"{plural(counts.messages, 'message')} in {plural(counts.turns, 'turn')}")
    if counts.conversations > 1:
        parts.append(f"{result.breakdown.total:,} tokens in all")
    return ", ".join(parts)
