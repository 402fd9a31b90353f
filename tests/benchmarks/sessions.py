"""The recorded sessions that figures are of, as ``sessions.toml`` lists them."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("sessions.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSession:
    """A session by its name, the project it is of, and the file that holds it.

    ``is_untouched`` says that no constant of a stage was chosen on its project, or on another
    project of the same organization.
    """

    name: str
    project: str
    path: Path
    is_untouched: bool


def find_sessions(folder: Path) -> Iterator[RecordedSession]:
    """Yield the listed sessions that are in the folder."""
    for project, entry in tomllib.loads(LIST.read_text()).items():
        for name in entry["sessions"]:
            if (path := folder / name).exists():
                yield RecordedSession(
                    name=name, project=project, path=path, is_untouched=not entry["tuned"]
                )
