"""Rows as text: CSV for spreadsheets, lines of JSON, and cells of a Markdown table."""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence

from compactctl.views.terminal.text import line_text

# What a spreadsheet takes for the beginning of a formula, as OWASP lists them.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# What Markdown or HTML in it would take for markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@:-])")
_MAX_TEXT = 300


def rows_text(kind: str, columns: Iterable[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows, each with a value for every column, as "csv" or "jsonl"."""
    return csv_text(columns, rows) if kind == "csv" else jsonl_text(rows)


def csv_text(columns: Iterable[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return a header and a line per row; a text that would be a formula begins with '."""
    page = io.StringIO(newline="")
    writer = csv.DictWriter(page, list(columns), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return page.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, tuple):
        value = ",".join(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def jsonl_text(rows: Iterable[Mapping[str, object]]) -> str:
    """Return one line per row, each a JSON object."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def markdown_row(cells: Sequence[str]) -> str:
    """Return a row of a table, whose cells are Markdown."""
    return f"| {' | '.join(cells)} |"


def markdown_text(text: str) -> str:
    """Return a text on one line, cut if it is long, that Markdown and HTML show as it is."""
    shown = line_text(text)
    cut = f"{shown[:_MAX_TEXT]}…" if len(shown) > _MAX_TEXT else shown
    return _MARKUP.sub(r"\\\1", cut)
