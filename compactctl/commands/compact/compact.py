"""Compacts a transcript: stages, layout, proof, and the archive that undoes it."""

import ctypes
from collections.abc import Mapping
from dataclasses import replace

from compactctl.commands.client_sessions.compactions import compactions_of
from compactctl.commands.client_sessions.native import (
    CannotAppendError,
    cannot_be_appended,
    finished_part,
    insists_on_undo,
    settled,
)
from compactctl.commands.client_sessions.new_session import load_fork, new_session
from compactctl.commands.client_sessions.places import present
from compactctl.commands.client_sessions.undo import Undone, undo
from compactctl.commands.compact.audits import (
    SummaryAudit,
    audits_of,
    require_audit,
    require_related,
)
from compactctl.commands.compact.draft import (
    CompactionJob,
    ReadyCompaction,
    archive_hint,
    deposit_of,
    is_archived,
    new_file,
    operation_id,
)
from compactctl.commands.compact.place import (
    check_appending,
    check_contradictions,
    check_target,
    in_place_if_named,
    target_of,
    with_fork,
)
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.compact.summing_up import sum_up
from compactctl.commands.measuring.measure import Measure, measure
from compactctl.commands.measuring.next_request import restatement
from compactctl.commands.operations.history import OperationHistory, history_behind
from compactctl.commands.operations.states import originals_of
from compactctl.commands.planning.apply_plan import apply_plan, check_input
from compactctl.commands.planning.plan import make_plan
from compactctl.commands.planning.run_stages import AppliedEdits, StageInputs, StageRun, run_stages
from compactctl.commands.reading.proof import meant_by, prove_layout
from compactctl.commands.reading.transcript import Loaded, check_strict, load, loaded_from
from compactctl.errors import IntegrityError, UsageError
from compactctl.history.damage import damage_of
from compactctl.llm.choice import summarizer_for
from compactctl.model.counts import Restated
from compactctl.model.edit import Unload
from compactctl.model.message import Message, MessageId
from compactctl.model.transcript import Volume
from compactctl.model.unsent import UnsentKind
from compactctl.pipeline.unsent import unsent_places, volumes
from compactctl.store.files.content import Content, Lines
from compactctl.store.files.lines import STANDARD_INPUT, Source

__all__ = ["CompactOptions", "CompactResult", "compact", "compact_for_figures"]


def compact(options: CompactOptions) -> CompactResult:
    """Compact a transcript. Raises CompactctlError subclasses; nothing is half written.

    A dry run refuses a target as the run would, but for the usual one in a client's store.
    """
    try:
        options, ready, note = _prepared(options)
    except CannotAppendError as error:
        if new_session(options.input.path) is None:
            raise
        options, ready, _ = _prepared(
            replace(options, output=replace(options.output, layout="split"))
        )
        note = f"{error.reason}: a new session is written"
    if options.output.dry_run:
        ready.check_target()
    result = ready.result if options.output.dry_run else ready.write()
    plan = result.plan and replace(result.plan, input=ready.source.digest)
    notes = (note,) if note and result.operation else ()
    return replace(result, warnings=(*result.warnings, *notes), plan=plan)


def _prepared(options: CompactOptions) -> tuple[CompactOptions, ReadyCompaction, str]:
    """Return the options with the place to write to, what is to be written, and a note on it."""
    note = check_appending(options)
    options = with_fork(options)
    check_target(options)
    return options, _ready(options), note


def compact_for_figures(options: CompactOptions) -> CompactResult:
    """Return what ``compact`` would come to; where it would be written is not looked at.

    The new file is laid out, and proven, only where the old one is damaged: edits of that may have
    to be left out. Otherwise ``after`` is the state before.
    """
    check_contradictions(options)
    _, history, loaded = _read(options)
    if options.redo or damage_of(loaded.transcript) is not None:
        return _ready(options).result
    job = _job(options, loaded, history, None)
    operation = operation_id(job) if job.run.applied.edits else None
    return sum_up(job, loaded.source.digest, operation)


def _ready(options: CompactOptions) -> ReadyCompaction:
    check_contradictions(options)
    ready = _proven(in_place_if_named(options))
    _release_memory()
    return ready


def _proven(options: CompactOptions) -> ReadyCompaction:
    """Return what is to be written; a damaged file that cannot be edited is left as it is."""
    read, history, loaded = _read(options)
    redone = _redone(options, loaded, history)
    loaded = loaded if redone is None else redone.loaded
    source, damage = loaded.source, damage_of(loaded.transcript)
    whole, loaded = _settled(options, loaded, history)
    job = replace(_job(options, loaded, history, redone), whole=whole)
    ready = replace(_laid_out(job), source=read)
    del loaded, whole, job
    _release_memory()
    if ready.expected is None:
        return ready
    try:
        name = str(source.path or "standard input")
        prove_layout(Lines(ready.content.pieces), ready.format, ready.expected, name)
    except IntegrityError:
        if options.output.layout == "native":
            raise cannot_be_appended(options.input.path) from None
        if damage is None:
            raise
        loaded = loaded_from(source, options.input.path, options.input.format, options.input.limits)
        held = _job(options, loaded, history, redone, held=damage)
        return replace(_laid_out(held), source=read)
    return ready


def _release_memory() -> None:
    """Give what was let go of back to the system, where the C library can do that (glibc).

    Otherwise it stays with the process: the second half of the task is loaded on top of the gaps
    that the first has left.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _read(options: CompactOptions) -> tuple[Source, OperationHistory, Loaded]:
    """Return what is read, the history behind it, and what is to be compacted.

    ChangedError for what is not what a plan was made for.
    """
    if options.output.fork is not None:
        read = load_fork(options.input, options.output.fork)
    else:
        loaded = load(options.input)
        read = (loaded.source, history_behind(loaded), loaded)
    if options.plan_file is not None:
        check_input(options.plan_file, read[0].digest, options.input.path)
    return read


def _settled(
    options: CompactOptions, loaded: Loaded, history: OperationHistory
) -> tuple[Loaded | None, Loaded]:
    """Return a session to be appended to, None for others, and what is to be compacted.

    UsageError behind what a run that was killed has left.
    """
    if options.output.layout != "native":
        return None, loaded
    if finished_part(history) is not None:
        raise UsageError(
            f"{options.input.path}: ends in a part of what a run that was killed has appended; "
            "take that away with compactctl rewind, and compact it then"
        )
    return loaded, settled(loaded)


def _redone(options: CompactOptions, loaded: Loaded, history: OperationHistory) -> Undone | None:
    """Return the transcript as its client never compacted it, None where that is not wanted."""
    found = compactions_of(present(loaded)) if options.redo else ()
    return undo(loaded, found, history.chain[-1].id if history.chain else None) if found else None


def _job(
    options: CompactOptions,
    loaded: Loaded,
    history: OperationHistory,
    redone: Undone | None,
    held: str = "",
) -> CompactionJob:
    """Run the stages on a transcript, unless something holds them back."""
    summarizer = summarizer_for(options.recipe.summarizer)
    check_strict(loaded.transcript, options.input)
    measured = measure(loaded.transcript, options.recipe.measure)
    hint = archive_hint(
        None if options.output.path == STANDARD_INPUT else target_of(options),
        is_archived=is_archived(options, history),
        lines=len(loaded.lines),
    )
    plan, decided = make_plan(options.recipe, measured.limits), options.plan_file
    unloads = plan.unloads if decided is None else bool(decided.unsent)
    inputs = StageInputs(
        originals=originals_of(loaded, history),
        summarizer=summarizer,
        texts=replace(options.recipe.plan.texts, archive_hint=hint),
        unsent=_unsent(options, loaded) if unloads else {},
    )
    if decided is None:
        done = run_stages(loaded.transcript, plan, measured, inputs, held)
    else:
        done = apply_plan(
            loaded.transcript,
            decided,
            measured,
            unsent=inputs.unsent,
            renamed=options.output.fork is not None,
        )
    return CompactionJob(
        options=options,
        loaded=loaded,
        history=history,
        measured=measured,
        plan=plan,
        run=done,
        audits=_audited(options, loaded, done.applied, inputs.originals, measured),
        restated=_restated(options, loaded, done, measured),
        held=held,
        redone=redone,
    )


def _unsent(options: CompactOptions, loaded: Loaded) -> Mapping[UnsentKind, Volume] | None:
    """Return what is there that is never sent, None where the layout leaves it there."""
    if options.output.layout != "split":
        return None
    rules = loaded.format.unsent
    kinds = {rule.kind for rule in rules}
    return volumes(unsent_places(loaded.lines, loaded.transcript, rules, kinds))


def _audited(
    options: CompactOptions,
    loaded: Loaded,
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    measured: Measure,
) -> tuple[SummaryAudit, ...]:
    """Audit the summaries; AuditFailedError, SummarizerFailedError for one that is unusable."""
    edited = options.plan_file.edited_summaries if options.plan_file else ()
    require_related(options.input.path, applied, originals, edited=edited)
    own, cwd = options.require_audit or options.compare, loaded.transcript.cwd
    audits = audits_of(applied, originals, measured.meter, cwd, own=own)
    if options.require_audit:
        require_audit(options.input.path, audits)
    return audits


def _restated(
    options: CompactOptions, loaded: Loaded, done: StageRun, measured: Measure
) -> Restated | None:
    """Return the counts that a client is to find; without tags nobody could tell whose they are."""
    is_rewritten = any(not isinstance(edit, Unload) for edit in done.applied.edits)
    is_rewritten = is_rewritten and options.output.layout != "inline" and options.output.tags
    if not is_rewritten or options.output.messages_only or loaded.format.counts is None:
        return None
    tokens, size = done.outcome.after.request, measured.meter.message
    return restatement(loaded.transcript, done.applied.after, tokens, size)


def _laid_out(job: CompactionJob) -> ReadyCompaction:
    """Lay out the new file, and say what came of it; without edits it is the old one."""
    source, applied = job.loaded.source, job.run.applied
    operation, expected, archived, content = None, None, None, source.content
    if applied.edits:
        operation, expected = operation_id(job), meant_by(applied.after)
        new = new_file(job, operation)
        content = Content.of(new)
        archived = deposit_of(job, operation, new, content.digest)
    return ReadyCompaction(
        options=job.options,
        source=source,
        history=job.history,
        format=job.loaded.format,
        content=content,
        result=sum_up(job, content.digest, operation),
        expected=expected,
        redone=job.redone.archive if job.redone else None,
        archived=archived,
        insists=job.whole is not None and insists_on_undo(job.whole),
    )
