"""The argument FILE: a path, or a session by id or title; some commands do not need it."""

import collections
import io
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from compactctl.cli.opt import TYPED, Arg
from compactctl.cli.options.completion import complete_file
from compactctl.commands.reading.hook_input import hook_fields_at_start, transcript_of
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import NoInputError, UsageError
from compactctl.store.archive.names import SUFFIX
from compactctl.store.files.objects import is_object
from compactctl.store.files.source import STANDARD_STREAM

if TYPE_CHECKING:
    from compactctl.commands.folder_choice import Purpose
    from compactctl.commands.session_finder import (
        ChosenSession,
        SessionChoices,
        SessionFinder,
    )


LATEST = "latest"
_REFERENCE = re.compile(rf"{LATEST}|[A-Za-z-]+:.*|[\w-]*\d[\w-]*")
"""What may be a session among paths: a client's, the latest, or by its id, which has digits."""


def file_argument(purpose: "Purpose" = "read", *, compacted: bool = False) -> Arg:
    """Return the argument ``[FILE]``: a path, or a session or folder that allows ``purpose``.

    Without it, standard input is read: a transcript, or a client's input for its hooks, which names
    one. If that is a terminal or empty, this folder decides, as ``choose_in_folder`` says; with
    ``compacted``, only transcripts that compactctl wrote are considered, if there are any. Where it
    is not clear, a terminal asks; else the choices are listed.
    """
    choose = partial(_optional, purpose=purpose, compacted=compacted)
    return _input_argument(choose, metavar="[FILE]", required=False)


def paths_argument(metavar: str, purpose: "Purpose" = "read", *, required: bool = False) -> Arg:
    """Return an argument of paths, which may also be sessions by id or title.

    ``claude:`` means all sessions of a client, as it lists them. A folder stays a folder, and so
    does a name that matches no session: titles are searched only after a client's name.
    """
    choose = partial(_all_meant, purpose=purpose)
    return Arg(
        "paths",
        choose=choose,
        shell_complete=complete_file,
        metavar=metavar,
        nargs=-1,
        required=required,
    )


def _input_argument(
    choose: Callable[[click.Context, Any], InputOptions],
    **attributes: Any,  # noqa: ANN401 - click's
) -> Arg:
    return Arg(
        "input", name="input_path", choose=choose, shell_complete=complete_file, **attributes
    )


def _all_meant(
    context: click.Context, paths: Sequence[str], *, purpose: "Purpose"
) -> tuple[str, ...]:
    return tuple(name for path in paths for name in _paths_meant(context, path, purpose))


def _paths_meant(context: click.Context, value: str, purpose: "Purpose") -> Sequence[str]:
    """Resolve an argument to paths; only what cannot be a path is looked up among sessions."""
    if purpose == "restore":
        _require_file(value)
    if os.sep in value or os.path.lexists(value) or not _REFERENCE.fullmatch(value):
        return (value,)
    from compactctl.clients.stores import is_client

    client, colon, name = value.partition(":")
    if colon and not is_client(client):
        return (value,)
    sessions = _sessions()
    if colon and not name:
        return sessions.all_of(client, purpose)
    try:
        return (_input_of(context, sessions, sessions.resolve(value, purpose)).path,)
    except NoInputError:
        if colon or value == LATEST:
            raise
        return (value,)


def _optional(
    context: click.Context, value: str | None, *, purpose: "Purpose", compacted: bool = False
) -> InputOptions:
    if compacted and value is not None:
        _require_file(value)
    if context.params.get("client"):
        # What the client compacted is undone in a session of its own: none is put back.
        purpose, compacted = "write", False
    if value is not None:
        return _resolved(context, value, purpose=purpose, compacted=compacted)
    if purpose == "rescue" or _is_terminal(sys.stdin) or _is_empty():
        return _meant_by_folder(context, Path(), purpose, compacted=compacted)
    return InputOptions(path=_piped())


def _resolved(
    context: click.Context, value: str, *, purpose: "Purpose", compacted: bool = False
) -> InputOptions:
    """Resolve an argument; only what cannot be a path is looked up among sessions."""
    if os.path.isdir(value):  # noqa: PTH112 - Path.is_dir raises where a folder may not be read
        return _meant_by_folder(context, Path(value), purpose, compacted=compacted)
    if value == STANDARD_STREAM or is_object(value) or os.path.lexists(value):
        return InputOptions(path=value)
    sessions = _sessions()
    return _input_of(context, sessions, sessions.resolve(value, purpose))


def _require_file(path: str) -> None:
    """Raise UsageError for an object in a store: its archive could not be read from there."""
    if is_object(path):
        raise UsageError(
            f"{path}: copy it and its archives, {path}{SUFFIX}/, to this machine first"
        )


def _meant_by_folder(
    context: click.Context, folder: Path, purpose: "Purpose", *, compacted: bool
) -> InputOptions:
    """Return what is meant in a folder; ask, or list the choices and exit, if it is not clear."""
    from compactctl.commands.reading.candidates import find_candidates

    files = find_candidates(folder, compacted=compacted)
    if purpose == "read" and not files.files:
        files = find_candidates(folder, compacted=False)
    sessions = _sessions()
    try:
        return _input_of(context, sessions, sessions.choose_in(files, purpose))
    except NoInputError as error:
        how = f"name one ({context.command_path} run.jsonl) or pipe one in"
        what = "no input" if folder == Path() else folder
        raise error if purpose == "rescue" else NoInputError(f"{what}: {error}; {how}") from None


def _input_of(
    context: click.Context, sessions: "SessionFinder", chosen: "ChosenSession | SessionChoices"
) -> InputOptions:
    """Return the chosen input and say which it is; of several choices, let the user choose."""
    from compactctl.commands.session_finder import SessionChoices
    from compactctl.views.results.sessions import chosen_line, only_line
    from compactctl.views.terminal.screen import print_messages

    if isinstance(chosen, SessionChoices):
        chosen = sessions.choice(chosen, _asked_number(context, chosen))
    if chosen.announce:
        home = str(sessions.machine.home)
        row = chosen.row
        line = only_line(chosen.path) if row is None else chosen_line(row, sessions.now, home)
        print_messages(line)
    return InputOptions(
        path=chosen.path, session=None if chosen.row is None else chosen.row.short_id
    )


def _asked_number(context: click.Context, choices: "SessionChoices") -> int:
    """Show the choices and return the number that the user types, from 0.

    Exits if none is typed, and where nobody can type one.
    """
    from compactctl.views.results.sessions import choices_terminal
    from compactctl.views.terminal.screen import Screen

    can_ask = _is_terminal(sys.stdin) and _is_terminal(sys.stderr)
    options = _typed_options(context, context.params.get("input_path"))
    lines = choices_terminal(choices, context.command_path, options, numbered=can_ask)
    Screen(error=True).show(*lines)
    answer = _typed_line("number (Enter for none): ") if can_ask else ""
    if answer == "":
        raise click.exceptions.Exit(UsageError.exit_code)
    count = len(choices.references)
    if not (answer.isascii() and answer.isdigit() and 1 <= int(answer[:9]) <= count):
        raise UsageError(f"{answer[:20]!r} is not a number from 1 to {count}")
    return int(answer) - 1


def _typed_line(prompt: str) -> str:
    """Return a line that is typed on the terminal; "" at its end."""
    click.echo(prompt, nl=False, err=True)
    line = sys.stdin.readline()
    if not line:
        click.echo(err=True)
    return line.strip()


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _sessions() -> "SessionFinder":
    from compactctl.commands.session_finder import SessionFinder
    from compactctl.store.client_folders import this_machine

    return SessionFinder(machine=this_machine(), here=Path(), now=time.time())


def _is_empty() -> bool:
    """Whether standard input is closed or empty; waits for its first byte."""
    if sys.stdin is None:
        return True
    stream = sys.stdin.buffer
    try:
        return isinstance(stream, io.BufferedReader) and not stream.peek(1)
    except OSError as error:
        why = error.strerror or error
        raise NoInputError(f"standard input: cannot be read ({why}); name a transcript") from error


def _piped() -> str:
    """Return - for a transcript on standard input, or the path that a client passes to hooks."""
    stream = getattr(sys.stdin, "buffer", None)
    if not isinstance(stream, io.BufferedReader):
        return STANDARD_STREAM
    with suppress(OSError):
        path = transcript_of(hook_fields_at_start(stream.peek(1)))
        if path is not None:
            # Otherwise a client that is still writing would get a broken pipe.
            collections.deque(stream, maxlen=0)
            return path
    return STANDARD_STREAM


def _typed_options(context: click.Context, reference: str | None = None) -> Sequence[str]:
    """Return the typed arguments of the command, without its file."""
    typed = list(context.meta.get(TYPED, ()))
    if reference in typed:
        typed.remove(reference)
    return typed


NEEDED_FILE = _input_argument(partial(_resolved, purpose="read"), metavar="FILE")
"""The file of a command that reads."""

SESSION = _input_argument(partial(_optional, purpose="rescue"), metavar="[SESSION]", required=False)
"""The session to rescue: the newest of this folder, where it is clear which."""
