"""Texts shared by several results: the measurement, the fill of the window, written files."""

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from compactctl.views.terminal.screen import Fact
from compactctl.views.terminal.text import (
    line_text,
    one_line,
    plural,
    shell_line,
    shell_path,
    size_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from compactctl.commands.client_sessions.write import Written
    from compactctl.commands.measuring.measure import Measurement
    from compactctl.history.usage.count_check import CountCheck
    from compactctl.model.operation import StateChange
    from compactctl.model.transcript import Omission
    from compactctl.tokens.fit import LimitBase, Limits

# The source that ``resolve_model`` returns if no model was named.
UNNAMED_MODEL = "unknown"
# The limit that levels and gates refer to, for any client.
BASES: "Mapping[LimitBase, str]" = {
    "client": "where its client compacts",
    "window": "the window",
    "available": "the available input",
}
# For reports of compactions.
BEFORE_AND_AFTER = "next requests as they are after compaction, all other tokens as before it"
# Statuses of a batch's rows that users see under another name.
_STATUSES = {"skipped": "not a transcript"}


def omissions_text(omissions: "Iterable[Omission]") -> str:
    """Say what a client leaves out: "94 reasoning blocks of another model and 1 call …"."""
    *texts, last = (
        f"{plural(count, noun)} {detail}" for (noun, detail), count in _counted(omissions).items()
    )
    return f"{', '.join(texts)} and {last}" if texts else last


def omission_counts(omissions: "Iterable[Omission]") -> list[dict[str, str | int]]:
    """Return what a client leaves out and how much of it, for a document."""
    return [
        {"what": f"{noun} {detail}", "count": count}
        for (noun, detail), count in _counted(omissions).items()
    ]


def _counted(omissions: "Iterable[Omission]") -> "Counter[tuple[str, str]]":
    counts: Counter[tuple[str, str]] = Counter()
    for omission in omissions:
        counts[omission.noun, omission.detail] += omission.count
    return counts


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
    if model.name == UNNAMED_MODEL:
        return "no model is recorded; name it with --model"
    if model.is_inferred:
        prefix = one_line(model.matched_prefix)
        return f"model {one_line(model.name)} is not listed; measured as {prefix}"
    return f"model {one_line(model.name)} is not listed; set --counter and --window"


def window_facts(measured: "Measurement") -> "Iterator[Fact]":
    """Yield the context window with its source, and the part of it that is available for input."""
    budget = measured.budget
    yield Fact("window", f"{budget.window:,} tokens ({one_line(budget.source)})")
    yield Fact("output reserve", f"{budget.output_reserve:,} tokens")
    if budget.usable != 1:
        margin = budget.window - budget.output_reserve - budget.available
        yield Fact("safety margin", f"{margin:,} tokens")
    yield Fact("available input", f"{budget.available:,} tokens")


def tokens_text(count: int) -> str:
    """Return a number of tokens, padded so that several align."""
    return f"{count:>11,} {'token' if count == 1 else 'tokens'}"


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


def health_facts(check: "CountCheck | None") -> "Iterator[Fact]":
    """Yield how counts compare with the growth reported between requests, if any was reported."""
    if check is None:
        return
    if check.verdict == "too few":
        text = f"{plural(check.steps, 'step')} large enough: too few to check the counts"
        yield Fact("health check", text)
    elif check.verdict == "as expected":
        steps = plural(check.steps, "step")
        text = f"reported/counted = {check.ratio:.2f} over {steps}, as expected"
        yield Fact("health check", text)
    else:
        yield from (Fact("health check", line, "yellow") for line in health_doubt(check))


def health_doubt(check: "CountCheck | None") -> "Iterator[str]":
    """Yield why the counts cannot be right, if reported usage shows that."""
    if check is None:
        return
    if check.verdict == "content missing":
        yield (
            f"usage of {check.missing:,} of {check.checked:,} large steps is far above what is in "
            "the file: content is missing"
        )
    elif check.verdict == "other tokens":
        steps = plural(check.steps, "step")
        yield (
            f"reported/counted = {check.ratio:.2f} over {steps}: the counter is not the model's, "
            "or content is missing"
        )


def labeled(label: str, text: str) -> str:
    """Return a line about what was done; the texts of several such lines align."""
    return f"{label:<8}  {text}"


def written_lines(
    written: "Written", n_bytes: int | None = None, before: int = 0
) -> "Iterator[str]":
    """Yield the written file and session.

    ``n_bytes`` is the size of the file, ``before`` its size before an append.
    """
    output = line_text(written.output)
    if written.appended_lines:
        lines = plural(written.appended_lines, "line")
        size = "" if n_bytes is None else f" ({size_text(n_bytes - before)})"
        yield labeled("appended", f"{lines}{size} to {output}; existing bytes unchanged")
    else:
        yield labeled("wrote", output if n_bytes is None else f"{output} ({size_text(n_bytes)})")
    if written.forked_from:
        yield labeled("session", f"{line_text(written.forked_from)} (not changed)")
        yield labeled("new", line_text(written.forked_to or ""))
    if written.carried_lines:
        yield labeled("carried", f"{plural(written.carried_lines, 'line')} appended meanwhile")


def growth_line(change: "StateChange", path: str) -> str:
    """Return the line of a dry run that says how many bytes would be appended to a file."""
    n_bytes = change.after.n_bytes - change.before.n_bytes
    return labeled("appends", f"{n_bytes:,} bytes to {line_text(path)}; existing bytes unchanged")


def undo_line(written: "Written") -> str:
    """Return the command that undoes the write."""
    option = f" {written.undo_option}" if written.undo_option else ""
    return labeled("undo", f"compactctl rewind {shell_path(written.undo_name)}{option}")


def resume_lines(command: str | None) -> "Iterator[str]":
    """Yield how to resume a session; nothing if there is no session."""
    if command:
        yield labeled("continue", shell_line(command))


def status_text(status: str) -> str:
    """Return the name under which users see the status of a batch's row."""
    return _STATUSES.get(status, status)
