"""Decides where a compaction is written, and rejects places where it may not be."""

import re
from pathlib import Path

from compactctl.clients.databases import is_in_database
from compactctl.clients.registry import format_named
from compactctl.commands.client_sessions.native import check_not_open, check_supported, version_of
from compactctl.commands.client_sessions.new_session import (
    check_outside_stores,
    check_tags_honoured,
    new_session,
)
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.reading.transcript import scan
from compactctl.errors import UsageError
from compactctl.records import replace
from compactctl.store.archive.names import check_length
from compactctl.store.files.objects import is_object
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.store.publish.overwrite import is_same_place

_COMPACTED = re.compile(r"\.compacted(?:\.(\d+))?$")


def check_contradictions(options: CompactOptions) -> None:
    """Raise UsageError if options leave no place for the transcript or for its archive.

    The command line has excluded most of these already (``cli/precedence``); the library has not.
    """
    if options.redo and options.output.layout == "inline":
        raise UsageError("--redo needs an archive and cannot be used with --layout inline")
    if options.end is not None and options.output.layout == "native":
        raise UsageError("--from writes a new session; leave out --native")
    piped = STANDARD_STREAM in (options.input.path, options.output.path)
    if options.output.in_place and options.output.path is not None:
        raise UsageError("--in-place and --output cannot be used together")
    if options.output.in_place and options.input.path == STANDARD_STREAM:
        raise UsageError("standard input cannot be compacted in place; name a file")
    # Objects are not compacted in place. A dry run needs no output.
    has_place = options.output.path is not None or options.output.dry_run
    if is_object(options.input.path) and (options.output.in_place or not has_place):
        raise UsageError(
            f"{options.input.path}: in an object store; name an output file with -o, or use batch "
            "--out"
        )
    if options.output.path is not None and is_object(options.output.path):
        raise UsageError(
            f"{options.output.path}: only batch --out writes to object stores; name a file"
        )
    if options.output.messages_only:
        _check_messages_only(options)
        return
    to_pipe = (
        piped and options.output.path in (None, STANDARD_STREAM) and not options.output.dry_run
    )
    if to_pipe and options.output.layout != "inline":
        raise UsageError(
            "standard output has no place for an archive; use --layout inline, or name a file "
            "with -o"
        )


def _check_messages_only(options: CompactOptions) -> None:
    """Raise UsageError unless bare messages go to standard output: they are not a transcript."""
    if options.output.in_place or options.output.path != STANDARD_STREAM:
        raise UsageError(
            "--layout messages only writes to standard output, without an archive; leave out "
            "--in-place and -o, or use --layout split"
        )


def with_fork(options: CompactOptions) -> CompactOptions:
    """Add the new session to write, if the input is a session and no output is named.

    An inline compaction never becomes a session: its client would still send all of it.
    """
    is_named = options.output.in_place or options.output.path is not None
    if is_named or options.input.path == STANDARD_STREAM or options.output.layout != "split":
        return options
    output = replace(options.output, fork=new_session(options.input.path))
    return replace(options, output=output)


def in_place_if_named(options: CompactOptions) -> CompactOptions:
    """Return options for an in-place compaction if the output that they name is the input."""
    if options.output.path is None or STANDARD_STREAM in (options.input.path, options.output.path):
        return options
    if not is_same_place(options.input.path, options.output.path):
        return options
    return replace(options, output=replace(options.output, path=None, in_place=True))


def check_output_place(options: CompactOptions) -> None:
    """Raise UsageError if the output would be a copy in a client's store, or in a database.

    Also if a session would be replaced by an inline compaction, which its client does not honor.
    """
    if options.output.layout == "native":
        return
    if in_place_if_named(options).output.in_place:
        if is_in_database(options.input.path):
            raise UsageError(
                f"{options.input.path}: stored in a database, which compactctl only reads; name "
                "an output file with -o"
            )
        if options.output.layout == "inline" and not options.output.force:
            check_tags_honoured(options.input.path)
        return
    target = target_of(options)
    if target.name:
        check_length(target)
    if target.is_symlink() and is_same_place(options.input.path, target):
        raise UsageError(
            f"{target}: is a link to {options.input.path}; name another file with -o, or use "
            "--in-place"
        )
    is_usual = options.output.path is None and (
        options.output.dry_run or options.input.path == STANDARD_STREAM
    )
    if not (is_usual or options.output.fork) and options.output.path != STANDARD_STREAM:
        check_outside_stores(options.input.path, target, named=options.output.path is not None)


def target_of(options: CompactOptions) -> Path:
    """Return the path of the compacted transcript."""
    if options.output.in_place or options.output.layout == "native":
        return Path(options.input.path)
    if options.output.path is not None:
        return Path(options.output.path)
    if options.output.fork is not None:
        return options.output.fork.path
    path = Path(options.input.path)
    return compacted_name(Path(path.name) if is_object(options.input.path) else path)


def compacted_name(path: Path) -> Path:
    """Return the default output path: ``run.jsonl`` becomes ``run.compacted.jsonl``.

    ``run.compacted.jsonl`` becomes ``run.compacted.2.jsonl``.
    """
    stem, suffix = path.stem, path.suffix
    if suffix in (".gz", ".zst"):
        stem, suffix = Path(stem).stem, Path(stem).suffix
    match = _COMPACTED.search(stem)
    if match is None:
        return path.with_name(f"{stem}.compacted{suffix}")
    count = int(match[1] or 1) + 1
    return path.with_name(f"{stem[: match.start()]}.compacted.{count}{suffix}")


def check_appending(options: CompactOptions) -> str:
    """Check that the session can be appended to; return a note on its client, or "".

    Raises CannotAppendError if the client may ignore what is appended, and UsageError if its format
    does not allow it or the session may be open.
    """
    if options.output.layout != "native":
        return ""
    _check_native(options)
    transcript = scan(options.input)
    session_format = format_named(transcript.format)
    rules = session_format.native_append()
    if rules is None:
        raise UsageError(
            f"{options.input.path}: --native does not support the {session_format.title} format"
        )
    version = version_of(transcript, rules)
    note = check_supported(options.input.path, rules, version, force=options.output.force)
    check_not_open(
        options.input.path,
        rules,
        version,
        while_open=options.output.may_be_open,
        way="leave out --native",
    )
    return note


def _check_native(options: CompactOptions) -> None:
    """Raise UsageError for options that contradict --native, or an input that is not a file."""
    others = {
        "--in-place": options.output.in_place,
        "--output": options.output.path is not None,
        "--no-tags": not options.output.tags,
        "--redo": options.redo,
    }
    named = next((name for name, is_set in others.items() if is_set), None)
    if named is not None:
        raise UsageError(f"--native and {named} cannot be used together")
    if options.input.path == STANDARD_STREAM or is_object(options.input.path):
        raise UsageError("--native appends to a file; name one")
    if is_in_database(options.input.path):
        raise UsageError(
            f"{options.input.path}: stored in a database, which compactctl never writes; without "
            "--native a new session is created"
        )
