"""What was known before a compaction and is told nowhere after it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compactctl.lab.audit_findings import Loss, LossKind
from compactctl.lab.mention_index import Told, without_place
from compactctl.summaries.extract.command_lines import only_looks
from compactctl.summaries.extract.entities import EntityUses, Lexicon
from compactctl.summaries.extract.files import FileUse, files_used
from compactctl.summaries.extract.items import one_line
from compactctl.summaries.extract.outcomes import ErrorSeen, error_lines, errors, names_error
from compactctl.summaries.extract.passages import Passage, Spot, ToolPair, tool_pairs
from compactctl.summaries.extract.tasks import newest_tasks
from compactctl.summaries.extract.user_requests import SPOKEN, set_rules

# What was discussed, and named in so many passages, is in use.
_IN_USE = 2
_IDENTIFIERS = frozenset({"id", "symbol", "url", "error"})
_COMMAND = 120
# What may stand in front of a program: a change of folder, variables, and what runs it.
_BEFORE_PROGRAM = re.compile(
    r"^\s*(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:\w+=\S*\s+)*(?:(?:sudo|time|timeout\s+\S+|npx)\s+)*"
)
_PROGRAM = re.compile(r"\S+(?:\s+[a-z][a-z-]*(?=\s|$))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Something known before a compaction, and whether it is told after it."""

    loss: Loss
    told: bool


def known_things(found: Sequence[Passage], told: Told, cwd: str | None) -> Iterator[Known]:
    """Yield all that passages tell of rules, tasks, files, errors and identifiers."""
    pairs = tool_pairs(found)
    for passage, rule in set_rules(found):
        yield _in_words("rule", rule, passage.spot, told)
    for task in newest_tasks(pairs):
        if not task.done:
            yield _in_words("task", task.title, task.spot, told, note=task.status)
    yield from _files(found, told, cwd)
    for error in standing_errors(pairs):
        command = one_line(error.pair.command or error.pair.tool, _COMMAND)
        yield _in_words("error", error.line, error.pair.spot, told, note=command)
    yield from _identifiers(found, told, cwd)


def standing_errors(pairs: Sequence[ToolPair]) -> Iterator[ErrorSeen]:
    """Yield the errors of commands after which their program never ran without one.

    Of a failure, that is the first line that tells something.
    """
    success: dict[str, int] = {}
    place: dict[int, int] = {}
    for index, pair in enumerate(pairs):
        place[id(pair)] = index
        if pair.command and pair.result and not error_lines(pair):
            success[_program(pair.command)] = index
    for error in errors(pairs):
        command = error.pair.command
        if not command or error.overcome or only_looks(command) or not names_error(error.line):
            continue
        is_first = error.line == error_lines(error.pair)[0]
        if is_first and success.get(_program(command), -1) < place[id(error.pair)]:
            yield error


def _program(command: str) -> str:
    """Name the program that a command line runs, with its first subcommand."""
    start = _PROGRAM.match(_BEFORE_PROGRAM.sub("", command, count=1))
    return start[0] if start else ""


def _in_words(kind: LossKind, text: str, spot: Spot, told: Told, note: str = "") -> Known:
    return Known(loss=Loss(kind=kind, text=text, spot=spot, note=note), told=told.in_words(text))


def _files(found: Sequence[Passage], told: Told, cwd: str | None) -> Iterator[Known]:
    files = _files_by_path(found, cwd)
    named_alike = Counter(path.rpartition("/")[2] for path in files)
    for path, file in sorted(files.items(), key=lambda each: (-each[1].value, each[0])):
        acts = ", ".join(f"{act} x{n}" if n > 1 else act for act, n in file.acts.items())
        kind: LossKind = "file" if file.is_changed else "read"
        loss = Loss(kind=kind, text=path, spot=file.spot, note=acts)
        is_only = named_alike[path.rpartition("/")[2]] == 1
        yield Known(loss=loss, told=told.path(path, is_only=is_only))


def _files_by_path(found: Sequence[Passage], cwd: str | None) -> dict[str, FileUse]:
    """Return what was done with each file; clients that read parts of one name them behind it."""
    files: dict[str, FileUse] = {}
    for name, file in files_used(found, cwd).items():
        known = files.setdefault(without_place(name), file)
        if known is not file:
            for act, count in file.acts.items():
                known.acts[act] = known.acts.get(act, 0) + count
            known.spot, known.age = max(known.spot, file.spot), min(known.age, file.age)
    return files


def _identifiers(found: Sequence[Passage], told: Told, cwd: str | None) -> Iterator[Known]:
    """Yield the identifiers in use, those first that will be needed most."""
    lexicon, uses = Lexicon(cwd), EntityUses()
    discussed: set[str] = set()
    last: dict[str, Spot] = {}
    for passage in found:
        if passage.kind == "thought":
            continue
        names = [name for name in lexicon.entities(passage.text) if _counts(lexicon, name)]
        uses.add(names, passage)
        last.update(dict.fromkeys(names, passage.spot))
        if _discusses(passage):
            discussed.update(names)
    used = [name for name in discussed if uses.all[name] >= _IN_USE]
    for name in sorted(used, key=lambda name: (-uses.demand(name), name)):
        note = f"named {uses.all[name]} times"
        loss = Loss(kind="identifier", text=name, spot=last[name], note=note)
        yield Known(loss=loss, told=told.entity(name))


def _discusses(passage: Passage) -> bool:
    """Whether a person or the agent speaks here, other than in the text of a file."""
    if passage.kind == "call":
        return passage.pair is not None and not passage.pair.changes
    return passage.kind == "reply" or passage.kind in SPOKEN


def _counts(lexicon: Lexicon, name: str) -> bool:
    return lexicon.kind(name) in _IDENTIFIERS


def later_mentions(later: Iterable[Passage], cwd: str | None) -> dict[str, Spot]:
    """Return where each entity and each file first came up, in what the agent itself wrote."""
    lexicon = Lexicon(cwd)
    found: dict[str, Spot] = {}
    for passage in later:
        if passage.kind not in {"call", "reply"}:
            continue
        names = list(lexicon.entities(passage.text))
        if passage.pair is not None:
            names += [*passage.pair.changes, *filter(None, [passage.pair.reads])]
        for name in names:
            found.setdefault(name, passage.spot)
    return found
