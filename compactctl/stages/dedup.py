"""Dedup: keep the newest read of a file, point to it from older ones."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from compactctl.history.reads import (
    FileEdit,
    FileRead,
    by_path,
    file_edits,
    file_reads,
    is_stub,
    stub_for,
    superseded,
)
from compactctl.history.view import View
from compactctl.model.edit import Proposal, Skipped
from compactctl.stages.rewriting import Rewrite, results_in, rewriting, saving
from compactctl.stages.stage import Stage
from compactctl.tokens.meter import Meter

NAME = "dedup"
Policy = Literal["identical", "latest", "regex"]

# NeuroLink's pattern with the longer words first, so that "Read file 'a.py'" names a.py and not
# "file"; the name must look like a path, so that "read the docs" names nothing.
_NAMED_FILE = re.compile(
    r"(?:\bread_file|\breadFile|\bread file|\breading|\bread|\bcat)\s+"
    r"['\"`]?([^\s'\"`]*[./][^\s'\"`]*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupOptions:
    """How to remove repeated file reads.

    Attributes:
        policy: "identical" replaces a read whose content a later read of the file shows again;
            "latest" every read of a file but the newest; "regex" finds reads by the words
            "read FILE" in tool results, as NeuroLink does, and keeps the newest per name.
        threshold: with "regex", the part of the replaced characters that must be saved (0 to 1).
        min_savings: do nothing when fewer tokens would be saved.
        exclude: ids of messages whose reads stay.
    """

    policy: Policy = "identical"
    threshold: float = 0.3
    min_savings: int = 0
    exclude: tuple[str, ...] = ()


def propose(view: View, meter: Meter, options: DedupOptions) -> Proposal | Skipped:
    """Propose to replace older reads by a stub that points to the newest one."""
    rewrites = tuple(
        rewrite
        for rewrite in _FINDERS[options.policy](view, meter)
        if rewrite.saved and view.messages[rewrite.place.message].id not in options.exclude
    )
    saved = sum(rewrite.saved for rewrite in rewrites)
    if not rewrites:
        reason = "no file read is repeated by a later one"
        return Skipped(stage=NAME, reason=reason, detail=_HINTS[options.policy])
    if saved < options.min_savings:
        reason = f"would save {saved:,} tokens, below the minimum of {options.min_savings:,}"
        return Skipped(stage=NAME, reason=reason, detail="lower it with --dedup-min-savings")
    if options.policy == "regex" and _saved_share(view, rewrites) < options.threshold:
        share, least = _saved_share(view, rewrites), options.threshold
        reason = f"would save {share:.0%} of the replaced characters, below {least:.0%}"
        return Skipped(stage=NAME, reason=reason, detail="lower it with --dedup-threshold")
    note = f"older file reads replaced: {len(rewrites):,}"
    return rewriting(view, rewrites, stage=NAME, options=options, note=note)


_HINTS: Mapping[Policy, str] = {
    "identical": "--dedup-policy latest also replaces reads whose content changed",
    "latest": "",
    "regex": "--dedup-policy identical finds reads by tool and path",
}


def _identical(view: View, meter: Meter) -> Iterator[Rewrite]:
    reads = file_reads(view.messages, cwd=view.cwd)
    covered = superseded(reads)
    for read in reads:
        if read.place in covered:
            newest = covered[read.place]
            same = newest.body == read.body
            reason = "a later read shows the same" if same else "a later read shows these lines too"
            yield _stub(view, meter, read, newest, reason)


def _latest(view: View, meter: Meter) -> Iterator[Rewrite]:
    edits = file_edits(view.messages, cwd=view.cwd)
    for same in by_path(file_reads(view.messages, cwd=view.cwd)).values():
        newest = same[-1]
        for read in same[:-1]:
            changed = _edited(edits, read, newest)
            reason = "the file is read again later" + (", after edits" if changed else "")
            yield _stub(view, meter, read, newest, reason)


def _edited(edits: tuple[FileEdit, ...], older: FileRead, newer: FileRead) -> bool:
    return any(e.path == older.path and older.place < e.place < newer.place for e in edits)


def _stub(view: View, meter: Meter, read: FileRead, newest: FileRead, reason: str) -> Rewrite:
    text = stub_for(read.path)
    return Rewrite(
        place=read.place,
        text=text,
        saved=saving(view, meter, read.place, text),
        reason=reason,
        refers_to=newest.message,
    )


def _named(view: View, meter: Meter) -> Iterator[Rewrite]:
    found = [
        (match[1], place)
        for place, part in results_in(view)
        if not is_stub(part.text) and (match := _NAMED_FILE.search(part.text))
    ]
    newest = dict(found)
    for name, place in found:
        if place != newest[name]:
            yield Rewrite(
                place=place,
                text=stub_for(name),
                saved=saving(view, meter, place, stub_for(name)),
                reason=f"a later tool result names {name} again",
                refers_to=view.messages[newest[name].message].id,
            )


def _saved_share(view: View, rewrites: tuple[Rewrite, ...]) -> float:
    texts = dict(results_in(view))
    before = sum(len(texts[rewrite.place].text) for rewrite in rewrites)
    after = sum(len(rewrite.text) for rewrite in rewrites)
    return (before - after) / before if before else 0.0


_FINDERS: Mapping[Policy, Callable[[View, Meter], Iterator[Rewrite]]] = {
    "identical": _identical,
    "latest": _latest,
    "regex": _named,
}

STAGE = Stage(name=NAME, options=DedupOptions, propose=propose)
