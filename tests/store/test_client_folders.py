"""Where clients keep their sessions, and compactctl its archives of them."""

from pathlib import Path

import pytest

from compactctl.store.client_folders import (
    UserEnvironment,
    archives_folder,
    editor_folders,
    store_containing,
    store_folders,
)

HOME = Path("/home/me")
EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor")
SERVERS = [
    HOME / f".{name}" / "data" / "User"
    for name in ("vscode-server", "vscode-server-insiders", "vscodium-server", "cursor-server")
]


@pytest.mark.parametrize(
    ("platform", "environ", "config"),
    [
        ("linux", {}, HOME / ".config"),
        ("linux", {"XDG_CONFIG_HOME": "/own"}, Path("/own")),
        ("darwin", {"XDG_CONFIG_HOME": "/own"}, HOME / "Library" / "Application Support"),
    ],
)
def test_the_folders_of_editors(platform: str, environ: dict[str, str], config: Path) -> None:
    machine = UserEnvironment(home=HOME, environ=environ, platform=platform)
    assert list(editor_folders(machine)) == [
        *(config / name / "User" for name in EDITORS),
        *SERVERS,
    ]


def test_the_folders_of_sessions() -> None:
    editors = [
        user / name
        for user in editor_folders(UserEnvironment(home=HOME))
        for name in ("globalStorage", "workspaceStorage")
    ]
    assert list(store_folders(UserEnvironment(home=HOME))) == [
        HOME / ".claude" / "projects",
        HOME / ".codex" / "sessions",
        HOME / ".codex" / "archived_sessions",
        HOME / ".local" / "share" / "opencode",
        HOME / ".local" / "share" / "kilo",
        HOME / ".pi" / "agent" / "sessions",
        HOME / ".copilot" / "session-state",
        HOME / ".gemini" / "tmp",
        HOME / ".qwen" / "projects",
        HOME / ".cline" / "data" / "sessions",
        *editors,
    ]


@pytest.mark.parametrize(
    ("environ", "moved"),
    [
        ({"CLAUDE_CONFIG_DIR": "/own"}, "/own/projects"),
        ({"CODEX_HOME": "/own"}, "/own/sessions"),
        ({"XDG_DATA_HOME": "/own"}, "/own/opencode"),
        ({"PI_CODING_AGENT_DIR": "/own"}, "/own/sessions"),
        ({"PI_CODING_AGENT_DIR": "/no", "PI_CODING_AGENT_SESSION_DIR": "/own"}, "/own"),
        ({"COPILOT_HOME": "/own"}, "/own/session-state"),
        ({"GEMINI_CLI_HOME": "/own"}, "/own/.gemini/tmp"),
        ({"QWEN_HOME": "/own"}, "/own/projects"),
        ({"QWEN_HOME": "/other", "QWEN_RUNTIME_DIR": "/own"}, "/own/projects"),
        ({"CLINE_DIR": "/own"}, "/own/data/sessions"),
        ({"CLINE_DIR": "/no", "CLINE_DATA_DIR": "/own"}, "/own/sessions"),
        ({"CLINE_DATA_DIR": "/no", "CLINE_SESSION_DATA_DIR": "/own"}, "/own"),
    ],
)
def test_a_variable_moves_a_store(environ: dict[str, str], moved: str) -> None:
    machine = UserEnvironment(home=HOME, environ=environ)
    assert Path(moved) in store_folders(machine)
    assert store_containing(Path(moved) / "s.jsonl", machine) == Path(moved)
    assert store_containing(Path(f"{moved}-other") / "s.jsonl", machine) is None
    assert store_containing(Path(moved), UserEnvironment(home=HOME)) is None


@pytest.mark.parametrize(
    ("environ", "state"),
    [
        ({}, HOME / ".local" / "state"),
        ({"XDG_STATE_HOME": "relative"}, HOME / ".local" / "state"),
        ({"XDG_STATE_HOME": "/own"}, Path("/own")),
    ],
)
def test_archives_of_sessions_are_among_the_users_state(
    environ: dict[str, str], state: Path
) -> None:
    machine = UserEnvironment(home=HOME, environ=environ)
    assert archives_folder(machine) == state / "compactctl" / "archives"
