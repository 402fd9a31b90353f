"""The state that a rewind restored."""

from collections.abc import Iterator
from typing import Any

from compactctl.commands.rewind.result import RewindResult
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.views.encode import encoded, record, written_fields
from compactctl.views.facts import (
    growth_line,
    labeled,
    resume_lines,
    undo_line,
    warning_lines,
    written_lines,
)
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem
from compactctl.views.terminal.text import (
    one_line,
    path_name,
    plural,
    shell_path,
    size_text,
    typed_command,
)


def rewind_terminal(result: RewindResult) -> Iterator[ScreenItem]:
    """Yield the output: the restored state, then what is in effect in it."""
    yield Accent(_answer(result), "bold")
    facts = tuple(_facts(result) if result.moved else _merged(result))
    if facts:
        yield Facts(facts)


def rewind_document(result: RewindResult) -> dict[str, Any]:
    """Return what was restored, and the states before and after."""
    return {
        "schema": "compactctl.rewind/1",
        "path": result.options.input.path,
        **written_fields(result.written),
        "layout": result.layout,
        "checked": result.options.check,
        "moved": result.moved,
        **record(result, only=("undone", "in_effect")),
        "sameAs": result.same_as,
        "carriedBytes": result.appended.carried,
        "byClient": encoded(result.by_client),
        "before": encoded(result.change.before),
        "after": encoded(result.after),
        "warnings": encoded(result.warnings),
    }


def rewind_messages(result: RewindResult) -> Iterator[str]:
    """Yield the lines for standard error: the written file and how to undo it."""
    yield from warning_lines(result.warnings)
    if result.options.check:
        yield "checked only: nothing was written"
        if _is_appended(result):
            yield growth_line(result.change, result.options.input.path)
    written = result.written
    if written is None or written.output == STANDARD_STREAM:
        return
    sizes = (result.after.n_bytes, result.change.before.n_bytes) if _is_appended(result) else ()
    yield from written_lines(written, *sizes)
    if written.archive and not result.redo_options:
        yield undo_line(written)
    if result.same_as is not None:
        yield labeled("same as", f"{one_line(result.same_as)}, the original, which never changed")
    yield from resume_lines(written.continue_with)
    if result.redo_options:
        name = shell_path(written.forked_to or result.options.input.reference)
        yield labeled("redo", f"compactctl rewind {name} {result.redo_options}")


def _answer(result: RewindResult) -> str:
    path, checked = path_name(result.options.input.reference), result.options.check
    if not result.moved:
        if result.was_compacted:
            return f"{path}: already in that state; nothing to undo"
        if result.compacted_by:
            command = typed_command("compactctl rewind", result.options.input.reference)
            return f"compacted only by {result.compacted_by}; to undo that: {command} --client"
        return f"{path} was never compacted; nothing to undo"
    if result.by_client:
        hidden = sum(len(compaction.hidden) for compaction in result.by_client)
        what = plural(hidden, "message")
        verb = "can be sent again" if checked else "sent again"
        return f"{what} {verb}"
    if _is_appended(result):
        reads, changed = ("can read", "is") if checked else ("reads", "was")
        return f"the client {reads} the earlier state; no line {changed} changed or removed"
    group = result.options.group
    restored = "can restore" if checked else "restored"
    state = f"the messages of group {group}" if group else _state_text(result)
    size = f"{plural(result.after.n_lines, 'line')}, {size_text(result.after.n_bytes)}"
    return f"{restored} {state}: {size}, SHA-256 verified"


def _is_appended(result: RewindResult) -> bool:
    """Return whether records are appended to undo, or were."""
    return result.layout == "native" and result.after.n_bytes > result.change.before.n_bytes


def _state_text(result: RewindResult) -> str:
    return f"the state of {result.in_effect[-1]}" if result.in_effect else "the original"


def _facts(result: RewindResult) -> Iterator[Fact]:
    """Yield what is in effect now, and what was kept behind the restored state."""
    for undone in result.by_client:
        hidden = plural(len(undone.hidden), "message")
        yield Fact("undone", f"{hidden} {undone.what} by {undone.client} on line {undone.line:,}")
    if result.in_effect or result.options.group is not None:
        yield Fact("in effect", ", ".join(result.in_effect) or "nothing")
    if result.appended.carried:
        yield Fact("kept", f"{size_text(result.appended.carried)} appended since the compaction")
    yield from _merged(result)


def _merged(result: RewindResult) -> Iterator[Fact]:
    if result.appended.late:
        late = size_text(result.appended.late)
        yield Fact("merged", f"{late} that a program wrote to the replaced file")
