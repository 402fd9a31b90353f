"""Rows of what was only measured: one for a file, or one for each conversation of a log."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import itemgetter

from compactctl.clients.format import Format
from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.row import BatchRow, RowMeasure, RowOutcome
from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.figures import FileDetails, figures_of
from compactctl.commands.measuring.measure import Measurement, measure
from compactctl.commands.planning.plan import Recipe, make_plan
from compactctl.commands.planning.run_stages import Outcome, StagedConversation
from compactctl.commands.reading.transcript import open_transcript, parse, scan, split
from compactctl.history.faults import Fault
from compactctl.model.transcript import Transcript
from compactctl.records import replace
from compactctl.store.files.source import digest_of
from compactctl.tokens.fit import size_limit


def measured_row(
    path: str, sha256: str, transcript: Transcript, measured: Measurement, options: BatchOptions
) -> BatchRow:
    """Return the row of a transcript in which no stage ran; ``sha256`` is that of the input."""
    return BatchRow(
        path=path,
        target=_required_size(measured, options.recipe) if options.require_fit else None,
        sha256=sha256,
        measure=RowMeasure.of(transcript.format, measured),
        figures=figures_of(transcript, measured, context_size(transcript, measured)),
    )


def _required_size(measured: Measurement, recipe: Recipe) -> int:
    """Return the size that ``--require-fit`` allows: the target in effect, or that of the gates."""
    reach = None
    if recipe.plan.target is not None:
        reach = make_plan(recipe, measured.limits, measured.model).reach.tokens
    return size_limit(reach, measured.limits)


def conversation_rows(
    path: str, transcript: Transcript, options: BatchOptions
) -> tuple[BatchRow, ...]:
    """Return a row per conversation of a log that has one on each line, numbered by the line.

    Any other file is a row itself, and has (). Lines without a conversation belong to the one
    before them, so that sums stay the same. Raises as reading a transcript does.
    """
    starts = sorted(_lines_of_conversations(transcript).values())
    if not starts:
        return ()
    source = open_transcript(path, options.input.limits)
    lines, chosen = split(source.lines, path, options.input.format, options.input.limits)
    bounds = pairwise([0, *starts[1:], len(lines)])
    return tuple(
        _row(_name(path, start), lines[first:end], chosen, options).numbered(start + 1, first)
        for start, (first, end) in zip(starts, bounds, strict=True)
    )


def compacted_rows(
    row: BatchRow, outcome: Outcome, remaining: Sequence[Fault], options: BatchOptions
) -> tuple[BatchRow, ...]:
    """Return the rows of a compacted file: as ``conversation_rows``, or else the row itself.

    ``row`` and ``outcome`` are those of the whole file, ``remaining`` what will still be refused.
    """
    if not outcome.parts:
        return (row,)
    parts = {part.number: part for part in outcome.parts}
    transcript = scan(options.input.at(row.path))
    lines = sorted(_lines_of_conversations(transcript).items(), key=itemgetter(1))
    is_split = {number for number, _ in lines} == parts.keys()
    rows = conversation_rows(row.path, transcript, options) if is_split else ()
    if not rows or any(measured.counter != row.counter for measured in rows):
        # What is counted in another way alone than with the others has no size before and after.
        return (row,)
    refused = {fault.line for fault in remaining if fault.is_refused}
    return tuple(
        _compacted(measured, parts[number], row, is_refused=line in refused)
        for measured, (number, line) in zip(rows, lines, strict=True)
    )


def _compacted(
    measured: BatchRow, part: StagedConversation, row: BatchRow, *, is_refused: bool
) -> BatchRow:
    """Return the row of a conversation after stages; ``row`` is that of its file."""
    # Stages remove nothing of what is not in the transcript.
    unseen = 0 if measured.figures is None else measured.figures.totals.unseen
    part = replace(part, after=replace(part.after, unseen=unseen))
    operation = None if row.outcome is None or not part.is_changed else row.outcome.operation
    outcome = RowOutcome.of(
        part, operation, is_refused=is_refused, is_unchanged=not part.is_changed
    )
    return replace(measured, outcome=outcome, output=row.output, target=part.target)


def conversation_details(
    path: str, transcript: Transcript, details: FileDetails
) -> tuple[FileDetails, ...]:
    """Return the details of a file for each of its rows, under the name of the row."""
    lines = _lines_of_conversations(transcript)
    if not lines:
        return (details,)
    messages, rounds = defaultdict(list), defaultdict(list)
    for message in details.messages:
        messages[message.conversation].append(message)
    for request in details.rounds:
        rounds[request.place.conversation].append(request)
    return tuple(
        FileDetails(
            path=_name(path, line), messages=tuple(messages[number]), rounds=tuple(rounds[number])
        )
        for number, line in sorted(lines.items(), key=itemgetter(1))
    )


def _name(path: str, line: int) -> str:
    return f"{path}#{line + 1}"


def _lines_of_conversations(transcript: Transcript) -> Mapping[int, int]:
    """Return the line of each conversation; {} unless there are several, each on its own line."""
    lines = {(message.conversation, message.line) for message in transcript.effective}
    by_number = dict(lines)
    is_split = len(lines) == len(by_number) == len({*by_number.values()}) > 1
    return by_number if is_split else {}


def _row(name: str, lines: Sequence[bytes], chosen: Format, options: BatchOptions) -> BatchRow:
    transcript = parse(lines, chosen)
    measured = measure(transcript, options.recipe.measure)
    measured.meter.prime(transcript.effective)
    return measured_row(name, digest_of(lines).sha256, transcript, measured, options)
