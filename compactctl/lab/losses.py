"""What was known before a compaction and is told nowhere after it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compactctl.lab.audit_findings import Loss, LossKind
from compactctl.lab.mention_index import MentionIndex, without_line_suffix
from compactctl.summaries.extract.command_lines import is_read_only
from compactctl.summaries.extract.entities import EntityUses, Lexicon
from compactctl.summaries.extract.files import FileUse, file_uses
from compactctl.summaries.extract.items import one_line
from compactctl.summaries.extract.outcomes import (
    ReportedError,
    error_lines,
    find_errors,
    looks_like_error,
)
from compactctl.summaries.extract.passages import Passage, SourceRef, ToolPair, tool_pairs
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
class KnownFact:
    """Something known before a compaction, and whether it is told after it."""

    loss: Loss
    is_mentioned: bool


def find_known_facts(
    found: Sequence[Passage], told: MentionIndex, cwd: str | None
) -> Iterator[KnownFact]:
    """Yield all that passages tell of rules, tasks, files, errors and identifiers."""
    pairs = tool_pairs(found)
    for passage, rule in set_rules(found):
        yield _worded_fact("rule", rule, passage.ref, told)
    for task in newest_tasks(pairs):
        if not task.is_done:
            yield _worded_fact("task", task.title, task.ref, told, note=task.status)
    yield from _files(found, told, cwd)
    for error in unresolved_errors(pairs):
        command = one_line(error.pair.command or error.pair.tool, _COMMAND)
        yield _worded_fact("error", error.line, error.pair.ref, told, note=command)
    yield from _identifiers(found, told, cwd)


def unresolved_errors(pairs: Sequence[ToolPair]) -> Iterator[ReportedError]:
    """Yield the errors of commands after which their program never ran without one.

    Of a failure, that is the first line that tells something.
    """
    success: dict[str, int] = {}
    place: dict[int, int] = {}
    for index, pair in enumerate(pairs):
        place[id(pair)] = index
        if pair.command and pair.result and not error_lines(pair):
            success[_program(pair.command)] = index
    for error in find_errors(pairs):
        command = error.pair.command
        if (
            not command
            or error.is_resolved
            or is_read_only(command)
            or not looks_like_error(error.line)
        ):
            continue
        is_first = error.line == error_lines(error.pair)[0]
        if is_first and success.get(_program(command), -1) < place[id(error.pair)]:
            yield error


def _program(command: str) -> str:
    """Name the program that a command line runs, with its first subcommand."""
    start = _PROGRAM.match(_BEFORE_PROGRAM.sub("", command, count=1))
    return start[0] if start else ""


def _worded_fact(
    kind: LossKind, text: str, spot: SourceRef, told: MentionIndex, note: str = ""
) -> KnownFact:
    return KnownFact(
        loss=Loss(kind=kind, text=text, ref=spot, note=note), is_mentioned=told.has_paraphrase(text)
    )


def _files(found: Sequence[Passage], told: MentionIndex, cwd: str | None) -> Iterator[KnownFact]:
    files = _files_by_path(found, cwd)
    named_alike = Counter(path.rpartition("/")[2] for path in files)
    for path, file in sorted(files.items(), key=lambda each: (-each[1].value, each[0])):
        acts = ", ".join(f"{act} x{n}" if n > 1 else act for act, n in file.action_counts.items())
        kind: LossKind = "file" if file.is_changed else "read"
        loss = Loss(kind=kind, text=path, ref=file.ref, note=acts)
        is_only = named_alike[path.rpartition("/")[2]] == 1
        yield KnownFact(loss=loss, is_mentioned=told.has_path(path, is_only=is_only))


def _files_by_path(found: Sequence[Passage], cwd: str | None) -> dict[str, FileUse]:
    """Return what was done with each file; clients that read parts of one name them behind it."""
    files: dict[str, FileUse] = {}
    for name, file in file_uses(found, cwd).items():
        known = files.setdefault(without_line_suffix(name), file)
        if known is not file:
            for act, count in file.action_counts.items():
                known.action_counts[act] = known.action_counts.get(act, 0) + count
            known.ref, known.age = max(known.ref, file.ref), min(known.age, file.age)
    return files


def _identifiers(
    found: Sequence[Passage], told: MentionIndex, cwd: str | None
) -> Iterator[KnownFact]:
    """Yield the identifiers in use, those first that will be needed most."""
    lexicon, uses = Lexicon(cwd), EntityUses()
    discussed: set[str] = set()
    last: dict[str, SourceRef] = {}
    for passage in found:
        if passage.kind == "thought":
            continue
        names = [name for name in lexicon.entities(passage.text) if _is_identifier(lexicon, name)]
        uses.add(names, passage)
        last.update(dict.fromkeys(names, passage.ref))
        if _is_dialogue(passage):
            discussed.update(names)
    used = [name for name in discussed if uses.passage_counts[name] >= _IN_USE]
    for name in sorted(used, key=lambda name: (-uses.demand(name), name)):
        note = f"named {uses.passage_counts[name]} times"
        loss = Loss(kind="identifier", text=name, ref=last[name], note=note)
        yield KnownFact(loss=loss, is_mentioned=told.has_entity(name))


def _is_dialogue(passage: Passage) -> bool:
    """Whether a person or the agent speaks here, other than in the text of a file."""
    if passage.kind == "call":
        return passage.pair is not None and not passage.pair.changes
    return passage.kind == "reply" or passage.kind in SPOKEN


def _is_identifier(lexicon: Lexicon, name: str) -> bool:
    return lexicon.kind(name) in _IDENTIFIERS


def later_mentions(later: Iterable[Passage], cwd: str | None) -> dict[str, SourceRef]:
    """Return where each entity and each file first came up, in what the agent itself wrote."""
    lexicon = Lexicon(cwd)
    found: dict[str, SourceRef] = {}
    for passage in later:
        if passage.kind not in {"call", "reply"}:
            continue
        names = list(lexicon.entities(passage.text))
        if passage.pair is not None:
            names += [*passage.pair.changes, *filter(None, [passage.pair.reads])]
        for name in names:
            found.setdefault(name, passage.ref)
    return found
