"""Which project a recorded session worked on, and whether its model is the one it names."""

import re
import tomllib
from pathlib import Path

from benchmarks.estimates.recorded_session import Session

FACTS = Path(__file__).with_name("accuracy.toml")


def is_misnamed(session: str) -> bool:
    """Tell whether a session names a model whose tokens it was not counted with."""
    return session in tomllib.loads(FACTS.read_text())["misnamed"]


def project_of(session: Session) -> str:
    """Return the repository whose folder the session was begun in, else the folder's own name."""
    parts = [part for part in re.split(r"[\\/]", session.transcript.session.cwd or "") if part]
    known = {
        folder: project["name"]
        for project in tomllib.loads(FACTS.read_text())["project"]
        for folder in project["folders"]
    }
    return next((known[part] for part in parts if part in known), parts[-1] if parts else "")
