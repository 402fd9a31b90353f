"""Commands without FILE: a pipe is read, on a terminal there is a choice, nothing is guessed."""

import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask
from cli.screens.terminal import PLAIN, PROGRAM, ended_on_terminal, run_piped
from forked import completed

COMMANDS = ("stats", "compact", "rewind", "check", "view", "log")
HOUR = 3_600


@pytest.fixture
def folder(tmp_path: Path, ask: Ask) -> Path:
    """Return a folder with transcripts of several ages, two compacted, and other files."""
    place = tmp_path / "folder"
    (place / "below").mkdir(parents=True)
    for name in ("openai-chat", "codex-session", "neurolink"):
        shutil.copy(SAMPLES / f"{name}.jsonl", place)
    shutil.copy(SAMPLES / "openai-chat.jsonl", place / "below" / "deep.jsonl")
    (place / "packed.jsonl.gz").write_bytes(
        gzip.compress((SAMPLES / "neurolink.jsonl").read_bytes())
    )
    (place / "package.json").write_text('{"name": "x"}')
    (place / "notes.jsonl").write_text('{"note": 1}\n')
    (place / "empty.jsonl").touch()
    (place / "notes.txt").write_text("words")
    chat, neurolink = place / "openai-chat.jsonl", place / "neurolink.jsonl"
    assert ask("compact", chat, "--target", "5k").code == 0
    assert ask("compact", neurolink, "--stages", "truncate", "--in-place").code == 0
    for age, name in enumerate(
        ("codex-session.jsonl", "openai-chat.compacted.jsonl", "neurolink.jsonl",
         "packed.jsonl.gz", "openai-chat.jsonl")
    ):  # fmt: skip
        written = (place / name).stat().st_mtime - age * HOUR
        os.utime(place / name, (written, written))
    return place


def without_input(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the program in a folder as a script does that has nothing to say to it."""
    with Path(os.devnull).open("rb") as nothing:
        return completed(arguments, folder, PLAIN, streams={0: nothing.fileno()})


def everything(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def listed(shown: str) -> list[str]:
    """Return the first cells of the rows of the table that is shown."""
    rows = shown.partition("──\n")[2].partition("\n\n")[0].splitlines()
    return [next(cell for cell in row.split() if not cell.isdigit()) for row in rows]


@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_terminal_the_transcripts_here_are_listed(folder: Path, command: str) -> None:
    before = everything(folder)
    code, shown = ended_on_terminal(100, folder, command)
    assert code == 2
    compacted = ["openai-chat.compacted.jsonl", "neurolink.jsonl"]
    others = ["packed.jsonl.gz", "openai-chat.jsonl"]
    wanted = (
        compacted if command in {"rewind", "log"} else ["codex-session.jsonl", *compacted, *others]
    )
    assert shown.startswith(f"compactctl {command}: name the session or transcript:")
    assert listed(shown) == wanted
    assert "2 hours ago" in shown
    assert "neurolink" in shown
    assert everything(folder) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_terminal_with_nothing_to_choose_from(tmp_path: Path, command: str) -> None:
    (tmp_path / "package.json").write_text('{"name": "x"}')
    code, shown = ended_on_terminal(400, tmp_path, command)
    assert code == 3
    kind = "compacted " if command == "rewind" else ""
    assert shown.startswith(f"compactctl: no input: no {kind}transcript in ")
    assert str(tmp_path) in shown
    assert f"name one (compactctl {command} run.jsonl)" in shown


def test_what_is_typed_can_be_pasted(tmp_path: Path) -> None:
    name = "-my $(touch x) run.jsonl"
    shutil.copy(SAMPLES / "openai-chat.jsonl", tmp_path / name)
    (tmp_path / "other.jsonl").write_bytes((SAMPLES / "neurolink.jsonl").read_bytes())
    shown = without_input(tmp_path, "stats").stderr.decode()
    (typed,) = (
        line for line in shown.splitlines() if line.startswith("compactctl stats") and "$" in line
    )
    typed = typed.removeprefix("compactctl ")
    command = ["/bin/sh", "-c", f"{' '.join(PROGRAM)} {typed}"]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True)
    assert done.returncode == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == [name, "other.jsonl"]


def test_an_original_is_suggested_with_the_options_that_were_typed(
    tmp_path: Path, ask: Ask
) -> None:
    shutil.copy(SAMPLES / "openai-chat.jsonl", tmp_path / "my run.jsonl")
    assert ask("compact", tmp_path / "my run.jsonl", "--target", "5k").code == 0
    options = ("--stages", "prune,dedup", "--pin", "$(touch x)", "-n")
    done = without_input(tmp_path, "compact", *options)
    assert done.returncode == 2
    typed = "\ncompactctl compact 'my run.jsonl' --stages prune,dedup --pin '$(touch x)' -n\n"
    assert typed in done.stderr.decode()


@pytest.mark.parametrize("way", ["terminal", "script"])
def test_the_only_compacted_transcript_is_rewound(tmp_path: Path, ask: Ask, way: str) -> None:
    run = tmp_path / "run.jsonl"
    shutil.copy(SAMPLES / "openai-chat.jsonl", run)
    assert ask("compact", run, "--target", "5k").code == 0
    small = tmp_path / "run.compacted.jsonl"
    if way == "terminal":
        code, shown = ended_on_terminal(200, tmp_path, "rewind")
    else:
        done = without_input(tmp_path, "rewind")
        code, shown = done.returncode, done.stderr.decode()
    assert code == 0
    assert "run.compacted.jsonl, the only compacted transcript in this folder" in shown
    assert small.read_bytes() == run.read_bytes()
    # With a second one nothing is guessed.
    shutil.copy(SAMPLES / "neurolink.jsonl", tmp_path / "other.jsonl")
    assert (
        ask("compact", tmp_path / "other.jsonl", "--stages", "truncate", "--target", "500").code
        == 0
    )
    before = everything(tmp_path)
    done = without_input(tmp_path, "rewind")
    assert done.returncode == 2
    assert done.stderr.decode().endswith(
        "\ncompactctl rewind other.compacted.jsonl\ncompactctl rewind run.compacted.jsonl\n"
    )
    assert everything(tmp_path) == before


def test_only_the_newest_are_listed(tmp_path: Path) -> None:
    for number in range(18):
        path = shutil.copy(SAMPLES / "neurolink.jsonl", tmp_path / f"{number:02}.jsonl")
        os.utime(path, (number * HOUR, number * HOUR))
    _, shown = ended_on_terminal(100, tmp_path, "view")
    assert listed(shown) == [f"{number:02}.jsonl" for number in range(17, 2, -1)]
    assert "3 older files not shown" in shown


def test_a_large_first_line_is_not_read_to_tell_its_format(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "neurolink.jsonl", tmp_path / "other.jsonl")
    (tmp_path / "run.jsonl").write_text(json.dumps({"role": "user", "content": "x" * (1 << 20)}))
    assert "unknown" in ended_on_terminal(100, tmp_path, "stats")[1]


@pytest.mark.parametrize("command", ["stats", "check", "view"])
def test_a_pipe_is_read(ask: Ask, desk: Path, command: str) -> None:
    data = desk.read_bytes()
    piped, named = ask(command, stdin=data), ask(command, "-", stdin=data)
    assert piped == named
    assert piped.code == 0
    assert piped.out


def test_a_pipe_is_compacted_and_taken_back(ask: Ask, desk: Path) -> None:
    data = desk.read_bytes()
    small = ask("compact", "--target", "5k", stdin=data)
    assert small.code == 0
    assert small == ask("compact", "--layout", "inline", "--target", "5k", stdin=data)
    assert small == ask("compact", desk, "-o", "-", "--target", "5k")
    compacted = small.out.encode()
    assert "in the file  in effect" in ask("log", stdin=compacted).out
    assert ask("rewind", stdin=compacted).out.encode() == data
    assert ask("compact", stdin=data) == ask("compact", "-", stdin=data)
    assert ask("compact", "--in-place", stdin=data).code == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_without_a_byte_is_no_input(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_piped(command)
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"no input: no " in done.stderr
    with Path(os.devnull).open("rb") as nothing, (tmp_path / "sink").open("wb") as sink:
        for standard_input, problem in (
            (nothing.fileno(), b"no input"),
            (None, b"no input"),
            (sink.fileno(), b"standard input: cannot be read (Bad file descriptor); name a"),
        ):
            done = completed((command,), tmp_path, PLAIN, streams={0: standard_input})
            assert (done.returncode, done.stdout) == (3, b"")
            assert problem in done.stderr
            assert done.stderr.count(b"\n") == 1


def test_closed_standard_input_is_no_input_where_it_is_asked_for() -> None:
    done = completed(("stats", "-"), Path.cwd(), PLAIN, streams={0: None})
    assert done.returncode == 3
    assert done.stderr.startswith(b"compactctl: standard input: is closed")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_needs_no_file(ask: Ask, command: str) -> None:
    outcome = ask(command, "--help")
    assert outcome.code == 0
    assert f"Usage: compactctl {command} [OPTIONS] [FILE]" in outcome.out
