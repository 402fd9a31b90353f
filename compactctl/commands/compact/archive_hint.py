"""The end of a summary that says where the originals are."""

import shlex
from pathlib import Path

from compactctl.store.archive.archive import archive_folder


def archive_hint(target: Path | None, *, is_archived: bool, lines: int) -> str:
    """Return where everything that a summary stands for still is, and how to see it.

    ``target`` is the file to be written, None for standard output; ``is_archived`` says whether an
    archive is written beside it, or the file carries its own originals; ``lines`` is how many lines
    the transcript had before. The content is that of VS Code Copilot Chat's.
    """
    path = target.absolute() if target else None
    holder = archive_folder(path) if path and is_archived else path
    place = f'in "{holder}"' if holder else "in this transcript"
    command = f"compactctl view --archived {shlex.quote(str(path)) if path else 'FILE'}"
    return "\n".join(
        (
            f"The messages that this summary stands for are kept word for word {place}.",
            f"At the time this summary was created, the transcript had {lines:,} lines.",
            f"Example usage: {command}",
        )
    )
