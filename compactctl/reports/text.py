"""Text from transcripts made safe for terminals and logs, and small figures as text."""

import os
import re
import shlex

# C0 controls but tab and newline, DEL and C1; marks that reorder text on screen; lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LAST_BYTE = 0xFF
# The Actions runner carries out "::command::" at the start of a line and "##[command]" anywhere.
_RUNNER_COMMAND = re.compile(r"(?m)^(\s*):(?=:)|##(?=\[)")
_ZERO_WIDTH_SPACE = "\u200b"
_UNITS = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def safe_text(text: str) -> str:
    """Return text with control characters as visible escapes; on CI without runner commands."""
    shown = _UNSAFE.sub(_escaped, text.replace("\r\n", "\n"))
    if runs_on_actions():
        shown = _RUNNER_COMMAND.sub(lambda match: f"{match[0]}{_ZERO_WIDTH_SPACE}", shown)
    return shown


def runs_on_actions() -> bool:
    """Whether a runner of GitHub Actions reads what is printed, and carries out commands in it."""
    return bool(os.environ.get("GITHUB_ACTIONS"))


def one_line(text: str, width: int = 200) -> str:
    """Return safe text on one line of at most ``width`` characters."""
    joined = " ".join(safe_text(text[: width * 8]).split())
    return joined if len(joined) <= width else f"{joined[: max(0, width - 1)]}…"


def size_text(n_bytes: int) -> str:
    """Return a size in bytes as people read it: 950 B, 3.9 MB (powers of ten)."""
    unit, factor = next((row for row in _UNITS if n_bytes >= row[1]), ("B", 1))
    return f"{n_bytes} B" if factor == 1 else f"{n_bytes / factor:.1f} {unit}"


def share_text(share: float) -> str:
    """Return a share as a percentage with one decimal: 12.5 %."""
    return f"{share * 100:.1f} %"


def plural(count: int, noun: str) -> str:
    """Return a count with its noun: 1 line, 1,204 lines."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def shell_path(path: str) -> str:
    """Return a path as it can be pasted into a shell, where a leading dash is no option."""
    is_like_option = path.startswith("-") and path != "-"
    return safe_text(shlex.quote(f"./{path}" if is_like_option else path))


def path_name(path: str) -> str:
    """Return a path as people read it."""
    return "standard input" if path == "-" else safe_text(path)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code <= _LAST_BYTE else f"\\u{code:04x}"
