"""How much room a context leaves, on a terminal: the same lines wherever it is told."""

from collections.abc import Iterator

from compactctl.commands.sizing.measure import Measure
from compactctl.reports.rendering.screen import Fact
from compactctl.reports.rendering.text import one_line, share_text
from compactctl.reports.rendering.wording import reserve_facts
from compactctl.tokens.fit import Fit, Limits, fit_of

# Only of what is more than the window.
TOO_LARGE = "does not fit"


def fit_facts(measured: Measure, tokens: int) -> Iterator[Fact]:
    """Yield the window, then what lies below it: the client's own compaction, or a reserve."""
    budget, limits = measured.budget, measured.limits
    yield Fact("window", _filled(budget.window, tokens))
    yield Fact("", one_line(budget.source))
    if limits.base == "available":
        yield from reserve_facts(budget)
        yield Fact("available input", _filled(budget.available, tokens))
        return
    fit = fit_of(tokens, limits)
    if limits.client is not None:
        yield Fact(limits.client.name, f"{limits.compacts_at:>11,}: {_compaction(fit)}")
        yield from _assumption(limits)
    if fit.answer is not None:
        where = "beside the window" if budget.for_input and fit.fits else "left"
        yield Fact("for the answer", f"{fit.answer:>11,} {where}")


def _assumption(limits: Limits) -> Iterator[Fact]:
    """Yield what the client takes the window for where it does not know the model."""
    if limits.assumed is None:
        return
    window = limits.budget.window
    text = f"it does not know the model, and takes its window to be {limits.assumed:,}"
    if limits.compacts_at is not None and limits.compacts_at > window:
        text += f": too late for {window:,}"
    yield Fact("", text)


def _filled(limit: int, tokens: int) -> str:
    """Return how full a limit is; all of it where it is nothing."""
    share = share_text(tokens / limit if limit else 1.0)
    left = limit - tokens
    rest = f"{left:,} left" if left >= 0 else f"{-left:,} too many"
    return f"{limit:>11,}: {share} used, {rest}"


def _compaction(fit: Fit) -> str:
    when = f"in {fit.until_compaction:,}" if fit.until_compaction else "now"
    return f"compacts by itself {when}"
