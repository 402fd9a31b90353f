"""What a user sees after a failure: one line, or a bug report for an unexpected error."""

import errno
import platform
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from compactctl import __version__
from compactctl.errors import CompactctlError, suggestion
from compactctl.views.terminal.text import safe_text

_ADVICE = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room and run it again"),
    errno.ENAMETOOLONG: "name a shorter one with -o",
}
_PACKAGE = Path(__file__).resolve().parents[1]


def error_line(error: CompactctlError) -> str:
    """Return the text of an error that compactctl raised on purpose.

    It is always one line, even if it quotes a file name that contains line breaks.
    """
    return safe_text(_masked(f"compactctl: {error}").replace("\n", "\\n"))


def _masked(message: str) -> str:
    """Mask secrets that a message quotes from a command line, a setting or a file."""
    from compactctl.secrets.mask import mask_secrets

    return mask_secrets(message)


def usage_line(error: click.ClickException) -> str:
    """Return a usage error and the command that shows the help."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    place = context.command_path if context else "compactctl"
    message = _usage_text(error).strip().removesuffix(".")
    message = message[:1].lower() + message[1:]
    message = _masked(" ".join(message.split()))
    hint = "" if message.endswith("?") else f"; see {place} --help"
    return safe_text(f"{place}: {message}{hint}")


def _usage_text(error: click.ClickException) -> str:
    """Return what click says, in our words."""
    if isinstance(error, click.NoSuchOption):
        # Some of what click suggests only shares a few letters.
        hint = suggestion(error.option_name, error.possibilities or (), "")
        return f"no option {error.option_name}; {hint}".removesuffix("; ")
    text = error.format_message()
    return re.sub(r"is not a valid integer( range)?", "is not a whole number", text)


def system_line(error: OSError) -> str:
    """Return an error of the operating system, usually of writing to standard output."""
    if error.errno == errno.ENOENT and not error.filename:
        return "compactctl: the current folder no longer exists; change to another one"
    where = f"{error.filename}: " if error.filename else "standard output: "
    otherwise = "check the file and its disk" if error.filename else "redirect it to a file"
    what_to_do = _ADVICE.get(error.errno or 0, otherwise)
    return safe_text(f"compactctl: {where}{error.strerror or error}; {what_to_do}")


def state_line(error: BaseException) -> str:
    """Return the state on disk after an interruption; the error's notes say what was done."""
    return safe_text("; ".join(getattr(error, "__notes__", ())) or "no file is left half-written")


def bug_report(error: BaseException, arguments: Sequence[str]) -> str:
    """Return a report without any content of transcripts: code locations, versions, options."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = (
        f"compactctl: an internal error; {state_line(error)}. Please report these lines:",
        f"  compactctl {__version__}, Python {platform.python_version()}, {sys.platform}",
        f"  command: {' '.join(_command(arguments))}",
        f"  {type(error).__name__}",
        *(f"  {_place(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames),
    )
    return safe_text("\n".join(lines))


def _command(arguments: Sequence[str]) -> list[str]:
    """Return the names of the command and its options, without values and paths."""
    options = [argument.partition("=")[0] for argument in arguments[1:] if argument.startswith("-")]
    return [*(argument for argument in arguments[:1] if argument.isalpha()), *options]


def _place(filename: str) -> str:
    path = Path(filename)
    return str(path.relative_to(_PACKAGE)) if path.is_relative_to(_PACKAGE) else path.name
