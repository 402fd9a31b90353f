"""Every command that log prints is whole, and returns to the state that it names."""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.asking import Ask
from sessions.client_compactions import claude as claude_compacted
from sessions.client_compactions import codex as codex_compacted
from sessions.client_compactions import pi as pi_compacted
from sessions.homes import Home
from sessions.long_sessions import SAID, SMALL, WRITERS

CLIENTS = {"claude-code": claude_compacted, "codex": codex_compacted, "pi": pi_compacted}


def printed(ask: Ask, path: Path) -> list[list[str]]:
    """Return the commands that log prints on a line of their own, in words."""
    outcome = ask("log", path)
    assert outcome.code == 0, outcome.err
    lines = [line for line in outcome.out.splitlines() if "compactctl rewind" in line]
    commands = [shlex.split(line[line.index("compactctl rewind") :]) for line in lines]
    document = ask("log", path, "--json").json
    states = [*document["states"], *document["clientStates"]]
    assert [shlex.split(state["command"]) for state in states] == commands
    return commands


def run_each(ask: Ask, root: Path, path: Path) -> list[bytes]:
    """Run each printed command from the same state; return what it leaves in the file."""
    commands, results = printed(ask, path), []
    backup = root.with_name("backup")
    shutil.copytree(root, backup)
    for command in commands:
        outcome = ask(*command[1:])
        assert outcome.code == 0, (command, outcome.err)
        results.append(path.read_bytes())
        shutil.rmtree(root)
        shutil.copytree(backup, root)
    shutil.rmtree(backup)
    return results


def once(ask: Ask, path: Path) -> list[bytes]:
    return [path.read_bytes(), compacted(ask, path, *SMALL)]


def twice(ask: Ask, path: Path) -> list[bytes]:
    first, second = path.read_bytes(), compacted(ask, path, "--stages", "truncate", "--keep", "60%")
    return [first, second, compacted(ask, path, *SMALL)]


def thrice_and_back(ask: Ask, path: Path) -> list[bytes]:
    whole = path.read_bytes()
    shares = ("80%", "50%", "20%")
    after = [compacted(ask, path, "--stages", "truncate", "--keep", share) for share in shares]
    states = [whole, *after]
    assert ask("rewind", path).code == 0
    assert path.read_bytes() == states[2]
    return states


def rewound(ask: Ask, path: Path) -> list[bytes]:
    states = once(ask, path)
    assert ask("rewind", path).code == 0
    return states


def compacted(ask: Ask, path: Path, *options: str) -> bytes:
    outcome = ask("compact", path, "--in-place", "--force", *options)
    assert outcome.code == 0, outcome.err
    return path.read_bytes()


HISTORIES = (once, twice, thrice_and_back, rewound)


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("client", WRITERS)
@pytest.mark.parametrize("is_in_store", [True, False])
def test_each_state_of_ours_is_restored(  # noqa: PLR0913 - a place, a client and a history
    home: Home,
    ask: Ask,
    tmp_path: Path,
    client: str,
    history: Callable[[Ask, Path], list[bytes]],
    *,
    is_in_store: bool,
) -> None:
    path = WRITERS[client](home)
    root = home.root
    if not is_in_store:
        root = tmp_path / "else where"
        root.mkdir()
        path = Path(shutil.copy(path, root / "run it.jsonl"))
    states = history(ask, path)
    present = path.read_bytes()
    others = [state for state in states if state != present]
    assert run_each(ask, root, path) == others


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("is_in_store", [True, False])
@pytest.mark.parametrize("is_compacted", [True, False])
def test_each_compaction_of_the_client_is_undone(  # noqa: PLR0913 - a place and a client
    home: Home, ask: Ask, tmp_path: Path, client: str, *, is_in_store: bool, is_compacted: bool
) -> None:
    path = CLIENTS[client](home)
    root = home.root
    if not is_in_store:
        root = tmp_path / "elsewhere"
        root.mkdir()
        path = Path(shutil.copy(path, root / "run.jsonl"))
    if is_compacted:
        compacted(ask, path, "--stages", "dedup")
    results = run_each(ask, root, path)
    assert results
    present = path.read_bytes()
    assert all((result == present) is is_in_store for result in results[-1:])


def test_sizes_are_those_that_compact_told(home: Home, ask: Ask) -> None:
    path = WRITERS["claude-code"](home)
    before = ask("stats", path, "--json").json["estimatedInputTokens"]
    compacted(ask, path, *SMALL)
    after = ask("stats", path, "--json").json["estimatedInputTokens"]
    [operation] = ask("log", path, "--json").json["operations"]
    assert operation["size"] == {"before": before, "after": after}
    assert f"{before:,} → {after:,}" in ask("log", path).out
    assert SAID.id in str(path)


def test_standard_input_has_no_command(home: Home, ask: Ask) -> None:
    data = CLIENTS["claude-code"](home).read_bytes()
    outcome = ask("log", "-", stdin=data)
    assert outcome.code == 0
    assert "compactctl rewind" not in outcome.out


def test_a_rewind_has_the_sizes_of_the_states_it_goes_between(home: Home, ask: Ask) -> None:
    path = WRITERS["claude-code"](home)
    compacted(ask, path, *SMALL)
    assert ask("rewind", path).code == 0
    rows = [line for line in ask("log", path).out.splitlines() if " → " in line]
    before, after = re.findall(r"[\d,]+(?= → )|(?<= → )[\d,]+", rows[0])
    assert f"{after} → {before}" in rows[1]
