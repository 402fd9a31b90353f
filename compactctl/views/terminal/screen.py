"""Prints tables and lines to the terminal, fitted to its width."""

import codecs
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import IO, TYPE_CHECKING, Literal

import click

from compactctl.records import Record, replace
from compactctl.views.terminal.graph import Graph, graph_lines
from compactctl.views.terminal.tables import Table, cell_width, table_lines
from compactctl.views.terminal.text import defused, visible, visible_line

if TYPE_CHECKING:
    from rich.console import Console


TextStyle = Literal["", "bold", "yellow", "bold red"]

_GAP = "  "
# A fact with less room than this is wrapped below its label instead of beside it.
_MIN_TEXT_WIDTH = 24


class Accent(Record, kw_only=False):
    """A line in color, if colors are allowed."""

    text: str
    style: TextStyle


class Fact(Record, kw_only=False):
    """A label and its text on one line."""

    label: str
    text: str
    style: TextStyle = ""


class Facts(Record, kw_only=False):
    """Facts below each other, with their texts aligned."""

    rows: tuple[Fact, ...]


class Verbatim(Record, kw_only=False):
    """Lines that are not wrapped or cut, whatever the width of the terminal."""

    text: str


class Paged(Record, kw_only=False):
    """Lines for a pager, if they go to a terminal that does not hold them all."""

    lines: Iterable[str]


class Raw(Record, kw_only=False):
    """Bytes that go to standard output unchanged."""

    pieces: Iterable[bytes]


ScreenItem = str | Accent | Facts | Table | Graph | Verbatim | Paged
"""What is printed: a text is one line, unless it is verbatim.

Whatever a transcript or an archive puts into one, no control character of it gets to the terminal,
nor a line break that would begin a line of its own.
"""


class Screen:
    """Standard output or error; nothing printed on it is interpreted as markup.

    On a terminal, lines fit its width and have colors unless NO_COLOR or TERM=dumb is set. A file
    or a pipe gets full lines without colors; ``width`` is None then.
    """

    def __init__(self, *, error: bool = False) -> None:
        self._stream: IO[str] = sys.stderr if error else sys.stdout
        self.width = self._console.width if self._stream.isatty() else None

    def show(self, *items: ScreenItem) -> None:
        """Print items below each other."""
        for item in items:
            for lines, style in item_lines(item, self.width):
                self._write(lines, style)

    def _write(self, lines: Sequence[str], style: TextStyle) -> None:
        # Once wrapped or joined, safe texts may begin a line and become a command.
        shown = defused("\n".join(lines))
        if not style or self.width is None:
            click.echo(shown, file=self._stream)
            return
        from rich.text import Text

        self._console.print(Text(shown, style=style))

    @cached_property
    def _console(self) -> "Console":
        import os

        from rich.console import Console

        is_plain = bool(os.environ.get("NO_COLOR"))
        return Console(file=self._stream, color_system=None if is_plain else "auto", soft_wrap=True)


def item_lines(item: ScreenItem, width: int | None) -> Iterator[tuple[Sequence[str], TextStyle]]:
    """Yield an item's lines with their styles, for a terminal of this width (None: unlimited)."""
    match item:
        case str():
            yield _wrapped(visible_line(item), width), ""
        case Accent():
            yield _wrapped(visible_line(item.text), width), item.style
        case Verbatim():
            yield [visible(item.text)], ""
        case Paged():
            yield list(map(visible, item.lines)), ""
        case Facts():
            facts = tuple(map(_visible_fact, item.rows))
            size = max((cell_width(fact.label) for fact in facts), default=0)
            for fact in facts:
                yield _fact_lines(fact, size, width), fact.style
        case Graph():
            yield list(graph_lines(item, width)), ""
        case Table():
            titles, *rows = table_lines(_visible_table(item), width)
            yield [titles], "bold"
            yield rows, ""


def write_bytes(lines: Iterable[bytes]) -> None:
    """Write raw bytes to standard output."""
    sys.stdout.flush()
    sys.stdout.buffer.writelines(lines)
    sys.stdout.buffer.flush()


def print_messages(*lines: str) -> None:
    """Print changes, warnings and advice to standard error; paths in them are never broken."""
    for line in lines:
        click.echo(defused(visible_line(line)), err=True)


def print_screen(items: Iterable[ScreenItem | Raw], *, error: bool = False) -> None:
    """Print items below each other as they are produced."""
    screen = Screen(error=error)
    for item in items:
        if isinstance(item, Raw):
            write_bytes(item.pieces)
        elif isinstance(item, Paged):
            _print_paged(item.lines, screen)
        else:
            screen.show(item)


def _visible_fact(fact: Fact) -> Fact:
    return replace(fact, label=visible_line(fact.label), text=visible_line(fact.text))


def _visible_table(table: Table) -> Table:
    rows = tuple(tuple(map(visible_line, cells)) for cells in table.rows)
    return replace(table, rows=rows, total=tuple(map(visible_line, table.total)))


def _print_paged(lines: Iterable[str], screen: Screen) -> None:
    """Print lines; through the user's pager ($PAGER, else less) if a terminal cannot hold them."""
    if screen.width is None:
        for line in lines:
            screen.show(Verbatim(line))
        return
    shown = [defused(visible(line)) for line in lines]
    size = shutil.get_terminal_size()
    n_rows = sum(
        max(1, -(-cell_width(row) // size.columns)) for line in shown for row in line.split("\n")
    )
    if n_rows < size.lines:
        screen.show(*map(Verbatim, shown))
    else:
        click.echo_via_pager(f"{line}\n" for line in shown)


def _fact_lines(fact: Fact, label_width: int, width: int | None) -> list[str]:
    start = fact.label.ljust(label_width) + _GAP
    if width is None:
        return [(start + fact.text).rstrip()]
    if width - len(start) < _MIN_TEXT_WIDTH:
        return _wrapped(f"{fact.label}{_GAP}{fact.text.strip()}", width)
    first, *more = _wrapped(fact.text, width - len(start), indent="")
    return [start + first, *(" " * len(start) + line for line in more)]


def _wrapped(shown: str, width: int | None, indent: str = _GAP) -> list[str]:
    if width is None or cell_width(shown) <= width:
        return [shown]
    return textwrap.wrap(
        shown, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


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
    """Register the error handler with Python."""
    codecs.register_error(PLAIN, _plain)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    return "".join(_stand_in(letter) for letter in letters), error.end


def _stand_in(letter: str) -> str:
    escaped = letter.encode("ascii", "backslashreplace").decode("ascii")
    return _STAND_INS.get(letter, escaped)
