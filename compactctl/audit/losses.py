"""Find what was known before a compaction, and whether the context after it mentions it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from compactctl.audit.findings import Loss, LossKind
from compactctl.audit.mention_index import MentionIndex, without_line_suffix
from compactctl.history.references import SourceRef
from compactctl.history.shell_lines import only_looks
from compactctl.records import Record
from compactctl.summaries.extract.entities import EntityUses, Lexicon
from compactctl.summaries.extract.files import FileUse, file_uses
from compactctl.summaries.extract.items import clip_to_line
from compactctl.summaries.extract.outcomes import (
    ReportedError,
    error_lines,
    find_errors,
    looks_like_error,
)
from compactctl.summaries.extract.own_passages import SPOKEN
from compactctl.summaries.extract.passages import Passage, ToolPair, tool_pairs
from compactctl.summaries.extract.tasks import newest_tasks
from compactctl.summaries.extract.user_words import find_user_rules

# An identifier is in use if it was discussed and stands in this many passages.
_MIN_PASSAGES = 2
_IDENTIFIERS = frozenset({"id", "symbol", "url", "error"})
_COMMAND = 120
# What may precede a program on a command line: a cd, variables, and a wrapper.
_BEFORE_PROGRAM = re.compile(
    r"^\s*(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:\w+=\S*\s+)*(?:(?:sudo|time|timeout\s+\S+|npx)\s+)*"
)
_PROGRAM = re.compile(r"\S+(?:\s+[a-z][a-z-]*(?=\s|$))?")


class KnownFact(Record):
    """Something known before a compaction, and whether the context after it mentions it."""

    loss: Loss
    is_mentioned: bool


def find_known_facts(
    passages: Sequence[Passage], after: MentionIndex, cwd: str | None
) -> Iterator[KnownFact]:
    """Yield the user's rules, open tasks, files, unresolved errors and identifiers in passages.

    ``after`` holds the texts of the context after the compaction.
    """
    pairs = tool_pairs(passages)
    for passage, rule in find_user_rules(passages):
        yield _worded_fact("rule", rule, passage.ref, after)
    for task in newest_tasks(passages):
        if not task.is_done:
            yield _worded_fact("task", task.title, task.ref, after, note=task.status)
    yield from _files(passages, after, cwd)
    for error in unresolved_errors(pairs):
        command = clip_to_line(error.pair.command or error.pair.tool, _COMMAND)
        yield _worded_fact("error", error.line, error.pair.ref, after, note=command)
    yield from _identifiers(passages, after, cwd)


def unresolved_errors(pairs: Sequence[ToolPair]) -> Iterator[ReportedError]:
    """Yield the errors of commands whose program has not succeeded since.

    Of a failed command, that is its first error line.
    """
    last_success: dict[str, int] = {}
    index_of: dict[int, int] = {}
    for index, pair in enumerate(pairs):
        index_of[id(pair)] = index
        if pair.command and pair.result and not error_lines(pair):
            last_success[_program(pair.command)] = index
    for error in find_errors(pairs):
        command = error.pair.command
        if (
            not command
            or error.is_resolved
            or only_looks(command)
            or not looks_like_error(error.line)
        ):
            continue
        is_first = error.line == error_lines(error.pair)[0]
        if is_first and last_success.get(_program(command), -1) < index_of[id(error.pair)]:
            yield error


def _program(command: str) -> str:
    """Return the program that a command line runs, with its first subcommand, as ``git push``."""
    match = _PROGRAM.match(_BEFORE_PROGRAM.sub("", command, count=1))
    return match[0] if match else ""


def _worded_fact(
    kind: LossKind, text: str, ref: SourceRef, after: MentionIndex, note: str = ""
) -> KnownFact:
    return KnownFact(
        loss=Loss(kind=kind, text=text, ref=ref, note=note), is_mentioned=after.has_paraphrase(text)
    )


def _files(
    passages: Sequence[Passage], after: MentionIndex, cwd: str | None
) -> Iterator[KnownFact]:
    files = _files_by_path(passages, cwd)
    same_name = Counter(path.rpartition("/")[2] for path in files)
    for path, file in sorted(files.items(), key=lambda item: (-item[1].value, item[0])):
        acts = ", ".join(f"{act} x{n}" if n > 1 else act for act, n in file.action_counts.items())
        kind: LossKind = "file" if file.is_changed else "read"
        loss = Loss(kind=kind, text=path, ref=file.ref, note=acts)
        is_only = same_name[path.rpartition("/")[2]] == 1
        yield KnownFact(loss=loss, is_mentioned=after.has_path(path, is_only=is_only))


def _files_by_path(passages: Sequence[Passage], cwd: str | None) -> dict[str, FileUse]:
    """Return the use of each file, where ``a.py:1-40`` and ``a.py:41-80`` are one file."""
    files: dict[str, FileUse] = {}
    for name, file in file_uses(passages, cwd).items():
        merged = files.setdefault(without_line_suffix(name), file)
        if merged is not file:
            for act, count in file.action_counts.items():
                merged.action_counts[act] = merged.action_counts.get(act, 0) + count
            merged.ref = max(merged.ref, file.ref, key=lambda ref: ref.position)
            merged.age = min(merged.age, file.age)
    return files


def _identifiers(
    passages: Sequence[Passage], after: MentionIndex, cwd: str | None
) -> Iterator[KnownFact]:
    """Yield the identifiers in use, those with the highest demand first."""
    lexicon, uses = Lexicon(cwd), EntityUses()
    discussed: set[str] = set()
    last: dict[str, SourceRef] = {}
    for passage in passages:
        if passage.kind == "thought":
            continue
        names = [name for name in lexicon.entities(passage.text) if _is_identifier(lexicon, name)]
        uses.add(names, passage)
        last.update(dict.fromkeys(names, passage.ref))
        if _is_dialogue(passage):
            discussed.update(names)
    used = [name for name in discussed if uses.passage_counts[name] >= _MIN_PASSAGES]
    for name in sorted(used, key=lambda name: (-uses.demand(name), name)):
        note = f"named {uses.passage_counts[name]} times"
        loss = Loss(kind="identifier", text=name, ref=last[name], note=note)
        yield KnownFact(loss=loss, is_mentioned=after.has_entity(name))


def _is_dialogue(passage: Passage) -> bool:
    """Whether the user or the agent speaks here, other than in the text of a file."""
    if passage.kind == "call":
        return passage.pair is not None and not passage.pair.changes
    return passage.kind == "reply" or passage.kind in SPOKEN


def _is_identifier(lexicon: Lexicon, name: str) -> bool:
    return lexicon.kind(name) in _IDENTIFIERS


def later_mentions(later: Iterable[Passage], cwd: str | None) -> dict[str, SourceRef]:
    """Return where the agent itself first wrote each entity and file."""
    lexicon = Lexicon(cwd)
    refs: dict[str, SourceRef] = {}
    for passage in later:
        if passage.kind not in {"call", "reply"}:
            continue
        names = list(lexicon.entities(passage.text))
        if passage.pair is not None:
            names += [*passage.pair.changes, *filter(None, [passage.pair.reads])]
        for name in names:
            refs.setdefault(name, passage.ref)
    return refs
