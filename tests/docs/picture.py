"""Draws the terminal of somebody whose session is full, as the README shows it.

``python tests/docs/generate.py full-session`` draws it anew; the tests compare it with what the
program prints.
"""

import html
import re
import shutil
import tempfile
from pathlib import Path

from cli.screens.terminal import run_on_terminal
from docs.generate import stable
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from sessions.bundled_home import fill_home

COLUMNS = 98
_COMMANDS = (("sessions",), ("rescue", "32ee9a45"))
_HOME = "/home/dev"
# The id of a new session is random; in the picture it is always the same one.
_RANDOM_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_SHOWN_ID = "18961697-4ce9-4205-a710-be173a1de81f"
_THEME = TerminalTheme(
    (30, 32, 38),
    (214, 216, 222),
    [(30, 32, 38), (235, 110, 110), (140, 190, 120), (225, 185, 105), (110, 160, 235),
     (190, 140, 215), (100, 185, 190), (214, 216, 222)],
)  # fmt: skip
# As rich draws it, without fonts from elsewhere: whoever looks at it asks nobody for anything.
_DRAWING = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
 font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def picture() -> str:
    """Return the drawing as SVG, from what the program prints on a terminal now."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        fill_home(home)
        shown = [_run(home, *command) for command in _COMMANDS]
        shutil.rmtree(home / ".local", ignore_errors=True)
    with Path("/dev/null").open("w") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text("\n").join(shown))
    return console.export_svg(
        title="compactctl", theme=_THEME, code_format=_DRAWING, unique_id="full"
    )


def texts(drawing: str) -> list[str]:
    """Return what is written in a drawing, however it is drawn, without what varies."""
    lines = re.findall(r"<text [^>]*>([^<]*)</text>", drawing)
    return [stable(html.unescape(line).replace("\xa0", " ")) for line in lines]


def _run(home: Path, *arguments: str) -> Text:
    """Return a command, and what the program prints in answer."""
    printed = run_on_terminal(COLUMNS, home, *arguments, HOME=str(home))
    printed = _RANDOM_ID.sub(_SHOWN_ID, printed.replace(str(home), _HOME))
    command = Text(f"$ compactctl {' '.join(arguments)}\n", "bold")
    return Text.assemble(command, Text.from_ansi(printed), "\n")
