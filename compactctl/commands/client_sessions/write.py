"""Writes a transcript where it belongs: to a file, in place, as a new session, or appended."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from compactctl.asks import OUTPUT, WRITES, ask, flag
from compactctl.clients.fork import Fork
from compactctl.pipeline.layout import Layout
from compactctl.records import Record
from compactctl.store.archive.names import archive_folder
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import Source

if TYPE_CHECKING:
    from compactctl.commands.operations.history import OperationHistory
    from compactctl.store.archive.archive_writer import ArchiveDraft

OutputLayout = Layout | Literal["native"]


class OutputOptions(Record):
    """Where to write a transcript, and in which layout.

    Attributes:
        layout: ``native`` appends to the session.
        force: skips checks of clients, too.
        url: the object that the file is to be copied to, None for none; texts in it name that.
        messages_only: write only what is sent, to standard output; it cannot be undone.
        fork: the new session to write; resolved later if the input is a session and no path is
            named.
    """

    path: str | None = ask(
        None,
        "Write here; - is standard output.",
        OUTPUT,
        WRITES,
        flag="--output",
        short="-o",
        path="here",
        metavar="FILE",
    )
    in_place: bool = flag("Replace FILE; its old bytes are archived.", OUTPUT, WRITES)
    while_open: bool = flag(
        "With --native, append even if the client has (or may have) the session open. The client "
        "picks it up on the next resume.",
        OUTPUT,
        WRITES,
    )
    closed: bool = flag(
        "With --native, or to undo it, treat the session as closed even if that cannot be "
        "detected. If nothing was added since, the undo cuts off what was appended.",
        OUTPUT,
        WRITES,
    )
    layout: OutputLayout = ask(
        "split",
        "Put originals into an archive beside the output, or leave them in it with tags.",
        OUTPUT,
        WRITES,
    )
    tags: bool = flag(
        "Write tags into the output. [default: tags]",
        OUTPUT,
        WRITES,
        default=True,
        flag="--tags/--no-tags",
    )
    dry_run: bool = flag("Show what would happen; write nothing.", OUTPUT, WRITES, short="-n")
    force: bool = flag("Overwrite files that compactctl did not write.", OUTPUT, WRITES, short="-f")
    url: str | None = None
    messages_only: bool = False
    fork: Fork | None = None

    @property
    def may_be_open(self) -> bool:
        """Whether to write without checking that no client has the session open."""
        return self.while_open or self.closed


class Written(Record):
    """Where a transcript was written, and how to continue with it.

    Attributes:
        output: the path of the output.
        archive: the archive folder that restores the input, None if there is none.
        appended_lines: the lines appended, if the output is the input.
        carried_lines: lines appended to the input meanwhile, which end the output.
        left_out_from: the first line of the input, from 1, that came too late for the output.
        forked_from: the id of the session that a new one was made from.
        forked_to: the id of the new session.
        undo_name: the argument of rewind that undoes this.
        undo_option: the option that rewind takes, too: ``--while-open``, ``--closed`` or "".
        continue_with: the shell command that resumes the session, None outside of clients' stores.
        warnings: what the user should know.
    """

    output: str
    archive: str | None = None
    appended_lines: int = 0
    carried_lines: int = 0
    left_out_from: int | None = None
    forked_from: str | None = None
    forked_to: str | None = None
    undo_name: str = ""
    undo_option: str = ""
    continue_with: str | None = None
    warnings: tuple[str, ...] = ()


class Destination(Record):
    """Where to write the transcript at ``path``, according to ``output``.

    ``model`` is the model to request from its client, "" for the client's default.
    """

    path: str
    target: Path
    output: OutputOptions = OutputOptions()
    model: str = ""

    @property
    def continue_with(self) -> str | None:
        """The shell command that resumes the session there, None outside of clients' stores."""
        from compactctl.commands.client_sessions.new_session import command_to_continue

        return command_to_continue(self.path, self.output.fork, model=self.model)


def write(
    place: Destination, source: Source, content: Content, deposits: Sequence["ArchiveDraft"]
) -> Written:
    """Publish a new version of ``source``. Raises as ``publish`` and ``register_session`` do."""
    from compactctl.commands.client_sessions.new_session import (
        make_session_folder,
        register_session,
        undo_name,
    )
    from compactctl.store.publish.publish import publish

    output, fork = place.output, place.output.fork
    if fork is not None:
        make_session_folder(fork)
    published = publish(
        FileSystem(),
        source=source,
        target=place.target,
        drafts=deposits,
        content=content,
        force=output.force,
    )
    settled = register_session(fork) if fork else ()
    is_session = output.in_place or fork is not None
    return Written(
        output=str(place.target),
        archive=str(archive_folder(place.target)) if deposits else None,
        carried_lines=published.growth.lines,
        left_out_from=published.growth.first_skipped_line,
        forked_from=fork.original.id if fork else None,
        forked_to=fork.id if fork else None,
        undo_name=undo_name(place.target, fork),
        continue_with=place.continue_with if is_session else None,
        warnings=(*published.warnings, *settled),
    )


def append_to(
    place: Destination,
    source: Source,
    block: bytes,
    deposits: Sequence["ArchiveDraft"],
    carry: Callable[[bytes], bytes] | None = None,
) -> Written:
    """Append records to a session; ``undo_option`` remains to be set. Raises as ``append`` does."""
    from compactctl.commands.client_sessions.new_session import appended_undo_name
    from compactctl.store.publish.append import append

    appended = append(FileSystem(), source=source, drafts=deposits, block=block, carry=carry)
    return Written(
        output=str(place.target),
        archive=str(archive_folder(place.target)),
        appended_lines=appended.block.lstrip(b"\n").count(b"\n"),
        carried_lines=appended.grown.count(b"\n"),
        undo_name=appended_undo_name(place.target),
        continue_with=place.continue_with,
        warnings=appended.warnings,
    )


def earlier_deposits(
    place: Destination, source: Source, history: "OperationHistory"
) -> list["ArchiveDraft"]:
    """Return the archives of earlier operations if the output's archive does not hold them yet.

    So if the output is another file, or a session that its client moved.
    """
    from compactctl.store.archive.archive_writer import ArchiveDraft
    from compactctl.store.publish.overwrite import is_same_place

    if source.path is None and source.archive is None:
        return []
    if (
        source.path is not None
        and is_same_place(source.path, place.target)
        and history.is_in_place_of(place.target)
    ):
        return []
    if place.output.fork is not None:
        from compactctl.commands.client_sessions.new_session import deposits_under

        return deposits_under(place.output.fork, history)
    return [ArchiveDraft(step.operation, step.rows()) for step in history.archived_inside]
