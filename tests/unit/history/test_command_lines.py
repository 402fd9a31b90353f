"""The normal form of a command line: where it runs, and what it runs."""

import pytest

from compactctl.history.command_lines import command_line, normalize_command


@pytest.mark.parametrize(
    ("line", "folder", "text"),
    [
        ("make", "", "make"),
        ("  npm   test  ", "", "npm test"),
        ("cd /w/api && npm test 2>&1 | tail -5", "/w/api", "npm test"),
        ("cd '/w/my api'; make", "/w/my api", "make"),
        ("cd /w && cd api/ && make", "/w/api", "make"),
        ("cd /w && cd /v && make", "/v", "make"),
        ("cd api/../web && make", "web", "make"),
        ("timeout 60 make", "", "make"),
        ("cd /w && timeout -v 5m make", "/w", "make"),
        ("make 2>&1 | tee out.txt | head -n 3", "", "make"),
        ("make; echo done $?", "", "make"),
        # These are other commands.
        ("make | grep -c x", "", "make | grep -c x"),
        ("make && cd /w && make", "", "make && cd /w && make"),
        ("make; echo done", "", "make; echo done"),
    ],
)
def test_the_folder_and_what_shortens_the_output_are_no_part_of_the_text(
    line: str, folder: str, text: str
) -> None:
    assert normalize_command(line) == (folder, text)


def test_the_folder_of_the_session_is_as_good_as_none() -> None:
    assert normalize_command("cd /w && make", "/w") == ("", "make")
    assert normalize_command("cd /w/ && make", "/w") == ("", "make")
    assert normalize_command("cd /w/api && make", "/w") == ("/w/api", "make")


def test_a_command_line_is_read_from_the_arguments_of_tools_that_run_one() -> None:
    assert command_line("Bash", {"command": "make"}) == "make"
    assert command_line("sandbox", {"cmd": ["make", "it"]}) == "make it"
    assert command_line("shell", {"command": ["bash", "-lc", "make it"]}) == "make it"
    assert command_line("Bash", {"command": " "}) is None
    assert command_line("str_replace_editor", {"command": "create"}) is None
