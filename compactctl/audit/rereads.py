"""Find re-reads: read-only calls that show again what a compaction removed."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from compactctl.audit.findings import RepeatedRead
from compactctl.history.read_calls import normal_path
from compactctl.history.references import SourceRef
from compactctl.history.shell_lines import only_looks
from compactctl.history.tool_names import kind_of
from compactctl.records import Record
from compactctl.summaries.extract.items import clip_to_line
from compactctl.summaries.extract.line_marks import LINE_NUMBER
from compactctl.summaries.extract.passages import Passage, ToolPair

# A call is a re-read if it shows this share of lines seen before, and less than that was left.
SEEN_SHARE = 0.5
# Shorter lines are braces and the like.
_MIN_LINE = 4
_SUBJECT = 200
_SEARCH_KINDS = frozenset({"search", "find"})


class ReadCall(Record):
    """A read-only call.

    Attributes:
        subject: the file, the command, or the search tool with its arguments.
        ref: where it was called.
        shown: the lines of its result.
        pair: the call and its result.
    """

    subject: str
    ref: SourceRef
    shown: frozenset[str]
    pair: ToolPair


class SeenLines:
    """The lines that were shown of each subject, and where it was last shown."""

    def __init__(self, passages: Iterable[Passage], cwd: str | None) -> None:
        self._lines: dict[str, set[str]] = {}
        self._refs: dict[str, SourceRef] = {}
        for passage in passages:
            for subject, text in _shown_subjects(passage, cwd):
                self.add(subject, _comparable_lines(text), passage.ref)

    def add(self, subject: str, lines: Iterable[str], ref: SourceRef) -> None:
        """Record that lines of a subject were shown at ``ref``."""
        self._lines.setdefault(subject, set()).update(lines)
        self._refs[subject] = ref

    def seen_share(self, call: ReadCall) -> float:
        """Return which share of the lines that a call shows had been shown of its subject."""
        seen = self._lines.get(call.subject)
        if not seen or not call.shown:
            return 0.0
        return len(call.shown & seen) / len(call.shown)

    def last_seen(self, call: ReadCall) -> SourceRef:
        """Return where a call's subject was last shown."""
        return self._refs[call.subject]


def find_read_calls(passages: Iterable[Passage]) -> Iterator[ReadCall]:
    """Yield the read-only calls that succeeded, in order."""
    for passage in passages:
        pair = passage.pair
        if passage.kind == "call" and pair and pair.result and pair.is_done:
            subject = _subject(pair)
            if subject:
                shown = frozenset(_comparable_lines(pair.result.text))
                yield ReadCall(subject=subject, ref=pair.ref, shown=shown, pair=pair)


def find_rereads(
    calls: Sequence[ReadCall],
    before: SeenLines,
    after: SeenLines,
    tokens: Callable[[ToolPair], int],
) -> Iterator[RepeatedRead]:
    """Yield the calls that show lines seen ``before`` a compaction but not ``after`` it.

    What a call shows is added to ``after``, so that reading it once more does not count.
    """
    for call in calls:
        if before.seen_share(call) >= SEEN_SHARE > after.seen_share(call):
            yield RepeatedRead(
                what=clip_to_line(call.subject, _SUBJECT),
                ref=call.ref,
                first_seen=before.last_seen(call),
                tokens=tokens(call.pair),
            )
        after.add(call.subject, call.shown, call.ref)


def _subject(pair: ToolPair) -> str:
    """Return what a read-only call reads, "" for a call that is not read-only."""
    if pair.reads:
        return pair.reads
    if pair.command is not None:
        return pair.command.strip() if only_looks(pair.command) else ""
    return f"{pair.tool} {pair.text}" if kind_of(pair.tool) in _SEARCH_KINDS else ""


def _shown_subjects(passage: Passage, cwd: str | None) -> Iterator[tuple[str, str]]:
    """Yield the subjects of a passage with the text it shows of each, written files included."""
    pair = passage.pair
    if passage.kind == "file":
        yield normal_path(passage.name, cwd), passage.text
    elif passage.kind == "result" and pair and _subject(pair):
        yield _subject(pair), passage.text
    elif passage.kind == "call" and pair:
        yield from ((path, passage.text) for path in pair.changes)


def _comparable_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        bare = LINE_NUMBER.sub("", line).strip()
        if len(bare) >= _MIN_LINE:
            yield bare
