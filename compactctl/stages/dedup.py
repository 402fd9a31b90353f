"""Dedup: replace older reads of a file with a pointer to a newer one."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

from compactctl.errors import UsageError
from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.history.read_calls import ExtraReadTools
from compactctl.history.reads import (
    DEFAULT_STUB,
    FileEdit,
    FileRead,
    find_file_edits,
    find_file_reads,
    find_superseded,
    group_by_path,
    is_cleared,
    is_stub,
    newest_covering_reads,
    stub_for,
)
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message, TextPart, ToolResultPart
from compactctl.model.operation import neurolink_schema
from compactctl.records import Record, replace
from compactctl.stages.support.replacement import (
    Rewrite,
    count_saved_tokens,
    iter_results,
    propose_rewrites,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter, part_texts

NAME = "dedup"
DuplicatePolicy = Literal["identical", "latest", "regex", "words"]
Ranges = Literal["covered", "any"]
ThresholdBase = Literal["replaced", "visible", "tokens"]

# NeuroLink's pattern, changed in two ways: longer words come first, so that "Read file 'a.py'"
# names a.py and not "file", and the name must look like a path, so that "read the docs" names none.
_NAMED_FILE = re.compile(
    r"(?:\bread_file|\breadFile|\bread file|\breading|\bread|\bcat)\s+"
    r"['\"`]?([^\s'\"`]*[./][^\s'\"`]*)",
    re.IGNORECASE,
)
# The pattern itself, as its code has it.
_ANY_WORD = re.compile(
    r"(?:read|reading|read_file|readFile|Read file|cat)\s+['\"`]?([^\s'\"`]+)", re.IGNORECASE
)


class DedupOptions(Record):
    """How to remove repeated file reads."""

    policy: DuplicatePolicy = option(
        "identical",
        "Which reads to replace: those whose content a later read of the file shows again "
        '("identical"), all but the newest read of a file ("latest"), or all but the newest per '
        'name, found by the words "read FILE" in tool results, as in NeuroLink ("regex"). "words" '
        "is what NeuroLink's code does: any word after these, in answers too.",
    )
    ranges: Ranges = option(
        "covered",
        'With "latest", replace a read only if a later one requests all of its lines '
        '("covered"), or if any later read of the file follows ("any").',
    )
    read_tools: tuple[str, ...] = option((), "More tools that read a file.")
    path_keys: tuple[str, ...] = option((), "More tool arguments that hold the path of a file.")
    notice: str = option(
        DEFAULT_STUB,
        "Text that replaces a read: one line in square brackets that contains ``{path}``.",
    )
    threshold: float = option(
        0.3,
        'Minimum share to save (0 to 1); with "identical", only if ``base`` is set.',
    )
    base: ThresholdBase = option(
        "replaced",
        'What ``threshold`` is a share of: the "replaced" characters (NeuroLink), all "visible" '
        'characters of the conversation (Cline), or its "tokens".',
    )
    min_savings: int = option(0, "Do nothing if fewer tokens would be saved.")


def propose(view: ConversationView, meter: Meter, options: DedupOptions) -> Proposal | SkippedStage:
    """Propose to replace older reads by a stub that points to the newest one.

    Raises:
        UsageError: later runs would not recognize the notice as a stub.
    """
    _check_notice(options.notice)
    rewrites = tuple(
        rewrite
        for rewrite in _FINDERS[options.policy](view, meter, options)
        if rewrite.tokens_saved
        and view.messages[rewrite.part_index.message].id not in view.no_stubs
    )
    saved = sum(rewrite.tokens_saved for rewrite in rewrites)
    if not rewrites:
        reason = "no older file read is repeated in full by a later one"
        detail = _cleared_note(view) or _HINTS[options.policy]
        return SkippedStage(stage=NAME, reason=reason, detail=detail)
    if saved < options.min_savings:
        reason = f"would save {saved:,} tokens, below the minimum of {options.min_savings:,}"
        return SkippedStage(stage=NAME, reason=reason, detail="lower it with --dedup-min-savings")
    share = _saved_share(view, meter, rewrites, options)
    if share < options.threshold:
        reason = (
            f"would save {share:.0%} of {_BASE_NAMES[options.base]}, below {options.threshold:.0%}"
        )
        return SkippedStage(stage=NAME, reason=reason, detail="lower it with --dedup-threshold")
    note = f"older file reads replaced: {len(rewrites):,}"
    proposal = propose_rewrites(view, rewrites, stage=NAME, options=options, note=note)
    # A stub contains the path, so there is one text per file.
    n_files = len({rewrite.text for rewrite in rewrites})
    return replace(proposal, figures={"filesDeduped": n_files})


def _cleared_note(view: ConversationView) -> str:
    """Return how many results are cleared already, since some of them may have been file reads."""
    count = sum(is_cleared(part) for _, part in iter_results(view))
    if not count:
        return ""
    return f"results that an earlier stage had cleared: {count:,}"


def _check_notice(notice: str) -> None:
    one_line = notice.startswith("[") and notice.endswith("]") and "\n" not in notice
    if not (one_line and "{path}" in notice):
        raise UsageError(
            f"--dedup-notice {notice!r} cannot be recognized later;"
            " write one line in square brackets with {path} in it"
        )


_BASE_NAMES: Mapping[ThresholdBase, str] = {
    "replaced": "the replaced characters",
    "visible": "the characters of the conversation",
    "tokens": "the tokens of the conversation",
}


_HINTS: Mapping[DuplicatePolicy, str] = {
    "identical": "--dedup-policy latest also replaces reads whose content changed",
    "latest": "",
    "regex": "--dedup-policy identical finds reads by tool and path",
    "words": "--dedup-policy identical finds reads by tool and path",
}


def _find_reads(view: ConversationView, options: DedupOptions) -> tuple[FileRead, ...]:
    extra_tools = ExtraReadTools(tools=options.read_tools, path_keys=options.path_keys)
    return find_file_reads(view.messages, cwd=view.cwd, extra_tools=extra_tools)


def _rewrite_identical(
    view: ConversationView, meter: Meter, options: DedupOptions
) -> Iterator[Rewrite]:
    reads = _find_reads(view, options)
    covered = find_superseded(reads)
    for read in reads:
        if read.part_index in covered:
            newest = covered[read.part_index]
            lines = "the same" if newest.body == read.body else "these lines too"
            reason = f"a later read shows {lines}"
            yield _stub_rewrite(view, meter, options, (read, newest), reason)


def _rewrite_older(
    view: ConversationView, meter: Meter, options: DedupOptions
) -> Iterator[Rewrite]:
    edits = _edits_by_path(find_file_edits(view.messages, cwd=view.cwd))
    reads = tuple(read for read in _find_reads(view, options) if read.shows_content)
    for file_reads in group_by_path(reads).values():
        covering = newest_covering_reads(file_reads)
        for read in file_reads:
            newest = file_reads[-1] if options.ranges == "any" else covering[read.requested_lines]
            if newest.part_index > read.part_index:
                is_edited = _is_edited_between(edits, read, newest)
                reason = "the file is read again later" + (", after edits" if is_edited else "")
                yield _stub_rewrite(view, meter, options, (read, newest), reason)


def _edits_by_path(edits: Iterable[FileEdit]) -> Mapping[str, list[PartIndex]]:
    """Return the edits of each file, oldest first."""
    parts_by_path: dict[str, list[PartIndex]] = defaultdict(list)
    for edit in edits:
        parts_by_path[edit.path].append(edit.part_index)
    return parts_by_path


def _is_edited_between(
    edits: Mapping[str, list[PartIndex]], older: FileRead, newer: FileRead
) -> bool:
    indices = edits.get(older.path, [])
    return bisect_right(indices, older.part_index) < bisect_left(indices, newer.part_index)


def _stub_rewrite(
    view: ConversationView,
    meter: Meter,
    options: DedupOptions,
    pair: tuple[FileRead, FileRead],
    reason: str,
) -> Rewrite:
    read, newest = pair
    text = stub_for(read.path, options.notice)
    return Rewrite(
        part_index=read.part_index,
        text=text,
        tokens_saved=count_saved_tokens(view, meter, read.part_index, text),
        reason=reason,
        refers_to=newest.message,
    )


def _rewrite_named(
    view: ConversationView, meter: Meter, options: DedupOptions
) -> Iterator[Rewrite]:
    results = ((index, part.text) for index, part in iter_results(view) if not is_stub(part.text))
    return _rewrite_matches(view, meter, options, _NAMED_FILE, results)


def _rewrite_words(
    view: ConversationView, meter: Meter, options: DedupOptions
) -> Iterator[Rewrite]:
    """Rewrite answers like results; NeuroLink looks at the first match in each message."""
    texts = (
        (part_index, part.text)
        for part_index, part in iter_parts(view.messages)
        if isinstance(part, ToolResultPart)
        or (isinstance(part, TextPart) and _is_answer(view.messages[part_index.message]))
    )
    return _rewrite_matches(view, meter, options, _ANY_WORD, texts)


def _is_answer(message: Message) -> bool:
    return message.role == "assistant" and not message.calls


def _rewrite_matches(
    view: ConversationView,
    meter: Meter,
    options: DedupOptions,
    pattern: re.Pattern[str],
    texts: Iterable[tuple[PartIndex, str]],
) -> Iterator[Rewrite]:
    named_reads = [
        (match[1], part_index) for part_index, text in texts if (match := pattern.search(text))
    ]
    newest = dict(named_reads)
    for name, part_index in named_reads:
        if part_index != newest[name]:
            text = stub_for(name, options.notice)
            yield Rewrite(
                part_index=part_index,
                text=text,
                tokens_saved=count_saved_tokens(view, meter, part_index, text),
                reason=f"a later message names {name} again",
                refers_to=view.messages[newest[name].message].id,
            )


def _saved_share(
    view: ConversationView, meter: Meter, rewrites: tuple[Rewrite, ...], options: DedupOptions
) -> float:
    """Return the share of ``options.base`` that is saved (0 to 1); 1 if the policy needs none."""
    if options.base == "tokens":
        return sum(r.tokens_saved for r in rewrites) / max(1, meter.total(view.messages))
    if options.base == "replaced" and options.policy == "identical":
        return 1.0
    texts = {index: "".join(part_texts(part)) for index, part in iter_parts(view.messages)}
    before = sum(len(texts[rewrite.part_index]) for rewrite in rewrites)
    saved = before - sum(len(rewrite.text) for rewrite in rewrites)
    return saved / max(1, before if options.base == "replaced" else _visible_chars(view))


def _visible_chars(view: ConversationView) -> int:
    parts = (part for message in view.messages for part in message.parts)
    return sum(len(text) for part in parts for text in part_texts(part))


_FINDERS: Mapping[
    DuplicatePolicy, Callable[[ConversationView, Meter, DedupOptions], Iterator[Rewrite]]
] = {
    "identical": _rewrite_identical,
    "latest": _rewrite_older,
    "regex": _rewrite_named,
    "words": _rewrite_words,
}

STAGE = Stage(
    name=NAME,
    title="replace older reads of a file with a pointer to a newer one",
    options=DedupOptions,
    propose=propose,
    example=DedupOptions(policy="latest"),
    count_names=("filesDeduped",),
    foreign_schemas=(
        neurolink_schema(
            "DeduplicationResult", deduplicated="applied", filesDeduped="filesDeduped"
        ),
    ),
)
