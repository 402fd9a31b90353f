"""What is printed where: items line by line, and bytes as they are."""

import re

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.views.terminal.screen import (
    Accent,
    Fact,
    Facts,
    Raw,
    ScreenItem,
    Verbatim,
    item_lines,
    print_messages,
    print_screen,
)
from compactctl.views.terminal.tables import table, text

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
HOSTILE = st.text(st.sampled_from("ab \n\r\x1b\x07\x9b\x7f]0;[31m\u202e\ud800"), max_size=12)


def test_lines_and_bytes_are_printed_in_their_order(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    print_screen(["one", Raw((b"\xfftwo", b" \x1b[0m\n")), Accent("three", "bold")])
    assert capfdbinary.readouterr() == (b"one\n\xfftwo \x1b[0m\nthree\n", b"")


def test_messages_go_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    print_messages("wrote a", "::error::b")
    print_screen([Verbatim("  as it is")], error=True)
    out, err = capfd.readouterr()
    assert out == ""
    first, second, third = err.splitlines()
    assert (first, third) == ("wrote a", "  as it is")
    assert not second.startswith("::")


def items_with(words: str) -> dict[str, ScreenItem]:
    """Return an item of each kind with a text from a transcript in it."""
    return {
        "line": f"group {words} is hidden",
        "accent": Accent(f"group {words} is hidden", "bold"),
        "facts": Facts((Fact(words, "1 token"), Fact("group", words))),
        "table": table([text("Group"), text("Tokens")], [(words, "1")], (words, "1")),
        "verbatim": Verbatim(words),
    }


@tries()
@given(words=HOSTILE, width=st.sampled_from([None, 20, 80]))
def test_no_text_controls_the_terminal_or_begins_a_line(words: str, width: int | None) -> None:
    lines = {"line": 1, "accent": 1, "facts": 2, "table": 4}
    for name, item in items_with(words).items():
        shown = [line for part, _ in item_lines(item, width) for line in part]
        assert not CONTROLS.search("".join(shown)), name
        if name in lines and width is None:
            assert "\n" not in "".join(shown), name
            assert len(shown) == lines[name], name


def test_messages_stay_on_their_lines(capfd: pytest.CaptureFixture[str]) -> None:
    print_messages("warning: no \x1b[31m\ncompactctl: done")
    assert capfd.readouterr().err == "warning: no \\x1b[31m\\ncompactctl: done\n"
