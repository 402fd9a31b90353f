"""The compactions of a transcript, and the groups of each."""

from collections.abc import Iterator
from typing import Any

from compactctl.commands.client_sessions.compactions import ClientCompaction
from compactctl.commands.inspect.log import LogEntry, LogResult
from compactctl.commands.operations.steps import OperationStep
from compactctl.model.operation import Operation
from compactctl.views.encode import encoded, record
from compactctl.views.facts import clock_text, utc_text, warning_lines
from compactctl.views.terminal.screen import ScreenItem
from compactctl.views.terminal.tables import number, table, text
from compactctl.views.terminal.text import line_text, one_line, path_name, shell_path, size_text

_OPERATION = (
    "head",
    "kind",
    "detail",
    "appended",
    "recorded_at",
    "tool_version",
    "format",
    "counter",
    "before",
    "after",
    "stages",
)


def log_terminal(result: LogResult) -> Iterator[ScreenItem]:
    """Yield the output: a row per operation, then a row per group in effect."""
    if result.operations:
        yield from _operations(result)
    elif result.archive_missing or not result.by_client:
        yield from _nothing(result)
    yield from _by_client(result)


def log_document(result: LogResult) -> dict[str, Any]:
    """Return an object per operation, and one per compaction by the client."""
    return {
        "schema": "compactctl.log/1",
        "path": result.options.input.path,
        **record(result, without=("options", "advice")),
    }


def log_messages(result: LogResult) -> Iterator[str]:
    """Yield the warnings, for standard error."""
    yield from warning_lines(result.warnings)


def _operations(result: LogResult) -> Iterator[ScreenItem]:
    columns = (
        number("No"),
        text("Operation"),
        text("Kind", spare=3),
        text("When (UTC)", spare=2),
        number("Tokens before", spare=1),
        number("Tokens after"),
        number("Archive", spare=4),
        text("State", "end", min_width=9),
    )
    yield table(columns, map(_cells, result.operations))
    counters = {entry.operation.counter for entry in result.operations if entry.operation}
    if counters:
        yield f"counted with {', '.join(sorted(map(one_line, counters)))}"
    yield from _groups(result)
    numbers = ", ".join(f"{entry:04}" for entry in result.missing_archives)
    if result.builds_upon or numbers:
        yield ""
        archive = f"archive {numbers} is" if numbers else "its archive is"
        came = f"operation {result.builds_upon} came before; " if result.builds_upon else ""
        yield f"{came}{archive} missing, put it back to restore the state before it"
    if result.appended_bytes:
        yield ""
        yield f"{size_text(result.appended_bytes)} were appended after the last operation"


def _cells(entry: LogEntry) -> tuple[str, ...]:
    operation = entry.operation
    if operation is None:
        state = "in effect" if entry.in_effect else ""
        return (str(entry.number), entry.step.id, "compact", "", "", "", "in the file", state)
    before, after = _tokens(operation)
    return (
        str(entry.number),
        operation.id,
        operation.kind,
        clock_text(operation.recorded_at),
        before,
        after,
        size_text(entry.archive_bytes),
        _state(operation, in_effect=entry.in_effect),
    )


def _tokens(operation: Operation) -> tuple[str, str]:
    """Return the tokens before and after, if the recorded stages still have them."""
    stages = operation.stages
    if not stages or operation.detail:
        return "", ""
    return f"{stages[0].tokens_before:,}", f"{stages[-1].tokens_after:,}"


def _state(operation: Operation, *, in_effect: bool) -> str:
    if operation.kind == "rewind":
        how = ", appended" if operation.appended else ""
        return f"back to {operation.head or 'the first state'}{how}"
    appended = "appended" if operation.appended else ""
    words = ["in effect" if in_effect else "", appended, one_line(operation.detail)]
    return ", ".join(filter(None, words))


def _groups(result: LogResult) -> Iterator[ScreenItem]:
    rows = [
        (entry, group) for entry in result.operations if entry.in_effect for group in entry.groups
    ]
    if not rows:
        return
    columns = (
        text("Group"),
        text("Stage"),
        number("Messages"),
        number("Tokens in them before"),
        text("Operation", spare=1),
    )
    yield ""
    yield "Groups in effect"
    yield table(
        columns,
        [
            (group.id, group.stage, _count(group.messages), _count(group.tokens), entry.step.id)
            for entry, group in rows
        ],
    )
    if not any(entry.operation and entry.operation.appended for entry, _ in rows):
        yield f"bring one back with: {_rewind_text(result)} --group GROUP"


def _rewind_text(result: LogResult) -> str:
    return f"compactctl rewind {shell_path(result.options.input.path)}"


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _nothing(result: LogResult) -> Iterator[ScreenItem]:
    name = path_name(result.options.input.path)
    if result.archive_missing:
        yield f"{name} was compacted, but its archive is not there"
        yield f"{line_text(result.advice)} to see what was done and to rewind"
        return
    yield f"{name} was never compacted: no archive beside it, no tags in it"


def _by_client(result: LogResult) -> Iterator[ScreenItem]:
    if not result.by_client:
        return
    columns = (
        text("Compaction"),
        number("Line"),
        text("When (UTC)", spare=2),
        text("What", spare=1),
        number("Messages"),
        text("State", "end", min_width=9),
    )
    if result.operations or result.archive_missing:
        yield ""
    yield f"By {result.by_client[0].client} itself"
    yield table(columns, map(_client_cells, result.by_client))
    yield f"undo the newest with: {_rewind_text(result)} --client"
    if any(compaction.groups for compaction in result.by_client):
        yield f"or any by its tag: {_rewind_text(result)} --group COMPACTION"


def _client_cells(compaction: ClientCompaction) -> tuple[str, ...]:
    state = "in effect" if compaction.in_effect else "under a newer one"
    when = clock_text(utc_text(compaction.time))
    return (
        compaction.id,
        f"{compaction.line:,}",
        when,
        compaction.what,
        f"{len(compaction.hidden):,}",
        state,
    )


@encoded.register
def _entry(entry: LogEntry) -> dict[str, Any]:
    operation = entry.operation
    return {
        "number": entry.number,
        "id": entry.step.id,
        "parent": entry.step.parent,
        **(_unrecorded(entry.step) if operation is None else encoded(operation)),
        "inEffect": entry.in_effect,
        "groups": encoded(entry.groups),
        "archiveBytes": None if operation is None else entry.archive_bytes,
    }


def _unrecorded(step: OperationStep) -> dict[str, Any]:
    """Return the same fields for a compaction inside the transcript; null if unknown."""
    unknown = dict.fromkeys(("recordedAt", "toolVersion", "counter", "before", "after"))
    return {
        "head": step.id,
        "kind": "compact",
        "detail": "",
        "appended": False,
        "format": step.format,
        **unknown,
        "stages": [],
    }


@encoded.register
def _operation(operation: Operation) -> dict[str, Any]:
    return record(operation, only=_OPERATION)
