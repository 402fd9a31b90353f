"""What is not sent of a file: its size, and how to continue with it."""

from typing import Any

from compactctl.model.island import Island
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.views.terminal.text import typed_command


def continue_command(path: str, island: Island) -> str:
    """Return the command that writes a session which ends with an island, "" without a file."""
    if path == STANDARD_STREAM:
        return ""
    return typed_command("compactctl rescue", path, ("--from", f"{island.last + 1}"))


def island_document(island: Island) -> dict[str, Any]:
    """Return an island as a JSON object; ``continueFrom`` is the line that the command names."""
    return {
        "kind": island.kind,
        "firstLine": island.first + 1,
        "lastLine": island.last + 1,
        "records": len(island.messages),
        "requests": island.requests,
        "continueFrom": island.last + 1,
    }
