"""``archives`` as a JSON document."""

from datetime import UTC, datetime
from typing import Any

from compactctl.commands.archives.archives import ArchivesResult
from compactctl.commands.archives.found import SessionArchive


def archives_document(result: ArchivesResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.archives/1",
        "folder": result.folder,
        "bytes": result.n_bytes,
        "forgotten": result.options.forget and not result.options.dry_run,
        "dryRun": result.options.dry_run,
        "archives": [_archive(each, result) for each in result.archives],
        "warnings": list(result.warnings),
    }


def _archive(archive: SessionArchive, result: ArchivesResult) -> dict[str, Any]:
    written = datetime.fromtimestamp(archive.modified, UTC).isoformat(timespec="seconds")
    return {
        "session": str(archive.session),
        "sessionExists": None if result.options.forget else not archive.is_dead,
        "folder": str(archive.folder),
        "operations": archive.operations,
        "bytes": archive.n_bytes,
        "writtenAt": written,
    }
