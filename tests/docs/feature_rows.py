"""The rows of the table of features, what shows each of them, and the page made of them.

Rows are added to the files in ``tests/docs/features``; ``python tests/docs/generate.py features``
writes the page. A row is true when its commands print what it says they show; one that is omitted
has its reason.
The commands are run in a folder with the files that they name of the bundled transcripts and of the
small inputs in ``tests/features``.
"""

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache, partial, reduce
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

from compactctl.__main__ import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "features.md"
_ROWS = Path(__file__).parent / "features"
_INPUTS = (Path("sample_transcripts"), Path("tests") / "features")
# A dry run ends with the command that does it: its options show nothing.
_REPEATED = "\ndo it "
_INTRODUCTION = """\
# Features of five systems, and where to find them here

F001 to F255 number the features in the documentation of NeuroLink (NL), Codebuddy (CB), agent-code
(AC), Spring AI Session (SP) and VS Code Copilot Chat (VS); *ours* marks what none of them has.
Options are explained in [commands](commands.md), those that begin with a stage's name in
[stages](stages.md), and JSON fields in [JSON](json.md).

Below each part, commands show its features. Run them from the root of a checkout. The last column
says what they print: a text, a text that the last one does not print, or a value in its JSON
document, by its path. The exit code of the last one is 0 unless another is named. Tests run all
commands, and run them without each of their parts, to see that it matters.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A feature, and what shows that it is there.

    ``shows`` are texts in what the commands of ``run`` print, ``lacks`` texts that the last one
    does not print, ``json`` values in the document that it prints, ``same`` files with the same
    bytes afterwards. ``test`` is what shows the feature where no command can.
    """

    number: str
    feature: str
    whose: str
    here: str
    run: Sequence[str] = ()
    shows: Sequence[str] = ()
    lacks: Sequence[str] = ()
    json: Mapping[str, Any] = field(default_factory=dict)
    same: Sequence[str] = ()
    code: int = 0
    test: str = ""

    @property
    def is_omitted(self) -> bool:
        return self.here.startswith("omitted: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What commands printed on both streams, the last one on standard output, and its exit code.

    ``files`` are the contents of the files that were asked for, None where one is missing.
    """

    text: str
    last: str
    code: int
    files: tuple[bytes | None, ...]


def parts() -> Iterator[tuple[str, tuple[Row, ...]]]:
    """Yield the parts of the table: title and rows."""
    for path in sorted(_ROWS.glob("*.toml")):
        part = tomllib.loads(path.read_text())
        yield part["title"], tuple(Row(**row) for row in part["row"])


def rows() -> tuple[Row, ...]:
    return tuple(row for _, each in parts() for row in each)


@cache
def outcome(
    commands: tuple[str, ...], files: tuple[str, ...], edits: tuple[tuple[str, str], ...] = ()
) -> Outcome:
    """Run commands in order, each as a shell would, in a folder with the inputs that they name.

    ``edits`` are inputs with other contents than in this checkout.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in _named_inputs(" ".join(commands)):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
        for file, content in edits:
            (folder / file).write_text(content)
        text = last = ""
        code = 0
        for command in commands:
            words, given, settings = _parsed(command, folder)
            last, told, code = _ran(words, folder, given, settings)
            text += "".join(printed.partition(_REPEATED)[0] for printed in (last, told))
        contents = tuple(
            path.read_bytes() if path.is_file() else None for path in map(folder.joinpath, files)
        )
    return Outcome(text=text, last=last, code=code, files=contents)


@cache
def _inputs() -> tuple[Path, ...]:
    found = (path for inputs in _INPUTS for path in (ROOT / inputs).rglob("*"))
    return tuple(path.relative_to(ROOT) for path in found if path.is_file())


def _named_inputs(text: str) -> Iterator[Path]:
    """Yield the inputs whose paths stand in a text."""
    return (path for path in _inputs() if str(path) in text)


def _parsed(command: str, folder: Path) -> tuple[Sequence[str], bytes, dict[str, str]]:
    """Return arguments, standard input and the environment that is set in front of the program."""
    line = shlex.split(command)
    start = line.index("compactctl")
    words, settings = line[start + 1 :], dict(word.split("=", 1) for word in line[:start])
    if "<" not in words:
        return words, b"", settings
    at = words.index("<")
    return words[:at], (folder / words[at + 1]).read_bytes(), settings


def _ran(
    words: Sequence[str], folder: Path, given: bytes, settings: Mapping[str, str]
) -> tuple[str, str, int]:
    """Run the program in this process; return what it printed on its two streams and its code."""
    out, told = (TextIOWrapper(BytesIO(), encoding="utf-8") for _ in range(2))
    typed = TextIOWrapper(BytesIO(given), encoding="utf-8")
    with (
        chdir(folder),
        redirect_stdout(out),
        redirect_stderr(told),
        patch.object(sys, "stdin", typed),
        patch.dict(os.environ, settings, COLUMNS="160"),
    ):
        code = run(list(words))
    return _written(out), _written(told), code


def _written(stream: TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def evidence(row: Row) -> Iterator[tuple[str, Callable[[Outcome], bool]]]:
    """Yield what a row says that its commands show: in the page's words, and whether it is so."""
    for text in row.shows:
        yield _code(text), partial(_prints, text)
    for text in row.lacks:
        yield f"not {_code(text)}", partial(_omits, text)
    for path, value in row.json.items():
        yield f"JSON {_code(f'{path} = {json.dumps(value)}')}", partial(_holds, path, value)
    if row.same:
        yield f"{' and '.join(map(_code, row.same))} with the same bytes", _same_bytes
    yield f"exit {row.code}", partial(_exits, row.code)


def missing_evidence(row: Row, result: Outcome) -> tuple[str, ...]:
    """Return what commands do not show of what the row says, in the page's words."""
    return tuple(words for words, is_shown in evidence(row) if not is_shown(result))


def _prints(text: str, result: Outcome) -> bool:
    """Return whether a text is printed; 4 messages are not 14 messages, nor 41."""
    start = r"(?<![\d,])" if text[0].isdigit() else ""
    end = r"(?!,?\d)" if text[-1].isdigit() else ""
    return re.search(f"{start}{re.escape(text)}{end}", result.text) is not None


def _omits(text: str, result: Outcome) -> bool:
    return text not in result.last


def _holds(path: str, value: object, result: Outcome) -> bool:
    try:
        return bool(_value_at(json.loads(result.last), path) == value)
    except (ValueError, LookupError, TypeError):
        return False


def _same_bytes(result: Outcome) -> bool:
    return None not in result.files and len(set(result.files)) == 1


def _exits(code: int, result: Outcome) -> bool:
    return result.code == code


def _value_at(document: Any, path: str) -> Any:
    """Return what stands in a JSON document at keys and indexes joined by dots."""
    return reduce(
        lambda at, key: at[int(key) if isinstance(at, list) else key], path.split("."), document
    )


def page() -> str:
    """Return the page: for each part its features, and below them what shows them."""
    return _INTRODUCTION + "".join(_section(title, each) for title, each in parts())


def _section(title: str, of: Sequence[Row]) -> str:
    features = (f"| {r.number} | {_cell(r.feature)} | {r.whose} | {_cell(r.here)} |\n" for r in of)
    seen = (f"| {r.number} | {_commands(r)} | {_evidence(r)} |\n" for r in of if not r.is_omitted)
    return (
        f"\n## {title}\n\n| number | feature | systems | here |\n| --- | --- | --- | --- |\n"
        + "".join(features)
        + "\n| number | run | output |\n| --- | --- | --- |\n"
        + "".join(seen)
    )


def _commands(row: Row) -> str:
    return "<br>".join((*map(_code, row.run), *([f"test {_code(row.test)}"] if row.test else [])))


def _evidence(row: Row) -> str:
    texts = (words for words, _ in evidence(row) if words != "exit 0")
    return "<br>".join((*texts, *(["that it passes"] if row.test else [])))


def _code(text: str) -> str:
    return f"`{_cell(text)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "\\n")
