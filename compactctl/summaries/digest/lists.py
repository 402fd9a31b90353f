"""Lists that a digest may begin and end with: open tasks, files in use, other names."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from compactctl.summaries.digest.facts import RowPlace, ToldFact, freshness
from compactctl.summaries.digest.fragments import Fragment, Group
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.files import PATH, files_used
from compactctl.summaries.extract.items import one_line
from compactctl.summaries.extract.passages import Passage, tool_pairs
from compactctl.summaries.extract.tasks import TASK, newest_tasks

_OPEN_TASK, _DONE_TASK = 4.0, 0.4
_CHANGED, _READ = 2.0, 0.5
# Longer names cost more in a list than they are worth.
_LONGEST_NAME = 120


def listed(
    found: Sequence[Passage], needed: Mapping[str, float], lexicon: Lexicon, cwd: str | None
) -> Iterator[Fragment]:
    """Yield an entry for every task, file and name that a list may hold."""
    yield from _tasks(found)
    files = files_used(found, cwd)
    names = [name for name in needed if name not in files and len(name) <= _LONGEST_NAME]
    paths = [name for name in names if lexicon.kind(name) == "path" and "/" in name]
    bases = Counter(path.rpartition("/")[2] for path in (*files, *paths))
    for path, use in files.items():
        worth = _CHANGED if use.is_changed else _READ * (0.3 + freshness(use.age))
        folder, base = _split(path, bases)
        yield _entry(
            Group("files", folder=folder),
            f"{base} (edited)" if use.is_changed else base,
            names=(path,) if path in needed else (),
            facts=(ToldFact(f"file {path}", worth),),
        )
    is_path = set(paths)
    for name in names:
        folder, base = _split(name, bases) if name in is_path else ("", name)
        yield _entry(Group("names", folder=folder), base, names=(name,))


def _tasks(found: Sequence[Passage]) -> Iterator[Fragment]:
    for place, task in enumerate(newest_tasks(tool_pairs(found))):
        worth = _DONE_TASK if task.done else _OPEN_TASK
        yield Fragment(
            group=Group("tasks"),
            place=RowPlace(0, place),
            text=f"[{task.status}] {one_line(task.title, TASK)}",
            facts=(ToldFact(f"task {place}", worth),),
        )


def _entry(
    group: Group, text: str, names: tuple[str, ...], facts: tuple[ToldFact, ...] = ()
) -> Fragment:
    return Fragment(
        group=group, place=RowPlace(0, 0), text=one_line(text, 300), names=names, facts=facts
    )


def _split(path: str, bases: Mapping[str, int]) -> tuple[str, str]:
    """Return folder and name; a name that is not alone keeps its folder's."""
    folder, _, base = one_line(path, PATH).rpartition("/")
    if bases[base] > 1 and folder:
        folder, _, above = folder.rpartition("/")
        base = f"{above}/{base}"
    return folder, base
