"""The commands as functions: measure, compact and restore transcript files.

For bad input, each raises a ``CompactctlError`` with a one-line message and changes nothing on
disk.
"""

import os
import time
from collections.abc import Iterable
from typing import Literal, Unpack

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact import compact as compacting
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.inspect.stats import Scope, StatsOptions, StatsResult
from compactctl.commands.inspect.stats import stats as stats_of
from compactctl.commands.reading.transcript import InputOptions, scan
from compactctl.commands.rewind.rewind import RewindOptions, RewindResult
from compactctl.commands.rewind.rewind import rewind as rewinding
from compactctl.commands.sessions import USUAL, SessionFilter, SessionRow
from compactctl.commands.sessions import sessions as sessions_on
from compactctl.errors import UsageError
from compactctl.library.choices import (
    CompactKwargs,
    MeasureKwargs,
    PathLike,
    check_keywords,
    parse_count,
    parse_keyword,
    parse_measure_options,
    parse_recipe,
    parse_texts,
)
from compactctl.model.transcript import Transcript
from compactctl.store.client_folders import this_machine


def load(path: PathLike, *, format: str | None = None) -> Transcript:
    """Read a transcript; ``.effective`` are the messages that the next request would send.

    Lines that cannot be read as messages are in ``.opaque``. Raises NoInputError and
    NotUnderstoodError.
    """
    return scan(InputOptions(path=os.fspath(path), format=format))


def stats(
    path: PathLike,
    *,
    format: str | None = None,
    scope: Scope = "effective",
    **measuring: Unpack[MeasureKwargs],
) -> StatsResult:
    """Measure the next request of a transcript in tokens, as ``compactctl stats`` does.

    Raises NoInputError, NotUnderstoodError, UsageError, and TypeError for an unknown keyword.
    """
    check_keywords(measuring, MeasureKwargs, "stats")
    return stats_of(
        StatsOptions(
            input=InputOptions(path=os.fspath(path), format=format),
            scope=scope,
            measure=parse_measure_options(measuring),
        )
    )


def compact(
    path: PathLike,
    *,
    format: str | None = None,
    output: PathLike | None = None,
    in_place: bool = False,
    layout: Literal["split", "inline"] = "split",
    dry_run: bool = False,
    force: bool = False,
    require_fit: bool = False,
    **choices: Unpack[CompactKwargs],
) -> CompactResult:
    """Compact a transcript file; ``rewind`` restores every byte from the archive it writes.

    Without ``output`` and ``in_place``, ``run.jsonl`` is compacted to ``run.compacted.jsonl``
    beside it. Sizes in the result are tokens; ``fits`` says whether the target was reached. If it
    was not, ``require_fit`` raises DoesNotFitError. Raises TypeError for an unknown keyword and
    CompactctlError for everything else; no file is left half written.
    """
    check_keywords(choices, CompactKwargs, "compact")
    if output is not None and os.fspath(output) == "-":
        raise UsageError("output='-' is for the command line; use compact_messages, or name a file")
    return compacting.compact(
        CompactOptions(
            input=InputOptions(path=os.fspath(path), format=format),
            recipe=parse_recipe(choices),
            output=OutputOptions(
                path=None if output is None else os.fspath(output),
                in_place=in_place,
                layout=layout,
                dry_run=dry_run,
                force=force,
            ),
            require_fit=require_fit,
        )
    )


def rewind(
    path: PathLike,
    *,
    to: str | None = None,
    group: str | None = None,
    all: bool = False,
    output: PathLike | None = None,
    check: bool = False,
    force: bool = False,
) -> RewindResult:
    """Undo a file's last compaction, ``all`` of them, those after an operation, or one group.

    Lines appended since are kept. ``check`` only proves that it is possible, and writes nothing.
    Raises ArchiveError, IntegrityError, ChangedError and UsageError.
    """
    return rewinding(
        RewindOptions(
            input=InputOptions(path=os.fspath(path)),
            to=to,
            group=group,
            all=all,
            check=check,
            output=OutputOptions(path=None if output is None else os.fspath(output), force=force),
        )
    )


def list_sessions(
    *,
    clients: Iterable[str] = (),
    project: PathLike | None = None,
    most: int = USUAL,
) -> tuple[SessionRow, ...]:
    """Return the newest sessions of the clients on this machine, at most ``most``; 0 for all.

    ``clients`` are names of clients, or a single name. Raises UsageError for an unknown client, but
    nothing for unreadable sessions.
    """
    kwargs = {"clients": clients, "most": most}
    limit = parse_keyword(kwargs, "most", parse_count)
    session_filter = SessionFilter(
        clients=parse_keyword(kwargs, "clients", parse_texts) or (),
        project=None if project is None else os.fspath(project),
        limit=USUAL if limit is None else limit,
    )
    return sessions_on(session_filter, this_machine(), time.time()).rows
