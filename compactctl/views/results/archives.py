"""The archives of sessions, and whether they restore everything."""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.commands.archives import ArchivesResult, SessionArchive
from compactctl.commands.verify.archives import Finding, Severity, TranscriptState
from compactctl.commands.verify.verify import VerifiedTranscript, VerifyResult
from compactctl.views.encode import encoded, record
from compactctl.views.facts import labeled, utc_text, warning_lines
from compactctl.views.terminal.screen import Accent, ScreenItem, TextStyle
from compactctl.views.terminal.tables import number, table, text
from compactctl.views.terminal.text import (
    age_text,
    one_line,
    path_name,
    plural,
    project_text,
    shell_path,
    size_text,
)

_COLUMNS = (
    text("Session", "start", min_width=20),
    text("Written", spare=1),
    number("Operations", spare=2),
    number("Size"),
    text("Note"),
)
_STYLES: Mapping[TranscriptState | Severity, TextStyle] = {
    "damaged": "bold red",
    "changed": "yellow",
    "unknown": "yellow",
    "repairable": "yellow",
}
# What users see.
_VERDICTS: Mapping[str, str] = {
    "proven": "ok",
    "repairable": "repairable",
    "unknown": "unreadable",
    "changed": "changed",
    "damaged": "damaged",
}
_FINDING_WIDTH = 1_000


def archives_terminal(result: ArchivesResult) -> Iterator[ScreenItem]:
    """Yield the output: the totals, then a row per archive, and what to do with dead ones."""
    count = plural(len(result.archives), "archive")
    if not result.archives:
        yield f"no archives in {_folder_text(result)}"
        return
    if result.options.forget:
        deleted = "would be deleted (dry run)" if result.options.dry_run else "deleted"
        yield f"{count} {deleted}, {size_text(result.n_bytes)}"
    else:
        yield f"{count}, {size_text(result.n_bytes)} in {_folder_text(result)}"
    yield ""
    yield table(_COLUMNS, [_cells(archive, result) for archive in result.archives])
    dead = sum(archive.is_dead for archive in result.archives)
    if dead and not result.options.forget:
        yield ""
        yield f"{plural(dead, 'session')} no longer {'exists' if dead == 1 else 'exist'}"
        yield labeled("delete", "compactctl archive --dead --forget")


def archives_document(result: ArchivesResult) -> dict[str, Any]:
    """Return an object per archive, and their size on disk."""
    return {
        "schema": "compactctl.archives/1",
        "folder": result.folder,
        "bytes": result.n_bytes,
        "forgotten": result.options.forget and not result.options.dry_run,
        "dryRun": result.options.dry_run,
        "archives": [_archive(archive, result) for archive in result.archives],
        "warnings": list(result.warnings),
    }


def archives_messages(result: ArchivesResult) -> Iterator[str]:
    """Yield the archives that could not be read."""
    yield from warning_lines(result.warnings)


def _folder_text(result: ArchivesResult) -> str:
    return project_text(result.folder, str(result.machine.home))


def _cells(archive: SessionArchive, result: ArchivesResult) -> tuple[str, ...]:
    return (
        project_text(str(archive.session), str(result.machine.home)),
        age_text(result.options.now - archive.modified),
        f"{archive.operations:,}",
        size_text(archive.n_bytes),
        "" if result.options.forget else _note(archive),
    )


def _note(archive: SessionArchive) -> str:
    if archive.is_moved:
        return "session moved"
    return "session deleted" if archive.is_dead else ""


def _archive(archive: SessionArchive, result: ArchivesResult) -> dict[str, Any]:
    return {
        "session": str(archive.session),
        "sessionExists": None if result.options.forget else not archive.is_dead,
        "folder": str(archive.folder),
        "operations": archive.operations,
        "bytes": archive.n_bytes,
        "writtenAt": utc_text(archive.modified),
    }


def verify_terminal(result: VerifyResult) -> Iterator[ScreenItem]:
    """Yield the output: each transcript with its findings, then their number by verdict."""
    width = max((len(_VERDICTS[verified.verdict]) for verified in result.transcripts), default=0)
    for verified in result.transcripts:
        line = f"{_VERDICTS[verified.verdict]:<{width}}  {_contents(verified)}"
        yield Accent(line, _STYLES.get(verified.verdict, ""))
        for repair in verified.repaired:
            yield f"  repaired: {one_line(repair, _FINDING_WIDTH)}"
        for finding in verified.findings:
            line = f"  {finding.severity}: {one_line(finding.text, _FINDING_WIDTH)}"
            yield Accent(line, _STYLES.get(finding.severity, ""))
    yield _verdicts_text(result)
    first = next(
        (transcript for transcript in result.transcripts if transcript.verdict == "repairable"),
        None,
    )
    if first is not None:
        yield labeled("repair", f"compactctl verify --repair {shell_path(first.path)}")


def verify_document(result: VerifyResult) -> dict[str, Any]:
    """Return an object per compacted transcript, with its findings."""
    fields = ("exit_code", "looked_at", "verdicts", "transcripts")
    return {"schema": "compactctl.verify/1", **record(result, only=fields)}


def _verdicts_text(result: VerifyResult) -> str:
    """Return the number of transcripts, by verdict unless all are proven."""
    count = plural(len(result.transcripts), "transcript")
    verdicts = {name: number for name, number in result.verdicts.items() if number}
    if set(verdicts) <= {"proven"}:
        return f"{count} verified"
    counts = ", ".join(f"{number:,} {_VERDICTS[name]}" for name, number in verdicts.items())
    return f"{count}: {counts}"


def _contents(verified: VerifiedTranscript) -> str:
    what = plural(verified.operations, "compaction")
    archived = f", {size_text(verified.on_disk)} archived" if verified.on_disk else ""
    return f"{path_name(verified.path)}  {what}{archived}"


@encoded.register
def _transcript(verified: VerifiedTranscript) -> dict[str, Any]:
    return record(verified, n_bytes="archivedBytes", on_disk="archiveBytes")


@encoded.register
def _finding(finding: Finding) -> dict[str, Any]:
    return record(finding, without=("rename",))
