"""The MCP server, asked by the client of the official SDK over standard input and output."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from sessions.homes import Home, Said

from compactctl.extras import install_command

READ_ONLY = {"list_sessions", "session_stats", "search_archived", "show_message"}


def at_home(folder: Path) -> Home:
    """Make a home with a session of this project, and one of another."""
    found = Home(root=folder / "home")
    for name in ("mine", "other"):
        (folder / name).mkdir()
        found.claude(Said(name=name, project=str(folder / name), prompt=f"Ask about {name}"))
    return found


def contents(home: Home) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in home.root.rglob("*") if path.is_file()}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return at_home(tmp_path)


@dataclass(slots=True)
class Heard:
    """What a server answered, and whether it left all files as they were."""

    tools: Any = None
    rows: Any = None
    stats: Any = None
    search: Any = None
    strange: Any = None
    wrong: Any = None
    later: Any = None
    is_untouched: bool = False


Talk = Callable[[Any], Awaitable[None]]


def speak(home: Home, folder: Path, talk: Talk, *options: str) -> None:
    """Start the server in a folder, as clients do, and speak to it."""
    client = pytest.importorskip("mcp.client.client", reason="the extra [mcp] is not installed")
    stdio = pytest.importorskip("mcp.client.stdio")
    server = stdio.StdioServerParameters(
        command=sys.executable,
        args=["-m", "compactctl", "mcp", *options],
        env={"HOME": str(home.root), "PATH": os.environ["PATH"], "PWD": str(folder)},
        cwd=folder,
    )

    async def run() -> None:
        async with client.Client(stdio.stdio_client(server)) as found:
            await talk(found)

    asyncio.run(run())


def told(answer: Any) -> Any:
    """Return what a tool answered."""
    (content,) = answer.content
    return content.text if answer.is_error else json.loads(content.text)


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """Return what a server of the project called mine answers, one question after another."""
    folder = tmp_path_factory.mktemp("served")
    home = at_home(folder)
    before = contents(home)
    strange = (Said(name="other").id, f"../other/{Said(name='other').id}",
               str(folder / "other"), "latest")  # fmt: skip
    found = Heard()

    async def talk(client: Any) -> None:
        found.tools = (await client.list_tools()).tools
        found.rows = told(await client.call_tool("list_sessions", {}))["sessions"]
        found.stats = told(await client.call_tool("session_stats", {}))
        found.search = told(await client.call_tool("search_archived", {"text": "ask"}))
        found.strange = [
            await client.call_tool("session_stats", {"session": name}) for name in strange
        ]
        found.wrong = await client.call_tool("show_message", {"message": "m", "offset": "far"})
        found.later = await client.call_tool("list_sessions", {})

    speak(home, folder / "mine", talk)
    found.is_untouched = contents(home) == before
    return found


def test_its_tools_only_read(heard: Heard) -> None:
    assert {tool.name for tool in heard.tools} == READ_ONLY
    assert all(tool.annotations.read_only_hint for tool in heard.tools)
    assert all(tool.description for tool in heard.tools)


def test_it_serves_the_project_that_it_was_started_in(heard: Heard) -> None:
    (row,) = heard.rows
    assert row["id"] == Said(name="mine").id
    assert heard.stats["session"] == row["id"]
    assert heard.stats["messages"] > 0
    assert heard.search["found"] == 0
    assert heard.is_untouched


def test_what_belongs_to_another_project_is_refused_and_it_goes_on(heard: Heard) -> None:
    for answer in heard.strange:
        assert answer.is_error
        assert "no session of this project" in told(answer)
    assert heard.wrong.is_error
    assert not heard.later.is_error


def test_all_projects_are_served_only_where_the_user_said_so(home: Home, tmp_path: Path) -> None:
    async def talk(client: Any) -> None:
        rows = told(await client.call_tool("list_sessions", {}))["sessions"]
        assert {row["project"] for row in rows} == {
            str(tmp_path / name) for name in ("mine", "other")
        }

    speak(home, tmp_path / "mine", talk, "--all-projects")


def test_it_ends_when_its_input_does_and_prints_nothing_else(home: Home, tmp_path: Path) -> None:
    pytest.importorskip("mcp.server.mcpserver", reason="the extra [mcp] is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "compactctl", "mcp"],
        input=b"",
        env={"HOME": str(home.root), "PATH": os.environ["PATH"]},
        cwd=tmp_path / "mine",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_without_the_sdk_it_says_how_to_get_it(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    refused = ask("client", "mcp")
    assert refused.code == 2
    assert refused.err.endswith("version 2; type: " + install_command("mcp>=2") + "\n")
