"""Sets right what is wrong around a transcript's archives where nothing can be lost by it."""

from collections.abc import Sequence
from pathlib import Path

from compactctl.commands.verify.finding import Finding
from compactctl.commands.verify.surroundings import Surroundings
from compactctl.store.archive.deposit import write_readme
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import README, SUFFIX, archive_folder
from compactctl.store.archive.private import tighten
from compactctl.store.files.disk_errors import disk_errors
from compactctl.store.files.filesystem import FileSystem, sync_folder
from compactctl.store.files.leftovers import sweep


def repair(fs: FileSystem, path: Path, findings: Sequence[Finding], around: Surroundings) -> None:
    """Carry out what the findings name and the like: no archive and no transcript is changed.

    Archives and their folder get their own names back, drafts of killed runs go, the folder is
    private again and has its README. ``around`` is what stands in the folder of the transcript.
    Raises DiskError, and ChangedError while another run is at work there.
    """
    folder = archive_folder(path)
    renames = [finding.rename for finding in findings if finding.rename]
    with disk_errors(folder, "repaired in part"):
        around.sweep(fs)
        moved = [(source, place) for source, place in renames if place.name.endswith(SUFFIX)]
        for source, place in moved:
            _rename(fs, source, place)
        folder = archive_folder(path)
        if not folder.is_dir():
            return
        with locked_folder(fs, folder):
            for source, place in renames:
                if place.parent == folder:
                    _rename(fs, source, place)
            sweep(fs, folder)
            if moved or not (folder / README).exists():
                write_readme(fs, folder)
            tighten(fs, folder)


def _rename(fs: FileSystem, source: Path, place: Path) -> None:
    if not place.exists():
        fs.rename(source, place)
        sync_folder(fs, place.parent)
