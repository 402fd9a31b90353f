"""Writes a session in its client's store as a new session of that client."""

import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path

from compactctl.clients.databases import (
    database_path,
    imported_documents,
    is_in_database,
    session_in_database,
)
from compactctl.clients.fork import Fork, ForkedLines, ForkIdentity, TitleMark
from compactctl.clients.reading.folders import FolderScanner
from compactctl.clients.session import Session
from compactctl.clients.stores import (
    fork_session,
    load_sessions,
    newest_entries,
    resume_command,
    session_at,
    store_named,
)
from compactctl.commands.operations.find_history import history_of
from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.restorable import read_outcome
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.commands.reading.session_title import stored_session
from compactctl.commands.reading.transcript import (
    InputOptions,
    TranscriptFile,
    loaded_from,
    open_transcript,
)
from compactctl.errors import NotUnderstoodError, UsageError
from compactctl.pipeline.document_records import read_records
from compactctl.records import replace
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.archive.names import SUFFIX, archive_folder
from compactctl.store.client_folders import UserEnvironment, store_containing, this_machine
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import (
    FileSystem,
    already_written_note,
    disk_errors,
    is_folder,
    make_folders,
)
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.source import Source, append_lines, digest_of, split_lines
from compactctl.store.files.stale_drafts import remove_stale_drafts
from compactctl.store.publish.overwrite import is_same_place
from compactctl.store.publish.publish import write_output


def new_session(path: str, mark: TitleMark = "compacted") -> Fork | None:
    """Return the new session that a session in a client's store is to be written as.

    ``mark`` is added to its title. None if the path is in no store, or if no new session can be
    written for its client.
    """
    machine = this_machine()
    session = stored_session(path, machine)
    return fork_session(session, _fresh(machine, mark, session)) if session else None


def becomes_new_session(path: str, limits: ReadLimits) -> bool:
    """Whether a session can be written as a new one: the record that names it must be whole."""
    fork = new_session(path)
    if fork is None:
        return False
    lines = open_transcript(path, limits).lines
    try:
        return not lines or bool(fork.rewrite_line(0, lines[0]))
    except NotUnderstoodError:
        return False


def load_fork(options: InputOptions, fork: Fork) -> tuple[Source, OperationHistory, TranscriptFile]:
    """Return the source of a session, the history behind it, and the transcript under its new id.

    Raises as ``load`` does, and UsageError if a compaction is only inside the session: it is
    identified by digests of its lines, which change.
    """
    source = open_transcript(options.path, options.limits)
    history = history_of(source, options.path, options.format)
    if not all(isinstance(step, ArchivedStep) for step in history.chain):
        raise UsageError(
            f"{options.path}: contains its originals (--layout inline) and cannot become a new "
            "session; rewind it first, or use --in-place"
        )
    lines = ForkedLines(source.lines, fork)
    renamed = replace(source, lines=lines, digest=digest_of(lines))
    loaded = loaded_from(renamed, options.path, options.format, options.limits)
    return source, history, loaded


def deposits_under(
    fork: Fork, history: OperationHistory, steps: Iterable[ArchivedStep] | None = None
) -> list[ArchiveDraft]:
    """Return the archives of a session for its fork, with every state under the new id.

    They are those of ``steps``, by default of the operations that the session holds.
    """
    steps = history.archived_inside if steps is None else steps
    return [_renamed(fork, step, history) for step in steps]


def _renamed(fork: Fork, step: ArchivedStep, history: OperationHistory) -> ArchiveDraft:
    def state(lines: Iterable[bytes]) -> Iterator[bytes]:
        return starmap(fork.rewrite_line, enumerate(lines))

    after = tuple(state(split_lines(read_outcome(history, step))))
    records = step.operation.records
    operation = replace(
        step.operation,
        before=digest_of(state(step.before())),
        after=digest_of(after),
        records=records and read_records(after, records.path),
    )
    rows = (
        replace(row, raw=fork.rewrite_line(index, row.raw)) for index, row in enumerate(step.rows())
    )
    return ArchiveDraft(operation, rows)


def make_session_folder(fork: Fork) -> None:
    """Create the folder of a new session, and remove drafts of killed runs there.

    If the session has a folder of its own, drafts are in the folders of other sessions.
    """
    fs, parent = FileSystem(), fork.path.parent
    archives = archive_folder(fork.path).parent
    folders = [parent, *archives.glob(f"*{SUFFIX}")]
    if not parent.is_dir():
        folders = [*parent.parent.glob("*"), *archives.parent.glob(f"*/*{SUFFIX}")]
    with disk_errors(fork.path, "nothing was written"):
        make_folders(fs, parent)
        for folder in folders:
            remove_stale_drafts(fs, folder)


def register_session(fork: Fork) -> tuple[str, ...]:
    """Write the other files that a client keeps for a published session; return warnings.

    Raises DiskError; the session then exists, but its client may not list it.
    """
    warnings: list[str] = []
    already_written = already_written_note(fork.path)
    for path, data in fork.extra_files:
        content = Content.from_chunks([data])
        try:
            warnings += write_output(FileSystem(), path, content, on_failure=already_written)
        except BaseException as error:
            error.add_note(already_written)
            raise
    if fork.index_entry is not None:
        path, line = fork.index_entry
        with (
            disk_errors(path, "the new session was written and has no title"),
            path.open("a+b") as f,
        ):
            append_lines(f, line)
    return tuple(warnings)


def complete_session(fork: Fork, copy: Session) -> None:
    """Write those of the other files of ``copy`` that are missing, as those of another ``fork``."""
    renamed = (
        (
            Path(str(path).replace(fork.id, copy.id)),
            data.replace(fork.id.encode(), copy.id.encode()),
        )
        for path, data in fork.extra_files
    )
    missing = tuple((path, data) for path, data in renamed if not path.exists())
    register_session(replace(fork, extra_files=missing, index_entry=None))


def command_to_continue(path: str, fork: Fork | None, *, model: str = "") -> str | None:
    """Return the shell command that resumes the session at ``path``, or its fork.

    ``model`` is the model to request from the client, "" for its default. None outside of stores.
    """
    if fork is not None:
        return resume_command(fork.original, fork.id, fork.import_command, model=model)
    session = stored_session(path, this_machine())
    return resume_command(session, model=model) if session else None


def undo_name(target: Path, fork: Fork | None) -> str:
    """Return the argument of rewind for an output: the id of a new session, else the path."""
    return fork.id if fork is not None else str(target)


def imported_note(path: str) -> tuple[str, ...]:
    """Return the warning that a client has imported a document, and will not read it again."""
    session_id = Path(path).stem
    return tuple(
        f"{path}: {store.title} has imported it and continues with what it has; compactctl rewind "
        f"{session_id} writes a new session"
        for store, document in imported_documents(session_id, this_machine())
        if is_same_place(path, document)
        and session_in_database(database_path(store.client, session_id), this_machine())
    )


def appended_undo_name(target: Path) -> str:
    """Return the argument of rewind for a session that was appended to: its id, or the path."""
    session = session_at(target, this_machine())
    return session.id if session else str(target)


def _fresh(machine: UserEnvironment, mark: TitleMark, session: Session) -> ForkIdentity:
    return ForkIdentity(
        random_bits=random.SystemRandom().getrandbits(128),
        now=datetime.now(UTC),
        machine=machine,
        title_mark=mark,
        titles=frozenset(_titles_made(machine, session)),
    )


def _titles_made(machine: UserEnvironment, session: Session) -> Iterator[str]:
    """Yield the titles of a client's sessions that were compacted or renamed."""
    entries = newest_entries(machine, FolderScanner(), [store_named(session.entry.client)])
    compacted = (e for e in entries if e.listing.title or is_folder(archive_folder(e.path)))
    yield from (session.details.title for session in load_sessions(compacted))


def check_outside_stores(path: str, target: Path, *, named: bool) -> None:
    """Raise UsageError if a compacted copy of ``path`` would be in a store, as another session.

    Clients identify sessions by ids inside the file: Codex continues in the copy when the original
    is resumed, Claude Code appends to the original what was said in the copy. ``named`` means that
    the user chose the target.
    """
    if is_in_database(path) and not named:
        raise UsageError(
            f"{path}: stored in a database, which compactctl only reads; name an output file "
            "with -o"
        )
    store = store_of(target)
    if store is not None:
        raise UsageError(
            f"{target}: inside a client's session store ({store}); the client would mistake the "
            "copy for the original; write elsewhere with -o, or use --in-place"
        )


def check_tags_honoured(path: str) -> None:
    """Raise UsageError if the client of a session would send messages that only tags hide."""
    session = session_at(Path(path), this_machine())
    if session is None:
        return
    store = store_named(session.entry.client)
    if not store.respects_inline_tags:
        raise UsageError(
            f"{path}: {store.title} ignores the tags of --layout inline and would send "
            "everything; use another layout, write elsewhere with -o, or use --force"
        )


def store_of(target: Path) -> Path | None:
    """Return the folder of client sessions that contains a path, None if there is none."""
    return store_containing(target, this_machine())
