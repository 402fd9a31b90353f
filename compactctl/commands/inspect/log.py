"""The history of a transcript's compactions."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

from compactctl.commands.client_sessions.compactions import compactions_of
from compactctl.commands.client_sessions.native import undo_option
from compactctl.commands.client_sessions.new_session import becomes_new_session
from compactctl.commands.client_sessions.places import current_state
from compactctl.commands.operations.find_history import archive_advice, history_of, other_histories
from compactctl.commands.operations.history import OperationHistory, ReplacedState
from compactctl.commands.operations.restorable import (
    LostState,
    doubtful_outcomes,
    lost_before_newest,
    lost_states,
)
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.reading.transcript import (
    InputOptions,
    is_tagged,
    loaded_from,
    open_transcript,
)
from compactctl.errors import (
    ArchiveError,
    ChangedError,
    ChangedMeanwhileError,
    CompactctlError,
    IntegrityError,
    MissingArchiveError,
    NotUnderstoodError,
    UsageError,
)
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.operation import Operation
from compactctl.pipeline.edit_codec import read_edits
from compactctl.records import Record, replace
from compactctl.store.archive.archive_file import read_rows
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.source import STANDARD_STREAM, Source


class LogOptions(Record):
    """The transcript; ``archive`` is its archive folder if not at the default location."""

    input: InputOptions
    archive: Path | None = None


class ArchivedGroup(Record):
    """The messages behind one summary, marker or set of rewritten records.

    ``tokens`` is their size before. Of a group inside the transcript only the id is known.
    """

    id: str
    stage: str = ""
    messages: int | None = None
    tokens: int | None = None
    in_effect: bool


class LogEntry(Record):
    """One operation, its groups, and whether it is in effect now.

    ``operation`` is its record in the archive; None if only the transcript itself holds the
    originals. ``archive_bytes`` is 0 then. ``first_state`` names the first state of a history that
    this transcript replaced, and is "" in its own.
    """

    number: int
    step: OperationStep
    operation: Operation | None
    groups: tuple[ArchivedGroup, ...]
    in_effect: bool
    archive_bytes: int = 0
    first_state: str = ""


class StateCommand(Record):
    """A state that can be restored, and the options with which rewind does so.

    ``state`` is the compaction after which it was, "" for the first state.
    """

    state: str
    options: str


class LogResult(Record):
    """The operations behind a transcript, oldest first.

    Attributes:
        options: the options.
        appended_bytes: the bytes appended after the newest operation.
        archive_missing: whether compactctl wrote records of it, but their archive is missing.
        lost: the states that cannot be restored.
        replaced: the states that had grown when they were overwritten.
        changed: why the transcript is in no known state, "" if it is in one.
        operations: an entry for each operation.
        by_client: the compactions by the client whose originals are in the transcript.
        warnings: what the user should know.
        advice: what to do about a missing archive.
        states: the states other than the present one, oldest first; () of standard input.
        client_states: the same for compactions by the client.
    """

    options: LogOptions
    appended_bytes: int = 0
    archive_missing: bool = False
    lost: tuple[LostState, ...] = ()
    replaced: tuple[ReplacedState, ...] = ()
    changed: str = ""
    operations: tuple[LogEntry, ...] = ()
    by_client: tuple[ClientCompaction, ...] = ()
    warnings: tuple[str, ...] = ()
    advice: str = ""
    states: tuple[StateCommand, ...] = ()
    client_states: tuple[StateCommand, ...] = ()

    @property
    def exit_code(self) -> int:
        """6 if a state is lost, 8 if the transcript is in no known one, else 0."""
        if self.changed:
            return ChangedError.exit_code
        return ArchiveError.exit_code if self.archive_missing or self.lost else 0


def log(options: LogOptions) -> LogResult:
    """Return the history of a transcript.

    Raises ArchiveError, IntegrityError, and ChangedError if it was changed meanwhile.
    """
    path = options.input.path
    source = open_transcript(path, options.input.limits)
    history = history_of(source, path, folder=options.archive)
    unknown: ChangedError | MissingArchiveError | None = None
    try:
        own_lost = lost_states(history)
    except ChangedMeanwhileError:
        raise
    except (ChangedError, MissingArchiveError) as error:
        if not history.archived:
            raise
        unknown, own_lost = error, lost_before_newest(history)
        history = history.before_newest
    by_client = _by_client(source, path)
    client_states = tuple(_client_states(options, by_client))
    if not history.timeline.steps:
        is_missing = is_tagged(source.lines, path)
        return LogResult(
            options=options,
            archive_missing=is_missing,
            by_client=by_client,
            client_states=client_states,
            advice=archive_advice(source, path) if is_missing else "",
        )
    others = tuple(other_histories(history))
    if isinstance(unknown, MissingArchiveError):
        own_lost = (LostState(why=str(unknown)), *own_lost)
    findings = [_lost_and_doubtful(other) for other in others]
    doubtful = _doubtful(history, lost_states(history) if unknown else own_lost)
    lost = (*own_lost, *chain.from_iterable(lost for lost, _ in findings))
    causes = {state.why for state in lost}
    effective = set() if unknown else {step.id for step in history.chain}
    # A compaction that is run again has the same id; the last run is the one in effect.
    last = {step.id: number for number, step in enumerate(history.timeline.steps, 1)}
    return LogResult(
        options=options,
        appended_bytes=0 if unknown else _appended(history),
        lost=lost,
        changed=str(unknown) if isinstance(unknown, ChangedError) else "",
        replaced=tuple(chain.from_iterable(past.replaced for past in (*others, history))),
        operations=(
            *chain.from_iterable(map(_other_entries, others)),
            *(
                _entry(number, step, in_effect=step.id in effective and last[step.id] == number)
                for number, step in enumerate(history.timeline.steps, 1)
            ),
        ),
        by_client=by_client,
        states=() if unknown else tuple(_states(options, source, history, own_lost)),
        client_states=client_states,
        warnings=(
            *(text for text in history.warnings if text not in causes),
            *chain.from_iterable(doubtful for _, doubtful in findings),
            *doubtful,
        ),
    )


def _by_client(source: Source, path: str) -> tuple[ClientCompaction, ...]:
    """Return the client's compactions; none if the transcript is not understood."""
    with suppress(NotUnderstoodError):
        return compactions_of(current_state(loaded_from(source, path)))
    return ()


def _states(
    options: LogOptions, source: Source, history: OperationHistory, lost: Iterable[LostState]
) -> Iterator[StateCommand]:
    """Yield the states of compactctl's operations, except the present one."""
    if options.input.path == STANDARD_STREAM:
        return
    steps = history.timeline.steps
    more = " ".join(
        filter(
            None,
            (
                "" if options.archive is None else f"--archive {shlex.quote(str(options.archive))}",
                _open_option(source, options.input.path)
                if any(step.is_appended for step in steps)
                else "",
            ),
        )
    )
    lost_ids = {state.operation for state in lost}
    present = history.timeline.in_effect[-1:]
    if present and history.timeline.steps[0].parent not in lost_ids:
        yield StateCommand(state="", options=f"--all {more}".strip())
    ids = dict.fromkeys(step.id for step in steps if not step.is_rewind)
    for name in ids:
        if name not in lost_ids and (name,) != present:
            yield StateCommand(state=name, options=f"--to {name} {more}".strip())


def _open_option(source: Source, path: str) -> str:
    """Return the option that rewind takes where it is unknown whether a session is open."""
    with suppress(NotUnderstoodError, UsageError):
        return undo_option(loaded_from(source, path), closed=False)
    return ""


def _client_states(
    options: LogOptions, compactions: Sequence[ClientCompaction]
) -> Iterator[StateCommand]:
    """Yield the states before, and between, the compactions by the client."""
    path = options.input.path
    if not compactions or path == STANDARD_STREAM:
        return
    is_new = becomes_new_session(path, options.input.limits)
    output = "" if is_new else " --in-place"
    yield StateCommand(state="", options=f"--client --all{output}")
    for compaction in compactions[:-1]:
        options_text = f"--client --to {compaction.id}{output}"
        yield StateCommand(state=compaction.id, options=options_text)


def _appended(history: OperationHistory) -> int:
    """Return the bytes appended after the newest operation, 0 if unknown."""
    if history.timeline.current is None and not history.chain:
        return 0
    with suppress(IntegrityError, ChangedError):
        return history.timeline.periods[-1].growth.n_bytes
    return 0


def _lost_and_doubtful(other: OperationHistory) -> tuple[tuple[LostState, ...], tuple[str, ...]]:
    """Return the lost states of a history that the transcript replaced, and its warnings."""
    try:
        lost = lost_states(other)
    except CompactctlError as error:
        return (LostState(why=str(error)),), ()
    return lost, tuple(_doubtful(other, lost))


def _doubtful(history: OperationHistory, lost: Iterable[LostState]) -> Iterator[str]:
    """Yield a warning for each outcome that may never have been written."""
    with suppress(CompactctlError):
        yield from (state.why for state in doubtful_outcomes(history, lost))


def _other_entries(other: OperationHistory) -> Iterator[LogEntry]:
    """Yield the operations of a history that the transcript replaced."""
    with suppress(CompactctlError):
        for number, step in enumerate(other.timeline.steps, 1):
            entry = _entry(number, step, in_effect=False)
            yield replace(entry, first_state=other.first_state)


def _entry(number: int, step: OperationStep, *, in_effect: bool) -> LogEntry:
    if isinstance(step, ArchivedStep):
        return LogEntry(
            number=number,
            step=step,
            operation=step.operation,
            groups=_groups(step.file.path, step.archive.limits, in_effect=in_effect),
            in_effect=in_effect,
            archive_bytes=step.file.path.stat().st_size,
        )
    names = step.operation.groups
    groups = tuple(ArchivedGroup(id=name, in_effect=in_effect) for name in names)
    return LogEntry(number=number, step=step, operation=None, groups=groups, in_effect=in_effect)


def _groups(path: Path, limits: ReadLimits, *, in_effect: bool) -> tuple[ArchivedGroup, ...]:
    archived = read_edits((row["edits"] for row in read_rows(path, ("edits",), limits)), path)
    return tuple(
        ArchivedGroup(
            id=name,
            stage=archived.groups[name],
            messages=len(sizes),
            tokens=sum(sizes.values()),
            in_effect=in_effect,
        )
        for name, sizes in archived.sizes.items()
    )
