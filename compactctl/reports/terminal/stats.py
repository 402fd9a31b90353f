"""``stats`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.inspect.stats import StatsResult
from compactctl.reports.rendering.screen import Accent, Fact, Facts, ScreenItem, TextStyle
from compactctl.reports.rendering.text import (
    line_text,
    path_name,
    plural,
    shell_path,
    size_text,
)
from compactctl.reports.rendering.wording import counter_text, model_text, tokens_text
from compactctl.reports.terminal.sections.breakdown import (
    category_table,
    largest_messages,
    repeated_reads,
    tool_uses,
    unsent_records,
)
from compactctl.reports.terminal.sections.doubts import (
    doubt_facts,
    health_facts,
    request_text,
    unread_facts,
)
from compactctl.reports.terminal.sections.fit import TOO_LARGE, fit_facts
from compactctl.reports.terminal.sections.rounds import rounds_terminal
from compactctl.reports.terminal.sections.session_graph import session_graph
from compactctl.tokens.fit import fit_of

_LEVELS: dict[str, tuple[str, TextStyle]] = {
    "none": ("plenty of room", ""),
    "info": ("over 60 % of {base}, worth a look", ""),
    "warning": ("over 80 % of {base}, time to compact", "yellow"),
    "critical": ("over 90 % of {base}, compact now", "bold red"),
    "over": ("more than {base}, compact now", "bold red"),
}

REFUSED = "the provider refused the request as too large"


def stats_terminal(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield what to print for a result."""
    yield from _head(result)
    yield ""
    if result.options.graph and result.timeline is not None:
        yield from session_graph(result, result.timeline)
        yield ""
        yield Facts(tuple(_request_facts(result)))
        return
    if result.rounds is not None:
        yield from rounds_terminal(result.rounds, result.costs)
        return
    yield category_table(result)
    yield from _exactness(result)
    yield ""
    yield Facts(tuple(_facts(result)))
    yield from largest_messages(result)
    yield from tool_uses(result)
    yield from repeated_reads(result)
    yield from unsent_records(result)


def stats_messages(result: StatsResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, and what to do about a full context."""
    warnings = (*result.transcript.warnings, *result.warnings)
    yield from (f"warning: {line_text(warning)}" for warning in warnings)
    if result.options.rounds_out is not None and result.rounds is not None:
        rows = plural(len(result.rounds.rounds), "row")
        yield f"wrote {line_text(result.options.rounds_out)} ({rows})"
    if _LEVELS[result.usage.level][1] and result.options.input.path != "-":
        path = shell_path(result.options.input.path)
        yield f"see what a compaction would save: compactctl compact --dry-run {path}"


def _head(result: StatsResult) -> Iterator[ScreenItem]:
    transcript = result.transcript
    size = f"{plural(transcript.n_lines, 'line')}, {size_text(transcript.n_bytes)}"
    yield Accent(path_name(result.options.input.path), "bold")
    yield f"{transcript.format}: {size}; {_counts(result)}"
    yield f"counted with {counter_text(result.measure)}; {model_text(result.measure)}"


def _counts(result: StatsResult) -> str:
    counts = [plural(result.counts.messages, "message"), plural(result.counts.turns, "turn")]
    if result.counts.conversations > 1:
        counts.insert(0, plural(result.counts.conversations, "conversation"))
    scope = "in the full history" if result.options.scope == "full" else "in the context"
    return f"{', '.join(counts)} and {plural(result.counts.steps, 'step')} {scope}"


def _exactness(result: StatsResult) -> Iterator[ScreenItem]:
    """Yield how exact the rows of the table are, where they differ, and what no file holds."""
    word = result.measure.counter.exactness
    if result.breakdown.categories["media"] and word != "estimate":
        yield f"media is an estimate by size, the other rows are {word}"
    added = result.extras.by_client
    if added:
        yield f"{plural(added, 'token')} of these the client adds itself (estimate)"


def _facts(result: StatsResult) -> Iterator[Fact]:
    yield from _size(result)
    yield from _request_facts(result)
    yield from health_facts(result.health)


def _request_facts(result: StatsResult) -> Iterator[Fact]:
    """Yield how large the next request is, and how much room it leaves."""
    usage = result.usage
    verdict, style = _LEVELS[usage.level]
    if not fit_of(usage.tokens, result.measure.limits).fits:
        verdict = TOO_LARGE
    elif result.is_refused:
        verdict, style = REFUSED, "bold red"
    elif result.unread and usage.level == "none":
        verdict = "how much room is left is unknown"
    verdict = verdict.format(base=f"{usage.available:,}")
    yield from unread_facts(result.unread)
    size = request_text(usage.tokens, result.size.unreported or result.unread)
    yield Fact(request_name(result), f"{size}: {verdict}", style)
    yield from doubt_facts(result.size)
    yield from conversation_facts(result)
    yield from fit_facts(result.measure, usage.tokens)


def request_name(result: StatsResult) -> str:
    """Return what the request that is shown is called: of several, it is the largest."""
    return "next request" if result.counts.conversations <= 1 else "largest request"


def conversation_facts(result: StatsResult) -> Iterator[Fact]:
    """Yield of how many conversations that request is one, if of several."""
    if result.counts.conversations > 1:
        yield Fact("", f"of {plural(result.counts.conversations, 'conversation')}, sent one by one")


def _size(result: StatsResult) -> Iterator[Fact]:
    """Yield what the next request holds beside the table, if anything is known of it."""
    size = result.size
    if not size.source:
        return
    exactness = f" ({result.measure.counter.exactness})"
    if result.reported is not None:
        yield Fact("last reported", f"{tokens_text(result.reported)} by the provider")
    yield Fact(
        "counted", f"{tokens_text(size.counted)} in the transcript, the table above{exactness}"
    )
    rows = (
        ("overhead", size.overhead, "of system prompt, tool definitions and the like"),
        ("missing history", size.missing, "that were sent and are not in this file (estimate)"),
        ("restored", size.restored, "that the client usually adds after its compaction (estimate)"),
        ("hidden reasoning", size.hidden_reasoning, "that are sent but not stored as text"),
        (
            "frames",
            size.frames,
            "that messages, calls and results take beside their text (estimate)",
        ),
        ("unexplained", size.unexplained, "of counting error"),
    )
    source = f" (calibrated: {size.source})"
    for name, count, what in rows:
        if count:
            yield Fact(name, f"{tokens_text(count)} {what}{source}")
            source = ""
