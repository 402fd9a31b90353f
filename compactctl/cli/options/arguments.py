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
from typing import TYPE_CHECKING, Any

import click

from compactctl.cli.opt import TYPED, Arg
from compactctl.cli.options.completion import complete_file
from compactctl.commands.reading.hook_input import hook_fields_at_start, transcript_of
from compactctl.errors import NoInputError, UsageError
from compactctl.store.archive.names import SUFFIX
from compactctl.store.files.objects import is_object
from compactctl.store.files.source import STANDARD_STREAM

if TYPE_CHECKING:
    from compactctl.commands.session_finder import (
        ChosenSession,
        Purpose,
        SessionChoices,
        SessionFinder,
    )


LATEST = "latest"
_REFERENCE = re.compile(rf"{LATEST}|[A-Za-z-]+:.*|[\w-]*\d[\w-]*")
"""What may be a session among paths: a client's, the latest, or by its id, which has digits."""


def file_argument(purpose: "Purpose" = "read", *, compacted: bool = False) -> Arg:
    """Return the argument ``[FILE]``: a path, or a session that allows ``purpose``.

    Without it, standard input is read: a transcript, or a client's input for its hooks, which names
    one. If standard input is a terminal, a command that only reads uses the newest session of this
    folder. Other commands, and all if there is none, list the choices and exit: sessions and the
    transcripts in this folder; with ``compacted``, those that compactctl wrote.
    """
    choose = partial(_optional, purpose=purpose, compacted=compacted)
    return _argument("input.path", choose, metavar="[FILE]", required=False)


def paths_argument(metavar: str, purpose: "Purpose" = "read", *, required: bool = False) -> Arg:
    """Return an argument of paths, which may also be sessions by id or title.

    ``claude:`` means all sessions of a client, as it lists them. A folder stays a folder, and so
    does a name that matches no session: titles are searched only after a client's name.
    """
    choose = partial(_all_meant, purpose=purpose)
    return _argument("paths", choose, metavar=metavar, nargs=-1, required=required)


def _argument(
    place: str,
    choose: Callable[[click.Context, Any], object],
    **attributes: Any,  # noqa: ANN401 - click's
) -> Arg:
    return Arg(place, choose=choose, shell_complete=complete_file, **attributes)


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
        return (_path_of(context, sessions, sessions.resolve(value, purpose)),)
    except NoInputError:
        if colon or value == LATEST:
            raise
        return (value,)


def _optional(
    context: click.Context, value: str | None, *, purpose: "Purpose", compacted: bool
) -> str:
    if value is not None:
        if compacted:
            _require_file(value)
        return _resolved(context, value, purpose)
    if sys.stdin is not None and sys.stdin.isatty():
        return _chosen_here(context, purpose, compacted=compacted)
    if _is_empty():
        only = _only_compacted(_sessions()) if purpose == "restore" else None
        if only is not None:
            return only
        raise NoInputError(
            f"no input; name a transcript ({context.command_path} run.jsonl) or pipe one in"
        )
    return _piped()


def _resolved(context: click.Context, value: str, purpose: "Purpose") -> str:
    """Resolve an argument to a path; only what cannot be a path is looked up among sessions."""
    is_path = value == STANDARD_STREAM or is_object(value) or os.path.lexists(value)
    if is_path and value != ".":
        return value
    if context.params.get("client"):
        # What the client compacted is undone in a session of its own: none is put back.
        purpose = "write"
    sessions = _sessions()
    return _path_of(context, sessions, sessions.resolve(value, purpose))


def _require_file(path: str) -> None:
    """Raise UsageError for an object in a store: its archive could not be read from there."""
    if is_object(path):
        raise UsageError(
            f"{path}: copy it and its archives, {path}{SUFFIX}/, to this machine first"
        )


def _chosen_here(context: click.Context, purpose: "Purpose", *, compacted: bool) -> str:
    """Return the newest session of this folder if it is only read; else list the choices."""
    sessions = _sessions()
    newest = sessions.newest_here() if purpose == "read" else None
    if newest is not None:
        return _path_of(context, sessions, newest)
    only = _only_compacted(sessions) if purpose == "restore" else None
    if only is not None:
        return only
    choices = None
    if purpose != "read":
        choices = sessions.sessions_here("which session of this folder?", compacted=compacted)
    _list_all(context, choices, compacted=compacted)
    raise click.exceptions.Exit(UsageError.exit_code)


def _only_compacted(sessions: "SessionFinder") -> str | None:
    """Return the only compacted transcript of this folder and say which it is; else None."""
    from compactctl.commands.reading.candidates import find_candidates
    from compactctl.views.terminal.screen import print_messages
    from compactctl.views.terminal.text import line_text

    files = find_candidates(Path.cwd(), compacted=True)
    if len(files.files) != 1 or files.more or sessions.sessions_here("", compacted=True).rows:
        return None
    name = files.files[0].name
    print_messages(f"{line_text(name)}, the only compacted transcript in this folder")
    # A leading dash, or the name - alone, is part of a file's name here.
    return name if not name.startswith("-") else f".{os.sep}{name}"


def _path_of(
    context: click.Context, sessions: "SessionFinder", chosen: "ChosenSession | SessionChoices"
) -> str:
    """Return the chosen path and say which it is; list several choices and exit."""
    from compactctl.commands.session_finder import SessionChoices
    from compactctl.views.results.sessions import chosen_line
    from compactctl.views.terminal.screen import print_messages

    if isinstance(chosen, SessionChoices):
        _show_choices(context, chosen)
        raise click.exceptions.Exit(UsageError.exit_code)
    if chosen.row is not None and chosen.announce:
        print_messages(chosen_line(chosen.row, sessions.now, str(sessions.machine.home)))
    return chosen.path


def _sessions() -> "SessionFinder":
    from compactctl.commands.session_finder import SessionFinder
    from compactctl.store.client_folders import this_machine

    return SessionFinder(machine=this_machine(), here=Path.cwd(), now=time.time())


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


def _list_all(context: click.Context, choices: "SessionChoices | None", *, compacted: bool) -> None:
    """List the sessions of this folder, if any, and the transcripts in it, if any or no session."""
    from compactctl.commands.reading.candidates import find_candidates
    from compactctl.views.results.sessions import candidates_terminal
    from compactctl.views.terminal.screen import Screen

    files = find_candidates(Path.cwd(), compacted=compacted)
    has_sessions = choices is not None and bool(choices.rows)
    if choices is not None and has_sessions:
        _show_choices(context, choices)
    if has_sessions and files.files:
        Screen(error=True).show("")
    if files.files or not has_sessions:
        command, options = context.command_path, _typed_options(context)
        Screen(error=True).show(*candidates_terminal(files, command, time.time(), options))


def _typed_options(context: click.Context, reference: str | None = None) -> Sequence[str]:
    """Return the typed arguments of the command, without its file."""
    typed = list(context.meta.get(TYPED, ()))
    if reference in typed:
        typed.remove(reference)
    return typed


def _show_choices(context: click.Context, choices: "SessionChoices") -> None:
    from compactctl.views.results.sessions import choices_terminal
    from compactctl.views.terminal.screen import Screen

    options = _typed_options(context, context.params.get("input_path"))
    Screen(error=True).show(*choices_terminal(choices, context.command_path, options))


NEEDED_FILE = _argument("input.path", partial(_resolved, purpose="read"), metavar="FILE")
"""The file of a command that reads."""

SESSION = _argument(
    "input.path", partial(_resolved, purpose="write"), metavar="[SESSION]", default="latest"
)
"""What a command writes to: the session that changed last, where it is clear which."""
