"""Text of a transcript is shown, never obeyed."""

import re
from pathlib import Path

import pytest
from cli.asking import Ask
from formats.jsonl import write_lines

from compactctl.views.terminal.text import one_line, path_name, safe_text, shell_path

HOSTILE = (
    "[/nope] [bold]loud[/bold] [link=http://example.com]x[/link] :smile: "
    "\x1b[31mred\x1b]0;title\x07\x1b]8;;http://example.com\x1b\\ \x9b1m \r overwritten \b "
    "\u202egnp.exe\u202c \u2066 \x00"
)
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a transcript with hostile text wherever text can stand."""
    call = {"id": HOSTILE, "function": {"name": HOSTILE, "arguments": HOSTILE}}
    records = [
        {"role": "user", "content": HOSTILE},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": HOSTILE, "content": HOSTILE * 50},
        {"role": "assistant", "content": "and a\ncomplaint"},
        {"role": "user", "content": "and now?"},
        {"role": "assistant", "content": "done"},
    ]
    return write_lines(tmp_path / "[bold]\x1b[31mrun.jsonl", *records)


@pytest.mark.parametrize(
    "arguments",
    [
        ("stats",),
        ("stats", "--scope", "full"),
        ("view",),
        ("view", "--all", "--full"),
        ("compact", "--stages", "microcompact,summarize", "--explain", "-n"),
        ("compact", "--stages", "prune", "--prune-min-savings", "0", "--prune-protect-tokens", "0"),
        ("log",),
        ("rewind",),
        ("batch", "--stages", "dedup"),
    ],
)
def test_no_command_passes_controls_on(ask: Ask, hostile: Path, arguments: tuple[str, ...]) -> None:
    command, *options = arguments
    outcome = ask(command, hostile, *options)
    assert outcome.code in (0, 6)
    assert outcome.out + outcome.err
    assert CONTROLS.search(outcome.out + outcome.err) is None


def test_markup_is_text(ask: Ask, hostile: Path) -> None:
    shown = ask("view", hostile).out
    assert "[/nope] [bold]loud[/bold]" in shown
    assert ":smile:" in shown
    assert r"\x1b[31mred" in shown
    assert r"\u202egnp.exe" in shown


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("run.jsonl", "run.jsonl"),
        ("my run.jsonl", "'my run.jsonl'"),
        ("-rf", "./-rf"),
        ("-", "-"),
        ("a;b\x1b.jsonl", r"'a;b'$'\x1b''.jsonl'"),
    ],
)
def test_a_path_can_be_pasted(path: str, shown: str) -> None:
    assert shell_path(path) == shown


def test_standard_input_has_a_name() -> None:
    assert path_name("-") == "standard input"


def test_line_ends_of_windows_are_line_ends() -> None:
    assert safe_text("a\r\nb\rc") == "a\nb\\x0dc"


def test_one_line_is_one_line() -> None:
    assert one_line("a\n\tb  c" + "d" * 99, 10) == "a b cdddd…"
