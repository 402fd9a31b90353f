"""What is printed where: items line by line, and bytes as they are."""

import pytest

from compactctl.views.terminal.screen import Accent, Raw, Verbatim, print_messages, print_screen


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
