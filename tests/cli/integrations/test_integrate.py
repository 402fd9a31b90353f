"""``integrate``: shown before it is written, and taken back to the byte."""

import json
import shlex
import stat
import sys
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.clients.integrations import ALL_INTEGRATIONS

CLIENTS = [each.client for each in ALL_INTEGRATIONS]
SETTINGS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
MINE = """{
  // how I like it
  "model": "opus",\t"hooks": {
      "PostCompact": [ {"hooks": [{"type": "command", "command": "say done"}]} ],
  }, "env": {"A": 1.50, "A": 1.5e0}
}"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home of somebody whose clients are where they usually are."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def state(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_is_written_unless_it_is_asked_for(ask: Ask, home: Path, client: str) -> None:
    shown = ask("client", "integrate", client)
    assert shown.code == 0
    assert "new: " in shown.out
    assert "--archived --grep" in shown.out
    assert "--install" in shown.err
    assert state(home) == {}
    assert ask("client", "integrate", client, "--print").out == shown.out


def test_a_client_runs_the_program_by_its_name_where_a_shell_finds_it(
    ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(home))
    by_python = f"{shlex.quote(sys.executable)} -m compactctl client hook codex"
    assert by_python in ask("client", "integrate", "codex").out
    put(home / "compactctl", "#!/bin/sh\n").chmod(0o755)
    shown = ask("client", "integrate", "codex").out
    assert "compactctl client hook codex" in shown
    assert by_python not in shown


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_installed_is_what_was_shown_and_goes_again(
    ask: Ask, home: Path, client: str
) -> None:
    told = ask("client", "integrate", client, "--json").json["changes"]
    assert ask("client", "integrate", client, "--install").code == 0
    found = state(home)
    assert {name: text.decode() for name, text in found.items()} == {
        Path(each["path"]).relative_to(home).as_posix(): each["after"] for each in told
    }
    assert "it is set up" in ask("client", "integrate", client, "--install").out
    assert state(home) == found
    assert ask("client", "integrate", client, "--uninstall").code == 0
    assert state(home) == {}
    assert "nothing of compactctl's" in ask("client", "integrate", client, "--uninstall").out


@pytest.mark.parametrize("client", SETTINGS)
@pytest.mark.parametrize(
    "text",
    [MINE, "{}", "{ }\n", '{"hooks": {}}', '{"hooks":{"PostCompact":[]}}', "{\r\n}\r\n", "{/**/}"],
)
def test_settings_come_back_to_the_byte(ask: Ask, home: Path, client: str, text: str) -> None:
    path = put(home / SETTINGS[client], text)
    path.chmod(0o640)
    for _ in range(2):
        assert ask("client", "integrate", client, "--install", "--block-manual").code == 0
    assert path.with_name(f"{path.name}.before-compactctl").read_bytes() == text.encode()
    assert path.read_bytes().count(b"compactctl client hook") == 3
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert ask("client", "integrate", client, "--uninstall").code == 0
    assert state(home) == {SETTINGS[client]: text.encode()}
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_was_changed_meanwhile_stays(ask: Ask, home: Path) -> None:
    path = put(home / SETTINGS["claude-code"], MINE)
    ask("client", "integrate", "claude-code", "--install")
    path.write_text(path.read_text().replace("opus", "haiku"))
    ask("client", "integrate", "claude-code", "--uninstall")
    assert path.read_text() == MINE.replace("opus", "haiku")


def test_a_status_line_of_ones_own_stays(ask: Ask, home: Path) -> None:
    mine = '{"statusLine": {"type": "command", "command": "my-line"}}'
    path = put(home / SETTINGS["claude-code"], mine)
    ask("client", "integrate", "claude-code", "--install")
    assert json.loads(path.read_text())["statusLine"]["command"] == "my-line"
    ask("client", "integrate", "claude-code", "--uninstall")
    assert path.read_text() == mine


def test_settings_that_are_a_link_are_written_where_they_lie(
    ask: Ask, home: Path, tmp_path: Path
) -> None:
    place = put(tmp_path / "dotfiles" / "settings.json", MINE)
    link = home / SETTINGS["claude-code"]
    link.parent.mkdir()
    link.symlink_to(place)
    ask("client", "integrate", "claude-code", "--install")
    assert link.is_symlink()
    assert b"compactctl client hook" in place.read_bytes()
    ask("client", "integrate", "claude-code", "--uninstall")
    assert (link.is_symlink(), place.read_text()) == (True, MINE)


@pytest.mark.parametrize("action", ["--print", "--install", "--uninstall"])
def test_settings_that_are_damaged_are_left_alone(ask: Ask, home: Path, action: str) -> None:
    path = put(home / SETTINGS["claude-code"], '{\n"model": opus}')
    outcome = ask("client", "integrate", "claude-code", action)
    assert outcome.code == 4
    assert "settings.json: is not JSON in line 2" in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(state(home)) == [SETTINGS["claude-code"]]
    assert path.exists()


@pytest.mark.parametrize(("client", "name"), [("pi", ".pi/agent/extensions/compactctl.ts")])
def test_a_file_of_somebody_else_is_left_alone(
    ask: Ask, home: Path, client: str, name: str
) -> None:
    path = put(home / name, "mine")
    refused = ask("client", "integrate", client, "--install")
    assert refused.code == 2
    assert "exists and was not written by compactctl" in refused.err
    assert ask("client", "integrate", client, "--uninstall").code == 0
    assert (path.read_text(), list(state(home))) == ("mine", [name])


def test_clients_that_were_moved_are_found(
    ask: Ask, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    ask("client", "integrate", "claude-code", "--install")
    assert (tmp_path / "moved" / "settings.json").exists()
    assert state(home) == {}


OWN = """{
  "statusLine": {"type": "command", "command": "~/bin/branch.sh; compactctl client statusline"},
  "hooks": {"PreCompact": [{"hooks": [
    {"type": "command", "command": "~/bin/backup.sh && compactctl client hook claude-code"}]}]}
}
"""


def test_commands_of_ones_own_that_call_compactctl_stay(ask: Ask, home: Path) -> None:
    path = put(home / SETTINGS["claude-code"], OWN)
    assert ask("client", "integrate", "claude-code", "--install").code == 0
    assert "branch.sh; compactctl client statusline" in path.read_text()
    assert "backup.sh && compactctl client hook" in path.read_text()
    assert ask("client", "integrate", "claude-code", "--uninstall").code == 0
    assert state(home) == {SETTINGS["claude-code"]: OWN.encode()}


@pytest.mark.parametrize(
    "program",
    ["compactctl", "/opt/bin/compactctl", "'/a b/python3.12' -m compactctl"],
)
def test_what_an_earlier_install_wrote_goes(ask: Ask, home: Path, program: str) -> None:
    command = f"{program} hook codex"
    hook = {"hooks": [{"type": "command", "command": command}]}
    put(home / SETTINGS["codex"], json.dumps({"hooks": {"PostCompact": [hook]}}))
    assert ask("client", "integrate", "codex", "--uninstall").code == 0
    assert "compactctl" not in "".join(each.decode() for each in state(home).values())


@pytest.mark.parametrize(
    "command",
    [
        "compactctl client hook codex; say done",
        "compactctl client hook codex | tee log",
        "nice compactctl client hook codex",
        "$HOME/bin/compactctl hook codex",
        "compactctl client hook codex\nsay done",
    ],
)
def test_a_command_that_is_more_than_ours_stays(ask: Ask, home: Path, command: str) -> None:
    hook = {"hooks": [{"type": "command", "command": command}]}
    text = json.dumps({"hooks": {"PostCompact": [hook]}})
    path = put(home / SETTINGS["codex"], text)
    assert ask("client", "integrate", "codex", "--uninstall").code == 0
    assert path.read_text() == text
