"""What reports of different commands say alike: how figures were measured, what grew."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from compactctl.commands.sizing.measure import Measure
from compactctl.reports.rendering.screen import Fact
from compactctl.reports.rendering.text import one_line
from compactctl.tokens.budget import Budget
from compactctl.tokens.fit import Base, Limits

# What levels and gates refer to, whoever the client is.
BASES: Mapping[Base, str] = {
    "client": "where its client compacts",
    "window": "the window",
    "available": "the available input",
}
# Of reports of compactions.
BEFORE_AND_AFTER = "next requests as they are after compaction, all other tokens as before it"
# What ``resolve_model`` calls a model that nobody named.
_UNNAMED = "unknown"


def counter_text(measured: Measure) -> str:
    """Return the counter and how far its counts can be trusted."""
    counter, model = measured.counter, measured.model
    is_own = model.exact and counter.id == model.counter
    if counter.exactness == "exact" and not is_own:
        return f"{counter.id} (exact for this vocabulary, which is not known to be the model's)"
    return f"{counter.id} ({counter.exactness})"


def model_text(measured: Measure) -> str:
    """Return the model and, where the tables do not list it, what is used instead."""
    model = measured.model
    if model.known:
        return f"model {one_line(model.name)}"
    if model.name == _UNNAMED:
        return "no model is recorded; name it with --model"
    if model.inferred:
        return f"model {one_line(model.name)} is not listed; measured as {one_line(model.match)}"
    return f"model {one_line(model.name)} is not listed; set --counter and --window"


def window_facts(measured: Measure) -> Iterator[Fact]:
    """Yield the context window, with its source, and what of it is free for input."""
    budget = measured.budget
    yield Fact("window", f"{tokens_text(budget.window)} ({one_line(budget.source)})")
    yield from reserve_facts(budget)
    yield Fact("available input", tokens_text(budget.available))


def reserve_facts(budget: Budget) -> Iterator[Fact]:
    """Yield what of a window is not for input."""
    yield Fact("output reserve", tokens_text(budget.output_reserve))
    if budget.usable != 1:
        left = budget.window - budget.output_reserve - budget.available
        yield Fact("safety margin", tokens_text(left))


def base_text(limits: Limits) -> str:
    """Return what levels and gates refer to."""
    if limits.base == "client" and limits.client is not None:
        is_late = limits.due_at != limits.compacts_at
        return f"where {limits.client.name} {'should compact' if is_late else 'compacts'}"
    return BASES[limits.base]


def tokens_text(count: int) -> str:
    """Return a number of tokens, aligned with others of its kind."""
    return f"{count:>11,} {'token' if count == 1 else 'tokens'}"


def carried_text(lines: int) -> str:
    """Return that lines were appended to a transcript while it was worked on, and kept."""
    were = "line was" if lines == 1 else "lines were"
    return f"{lines:,} {were} appended meanwhile; carried over"


def utc_text(seconds: float | None) -> str | None:
    """Return a time as ISO 8601; None without one, and for one that no calendar has."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return None
