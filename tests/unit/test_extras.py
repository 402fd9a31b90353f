"""Optional packages: the command that installs one is that of the installation."""

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

from compactctl.errors import UsageError
from compactctl.extras import install_command
from compactctl.tokens.counters import claude

_EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
# What users may add; the others are for those who change the program.
_NAMES = ("claude", "cloud", "llm", "mcp", "ray")
OPTIONAL = [each.partition(";")[0] for name in _NAMES for each in _EXTRAS[name]]


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an environment that this program seems to run in."""
    place = tmp_path / "venvs" / "compactctl"
    place.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(place))
    return place


def test_a_command_is_that_of_the_installation(prefix: Path) -> None:
    pip = install_command("mcp>=2")
    assert re.fullmatch(r"\S+ -m pip install 'mcp>=2'|uv pip install --python \S+ 'mcp>=2'", pip)
    (prefix / "uv-receipt.toml").touch()
    uv = install_command("mcp>=2")
    assert re.fullmatch(r"uv tool install --with 'mcp>=2' (compactctl|/.+)", uv)
    (prefix / "uv-receipt.toml").unlink()
    (prefix / "pipx_metadata.json").touch()
    assert install_command("mcp>=2") == "pipx inject compactctl 'mcp>=2'"


def test_messages_ask_for_what_the_package_declares() -> None:
    code = "".join(path.read_text() for path in (ROOT / "compactctl").rglob("*.py"))
    asked = re.findall(r"install_command\('([^']+)'\)", code)
    assert sorted(asked) == sorted(OPTIONAL), (
        "pyproject.toml, optional-dependencies: the same packages that install_command asks for"
    )


def test_a_checkout_is_installed_again_from_its_own_place(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (prefix / "uv-receipt.toml").touch()

    class Installed:
        def read_text(self, _: str) -> str:
            return '{"url": "file:///home/dev/my%20tools/compactctl", "dir_info": {}}'

    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: Installed())
    assert install_command("mcp>=2").endswith(" '/home/dev/my tools/compactctl'")


def test_an_older_python_is_said_to_be_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude, "claude_is_installed", lambda: False)
    monkeypatch.setattr(sys, "version_info", (3, 11, 9))
    with pytest.raises(UsageError, match=r"ctok; that needs Python 3\.12 or later.* 3\.11 here"):
        claude.claude_counter("claude-3")
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    with pytest.raises(UsageError, match=r"ctok; type: .*ctok>="):
        claude.claude_counter("claude-3")
