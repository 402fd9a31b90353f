"""Texts shared by several results: the measurement, the fill of the window, written files."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from compactctl.tokens.fit import fit_of
from compactctl.views.terminal.screen import Fact
from compactctl.views.terminal.text import (
    line_text,
    one_line,
    plural,
    share_text,
    shell_path,
    size_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from compactctl.commands.client_sessions.write import Written
    from compactctl.commands.measuring.context_size import ContextSize
    from compactctl.commands.measuring.measure import Measurement
    from compactctl.history.usage.count_check import CountCheck
    from compactctl.tokens.budget import Budget
    from compactctl.tokens.fit import Fit, LimitBase, Limits
    from compactctl.views.terminal.screen import TextStyle

# The source that ``resolve_model`` returns if no model was named.
_UNNAMED = "unknown"
# The limit that levels and gates refer to, for any client.
BASES: "Mapping[LimitBase, str]" = {
    "client": "where its client compacts",
    "window": "the window",
    "available": "the available input",
}
_VERDICTS: dict[str, tuple[str, "TextStyle"]] = {
    "as expected": ("as expected", ""),
    "other tokens": ("the counter is not the model's, or content is missing", "yellow"),
}
# For reports of compactions.
BEFORE_AND_AFTER = "next requests as they are after compaction, all other tokens as before it"
# Only for a request larger than the window.
TOO_LARGE = "does not fit"
# Statuses of a batch's rows that users see under another name.
_STATUSES = {"skipped": "not a transcript"}


def counter_text(measured: "Measurement") -> str:
    """Return the name of the counter and how exact its counts are."""
    counter, model = measured.counter, measured.model
    is_own = model.is_exact and counter.id == model.counter
    if counter.exactness == "exact" and not is_own:
        return f"{counter.id} (exact for this vocabulary, which is not known to be the model's)"
    return f"{counter.id} ({counter.exactness})"


def model_text(measured: "Measurement") -> str:
    """Return the model and, if the tables do not list it, the row that is used instead."""
    model = measured.model
    if model.is_known:
        return f"model {one_line(model.name)}"
    if model.name == _UNNAMED:
        return "no model is recorded; name it with --model"
    if model.is_inferred:
        prefix = one_line(model.matched_prefix)
        return f"model {one_line(model.name)} is not listed; measured as {prefix}"
    return f"model {one_line(model.name)} is not listed; set --counter and --window"


def window_facts(measured: "Measurement") -> "Iterator[Fact]":
    """Yield the context window with its source, and the part of it that is available for input."""
    budget = measured.budget
    yield Fact("window", f"{tokens_text(budget.window)} ({one_line(budget.source)})")
    yield from _reserve_facts(budget)
    yield Fact("available input", tokens_text(budget.available))


def tokens_text(count: int) -> str:
    """Return a number of tokens, padded so that several align."""
    return f"{count:>11,} {'token' if count == 1 else 'tokens'}"


def _reserve_facts(budget: "Budget") -> "Iterator[Fact]":
    """Yield the part of a window that is reserved for output."""
    yield Fact("output reserve", tokens_text(budget.output_reserve))
    if budget.usable != 1:
        margin = budget.window - budget.output_reserve - budget.available
        yield Fact("safety margin", tokens_text(margin))


def base_text(limits: "Limits") -> str:
    """Return the name of the limit that levels and gates refer to."""
    if limits.base == "client" and limits.client is not None:
        is_late = limits.compaction_due_at != limits.compacts_at
        return f"where {limits.client.name} {'should compact' if is_late else 'compacts'}"
    return BASES[limits.base]


def warning_lines(warnings: "Iterable[str]") -> "Iterator[str]":
    """Yield warnings as lines for standard error."""
    yield from (f"warning: {line_text(warning)}" for warning in warnings)


def clock_text(time: str | None) -> str:
    """Return a UTC time in ISO 8601 as shown in tables; "" for None."""
    return (time or "").removesuffix("+00:00").replace("T", " ")


def utc_text(seconds: float | None) -> str | None:
    """Return a time as ISO 8601; None for None and for a time out of range."""
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return None


def fit_facts(measured: "Measurement", tokens: int) -> "Iterator[Fact]":
    """Yield the window, then the lower limits: the client's auto-compaction, or a reserve."""
    budget, limits = measured.budget, measured.limits
    yield Fact("window", _filled(budget.window, tokens))
    yield Fact("", one_line(budget.source))
    if limits.base == "available":
        yield from _reserve_facts(budget)
        yield Fact("available input", _filled(budget.available, tokens))
        return
    fit = fit_of(tokens, limits)
    if limits.client is not None:
        yield Fact(limits.client.name, f"{limits.compacts_at:>11,}: {_compaction(fit)}")
        yield from _assumption(limits)
    if fit.max_answer is not None:
        where = "beside the window" if budget.is_input_only and fit.fits else "left"
        yield Fact("for the answer", f"{fit.max_answer:>11,} {where}")


def _filled(limit: int, tokens: int) -> str:
    """Return the share of a limit that is used; 1 if the limit is 0."""
    share = share_text(tokens / limit if limit else 1.0)
    remaining = limit - tokens
    verdict = f"{remaining:,} left" if remaining >= 0 else f"{-remaining:,} too many"
    return f"{limit:>11,}: {share} used, {verdict}"


def _compaction(fit: "Fit") -> str:
    when = f"in {fit.until_compaction:,}" if fit.until_compaction else "now"
    return f"compacts by itself {when}"


def _assumption(limits: "Limits") -> "Iterator[Fact]":
    """Yield the window that the client assumes if it does not know the model."""
    if limits.assumed_window is None:
        return
    window = limits.budget.window
    text = f"it does not know the model, and takes its window to be {limits.assumed_window:,}"
    if limits.compacts_at is not None and limits.compacts_at > window:
        text += f": too late for {window:,}"
    yield Fact("", text)


def request_text(tokens: int, unreported: str) -> str:
    """Return the size of a request; ``unreported`` says why the real size may be larger."""
    return f"{tokens_text(tokens)} or more" if unreported else tokens_text(tokens)


def unread_facts(unread: str) -> "Iterator[Fact]":
    """Yield the text of ``describe_unread``, if there is any."""
    if unread:
        yield Fact("incomplete", line_text(unread), "bold red")


def doubt_facts(size: "ContextSize") -> "Iterator[Fact]":
    """Yield what a client usually sends besides the counted tokens, if that was not reported."""
    yield from _unreported(size)
    if size.range is not None:
        low, high = size.range
        yield Fact("", f"between {low:,} and {high:,}: {size.unsure}")


def _unreported(size: "ContextSize") -> "Iterator[Fact]":
    if not size.unreported:
        return
    reported = "no reported usage is believed" if size.doubt else "nothing was reported"
    what = f"{reported}: what {size.unreported} sends beside is not known"
    if size.usual is not None:
        usual = size.usual
        beside = f"{usual.usual:,}, in nine of ten sessions {usual.least:,} to {usual.most:,}"
        what = f"{what}, usually {beside}"
        yield Fact(
            "", f"about {size.total + usual.usual:,} with system prompt and tools (estimate)"
        )
    yield Fact("", what)


def health_facts(check: "CountCheck | None") -> "Iterator[Fact]":
    """Yield how counts compare with the growth reported between requests, if any was reported."""
    if check is None:
        return
    if check.verdict == "too few":
        steps = "step with enough in it" if check.steps == 1 else "steps with enough in them"
        yield Fact("health check", f"{check.steps:>11,} {steps}: too few to check the counts by")
    elif check.verdict == "content missing":
        figure = f"{check.missing:>11,} of {check.checked:,} large steps were reported"
        text = f"{figure} with much more than is in the file: content is missing"
        yield Fact("health check", text, "yellow")
    else:
        steps = plural(check.steps, "step")
        figure = f"{check.ratio:>11.2f} reported for each counted token, over {steps}"
        verdict, style = _VERDICTS[check.verdict]
        yield Fact("health check", f"{figure}: {verdict}", style)


def written_text(written: "Written", n_bytes: int | None = None, before: int = 0) -> str:
    """Return the written file; ``n_bytes`` is its size, ``before`` the size before an append."""
    output = line_text(written.output)
    if written.appended_lines:
        lines = plural(written.appended_lines, "line")
        size = "" if n_bytes is None else f" ({size_text(n_bytes - before)})"
        return f"appended {lines}{size} to {output}; all before them is as it was"
    return f"wrote {output}" if n_bytes is None else f"wrote {output} ({size_text(n_bytes)})"


def undo_text(written: "Written") -> str:
    """Return the command that undoes the write."""
    insist = " --while-open" if written.undo_while_open else ""
    return f"compactctl rewind {shell_path(written.undo_name)}{insist}"


def session_lines(written: "Written") -> "Iterator[str]":
    """Yield facts about the session that the transcript was made from."""
    if written.forked_from:
        yield f"this is a session of its own; {line_text(written.forked_from)} is as it was"
    if written.carried_lines:
        yield _carried_text(written.carried_lines)


def _carried_text(lines: int) -> str:
    """Return the note that lines were appended to a transcript meanwhile, and were copied."""
    were = "line was" if lines == 1 else "lines were"
    return f"{lines:,} {were} appended meanwhile; carried over"


def resume_lines(command: str | None) -> "Iterator[str]":
    """Yield how to resume a session; nothing if there is no session."""
    if command:
        yield f"continue with: {line_text(command)}"


def status_text(status: str) -> str:
    """Return the name under which users see the status of a batch's row."""
    return _STATUSES.get(status, status)
