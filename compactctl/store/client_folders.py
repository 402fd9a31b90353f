"""Where clients keep their sessions, where their archives lie, and what moves those places: data.

From the clients themselves in the versions that ``docs/sessions.md`` names, run with a home of
their own, and from their sources.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

STATE_VARIABLE = "XDG_STATE_HOME"
"""What moves the folder of compactctl's own."""
VARIABLES = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "OPENCODE_DB",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "CLINE_DIR",
    "CLINE_DATA_DIR",
    "CLINE_SESSION_DATA_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    STATE_VARIABLE,
)
"""The environment variables that move a store, or what compactctl keeps about stores."""

# Programs that hold VS Code's extensions and chats, by the name of their folder.
_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor")
# What an editor on another machine has started on this one.
_SERVERS = (".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".cursor-server")
CLINE_EXTENSION = "saoudrizwan.claude-dev"
ROO_EXTENSION = "rooveterinaryinc.roo-cline"


@dataclass(frozen=True, slots=True, kw_only=True)
class UserEnvironment:
    """What places depend on: the home folder, the environment, and the name of the system."""

    home: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    platform: str = "linux"

    def folder(self, variable: str, default: Path) -> Path:
        """Return the folder that a variable names, else the usual one."""
        given = self.environ.get(variable)
        return Path(given).expanduser() if given else default


def this_machine() -> UserEnvironment:
    """Return the machine that this runs on, for the user who runs it."""
    return UserEnvironment(
        home=Path(os.path.expanduser("~")),  # noqa: PTH111 - Path.home() raises without a home
        environ=os.environ,
        platform=sys.platform,
    )


def claude_code_folder(machine: UserEnvironment) -> Path:
    """Return the folder of settings and sessions of Claude Code."""
    return machine.folder("CLAUDE_CONFIG_DIR", machine.home / ".claude")


def codex_folder(machine: UserEnvironment) -> Path:
    """Return the folder of settings and sessions of Codex."""
    return machine.folder("CODEX_HOME", machine.home / ".codex")


def opencode_folder(machine: UserEnvironment) -> Path:
    """Return the folder with OpenCode's database, the same on all systems."""
    return machine.folder("XDG_DATA_HOME", machine.home / ".local" / "share") / "opencode"


def opencode_settings_folder(machine: UserEnvironment) -> Path:
    """Return the folder of OpenCode's settings, the same on all systems."""
    return machine.folder("XDG_CONFIG_HOME", machine.home / ".config") / "opencode"


def pi_folder(machine: UserEnvironment) -> Path:
    """Return the folder of settings of pi."""
    return machine.folder("PI_CODING_AGENT_DIR", machine.home / ".pi" / "agent")


def pi_sessions_folder(machine: UserEnvironment) -> Path:
    """Return the folder of pi's sessions, as far as the environment tells."""
    return machine.folder("PI_CODING_AGENT_SESSION_DIR", pi_folder(machine) / "sessions")


def copilot_cli_folder(machine: UserEnvironment) -> Path:
    """Return the folder of Copilot CLI's sessions."""
    return machine.folder("COPILOT_HOME", machine.home / ".copilot") / "session-state"


def gemini_cli_folder(machine: UserEnvironment) -> Path:
    """Return the folder of settings and sessions of Gemini CLI."""
    return machine.folder("GEMINI_CLI_HOME", machine.home) / ".gemini"


def cline_folder(machine: UserEnvironment) -> Path:
    """Return the folder of the sessions of Cline's command line and SDK."""
    data = machine.folder("CLINE_DIR", machine.home / ".cline") / "data"
    return machine.folder(
        "CLINE_SESSION_DATA_DIR", machine.folder("CLINE_DATA_DIR", data) / "sessions"
    )


def editor_folders(machine: UserEnvironment) -> Iterator[Path]:
    """Yield the ``User`` folders of VS Code and its relatives, whether they exist or not."""
    config = machine.folder("XDG_CONFIG_HOME", machine.home / ".config")
    if machine.platform == "darwin":
        config = machine.home / "Library" / "Application Support"
    yield from (config / name / "User" for name in _EDITORS)
    yield from (machine.home / name / "data" / "User" for name in _SERVERS)


def store_folders(machine: UserEnvironment) -> Iterator[Path]:
    """Yield the folders whose files are clients' sessions and nothing else's."""
    yield claude_code_folder(machine) / "projects"
    yield codex_folder(machine) / "sessions"
    yield codex_folder(machine) / "archived_sessions"
    yield opencode_folder(machine)
    yield pi_sessions_folder(machine)
    yield copilot_cli_folder(machine)
    yield gemini_cli_folder(machine) / "tmp"
    yield cline_folder(machine)
    for user in editor_folders(machine):
        yield user / "globalStorage"
        yield user / "workspaceStorage"


def store_containing(path: Path, machine: UserEnvironment) -> Path | None:
    """Return the folder of sessions that a path lies in, links followed; None outside of all."""
    real = os.path.realpath(path)
    told = tuple((name, machine.environ.get(name, "")) for name in VARIABLES)
    folders = _real_stores(machine.home, told, machine.platform)
    return next((folder for folder, place in folders if real.startswith(place)), None)


# Asked for each of thousands of files, and the answer takes dozens of system calls.
@lru_cache(maxsize=8)
def _real_stores(
    home: Path, told: tuple[tuple[str, str], ...], platform: str
) -> tuple[tuple[Path, str], ...]:
    """Return the stores with the beginning of what lies in each, links followed."""
    machine = UserEnvironment(home=home, environ=dict(told), platform=platform)
    return tuple((each, os.path.realpath(each) + os.sep) for each in store_folders(machine))


def state_folder(machine: UserEnvironment) -> Path:
    """Return the folder for what compactctl keeps about sessions in stores, only for this user.

    By the XDG Base Directory Specification, on all systems; it says that a relative folder is none.
    """
    chosen = Path(machine.environ.get(STATE_VARIABLE, ""))
    return (chosen if chosen.is_absolute() else machine.home / ".local" / "state") / "compactctl"


def archives_folder(machine: UserEnvironment) -> Path:
    """Return the folder below which the archives of sessions lie, each under its session's path."""
    return state_folder(machine) / "archives"
