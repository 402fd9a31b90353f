"""Undoes what a client compacted by what is appended to its session, of which no byte changes."""

from dataclasses import replace
from pathlib import Path

from compactctl.commands.appending.block import (
    check_read_as,
    insists_on_undo,
    rules_of,
    settled,
    with_block,
)
from compactctl.commands.appending.conditions import check_loose, check_proven, version_of
from compactctl.commands.appending.unfinished import finished_part
from compactctl.commands.by_client.compactions import ClientCompaction
from compactctl.commands.by_client.undo import Undone, undo
from compactctl.commands.forking.written import Destination, Written, append_to
from compactctl.commands.loading.database_path import is_in_database
from compactctl.commands.loading.load import Loaded
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.rewind.result import RewindOptions
from compactctl.errors import UsageError
from compactctl.pipeline.archive_rows import moved_rows
from compactctl.store.files.content import Content, parted
from compactctl.store.files.lines import STANDARD_INPUT


def check_appended(options: RewindOptions) -> None:
    """Raise UsageError for options that contradict what is appended, and for what is not a file."""
    others = {"--in-place": options.in_place, "--output": options.output is not None}
    named = next((name for name, is_given in others.items() if is_given), None)
    if named is not None:
        raise UsageError(f"--native and {named} contradict each other; choose one")
    if options.input.path == STANDARD_INPUT or is_in_database(options.input.path):
        raise UsageError(f"{options.input.path}: --native appends to a file; leave it out")


def appendable(
    options: RewindOptions, loaded: Loaded, history: OperationHistory
) -> tuple[Loaded, str]:
    """Return a session without records that do not count any more, and what to say of its client.

    CannotAppendError and UsageError as ``check_proven`` and ``check_loose`` do.
    """
    rules = rules_of(loaded)
    version = version_of(loaded.transcript, rules)
    note = check_proven(options.input.path, rules, version, force=options.force)
    way = "leave out --native"
    check_loose(options.input.path, rules, version, while_open=options.while_open, way=way)
    if finished_part(history) is not None:
        raise UsageError(
            f"{options.input.path}: ends in a part of what a run that was killed has appended; "
            "take that away with compactctl rewind first"
        )
    return settled(loaded), note


def undone_behind(
    whole: Loaded,
    loaded: Loaded,
    wanted: tuple[ClientCompaction, ...],
    history: OperationHistory,
) -> Undone:
    """Return ``whole`` with what undoes compactions of it, which ``loaded`` tells, behind it.

    CannotAppendError where its client would send something else then.
    """
    undone = undo(loaded, wanted, history.chain[-1].id if history.chain else None)
    operation, _ = undone.archive
    new = with_block(whole, undone.loaded.lines, operation.id)
    check_read_as(whole, undone.loaded.transcript, new)
    content = Content.of(new)
    record = replace(operation, after=content.digest, appended=True)
    return replace(undone, content=content, archive=(record, moved_rows(whole.lines, new)))


def append_undone(options: RewindOptions, whole: Loaded, undone: Undone) -> Written:
    """Append to the session what undoes compactions of it. Raises as ``append_to`` does."""
    place = Destination(path=options.input.path, target=Path(options.input.path))
    _, block = parted(undone.content.pieces, whole.source.digest.n_bytes)
    return append_to(place, whole.source, block, [undone.archive], insists=insists_on_undo(whole))
