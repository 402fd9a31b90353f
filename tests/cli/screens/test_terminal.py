"""What a user sees on a terminal, narrow or wide, and what goes into a file."""

import json
import os
import pty
import re
import subprocess
import time
from pathlib import Path

import pytest
from cli.screens.terminal import (
    PLAIN,
    PROGRAM,
    ended_on_terminal,
    read_all,
    read_until,
    run_on_terminal,
    run_piped,
)

from compactctl.views.terminal.tables import cell_width

ESCAPES = re.compile(r"\x1b\[[0-9;]*[mK]")
COMMANDS = (
    ("stats",),
    ("compact", "--target", "5k", "-n"),
    ("compact", "--target", "5k", "-n", "--explain"),
    ("batch", "--stages", "truncate"),
)


def shown_lines(shown: str) -> list[str]:
    return ESCAPES.sub("", shown).replace("\r", "\n").splitlines()


@pytest.mark.each_choice
@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_report_fits_the_terminal(desk: Path, width: int, command: tuple[str, ...]) -> None:
    name, *options = command
    shown = run_on_terminal(width, desk.parent, name, desk.name, *options)
    lines = shown_lines(shown)
    assert len(lines) > 5
    # Commands stay whole, to be copied.
    assert [line for line in lines if cell_width(line) > width and "compactctl" not in line] == []


@pytest.mark.parametrize("width", [60, 80])
def test_a_log_fits_the_terminal_with_its_ids_whole(compacted: Path, width: int) -> None:
    lines = shown_lines(run_on_terminal(width, compacted.parent, "log", compacted.name))
    # Commands stay whole, to be copied.
    assert [line for line in lines if cell_width(line) > width and "compactctl" not in line] == []
    assert len(re.findall(r"\b[0-9a-f]{12}\b", "\n".join(lines))) >= 3


def test_the_explanation_has_a_line_per_message(desk: Path) -> None:
    shown = run_on_terminal(80, desk.parent, "compact", desk.name, "--target", "5k", "--explain")
    _, _, table = "\n".join(shown_lines(shown)).partition("\nLine ")
    assert table.split("\n\n")[0].count("\n") == 1 + 39 + 1  # the rule, the messages and the digest
    assert "rewritten by distill" in shown


def test_a_full_context_is_in_color(desk: Path) -> None:
    shown = run_on_terminal(80, desk.parent, "stats", desk.name, "--window", "10k")
    assert "does not fit" in shown
    assert "\x1b[1;31m" in shown


@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colors_where_they_are_not_wanted(desk: Path, variable: dict[str, str]) -> None:
    shown = run_on_terminal(80, desk.parent, "stats", desk.name, "--window", "10k", **variable)
    assert "does not fit" in shown
    assert "\x1b" not in shown


def test_a_pipe_gets_no_colors_and_nothing_is_cut(session: Path) -> None:
    done = run_piped("stats", session, "--details", COLUMNS="40", FORCE_COLOR="1")
    shown = done.stdout.decode()
    assert done.returncode == 0
    assert "\x1b" not in shown
    assert "…" not in shown
    assert "quayside/services/booking_service.py" in shown
    assert max(map(len, shown.splitlines())) > 80


def test_trailing_spaces_are_left_out(desk: Path) -> None:
    shown = run_piped("stats", desk).stdout.decode()
    assert [line for line in shown.splitlines() if line != line.rstrip()] == []


def test_progress_is_for_terminals_only(desk: Path) -> None:
    assert b"1 of 1 files" not in run_piped("batch", desk).stderr
    _, shown = ended_on_terminal(80, desk.parent, "batch", desk.name)
    assert "1 of 1 files" in shown
    assert "1 of 1 files" not in shown.rpartition("\x1b[?25h")[2]


def test_slow_work_says_what_it_is_until_it_is_done(desk: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, "stats", "-"], stdin=subprocess.PIPE, stdout=theirs, stderr=theirs, env=PLAIN
    ) as child:
        os.close(theirs)
        shown = read_until(ours, b"measuring standard input")
        assert child.stdin is not None
        child.stdin.write(desk.read_bytes())
        child.stdin.close()
        shown += read_all(ours)
    os.close(ours)
    _, _, after = shown.rpartition(b"\x1b[?25h")
    assert child.returncode == 0
    assert b"measuring" not in after
    assert b"\x1b[2K" in after
    assert b"Next request" in after


@pytest.mark.long
def test_slow_work_in_a_pipe_says_nothing(desk: Path) -> None:
    with subprocess.Popen(
        [*PROGRAM, "stats", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        time.sleep(2)
        out, err = child.communicate(desk.read_bytes())
    assert b"Next request" in out
    assert err == b""


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_any_encoding_will_do(desk: Path, encoding: str) -> None:
    # What Python itself reads from the environment it reads when it starts.
    done = subprocess.run(
        [*PROGRAM, "stats", str(desk)],
        capture_output=True,
        check=False,
        env=PLAIN | {"PYTHONIOENCODING": encoding},
    )
    assert done.returncode == 0
    assert b"=====" in done.stdout
    assert b"\\u" not in done.stdout


@pytest.mark.parametrize(("lines", "is_paged"), [(60, True), (3, False)])
def test_messages_that_do_not_fit_on_a_terminal_go_to_the_pager(
    tmp_path: Path, lines: int, *, is_paged: bool
) -> None:
    messages = [{"role": "user", "content": "the tide\n" * lines}]
    (tmp_path / "run.json").write_text(json.dumps(messages))
    shown = run_on_terminal(80, tmp_path, "view", "run.json", PAGER="sed s/tide/moon/")
    assert ("the moon" in shown) is is_paged
    assert ("the tide" in shown) is not is_paged
    assert "1 of 1 message sent" in shown
