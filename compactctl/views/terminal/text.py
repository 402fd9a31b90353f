"""Makes text from transcripts safe for terminals and logs, and formats small figures."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

BACKSLASH = "\\"
RUNNER_VARIABLES = (
    "CI", "GITHUB_ACTIONS", "TF_BUILD", "GITLAB_CI", "TEAMCITY_VERSION", "BUILDKITE",
)  # fmt: skip
"""Set in every job by GitHub Actions, Azure Pipelines, GitLab, TeamCity, Buildkite; most set CI."""

_COLOR = r"(?:\x1b\[[\d;]*[mK])*"


def _colored(word: str) -> str:
    """Return a pattern for a word with color codes between its letters, which Buildkite ignores."""
    return "".join(f"{_COLOR}{re.escape(letter)}" for letter in word)


_SIGNS = ("#", "section_", "::", "---", "+++", "~~~", "\x1b")
"""Every command of a runner holds one of these; most texts hold none."""


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Return what finds the commands of each runner, up to where a mark is inserted."""
    headers = "|".join(map(_colored, ("---", "+++", "~~~")))
    opened = rf"{_colored('^^^')}{_COLOR}\s{_colored('+++')}"
    return (
        # GitHub Actions ##[error], Azure Pipelines ##vso[task.complete], anywhere in a line; that
        # of TeamCity is ##teamcity[message], at its start.
        re.compile(r"#(?=#(?i:vso|teamcity)?\[)"),
        # GitLab, anywhere in a line.
        re.compile(r"section_(?:start|end)(?=:\d)"),
        # GitHub Actions ::error::, behind any white space.
        re.compile(r"(?m)^[^\S\n]*(?=::)"),
        # Buildkite's groups: --- title, and ^^^ +++, which opens the one before.
        re.compile(rf"(?m)^(?=(?:{headers}){_COLOR}(?:\s|$)|{opened})"),
    )


def is_on_runner(variables: Mapping[str, str]) -> bool:
    """Whether these environment variables are those of a job on a CI runner."""
    return any(variables.get(name) for name in RUNNER_VARIABLES)


def defused(text: str, mark: str = BACKSLASH) -> str:
    """Return text in which no CI runner finds a command; ``mark`` is inserted into each.

    Carriage returns end lines too, as they do for the runners.
    """
    if "\r" in text:
        return "\r".join(defused(line, mark) for line in text.split("\r"))
    if not any(sign in text for sign in _SIGNS):
        return text
    for pattern in _patterns():
        text = pattern.sub(lambda match: f"{match[0]}{mark}", text)
    return text


# C0 controls but tab and newline, DEL and C1; marks that reorder text on screen; lone surrogates.
_UNSAFE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROL = re.compile(f"[{_UNSAFE}]")
_NOT_TYPED = re.compile(f"[\t\n{_UNSAFE}]")
_LAST_ASCII = 0x7F
_LAST_BYTE = 0xFF
# Python's stand-ins for the bytes of a file name that are not UTF-8.
_BYTES = range(0xDC80, 0xDD00)
_NO_BYTE = 0xDC00
# Ends a quoted string and begins the next; adds nothing for a shell.
_TWO_QUOTES = "''"
_HALF_PERCENT = 0.005
_AGES = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_UNITS = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def safe_text(text: str) -> str:
    """Return text with control characters as visible escapes and without CI commands."""
    return defused(visible(text))


def visible(text: str) -> str:
    """Return text with control characters as visible escapes, but for tabs and line breaks."""
    return _CONTROL.sub(_escaped, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """Return text with control characters and line breaks as visible escapes."""
    return visible(text.replace("\n", "\\n"))


def line_text(text: str) -> str:
    """Return safe text on one line, even if file names contain line breaks."""
    return defused(visible_line(text))


def one_line(text: str, width: int = 200) -> str:
    """Return safe text on one line of at most ``width`` characters."""
    joined = defused(" ".join(visible(text[: width * 8]).split()))
    return joined if len(joined) <= width else f"{joined[: width - 1]}…"


def size_text(n_bytes: int) -> str:
    """Return a size in bytes with its unit: 950 B, 3.9 MB (powers of ten)."""
    unit, factor = next((row for row in _UNITS if n_bytes >= row[1]), ("B", 1))
    return f"{n_bytes} B" if factor == 1 else f"{n_bytes / factor:.1f} {unit}"


def age_text(seconds: float) -> str:
    """Return an age in its largest unit: 2 hours ago; below a minute it is just now."""
    for size, unit in _AGES:
        if seconds >= size:
            return f"{plural(int(seconds // size), unit)} ago"
    return "just now"


def share_text(share: float) -> str:
    """Return a share as a percentage with one decimal: 12.5%."""
    return f"{share * 100:.1f}%"


def percent_text(share: float) -> str:
    """Return a share as a whole percentage; one that is not quite all or nothing does not look so.

    0.115 is 12%, 0.001 is <1%, 0.999 is 99%.
    """
    if 0 < share <= _HALF_PERCENT:
        return "<1%"
    return "99%" if 1 - _HALF_PERCENT <= share < 1 else f"{share:.0%}"


def change_text(before: int, after: int) -> str:
    """Return what a change of size saved or added: 59% saved, 67% more."""
    share = 1 - after / before if before else 0.0
    return f"{percent_text(share)} saved" if share >= 0 else f"{percent_text(-share)} more"


def limit_text(share: float) -> str:
    """Return a share that a user named, with the decimals it has: 80%, 17.25%."""
    return f"{share * 100:.12g}%"


def share_beyond(share: float, limit: float) -> tuple[str, str]:
    """Return a share and the limit it exceeds, with enough decimals to distinguish them."""
    texts = ((f"{share * 100:.{n}f}%", f"{limit * 100:.{n}f}%") for n in range(1, 12))
    return next((pair for pair in texts if pair[0] != pair[1]), (f"{share:%}", f"{limit:%}"))


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: 1 line, 1,204 lines."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def project_text(project: str, home: str) -> str:
    """Return a folder with ``~`` for the home folder."""
    prefix = home.rstrip("/")
    if prefix and f"{project}/".startswith(f"{prefix}/"):
        return one_line(f"~{project.removeprefix(prefix).rstrip('/')}")
    return one_line(project)


def shell_path(path: str) -> str:
    """Return a path that can be pasted into a shell; a leading dash is not taken for an option."""
    is_like_option = path.startswith("-") and path != "-"
    return shell_line(shlex.quote(f"./{path}" if is_like_option else path))


def typed_command(command: str, path: str, options: Sequence[str] = ()) -> str:
    """Return a command for a file, with its options, that can be pasted into a shell."""
    return " ".join(filter(None, (command, shell_path(path), shell_words(options))))


def shell_words(words: Iterable[str]) -> str:
    """Return words that can be pasted into a shell."""
    return shell_line(shlex.join(words))


def shell_line(command: str) -> str:
    """Return a command of quoted words on one line that can be pasted into a shell.

    It holds no control character, which ``shlex.quote`` leaves in a quoted string.
    """
    return defused(_NOT_TYPED.sub(_typed, command), _TWO_QUOTES)


def path_name(path: str) -> str:
    """Return a path as safe text on one line; ``-`` is standard input."""
    return "standard input" if path == "-" else line_text(path)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code <= _LAST_BYTE else f"\\u{code:04x}"


def _typed(match: re.Match[str]) -> str:
    """Return a character as bash and zsh read it in a quoted string."""
    code = ord(match[0])
    if code in _BYTES:
        return f"'$'\\x{code - _NO_BYTE:02x}''"
    return f"'$'\\x{code:02x}''" if code <= _LAST_ASCII else f"'$'\\u{code:04x}''"
