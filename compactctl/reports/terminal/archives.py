"""``archives`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.archives.archives import ArchivesResult
from compactctl.commands.archives.found import SessionArchive
from compactctl.reports.rendering.screen import ScreenItem
from compactctl.reports.rendering.session_rows import project_text
from compactctl.reports.rendering.tables import number, table, text
from compactctl.reports.rendering.text import age_text, line_text, plural, size_text

_COLUMNS = (
    text("Session", "start", least=20),
    text("Written", spare=1),
    number("Operations", spare=2),
    number("Size"),
    text("Note"),
)


def archives_terminal(result: ArchivesResult) -> Iterator[ScreenItem]:
    """Yield what to print: a row per archive, and what they come to."""
    if not result.archives:
        yield f"there are none like that below {_folder_text(result)}"
        return
    yield table(_COLUMNS, [_cells(each, result) for each in result.archives])
    yield ""
    told = f"{plural(len(result.archives), 'archive')}, {size_text(result.n_bytes)}"
    if result.options.forget:
        yield f"would forget {told}: dry run" if result.options.dry_run else f"forgot {told}"
        return
    yield f"{told}, below {_folder_text(result)}"
    dead = sum(each.is_dead for each in result.archives)
    if dead:
        gone = f"{plural(dead, 'session')} {'is' if dead == 1 else 'are'} gone"
        yield f"{gone}; forget their archives with: compactctl archives --dead --forget"


def archives_messages(result: ArchivesResult) -> Iterator[str]:
    """Yield what could not be read."""
    yield from (f"warning: {line_text(warning)}" for warning in result.warnings)


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
        return "session was moved"
    return "session is gone" if archive.is_dead else ""
