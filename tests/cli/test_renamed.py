"""Old names of commands work for one more version, and say what is typed today."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.asking import Outcome

from compactctl.__main__ import run
from compactctl.cli.group import SUCCESSORS, cli, words_of

Typed = Callable[[str], Outcome]


@pytest.fixture(name="typed")
def _typed(capfd: pytest.CaptureFixture[str], desk: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    monkeypatch.chdir(desk.parent)

    def run_line(line: str) -> Outcome:
        code = run(shlex.split(line.replace("FILE", desk.name)))
        out, err = capfd.readouterr()
        return Outcome(code, out, err)

    return run_line


LINES = {
    "explain FILE --window 64k 9 --json": "view FILE --window 64k --message 9 --json",
    "explain 9 9": "view 9 --message 9",
    "explain FILE": "view FILE",
    "tag FILE --truncate 4..9 --widen -n --json": "compact FILE --hide 4..9 --widen -n --json",
    "tag FILE --condense=9..4": "compact FILE --hide=9..4",
    "archives --json": "archive --json",
    "stages prune": "show stages prune",
    "config batch --json": "show settings batch --json",
    "eval missing.jsonl": "lab eval missing.jsonl",
    "overflow 'prompt is too long'": "harness overflow 'prompt is too long'",
    "file-budget FILE --json": "harness file-budget FILE --json",
}


@pytest.mark.parametrize("line", LINES)
def test_an_old_name_does_the_same_and_names_its_successor(typed: Typed, line: str) -> None:
    before, after = typed(line), typed(LINES[line])
    name = line.partition(" ")[0]
    note = f"compactctl {name} is now compactctl {SUCCESSORS[name]}\n"
    assert (before.code, before.out) == (after.code, after.out)
    assert before.err == note + after.err


def test_the_cache_is_shown_and_cleared_by_other_commands(typed: Typed) -> None:
    assert typed("batch FILE").code == 0
    assert typed("cache").err == "compactctl cache is now compactctl show cache\n"
    cleared = typed("cache --clear")
    assert cleared.code == 0
    assert cleared.err == "compactctl cache is now compactctl batch --clear-cache\n"
    assert typed("batch FILE --clear-cache").code == 0


@pytest.mark.parametrize("line", ["hook codex", "statusline", "mcp --help"])
def test_names_that_programs_call_say_nothing(typed: Typed, line: str) -> None:
    assert typed(line).err == ""


def test_every_old_name_has_a_successor_and_is_on_no_page(typed: Typed) -> None:
    for old, new in SUCCESSORS.items():
        command, *rest = new.split()
        assert old not in cli.lines
        assert command in cli.lines
        assert not rest or rest[0].startswith("--") or (command, *rest) == words_of(rest[0])
        name = " ".join(word for word in new.split() if not word.startswith("--"))
        assert typed(f"{old} -h").out == typed(f"{name} --help").out
