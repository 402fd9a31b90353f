"""Whether a compaction can be appended to the session that it is asked for."""

from compactctl.commands.appending.conditions import check_loose, check_proven, version_of
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.loading.database_path import is_in_database
from compactctl.commands.loading.load import scan
from compactctl.errors import UsageError
from compactctl.formats.registry import appending_of, format_named
from compactctl.store.files.lines import STANDARD_INPUT


def check_appending(options: CompactOptions) -> str:
    """Return what to say of the client of a session that is appended to, "" for nothing.

    Raises CannotAppendError where the client may ignore it, UsageError where nothing can be
    appended, or nobody knows whether the session is open.
    """
    if options.output.layout != "native":
        return ""
    _check_place(options)
    transcript = scan(options.input)
    rules, title = appending_of(transcript.format), format_named(transcript.format).title
    if rules is None:
        raise UsageError(
            f"{options.input.path}: nothing that is appended to a {title} is known to make its "
            "client send less; leave out --native"
        )
    version = version_of(transcript, rules)
    note = check_proven(options.input.path, rules, version, force=options.output.force)
    check_loose(
        options.input.path,
        rules,
        version,
        while_open=options.output.while_open,
        way="leave out --native",
    )
    return note


def _check_place(options: CompactOptions) -> None:
    others = {
        "--in-place": options.output.in_place,
        "--output": options.output.path is not None,
        "--no-tags": not options.output.tags,
        "--redo": options.redo,
    }
    named = next((name for name, is_given in others.items() if is_given), None)
    if named is not None:
        raise UsageError(f"--native and {named} contradict each other; choose one")
    if options.input.path == STANDARD_INPUT:
        raise UsageError("--native appends to a file; name one")
    if is_in_database(options.input.path):
        raise UsageError(
            f"{options.input.path}: is in a database, which is never written to, and what its "
            "client imports cannot be taken back; without --native a new session is made of it"
        )
