"""Whether a compaction can be appended to the session that it is asked for."""

from dataclasses import replace

from compactctl.commands.appending.conditions import (
    check_loose,
    proven_text,
    version_of,
    version_text,
)
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.forking.new_session import new_session
from compactctl.commands.loading.database_path import is_in_database
from compactctl.commands.loading.load import scan
from compactctl.errors import UsageError
from compactctl.formats.format import Appending, Version
from compactctl.formats.registry import appending_of, format_named
from compactctl.store.files.lines import STANDARD_INPUT

_Told = tuple[str, ...]


def appended_if_proven(options: CompactOptions) -> tuple[CompactOptions, _Told]:
    """Return options as they are, or for a new session where the client is too new; and why.

    Raises UsageError where nothing can be appended, or nobody knows whether the session is open.
    """
    if options.layout != "native":
        return options, ()
    _check_place(options)
    transcript = scan(options.path, options.format, options.limits)
    rules, title = appending_of(transcript.format), format_named(transcript.format).title
    if rules is None:
        raise UsageError(
            f"{options.path}: nothing that is appended to a {title} is known to make its client "
            "send less; leave out --native"
        )
    version = version_of(transcript, rules)
    if not options.force and (version is None or version > rules.newest):
        return _forked(options, rules, version)
    if version is not None and version < rules.oldest:
        raise UsageError(
            f"{options.path}: version {version_text(version)} of its {rules.of} is not known to "
            f"honour what is appended, {proven_text(rules)} is; leave out --native"
        )
    check_loose(
        options.path,
        rules,
        version,
        while_open=options.while_open,
        way="leave out --native",
    )
    return options, ()


def _check_place(options: CompactOptions) -> None:
    others = {
        "--in-place": options.in_place,
        "--output": options.output is not None,
        "--no-tags": not options.tags,
        "--redo": options.redo,
    }
    named = next((name for name, is_given in others.items() if is_given), None)
    if named is not None:
        raise UsageError(f"--native and {named} contradict each other; choose one")
    if options.path == STANDARD_INPUT:
        raise UsageError("--native appends to a file; name one")
    if is_in_database(options.path):
        raise UsageError(
            f"{options.path}: is in a database, which is never written to, and what its client "
            "imports cannot be taken back; without --native a new session is made of it"
        )


def _forked(
    options: CompactOptions, rules: Appending, version: Version | None
) -> tuple[CompactOptions, _Told]:
    """Return options for a new session; UsageError for what is in no store."""
    wrote = "no version that is told" if version is None else f"version {version_text(version)}"
    what = (
        f"its {rules.of} is of {wrote}, and only {proven_text(rules)} was seen to honour what is "
        "appended"
    )
    if new_session(options.path) is None:
        raise UsageError(f"{options.path}: {what}; leave out --native, or insist with --force")
    return replace(options, layout="split"), (f"{what}: a new session is written (or --force)",)
