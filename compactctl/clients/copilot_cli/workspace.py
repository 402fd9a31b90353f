r"""The fields of a session's ``workspace.yaml``: scalars in a block mapping.

A field goes on over all lines that are indented, or blank, so a long name is one field:

    name: >-
      Rebuild the northern quay,
      with a survey of the mole
"""

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence

_BEGINNING = re.compile(r"(\w+):(?=\s|\Z)")
_BLOCK = re.compile(r"[|>][+\-\d]*(?:[ \t]+#.*)?")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")


def read_fields(text: str) -> dict[str, str]:
    """Return the scalars by name; of a name that occurs twice the last one."""
    return {name: _scalar(lines) for name, lines in _entries(text) if name}


def with_fields(text: str, fields: Mapping[str, str]) -> str:
    """Return the file with these fields first, in place of those of the same names.

    Their values are scalars of YAML; the other lines stay as they are.
    """
    new = (f"{name}: {scalar}\n" for name, scalar in fields.items())
    others = (line for name, lines in _entries(text) if name not in fields for line in lines)
    return "".join((*new, *others))


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
    return match[1] if match else ""


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
    if text.startswith('"'):
        quoted = re.match(r'"((?:[^"\\]|\\.)*)"', text)
        return _unescaped(quoted[0]) if quoted else text
    return _COMMENT.sub("", text).strip()


def _unescaped(quoted: str) -> str:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:
        # YAML has more escapes than JSON.
        return re.sub(r"\\(.)", r"\1", quoted[1:-1])
