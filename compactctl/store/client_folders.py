"""The folders of clients and of compactctl's archives, and the variables that move them.

Taken from the clients' sources, and checked by running the versions that ``docs/sessions.md`` names
in a separate home folder.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from compactctl.model.json_parser import parse_json
from compactctl.records import Record, field
from compactctl.store.beginning import read_beginning

STATE_VARIABLE = "XDG_STATE_HOME"
"""Moves compactctl's folder for archives of sessions."""
VARIABLES = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "OPENCODE_DB",
    "KILO_DB",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "QWEN_HOME",
    "QWEN_RUNTIME_DIR",
    "CLINE_DIR",
    "CLINE_DATA_DIR",
    "CLINE_SESSION_DATA_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    STATE_VARIABLE,
)
"""The environment variables that move a client's store, or compactctl's archives of sessions."""

# Folder names of VS Code and of editors built on it, which have its extensions and chats.
_EDITOR_NAMES = ("Code", "Code - Insiders", "VSCodium", "Cursor")
# Their servers, which an editor on another machine starts on this one.
_SERVER_FOLDERS = (
    ".vscode-server",
    ".vscode-server-insiders",
    ".vscodium-server",
    ".cursor-server",
)
# Bytes to read at most of a client's settings.
_MAX_SETTINGS = 1 << 20
CLINE_EXTENSION = "saoudrizwan.claude-dev"
ROO_EXTENSION = "rooveterinaryinc.roo-cline"


class UserEnvironment(Record):
    """The user's home, the environment and the platform, on which the folders depend."""

    home: Path
    environ: Mapping[str, str] = field(default_factory=dict)
    platform: str = "linux"

    def folder(self, variable: str, default: Path) -> Path:
        """Return the folder that a variable names, else the default."""
        value = self.environ.get(variable)
        return Path(value).expanduser() if value else default


def this_machine() -> UserEnvironment:
    """Return the environment of this process."""
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


def database_folder(client: str, machine: UserEnvironment) -> Path:
    """Return the folder with the database of OpenCode or Kilo, the same on all systems."""
    return machine.folder("XDG_DATA_HOME", machine.home / ".local" / "share") / client


def opencode_settings_folder(machine: UserEnvironment) -> Path:
    """Return the folder of OpenCode's settings, the same on all systems."""
    return machine.folder("XDG_CONFIG_HOME", machine.home / ".config") / "opencode"


def pi_folder(machine: UserEnvironment) -> Path:
    """Return the folder of pi's settings."""
    return machine.folder("PI_CODING_AGENT_DIR", machine.home / ".pi" / "agent")


def pi_session_folders(machine: UserEnvironment) -> tuple[Path, ...]:
    """Return the default folder, in which pi always finds sessions, and the configured one.

    The environment takes precedence over pi's settings. A folder around the user's home is left
    out: it contains more than sessions. A relative one is another folder in each project.
    """
    default = pi_folder(machine) / "sessions"
    configured = _path_setting(pi_folder(machine) / "settings.json", "sessionDir")
    if configured == "~" or configured.startswith("~/"):
        configured = f"{machine.home}{configured[1:]}"
    named = machine.folder("PI_CODING_AGENT_SESSION_DIR", Path(configured or default))
    folders = dict.fromkeys((default, named))
    return tuple(folder for folder in folders if not machine.home.is_relative_to(folder))


def _path_setting(path: Path, name: str) -> str:
    """Return a path in a client's settings; "" if there is none, or if they cannot be read."""
    data = read_beginning(path, _MAX_SETTINGS) or b""
    try:
        settings = parse_json(data.decode("utf-8", "replace"))
        value = settings.get(name) if isinstance(settings, dict) else None
        text = value if isinstance(value, str) else ""
        return "" if b"\0" in os.fsencode(text) else text
    except ValueError:
        return ""


def copilot_cli_folder(machine: UserEnvironment) -> Path:
    """Return the folder of Copilot CLI's sessions."""
    return machine.folder("COPILOT_HOME", machine.home / ".copilot") / "session-state"


def gemini_cli_folder(machine: UserEnvironment) -> Path:
    """Return the folder of settings and sessions of Gemini CLI."""
    return machine.folder("GEMINI_CLI_HOME", machine.home) / ".gemini"


def qwen_code_folder(machine: UserEnvironment) -> Path:
    """Return the folder of what Qwen Code writes while it runs, with its sessions."""
    home = machine.folder("QWEN_HOME", machine.home / ".qwen")
    return machine.folder("QWEN_RUNTIME_DIR", home)


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
    yield from (config / name / "User" for name in _EDITOR_NAMES)
    yield from (machine.home / name / "data" / "User" for name in _SERVER_FOLDERS)


def store_folders(machine: UserEnvironment) -> Iterator[Path]:
    """Yield the folders that contain only clients' sessions."""
    yield claude_code_folder(machine) / "projects"
    yield codex_folder(machine) / "sessions"
    yield codex_folder(machine) / "archived_sessions"
    yield database_folder("opencode", machine)
    yield database_folder("kilo", machine)
    yield from filter(Path.is_absolute, pi_session_folders(machine))
    yield copilot_cli_folder(machine)
    yield gemini_cli_folder(machine) / "tmp"
    yield qwen_code_folder(machine) / "projects"
    yield cline_folder(machine)
    for user in editor_folders(machine):
        yield user / "globalStorage"
        yield user / "workspaceStorage"


def store_containing(path: Path, machine: UserEnvironment) -> Path | None:
    """Return the store that a path is in, symbolic links followed; None if it is in none."""
    real_path = os.path.realpath(path)
    variables = tuple((name, machine.environ.get(name, "")) for name in VARIABLES)
    stores = _stores_with_prefix(machine.home, variables, machine.platform)
    return next((store for store, prefix in stores if real_path.startswith(prefix)), None)


# Cached because it takes dozens of system calls and is needed for each of thousands of files.
@lru_cache(maxsize=8)
def _stores_with_prefix(
    home: Path, variables: tuple[tuple[str, str], ...], platform: str
) -> tuple[tuple[Path, str], ...]:
    """Return the stores, each with the prefix of all real paths in it."""
    machine = UserEnvironment(home=home, environ=dict(variables), platform=platform)
    return tuple((store, os.path.realpath(store) + os.sep) for store in store_folders(machine))


def state_folder(machine: UserEnvironment) -> Path:
    """Return the user's folder for what compactctl stores about sessions.

    Follows the XDG Base Directory Specification on all systems, so a relative path is ignored.
    """
    folder = Path(machine.environ.get(STATE_VARIABLE, ""))
    return (folder if folder.is_absolute() else machine.home / ".local" / "state") / "compactctl"


def archives_folder(machine: UserEnvironment) -> Path:
    """Return the folder with the archives of sessions, each below its session's full path."""
    return state_folder(machine) / "archives"
