"""What compactctl installs in a client: hooks, a skill, a status line, code of its own."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from compactctl.records import Record
from compactctl.store.client_folders import UserEnvironment

HookAnswer = Literal["decision", "continue", "text"]
"""JSON whose ``decision`` refuses, JSON whose ``continue`` does, or a text for our own code."""


class ClientFiles(Record):
    """The files of an integration for a client.

    ``files`` maps our files, by their paths in the folder ``clients``, to the paths where they are
    installed; ``settings`` is the file whose entries are edited, None for a client without hooks in
    settings. ``notes`` say what the user has to do.
    """

    files: Mapping[str, Path]
    settings: Path | None = None
    has_status_line: bool = False
    notes: tuple[str, ...] = ()


class Integration(Record):
    """A client: its name, its files on a machine, and the form of a hook's answer.

    ``tells_agent`` means that its agent reads an answer given after a compaction; others read an
    answer given when a session starts.
    """

    client: str
    files: Callable[[UserEnvironment], ClientFiles]
    answer: HookAnswer
    tells_agent: bool = False


def skill_in(folder: Path) -> dict[str, Path]:
    """Return where the skill is installed in a client's folder, as an entry of ``files``."""
    return {"SKILL.md": folder / "skills" / "compactctl" / "SKILL.md"}
