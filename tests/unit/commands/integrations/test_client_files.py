"""The files that ``integrate`` would write for a client, and its entries in the settings."""

import json
from pathlib import Path

import pytest

from compactctl.commands.integrations.integrate import (
    InstallRequest,
    IntegrateResult,
    apply_changes,
    integrate,
)
from compactctl.errors import ChangedError, UsageError
from compactctl.records import replace
from compactctl.store.client_folders import UserEnvironment

SKILL = "skills/compactctl/SKILL.md"
REQUEST = InstallRequest(client="codex", program="compactctl")
HOOK = {"type": "command", "command": "compactctl client hook codex", "timeout": 60}


def changes(result: IntegrateResult, home: Path) -> dict[str, str]:
    """Return the new content of each file by its path below the home."""
    return {
        change.path.relative_to(home).as_posix(): (change.after or b"").decode()
        for change in result.changes
    }


def shown(request: InstallRequest, home: Path) -> dict[str, str]:
    return changes(integrate(request, "print", UserEnvironment(home=home)), home)


@pytest.mark.parametrize(
    ("client", "paths"),
    [
        ("claude-code", [f".claude/{SKILL}", ".claude/settings.json"]),
        ("codex", [f".codex/{SKILL}", ".codex/hooks.json"]),
        (
            "opencode",
            [f".config/opencode/{SKILL}", ".config/opencode/plugins/compactctl.js"],
        ),
        ("pi", [f".pi/agent/{SKILL}", ".pi/agent/extensions/compactctl.ts"]),
    ],
)
def test_each_client_gets_a_skill_and_its_hooks(
    tmp_path: Path, client: str, paths: list[str]
) -> None:
    assert list(shown(replace(REQUEST, client=client), tmp_path)) == paths


@pytest.mark.parametrize(
    ("client", "plugin"),
    [("opencode", "plugins/compactctl.js"), ("pi", "extensions/compactctl.ts")],
)
def test_the_program_is_escaped_in_code_and_plain_in_text(
    tmp_path: Path, client: str, plugin: str
) -> None:
    request = InstallRequest(client=client, program='"C:\\my tools\\compactctl.exe"')
    files = shown(request, tmp_path)
    [skill] = [text for path, text in files.items() if path.endswith(SKILL)]
    [code] = [text for path, text in files.items() if path.endswith(plugin)]
    assert f'\n    "C:\\my tools\\compactctl.exe" view {client}:. --archived' in skill
    assert f'spawn("\\"C:\\\\my tools\\\\compactctl.exe\\" client hook {client}"' in code
    assert "@" not in code.partition("sha256 ")[2][:17]


def test_hooks_run_after_a_compaction_and_as_a_session_starts(tmp_path: Path) -> None:
    text = shown(REQUEST, tmp_path)[".codex/hooks.json"]
    assert json.loads(text) == {
        "hooks": {
            "PostCompact": [{"hooks": [HOOK]}],
            "SessionStart": [{"matcher": "compact", "hooks": [HOOK]}],
        }
    }


def test_a_hook_that_refuses_runs_before_a_compaction_by_hand(tmp_path: Path) -> None:
    text = shown(replace(REQUEST, block_manual=True), tmp_path)[".codex/hooks.json"]
    refusing = HOOK | {"command": "compactctl client hook codex --block-manual"}
    assert json.loads(text)["hooks"]["PreCompact"] == [{"matcher": "manual", "hooks": [refusing]}]


def test_another_install_replaces_what_it_would_not_write_today(tmp_path: Path) -> None:
    machine = UserEnvironment(home=tmp_path)
    apply_changes(integrate(replace(REQUEST, block_manual=True), "install", machine))
    moved = replace(REQUEST, program="/opt/bin/compactctl")
    apply_changes(integrate(moved, "install", machine))
    hook = HOOK | {"command": "/opt/bin/compactctl client hook codex"}
    settings = json.loads((tmp_path / ".codex" / "hooks.json").read_text())
    assert settings["hooks"].get("PreCompact", []) == []
    assert settings["hooks"]["PostCompact"] == [{"hooks": [hook]}]
    assert integrate(moved, "install", machine).changes == ()


@pytest.mark.parametrize(("client", "has_one"), [("claude-code", True), ("codex", False)])
def test_only_claude_code_has_a_status_line(tmp_path: Path, client: str, *, has_one: bool) -> None:
    [_, text] = shown(replace(REQUEST, client=client), tmp_path).values()
    expected = {"type": "command", "command": "compactctl client statusline"} if has_one else None
    assert json.loads(text).get("statusLine") == expected


def test_what_the_user_has_to_do_is_said_when_something_is_installed(tmp_path: Path) -> None:
    machine = UserEnvironment(home=tmp_path)
    assert "/hooks" in integrate(REQUEST, "install", machine).notes[0]
    assert integrate(REQUEST, "uninstall", machine).notes == ()


def test_a_file_that_changed_since_it_was_shown_is_not_overwritten(tmp_path: Path) -> None:
    result = integrate(REQUEST, "install", UserEnvironment(home=tmp_path))
    settings = result.changes[-1].path
    settings.parent.mkdir()
    settings.write_text("{}")
    with pytest.raises(ChangedError, match="changed while compactctl was running"):
        apply_changes(result)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [settings]


def test_a_file_of_ours_is_known_with_the_line_breaks_of_windows(tmp_path: Path) -> None:
    machine = UserEnvironment(home=tmp_path)
    apply_changes(integrate(REQUEST, "install", machine))
    skill = tmp_path / ".codex" / SKILL
    skill.write_bytes(skill.read_bytes().replace(b"\n", b"\r\n"))
    assert changes(integrate(REQUEST, "uninstall", machine), tmp_path)[f".codex/{SKILL}"] == ""


@pytest.mark.parametrize("action", ["install", "uninstall"])
def test_a_file_of_somebody_else_is_refused_or_left(tmp_path: Path, action: str) -> None:
    skill = tmp_path / ".codex" / SKILL
    skill.parent.mkdir(parents=True)
    skill.write_text("mine")
    machine = UserEnvironment(home=tmp_path)
    if action == "install":
        with pytest.raises(UsageError, match="exists and was not written by compactctl"):
            integrate(REQUEST, "install", machine)
    else:
        assert integrate(REQUEST, "uninstall", machine).changes == ()
