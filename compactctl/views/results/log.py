"""The compactions of a transcript, and the groups of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compactctl.commands.inspect.log import LogEntry, LogResult, StateCommand
from compactctl.commands.operations.history import ReplacedState
from compactctl.commands.operations.steps import OperationStep
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.operation import Operation, OperationKind
from compactctl.views.encode import encoded, record
from compactctl.views.facts import clock_text, utc_text, warning_lines
from compactctl.views.terminal.screen import ScreenItem, Verbatim
from compactctl.views.terminal.tables import number, table, text
from compactctl.views.terminal.text import (
    line_text,
    one_line,
    path_name,
    shell_line,
    shell_path,
    size_text,
)

_FIRST = "the original"
_TO_THE_MINUTE = len("2026-01-31 12:00")
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
    "size",
)

# What an operation without stages did, before its detail.
_CHANGES: Mapping[OperationKind, str] = {"undo": "undo of a compaction", "end": "left out all"}


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
        **record(result, without=("options", "advice", "states", "client_states")),
        "states": _state_documents(result, result.states),
        "clientStates": _state_documents(result, result.client_states),
    }


def _state_documents(result: LogResult, states: Sequence[StateCommand]) -> list[dict[str, Any]]:
    return [{"state": state.state or None, "command": _command(result, state)} for state in states]


def _command(result: LogResult, state: StateCommand) -> str:
    """Return the command that returns to a state."""
    name = shell_path(result.options.input.reference)
    return f"compactctl rewind {name} {shell_line(state.options)}"


def log_messages(result: LogResult) -> Iterator[str]:
    """Yield the warnings, for standard error."""
    yield from warning_lines(result.warnings)


def _operations(result: LogResult) -> Iterator[ScreenItem]:
    columns = (
        number("#"),
        text("Operation"),
        text("When (UTC)", spare=2),
        text("Next request", spare=1),
        number("Archive", spare=3),
        text("", "end", min_width=9),
    )
    sizes = _state_sizes(result.operations)
    yield table(columns, (_cells(entry, sizes) for entry in result.operations))
    yield from _states(result, result.states)
    yield from _groups(result)
    if result.lost:
        yield ""
        yield from (line_text(f"lost: {lost.why}") for lost in result.lost)
    if result.changed:
        yield ""
        yield line_text(f"changed: {result.changed}")
    if result.replaced:
        yield ""
        yield from map(_replaced, result.replaced)
    if result.appended_bytes:
        yield ""
        yield f"{size_text(result.appended_bytes)} appended after the last operation"


def _replaced(state: ReplacedState) -> str:
    origin = f"operation {state.operation}" if state.operation else "the first state"
    return f"overwritten: {state.name}, grown from {origin}; rewind --to {state.name} restores it"


def _state_sizes(entries: Iterable[LogEntry]) -> dict[str, int]:
    """Return the tokens of the next request by the digest of a state, as far as recorded."""
    sizes: dict[str, int] = {}
    for entry in entries:
        operation = entry.operation
        if operation is not None and operation.size and not operation.detail:
            sizes[operation.before.sha256] = operation.size.before
            sizes[operation.after.sha256] = operation.size.after
    return sizes


def _cells(entry: LogEntry, sizes: Mapping[str, int]) -> tuple[str, ...]:
    operation = entry.operation
    if operation is None:
        state = "in effect" if entry.in_effect else ""
        return (str(entry.number), entry.step.id, "", "", "in the file", state)
    return (
        str(entry.number),
        operation.id,
        clock_text(operation.recorded_at)[:_TO_THE_MINUTE],
        _tokens(operation, sizes),
        size_text(entry.archive_bytes),
        f"of {entry.first_state}"
        if entry.first_state
        else _state(operation, in_effect=entry.in_effect),
    )


def _tokens(operation: Operation, sizes: Mapping[str, int]) -> str:
    """Return the tokens of the next request before and after, if they are recorded."""
    if operation.detail:
        return ""
    before, after = sizes.get(operation.before.sha256), sizes.get(operation.after.sha256)
    return "" if before is None or after is None else f"{before:,} → {after:,}"


def _state(operation: Operation, *, in_effect: bool) -> str:
    if operation.kind == "rewind":
        how = ", appended" if operation.appended else ""
        return f"to {operation.head or _FIRST}{how}"
    appended = "appended" if operation.appended else ""
    what = _CHANGES.get(operation.kind, "")
    detail = " ".join(filter(None, (what, one_line(operation.detail))))
    return ", ".join(filter(None, ("in effect" if in_effect else "", appended, detail)))


def _groups(result: LogResult) -> Iterator[ScreenItem]:
    """Yield the groups in effect, the largest first."""
    rows = [
        (entry, group) for entry in result.operations if entry.in_effect for group in entry.groups
    ]
    if not rows:
        return
    columns = (
        text("Group"),
        text("Stage"),
        number("Messages"),
        number("Tokens"),
        text("Operation", spare=1),
    )
    yield ""
    yield "Groups that rewind --group can restore"
    yield table(
        columns,
        [
            (group.id, group.stage, _count(group.messages), _count(group.tokens), entry.step.id)
            for entry, group in sorted(rows, key=lambda row: -(row[1].tokens or 0))
        ],
    )


def _states(result: LogResult, states: Sequence[StateCommand]) -> Iterator[ScreenItem]:
    """Yield for each state the command that returns to it, whole and on a line of its own."""
    if not states:
        return
    yield ""
    yield "Return to"
    width = max(len(state.state or _FIRST) for state in states)
    for state in states:
        label = state.state or _FIRST
        yield Verbatim(f"  {label:<{width}}  {_command(result, state)}")


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _nothing(result: LogResult) -> Iterator[ScreenItem]:
    name = path_name(result.options.input.reference)
    if result.archive_missing:
        yield f"{name} was compacted, but its archive was not found"
        yield f"{line_text(result.advice)} to list its compactions and to rewind"
        return
    yield f"{name} was never compacted"


def _by_client(result: LogResult) -> Iterator[ScreenItem]:
    if not result.by_client:
        return
    columns = (
        text("Compaction"),
        number("Line"),
        text("When (UTC)", spare=2),
        text("What", spare=1),
        number("Messages"),
        text("", "end", min_width=9),
    )
    if result.operations or result.archive_missing:
        yield ""
    yield f"Compactions by {result.by_client[0].client}"
    yield table(columns, map(_client_cells, result.by_client))
    yield from _states(result, result.client_states)


def _client_cells(compaction: ClientCompaction) -> tuple[str, ...]:
    state = "in effect" if compaction.in_effect else "superseded"
    when = clock_text(utc_text(compaction.time))[:_TO_THE_MINUTE]
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
        "firstState": entry.first_state or None,
        "groups": encoded(entry.groups),
        "archiveBytes": None if operation is None else entry.archive_bytes,
    }


def _unrecorded(step: OperationStep) -> dict[str, Any]:
    """Return the same fields for a compaction inside the transcript; null if unknown."""
    unknown = dict.fromkeys(("recordedAt", "toolVersion", "counter", "before", "after", "size"))
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
