"""Make a digest of what is chosen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from compactctl.model.own_texts import GAP, DigestEntry, OwnDigest, heading, read_lines
from compactctl.records import replace
from compactctl.summaries.digest.facts import speaker, title
from compactctl.summaries.digest.fragments import DigestSection, Fragment, FragmentGroup
from compactctl.summaries.digest.lines import PieceSpan, QuotableText, quotable_text, shown_lines
from compactctl.summaries.extract.own_passages import SPOKEN
from compactctl.summaries.extract.passages import Passage
from compactctl.tokens.memory import Once, call


def group_heading(group: FragmentGroup, passages: Sequence[Passage], once: Once = call) -> str:
    """Return the heading of a group, "" for one without."""
    if group.section == "course":
        passage = passages[group.passage]
        return f"[{passage.ref.name or '#1'}] {heading(speaker(passage), title(passage, once))}"
    return _folder(group)


def _folder(group: FragmentGroup) -> str:
    return f"{group.label}/: " if group.label else ""


def fill_digest(
    digest: OwnDigest,
    passages: Sequence[Passage],
    pinned: Mapping[int, str],
    fragments: Sequence[Fragment],
    once: Once = call,
) -> OwnDigest:
    """Return a digest with pinned texts (by passage index) and chosen fragments."""
    by_group: dict[FragmentGroup, list[Fragment]] = {}
    for fragment in fragments:
        by_group.setdefault(fragment.group, []).append(fragment)
    tasks = sorted(by_group.get(FragmentGroup("tasks"), ()), key=lambda task: task.line.line)
    return replace(
        digest,
        tasks=tuple(task.text for task in tasks),
        files=tuple(_rows("files", by_group)),
        entries=tuple(_entries(passages, pinned, by_group, once)),
        names=tuple(_rows("names", by_group)),
    )


def _rows(
    section: DigestSection, by_group: Mapping[FragmentGroup, Sequence[Fragment]]
) -> Iterator[str]:
    groups = sorted((g for g in by_group if g.section == section), key=lambda g: g.label)
    return (list_row(group, by_group[group]) for group in groups)


def list_row(group: FragmentGroup, entries: Sequence[Fragment]) -> str:
    """Return the entries of a folder on one line, such as ``src/: a.py, b.py``."""
    return _folder(group) + ", ".join(sorted({entry.text for entry in entries}))


def _entries(
    passages: Sequence[Passage],
    pinned: Mapping[int, str],
    by_group: Mapping[FragmentGroup, Sequence[Fragment]],
    once: Once,
) -> Iterator[DigestEntry]:
    quoted = {g.passage: fragments for g, fragments in by_group.items() if g.section == "course"}
    for index in sorted({*quoted, *pinned}):
        passage = passages[index]
        texts = read_lines(pinned[index]) if index in pinned else ()
        lines = (*texts, *quote_lines(passages, quoted.get(index, ()), once))
        yield DigestEntry(
            speaker(passage),
            with_gaps(lines),
            title(passage, once),
            passage.ref.name,
            passage.is_proven or passage.kind not in SPOKEN,
        )


def with_gaps(lines: Iterable[str | None]) -> tuple[str | None, ...]:
    """Return lines with None for each run of omitted ones, also those omitted before."""
    runs = groupby(lines, key=lambda line: line is None or line == GAP)
    return tuple(line for is_gap, run in runs for line in ((None,) if is_gap else run))


def quote_lines(
    passages: Sequence[Passage], fragments: Iterable[Fragment], once: Once = call
) -> Sequence[str | None]:
    """Return the quoted lines of a passage and its result, and None for omitted lines between them.

    def load():
        return path.read_text()
    None
    def save():

    What is omitted before the first line and behind the last one has no mark, as below every
    heading: there are few texts of which both are quoted.
    """
    ordered = sorted(fragments, key=attrgetter("line"))
    sources = (
        (quotable_text(passages[number], once), tuple(chosen))
        for number, quoted in groupby(ordered, key=attrgetter("line.passage"))
        if (chosen := places(quoted))
    )
    return once(_quote, tuple(sources))


def _quote(
    sources: tuple[tuple[QuotableText, tuple[tuple[int, PieceSpan], ...]], ...],
) -> Sequence[str | None]:
    lines: list[str] = []
    pieces: list[tuple[int, PieceSpan]] = []
    for text, chosen in sources:
        pieces += ((len(lines) + row, span) for row, span in chosen)
        lines += text.texts
    shown = shown_lines(lines, pieces, with_ends=False)
    return [line if line is None else line.rstrip() for line in shown]


def places(fragments: Iterable[Fragment]) -> list[tuple[int, PieceSpan]]:
    """Return where in their passage fragments are: the line, and which part of it.

    Those of a heading are left out.
    """
    return [(fragment.line.line, fragment.span) for fragment in fragments if fragment.text]
