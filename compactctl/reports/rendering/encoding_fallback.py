"""Stand-ins for letters that a terminal's encoding cannot express."""

import codecs

# Name of the error handler; see codecs.register_error.
PLAIN = "compactctl.plain"

# None of them is empty or makes a command of a CI runner: no "#", ":" or "+", no "-" by itself.
_BAR_ENDS = dict.fromkeys("▏▎▍▌▋▊▉", ".")
_SMALL_BARS = dict(zip("▁▂▃▄▅▆▇", "_..ooOO", strict=True))
_SHADES = {"▓": "%", "▒": "o", "░": ".", "▲": "^", "┤": "|"}
_STAND_INS = (
    _BAR_ENDS
    | _SMALL_BARS
    | _SHADES
    | {"─": "=", "═": "=", "█": "*", "…": "...", "→": "->", "←": "<-", "·": "|"}
)


def register() -> None:
    """Make the error handler known to Python."""
    codecs.register_error(PLAIN, _plain)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_stand_in(letter) for letter in letters), error.end


def _stand_in(letter: str) -> str:
    escaped = letter.encode("ascii", "backslashreplace").decode("ascii")
    return _STAND_INS.get(letter, escaped)
