"""Every command that a screen or an error suggests works where it was suggested."""

import itertools
import re
import shlex
import shutil
from pathlib import Path

import pytest
from cli.asking import Ask
from cli.faults.writing import transcript

from compactctl.cli.group import cli

SMALLER, SMALLEST = "--stages truncate --target 600", "--stages truncate --target 300"
FAILS = "fails: "
COMMANDS = f"""
stats RUN --window 1500 --max-tokens 100
check RUN
stats .
rewind RUN
log RUN
compact RUN {SMALLER} --dry-run
compact RUN {SMALLER}
fails: compact RUN {SMALLER} -o notes.txt
view SMALL --archived
log SMALL
rewind SMALL --check
rewind SMALL
rewind SMALL
rewind SMALL -o restored.jsonl
fails: rewind SMALL -o notes.txt
compact SMALL {SMALLEST} -o SMALL
compact SMALL {SMALLER} --in-place
log SMALL
rewind SMALL --group GROUP
rewind SMALL --all -o SMALL
compact RUN {SMALLER} --layout inline -o inline.jsonl
log inline.jsonl
rewind inline.jsonl
compact inline.jsonl {SMALLEST} --in-place
rewind inline.jsonl --all
compact RUN {SMALLER} --in-place
rewind RUN
show stages
show profiles
fails: show profiles --toml
fails: show stages nothing
batch RUN --out out {SMALLER}
fails: batch RUN --report notes.txt
"""
# A command follows a colon or a label; in the middle of a sentence only its name is checked.
COMMAND = re.compile(r"(?:: | {2})(compactctl [^;\n]+)")
NAMED = re.compile(r"compactctl ([a-z-]+)")
VERBS = {"compacted", "did", "does", "is", "knows", "on", "shows", "wrote"}


def words(line: str, names: dict[str, str], ask: Ask) -> list[str]:
    """Return the arguments of a command line, with what its words in capitals stand for."""
    found = [names.get(word, word) for word in shlex.split(line)]
    if "GROUP" in found:
        found[found.index("GROUP")] = newest_group(ask, found[found.index("rewind") + 1])
    return found


def newest_group(ask: Ask, path: str) -> str:
    """Return the newest group in effect."""
    operations = ask("log", path, "--json").json["operations"]
    return [str(g["id"]) for each in operations for g in each["groups"] if g["inEffect"]][-1]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("run.jsonl", marks=pytest.mark.long),
        "it's $HOME & more.jsonl",
        pytest.param("-run.jsonl", marks=pytest.mark.long),
    ],
)
def test_every_suggested_command_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, name: str
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path(name).write_bytes(transcript(8))
    Path("notes.txt").write_text("mine")
    small = f"./{name.removesuffix('.jsonl')}.compacted.jsonl"
    names = {"RUN": f"./{name}", "SMALL": small, "FILE": small, "NAME": "roo", "STAGE": "prune"}
    copies = itertools.count()
    tried = set()
    for line in COMMANDS.strip().splitlines():
        outcome = ask(*words(line.removeprefix(FAILS), names, ask))
        shown = outcome.out + outcome.err
        assert (outcome.code not in {0, 1}) == line.startswith(FAILS), (
            f"COMMANDS: let the line begin with {FAILS!r} if it is meant to fail: {line}\n{shown}"
        )
        unknown = set(NAMED.findall(shown)) - {*cli.lines, *VERBS}
        assert not unknown, f"suggests what is not a command; name one that exists:\n{shown}"
        for suggestion in COMMAND.findall(shown):
            monkeypatch.chdir(shutil.copytree(folder, tmp_path / f"copy {next(copies)}"))
            again = ask(*words(suggestion, names, ask)[1:])
            assert again.code in {0, 1}, f"{line} suggests {suggestion}, which fails: {again.err}"
            tried.add(shlex.split(suggestion)[1])
            monkeypatch.chdir(folder)
    assert {"compact", "rewind", "show"} <= tried
