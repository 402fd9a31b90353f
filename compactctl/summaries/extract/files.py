"""Which files the work touched, how, and what was defined in them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compactctl.history.readcalls import normal_path
from compactctl.history.toolnames import kind_of
from compactctl.summaries.extract.items import SummaryItem, Worth, one_line
from compactctl.summaries.extract.outcomes import failed
from compactctl.summaries.extract.passages import Passage, ToolPair

# Names listed per file, characters of a path, and files in the list of required ones.
DEFINITIONS = 10
PATH = 300
REQUIRED = 12

_CHANGED = Worth(700, 250)
_READ = Worth(400, 250)
_REQUIRED = Worth(690)
# What use of a file adds to its worth, at most.
_MOST_USES = 50

_DEFINITION = re.compile(
    r"^[+ \t]*(?:export |default |pub(?:\([a-z]+\))? |async |static |public |private |abstract )*"
    r"(?:def|defp|class|function|fn|func|interface|type|struct|enum|trait|defmodule)"
    r"\s+(?:\([^)\n]{1,80}\)\s*)?([A-Za-z_]\w*)",
    re.MULTILINE,
)


@dataclass(slots=True)
class _File:
    """What happened to one file so far."""

    acts: dict[str, int] = field(default_factory=dict)
    defined: dict[str, None] = field(default_factory=dict)
    line: int = 0
    age: int = 0

    @property
    def value(self) -> int:
        changed = not self.acts.keys() <= {"read", "attached"}
        uses = min(_MOST_USES, 10 * sum(self.acts.values()))
        return (_CHANGED if changed else _READ).at(self.age) + uses


def file_items(passages: Sequence[Passage], cwd: str | None) -> Iterator[SummaryItem]:
    """Yield one item per file for section 3, and the most needed paths for section 9."""
    files = _files(passages, cwd)
    for path, file in files.items():
        acts = ", ".join(f"{act} x{n}" if n > 1 else act for act, n in file.acts.items())
        names = ", ".join(list(file.defined)[-DEFINITIONS:])
        text = f"{one_line(path, PATH)} - {acts} [L{file.line}]" + (
            f"; definitions: {names}" if names else ""
        )
        yield SummaryItem(section=3, text=text, value=file.value, place=file.line)
    needed = sorted(files, key=lambda path: (-files[path].value, -files[path].line, path))
    for place, path in enumerate(needed[:REQUIRED]):
        text = one_line(path, PATH)
        yield SummaryItem(section=9, text=text, value=_REQUIRED.at(0) - 10 * place, place=place)


def _files(passages: Sequence[Passage], cwd: str | None) -> dict[str, _File]:
    files: dict[str, _File] = {}
    for passage in passages:
        for act, path in _acts(passage, cwd):
            file = files.setdefault(path, _File())
            file.acts[act] = file.acts.get(act, 0) + 1
            file.line, file.age = passage.line, passage.age
            if act in {"edited", "written"}:
                file.defined.update(dict.fromkeys(_DEFINITION.findall(passage.text)))
    return files


def _acts(passage: Passage, cwd: str | None) -> Iterator[tuple[str, str]]:
    if passage.kind == "file":
        yield "attached", normal_path(passage.name, cwd)
    if passage.kind != "call" or passage.pair is None:
        return
    pair = passage.pair
    if pair.reads and not failed(pair):
        yield "read", pair.reads
    for path in pair.changes:
        yield _change(pair), path


def _change(pair: ToolPair) -> str:
    if failed(pair):
        return "failed edit"
    return "written" if kind_of(pair.tool) == "write" else "edited"
