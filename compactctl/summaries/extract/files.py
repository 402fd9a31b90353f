"""The files that a conversation touched, how, and what was defined in them."""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from compactctl.history.read_calls import NEW_TEXTS, OLD_TEXTS, normal_path, patched_files
from compactctl.history.references import NO_REF, SourceRef
from compactctl.history.tool_names import kind_of
from compactctl.records import field
from compactctl.summaries.extract.claims import CLAIMS
from compactctl.summaries.extract.items import FILES, ItemValue, SummaryItem, clip_to_line
from compactctl.summaries.extract.passages import Passage, ToolPair

# Definitions listed per file, characters of a path, and files in the list of required ones.
MAX_DEFINITIONS = 10
MAX_PATH_CHARS = 300
MAX_REQUIRED_FILES = 12

_CHANGED = ItemValue(0.5, 0.3)
_READ = ItemValue(0.06, 0.2)
_REQUIRED = ItemValue(0.12)
# What each use of a file adds to its value, and the maximum.
_USE, _MAX_USES = 0.015, 0.1

# The actions that change nothing, and one of which nobody knows how it ended.
_READS = frozenset({"read", "attached", ""})

# A file in a list of a digest, and its uses; so many of each use are counted.
_LISTED = re.compile(r"([^\s,][^,]*?)(?: \(([a-z][a-z0-9, ]*)\))?(?:, |$)")
_MAX_LISTED = 1_000
_MAX_DIGITS = 4

# What the program for patches prints when it has applied one.
_PATCH_APPLIED = "Success. Updated the following files:"
_FAILED = re.compile(r"\b(?:fail\w*|error|could not|not found|no match|skipped)\b", re.IGNORECASE)
_DEFINITION = re.compile(
    r"^[+ \t]*(?:export |default |pub(?:\([a-z]+\))? |async |static |public |private |abstract )*"
    r"(?:def|defp|class|function|fn|func|interface|type|struct|enum|trait|defmodule)"
    r"\s+(?:\([^)\n]{1,80}\)\s*)?([A-Za-z_]\w*)",
    re.MULTILINE,
)


class FileUse(Struct):
    """The uses of one file.

    Attributes:
        action_counts: how often it was read, attached, edited, written, moved, deleted, or an edit
            failed; how often nothing is known, under "".
        defined: names that edits defined in it, in order.
        ref: the reference of its newest use.
        age: number of model calls since then.
    """

    action_counts: dict[str, int] = field(default_factory=dict)
    defined: dict[str, None] = field(default_factory=dict)
    ref: SourceRef = NO_REF
    age: int = 0

    @property
    def is_changed(self) -> bool:
        """Whether there was an edit, a failed one included."""
        return not self.action_counts.keys() <= _READS

    @property
    def value(self) -> float:
        """The value of its summary item; changed files count more than read ones."""
        uses = min(_MAX_USES, _USE * sum(self.action_counts.values()))
        return (_CHANGED if self.is_changed else _READ).at(self.age) + uses

    def describe(self, *, changes_only: bool = False) -> str:
        """Return what happened to it, such as "read x2, edited"."""
        counts = self.action_counts.items()
        shown = [(act, n) for act, n in counts if act and not (changes_only and act in _READS)]
        return ", ".join(f"{act} x{n}" if n > 1 else act for act, n in shown)


def file_items(passages: Sequence[Passage], cwd: str | None) -> Iterator[SummaryItem]:
    """Yield one item per file for section 3, and the most valuable paths for section 9."""
    files = file_uses(passages, cwd)
    for path, file in files.items():
        names = ", ".join(list(file.defined)[-MAX_DEFINITIONS:])
        uses = file.describe()
        text = (
            clip_to_line(path, MAX_PATH_CHARS)
            + (f" - {uses}" if uses else "")
            + (f"; definitions: {names}" if names else "")
        )
        yield SummaryItem(
            section=3,
            label=FILES,
            ref=file.ref.name,
            text=text,
            value=file.value,
            position=file.ref.position,
        )
    needed = sorted(files, key=lambda path: (-files[path].value, -files[path].ref.position, path))
    for rank, path in enumerate(needed[:MAX_REQUIRED_FILES]):
        text = clip_to_line(path, MAX_PATH_CHARS)
        yield SummaryItem(section=9, text=text, value=_REQUIRED.at(0) / (1 + rank), position=rank)


def replaced_lines(pair: ToolPair) -> set[str]:
    """Return the lines that an edit removed from a file, without indentation."""
    return _stripped_lines(pair, OLD_TEXTS) - _stripped_lines(pair, NEW_TEXTS)


def _stripped_lines(pair: ToolPair, names: Collection[str]) -> set[str]:
    texts = (text for name, text in pair.texts if name in names)
    return {line.strip() for text in texts for line in text.split("\n")}


def file_uses(passages: Sequence[Passage], cwd: str | None) -> dict[str, FileUse]:
    """Return the uses of each file, by its path."""
    files: dict[str, FileUse] = {}
    for passage in passages:
        for act, path in _actions(passage, cwd):
            file = files.setdefault(path, FileUse())
            file.action_counts[act] = file.action_counts.get(act, 0) + 1
            file.ref, file.age = passage.ref, passage.age
            if act in {"edited", "written"}:
                file.defined.update(dict.fromkeys(_DEFINITION.findall(passage.text)))
    return files


def _actions(passage: Passage, cwd: str | None) -> Iterator[tuple[str, str]]:
    if passage.kind == "file":
        yield "attached", normal_path(passage.name, cwd)
    if passage.kind == "list" and passage.name == "files":
        yield from _listed(passage.text)
    if passage.kind != "call" or passage.pair is None:
        return
    pair = passage.pair
    if pair.reads and not pair.has_failed:
        yield "read" if pair.is_done else "", pair.reads
    if not (pair.is_done or _is_patched(pair)):
        yield from ((CLAIMS[pair.outcome].change, path) for path in pair.changes)
        return
    is_write = kind_of(pair.tool) == "write" or pair.arguments.get("command") == "create"
    patched = {normal_path(path, cwd): act for act, path in patched_files(pair.text)}
    confirmed = _confirmed(pair)
    for path in pair.changes:
        act = patched.get(path, "written" if is_write else "edited")
        yield act if path in confirmed or act == "moved" else "", path


def _is_patched(pair: ToolPair) -> bool:
    """Whether a command applied its patch, though what it ran behind that failed."""
    text = pair.result.text if pair.result else ""
    return pair.command is not None and _PATCH_APPLIED in text


def _confirmed(pair: ToolPair) -> Collection[str]:
    """Return the files that a call has changed: if its result names some of several, only these.

    A line that names a file and speaks of a failure is of an edit that was not made.
    """
    text = pair.result.text if pair.result else ""
    if len(pair.changes) == 1:
        return pair.changes
    named = {path: _lines_with(posixpath.basename(path), text) for path in pair.changes}
    if not any(named.values()):
        return pair.changes
    return [path for path, lines in named.items() if lines and not any(map(_FAILED.search, lines))]


def _lines_with(name: str, text: str) -> list[str]:
    """Return the lines in which a file's name stands as a whole."""
    pattern = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)")
    return [line.replace(name, "") for line in text.split("\n") if pattern.search(line)]


def _listed(rows: str) -> Iterator[tuple[str, str]]:
    """Yield each use of the files that a digest lists, such as ``src/: a.py (edited x2), b.py``."""
    for row in rows.split("\n"):
        folder, mark, names = row.partition("/: ")
        for name, uses in _LISTED.findall(names if mark else row):
            path = f"{folder}/{name}" if mark else name
            for use in uses.split(", ") if uses else ("",):
                act, _, times = use.partition(" x")
                # Enough digits for the maximum: anyone may write a list, of any numbers.
                n_times = int(times[:_MAX_DIGITS]) if times.isdecimal() else 1
                yield from [(act, path)] * min(n_times, _MAX_LISTED)
