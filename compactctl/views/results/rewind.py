"""The state that a rewind restored."""

from collections.abc import Iterator
from typing import Any

from compactctl.commands.rewind.result import RewindResult
from compactctl.views.encode import encoded, record, written_fields
from compactctl.views.facts import (
    resume_lines,
    session_lines,
    undo_text,
    warning_lines,
    written_text,
)
from compactctl.views.terminal.screen import Fact, Facts, ScreenItem
from compactctl.views.terminal.text import path_name, plural, shell_path, size_text


def rewind_terminal(result: RewindResult) -> Iterator[ScreenItem]:
    """Yield the output: the restored state and its digest."""
    if not result.moved:
        path = path_name(result.options.input.path)
        yield f"{path}: nothing to undo, it is in that state already"
        return
    yield Facts(tuple(_facts(result)))


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
    written = result.written
    if written is None or written.output == "-":
        return
    yield written_text(written)
    yield from session_lines(written)
    if written.archive:
        yield f"undo with: {undo_text(written)}"
    yield from resume_lines(written.continue_with)
    if result.redo_options:
        path = shell_path(result.options.input.path)
        yield f"go back with: compactctl rewind {path} {result.redo_options}"


def _facts(result: RewindResult) -> Iterator[Fact]:
    if result.by_client:
        yield from _client_facts(result)
        return
    yield from _state_facts(result)
    group = result.options.group
    if group is not None:
        yield Fact("back", f"the messages of group {group}; other edits stay in effect")
        yield Fact("in effect now", ", ".join(result.in_effect) or "nothing")
    elif result.undone:
        yield Fact("no longer in effect", ", ".join(result.undone))
    if result.in_effect and group is None:
        yield Fact("still in effect", ", ".join(result.in_effect))
    if result.appended.carried:
        yield Fact("kept", f"{size_text(result.appended.carried)} appended since the compaction")
    if result.appended.late:
        what = "that a program wrote to the replaced file were merged"
        yield Fact("late", f"{size_text(result.appended.late)} {what}")


def _client_facts(result: RewindResult) -> Iterator[Fact]:
    verb = "can be sent again" if result.options.check else "sent again"
    for undone in result.by_client:
        hidden = plural(len(undone.hidden), "message")
        yield Fact(verb, f"{hidden} that {undone.client} had {undone.what} on line {undone.line:,}")
    if result.in_effect:
        yield Fact("still in effect", ", ".join(result.in_effect))


def _state_facts(result: RewindResult) -> Iterator[Fact]:
    if result.written and result.written.appended_lines:
        yield Fact("read", "by its client as it was then; no line was changed or taken out")
        return
    verb = "can be restored" if result.options.check else "restored"
    size = f"{plural(result.after.n_lines, 'line')}, {size_text(result.after.n_bytes)}"
    yield Fact(verb, f"{size}, proven by digest")
    yield Fact("SHA-256", result.after.sha256)
