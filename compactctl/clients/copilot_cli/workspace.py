r"""The fields of a session's ``workspace.yaml``: scalars in a block mapping.

A field goes on over all lines that are indented, or blank, so a long name is one field:

    name: >-
      Rebuild the northern quay,
      with a survey of the mole
"""

import io
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence

_DOCUMENT_START = re.compile(r"(?:(?:[%#].*)?\r?\n)*---[ \t]*(?:#.*)?\r?\n")
_BEGINNING = re.compile(r"""(["']?)(?P<name>\w+)\1[ \t]*:(?=\s|\Z)""")
_BLOCK = re.compile(r"[|>][+\-\d]*(?:[ \t]+#.*)?")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BREAK_OR_ESCAPE = re.compile(
    r"(?<![ \t])[ \t]*(?:\r?\n[ \t]*)+|"
    r"\\(?:x(?P<x>[0-9A-Fa-f]{2})|U(?P<U>[0-9A-Fa-f]{8})|\r?\n[ \t]*|.)",
    re.DOTALL,
)
# Escapes that JSON lacks, as JSON.
_ESCAPES = {
    r"\0": r"\u0000", r"\a": r"\u0007", r"\v": r"\u000b", r"\e": r"\u001b", r"\ ": " ",
    r"\_": r"\u00a0", r"\N": r"\u0085", r"\L": r"\u2028", r"\P": r"\u2029",
}  # fmt: skip


def read_fields(text: str) -> dict[str, str]:
    """Return the scalars by name; of a name that occurs twice the last one."""
    entries = _entries(text.removeprefix("\ufeff"))
    return {name: _scalar(lines) for name, lines in entries if name}


def with_fields(text: str, fields: Mapping[str, str]) -> str:
    """Return the file with these fields first, in place of those of the same names.

    Their values are scalars of YAML; the other lines stay as they are.
    """
    text = text.removeprefix("\ufeff")
    match = _DOCUMENT_START.match(text)
    start = match.end() if match else 0
    new = (f"{name}: {scalar}\n" for name, scalar in fields.items())
    entries = _entries(text[start:])
    others = (line for name, lines in entries if name not in fields for line in lines)
    return "".join((text[:start], *new, *others))


def _entries(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the lines of each field with its name; "" for comments and other lines."""
    lines: list[str] = []
    for line in io.StringIO(text, newline="\n"):
        if lines and line[:1].strip():
            yield _name(lines[0]), lines
            lines = []
        lines.append(line)
    if lines:
        yield _name(lines[0]), lines


def _name(line: str) -> str:
    match = _BEGINNING.match(line)
    return match["name"] if match else ""


def _scalar(lines: Sequence[str]) -> str:
    """Return the scalar of a field: plain, quoted, or a folded or literal block."""
    first = lines[0].partition(":")[2].strip()
    if _BLOCK.fullmatch(first):
        separator = "\n" if first.startswith("|") else " "
        return separator.join(line.strip() for line in lines[1:]).strip()
    text = " ".join(filter(None, (first, *(line.strip() for line in lines[1:]))))
    if text.startswith("'"):
        quoted = re.match(r"'((?:[^']|'')*)'", text)
        return quoted[1].replace("''", "'") if quoted else text
    quoted = _QUOTED.match("".join(lines).partition(":")[2].lstrip())
    if quoted:
        return _unescaped(quoted[0])
    return _COMMENT.sub("", text).strip()


def _unescaped(quoted: str) -> str:
    text = _BREAK_OR_ESCAPE.sub(_as_json, quoted)
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return text[1:-1]


def _as_json(match: re.Match[str]) -> str:
    """Return how JSON writes an escape of YAML; a line break is a space, an escaped one nothing."""
    if not match[0].startswith("\\"):
        return " "
    code = match["x"] or match["U"]
    if code:
        number = int(code, 16)
        return json.dumps(chr(number))[1:-1] if number <= sys.maxunicode else "\ufffd"
    return "" if "\n" in match[0] else _ESCAPES.get(match[0], match[0])
