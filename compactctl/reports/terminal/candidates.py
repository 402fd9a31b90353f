"""The transcripts to choose from, where a command was given none."""

from collections.abc import Iterator, Sequence

from compactctl.commands.loading.candidates import Candidate, Candidates
from compactctl.commands.loading.discover import is_compacted_name
from compactctl.reports.rendering.screen import ScreenItem
from compactctl.reports.rendering.tables import number, table, text
from compactctl.reports.rendering.text import (
    age_text,
    one_line,
    plural,
    safe_text,
    size_text,
    typed_command,
)


def candidates_terminal(
    candidates: Candidates, command: str, now: float, options: Sequence[str] = ()
) -> Iterator[ScreenItem]:
    """Yield what to print: the files and what to type; ``now`` is in seconds since the epoch.

    ``options`` are those that were typed already.
    """
    if not candidates.found:
        yield _nothing_found(candidates, command)
        return
    where = "Compacted in this folder" if candidates.compacted else "In this folder"
    yield f"{command}: which transcript? {where}, the newest first:"
    yield ""
    columns = (
        text("File", "end"),
        number("Size"),
        text("Written"),
        text("Format", spare=1),
    )
    yield table(columns, [_candidate_cells(each, now) for each in candidates.found])
    yield ""
    if candidates.more:
        yield f"and {plural(candidates.more, 'older file')}"
    names = [each.name for each in candidates.found]
    originals = [name for name in names if not is_compacted_name(name)]
    best = names[0] if candidates.compacted or not originals else originals[0]
    yield f"type: {typed_command(command, best, options)}"


def _nothing_found(candidates: Candidates, command: str) -> str:
    folder = safe_text(str(candidates.folder))
    if candidates.compacted:
        return (
            f"{command}: no transcript that compactctl compacted is in {folder}; name one, as in "
            f"{command} run.compacted.jsonl, or pipe one in"
        )
    return (
        f"{command}: no transcript is in {folder}; name one, as in {command} run.jsonl, pipe one "
        "in, or see those below a folder with compactctl batch FOLDER"
    )


def _candidate_cells(each: Candidate, now: float) -> tuple[str, ...]:
    return (
        one_line(each.name),
        size_text(each.n_bytes),
        age_text(now - each.modified),
        each.format or "not told by its beginning",
    )
