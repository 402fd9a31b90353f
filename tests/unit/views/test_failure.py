"""The line that a user sees after a failure, and a report without any content of a transcript."""

import errno
import platform
import sys

import click
import pytest

from compactctl import __version__
from compactctl.errors import UsageError
from compactctl.views.failure import bug_report, error_line, state_line, system_line, usage_line


def test_an_error_is_one_line_whatever_it_quotes() -> None:
    assert error_line(UsageError("a\nb\x1b: is bad")) == "compactctl: a\\nb\\x1b: is bad"


def test_a_usage_error_names_the_command_whose_help_says_more() -> None:
    context = click.Context(click.Command("stats"), info_name="compactctl stats")
    error = click.UsageError("No such\n option: --x.", ctx=context)
    assert usage_line(error) == (
        "compactctl stats: no such option: --x; see compactctl stats --help"
    )
    assert usage_line(click.UsageError("Bad")) == "compactctl: bad; see compactctl --help"
    assert usage_line(click.ClickException("Bad")) == "compactctl: bad; see compactctl --help"


def test_what_click_says_is_said_in_plain_words() -> None:
    misspelled = click.NoSuchOption("--targt", possibilities=["--strict", "--tags", "--target"])
    assert usage_line(misspelled) == ("compactctl: no option --targt; did you mean --target?")
    assert (
        usage_line(click.NoSuchOption("--x")) == "compactctl: no option --x; see compactctl --help"
    )
    with pytest.raises(click.BadParameter) as raised:
        click.Option(["--n"], type=click.IntRange(min=0)).type_cast_value(
            click.Context(click.Command("x")), "abc"
        )
    assert "'abc' is not a whole number; see" in usage_line(raised.value)


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (
            OSError(errno.ENOSPC, "No space left", "a.jsonl"),
            "a.jsonl: No space left; make room and run it again",
        ),
        (
            OSError(errno.EIO, "Input/output error", "a.jsonl"),
            "a.jsonl: Input/output error; check the file and its disk",
        ),
        (
            OSError(errno.EIO, "Input/output error"),
            "standard output: Input/output error; redirect it to a file",
        ),
        (OSError("odd"), "standard output: odd; redirect it to a file"),
    ],
)
def test_an_error_of_the_system_says_where_and_what_to_do(error: OSError, shown: str) -> None:
    assert system_line(error) == f"compactctl: {shown}"


def test_what_was_done_before_an_interruption_is_in_its_notes() -> None:
    error = KeyboardInterrupt()
    assert state_line(error) == "no file is left half-written"
    error.add_note("a was written")
    error.add_note("b was not")
    assert state_line(error) == "a was written; b was not"


def raised() -> BaseException:
    """Return an error that a function of the package raises."""
    try:
        error_line(UnprintableError("a secret"))
    except ValueError as error:
        return error
    raise AssertionError


class UnprintableError(UsageError):
    """An error whose text cannot be told."""

    def __str__(self) -> str:
        raise ValueError(self.args)


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["compact", "a.jsonl", "--target=30k", "-n"], "compact --target -n"),
        (["/secret/path", "--x"], "--x"),
        ([], ""),
    ],
)
def test_a_bug_report_has_places_and_names_and_no_values(
    arguments: list[str], command: str
) -> None:
    first, version, typed, kind, *places = bug_report(raised(), arguments).split("\n")
    assert first == (
        "compactctl: an internal error; no file is left half-written. Please report these lines:"
    )
    assert (
        version == f"  compactctl {__version__}, Python {platform.python_version()}, {sys.platform}"
    )
    assert typed == f"  command: {command}"
    assert kind == "  ValueError"
    file, within, own = (place.strip().partition(" in ")[::2] for place in places)
    assert (file[0].partition(":")[0], file[1]) == ("test_failure.py", "raised")
    assert (within[0].partition(":")[0], within[1]) == ("views/failure.py", "error_line")
    assert (own[0].partition(":")[0], own[1]) == ("test_failure.py", "__str__")
