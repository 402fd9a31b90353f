"""Compacts a transcript: stages, layout, proof, and the archive that undoes it."""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from compactctl.commands.client_sessions.accepted import check_accepted
from compactctl.commands.client_sessions.compactions import compactions_of
from compactctl.commands.client_sessions.native import (
    CannotAppendError,
    before_interrupted_append,
    cannot_be_appended,
    undo_option,
    without_superseded_records,
)
from compactctl.commands.client_sessions.new_session import load_fork, new_session
from compactctl.commands.client_sessions.places import current_state
from compactctl.commands.client_sessions.repeats import without_repeats
from compactctl.commands.client_sessions.undo import undo_compactions
from compactctl.commands.compact.audits import (
    WrittenSummary,
    require_audit,
    require_related,
    summaries_of,
)
from compactctl.commands.compact.cut_history import joins_cuts, with_cuts_joined
from compactctl.commands.compact.draft import (
    CompactInput,
    Draft,
    archive_hint,
    deposit_of,
    identity_of,
    new_file,
    operation_id,
)
from compactctl.commands.compact.earlier_end import ended_at
from compactctl.commands.compact.place import (
    check_appending,
    check_contradictions,
    check_output_place,
    in_place_if_named,
    target_of,
    with_fork,
)
from compactctl.commands.compact.prepared import Prepared, is_archived
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.compact.summing_up import compact_result
from compactctl.commands.measuring.acceptance import REQUEST_SIZE, faults_of, subject_of
from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import Measurement, measure
from compactctl.commands.measuring.next_request import restatement, sized_requests
from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.operations.states import originals_of
from compactctl.commands.planning.apply_plan import apply_plan, check_input
from compactctl.commands.planning.plan import Plan, PlanOptions, make_plan, plan_rescue
from compactctl.commands.planning.run_stages import (
    AppliedEdits,
    SizedTranscript,
    StageInputs,
    StageRun,
    run_stages,
)
from compactctl.commands.planning.stage_order import with_other_order
from compactctl.commands.reading.proof import ExpectedMessage, expected_messages, prove_layout
from compactctl.commands.reading.transcript import (
    InputOptions,
    TranscriptFile,
    check_strict,
    load,
    loaded_from,
)
from compactctl.errors import OutputFaultError, UsageError
from compactctl.history.error_subject import ErrorSubject
from compactctl.history.faults import Fault, may_break
from compactctl.llm.summarizer_options import summarizer_for
from compactctl.model.edit import CorrectRecord, RecordEdit
from compactctl.model.message import Message, MessageId
from compactctl.model.summary import Summarizer
from compactctl.model.transcript import RecordStats, Transcript
from compactctl.model.unsent import UnsentKind
from compactctl.model.usage_fields import UsageRestatement
from compactctl.pipeline.unsent import find_unsent, unsent_stats
from compactctl.profiles.registry import DEFAULT_PROFILE, builtin_profile, emulates_system
from compactctl.records import replace
from compactctl.stages.repair import NAME as REPAIR
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import ChunkedLines, Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import STANDARD_STREAM
from compactctl.store.publish.late_lines import take_in

__all__ = ["CompactOptions", "CompactResult", "compact", "compact_for_figures"]


def compact(options: CompactOptions) -> CompactResult:
    """Compact a transcript. Raises CompactctlError subclasses; no partial output remains.

    A dry run rejects an output path as the run would, except the default one in a client's store.
    If nothing can be appended to a session, a new session is written instead. A new session that
    was written before, such as by a killed run, is not written twice unless forced.
    """
    try:
        prepared, note = _prepared(options)
    except CannotAppendError as error:
        if new_session(options.input.path) is None:
            raise
        split = replace(options, output=replace(options.output, layout="split"))
        prepared, _ = _prepared(split)
        note = f"{error.reason}: a new session is written"
    if options.output.dry_run:
        prepared.check_place()
        result = prepared.result
    else:
        result = prepared.publish()
    notes = (note,) if note and prepared.is_changed and result.earlier is None else ()
    return replace(result, warnings=(*result.warnings, *notes))


def _prepared(options: CompactOptions) -> tuple[Prepared, str]:
    """Resolve where the output goes and prepare it; the second value is a note on its client."""
    note = check_appending(options)
    options = with_fork(options)
    check_output_place(options)
    check_contradictions(options)
    options = in_place_if_named(options)
    added = _take_in(options)
    prepared = prepare(options)
    warnings = (*added, *prepared.result.warnings)
    return replace(prepared, result=replace(prepared.result, warnings=warnings)), note


def _take_in(options: CompactOptions) -> tuple[str, ...]:
    """Add what was written late to a transcript that is compacted where it is; return a note."""
    output, path = options.output, options.input.path
    if output.dry_run or not (output.in_place or output.layout == "native"):
        return ()
    n_bytes = take_in(FileSystem(), Path(path))
    what = "bytes that a program had written to the file it replaced"
    return (f"{path}: added {n_bytes:,} {what}",) if n_bytes else ()


def compact_for_figures(options: CompactOptions) -> CompactResult:
    """Return the result of ``compact`` without checking where it would be written.

    The new file is laid out and proven only if the old one is damaged, since its edits may have to
    be dropped then. Otherwise the digest after is that of the state before.
    """
    check_contradictions(options)
    read = read_input(options)
    if read.undone or read.file.transcript.damage is not None:
        return prepare(options).result
    draft = draft_compaction(options, read)
    operation = operation_id(identity_of(draft)) if draft.run.applied.edits else None
    return compact_result(draft, read.file.source.digest, operation)


def prepare(options: CompactOptions) -> Prepared:
    """Read, measure, plan, run, lay out and prove: all that can fail before a byte is written.

    A damaged file whose edited version cannot be proven is left unchanged.
    """
    read = read_input(options)
    damage, read_again = read.file.transcript.damage, _reading_again(options.input, read)
    prepared = _laid_out(_draft_of_whole_history(options, read))
    # The proof needs the memory.
    del read
    _release_memory()
    try:
        return _proven(prepared)
    except OutputFaultError:
        if options.output.layout == "native":
            raise cannot_be_appended(options.input.path) from None
        if damage is None:
            raise
        return _laid_out(draft_compaction(options, read_again(), held=damage))
    finally:
        _release_memory()


def _reading_again(options: InputOptions, read: CompactInput) -> Callable[[], CompactInput]:
    """Return a function that reads the same input again; it holds no messages until called."""
    opened, source, history = read.file.source, read.source, read.history
    end, undone, changes = read.end, read.undone, read.changes

    def read_again() -> CompactInput:
        file = loaded_from(opened, options.path, options.format, options.limits)
        return CompactInput(
            source=source, history=history, file=file, end=end, undone=undone, changes=changes
        )

    return read_again


def _release_memory() -> None:
    """Return freed memory to the system, if the C library can (glibc).

    Otherwise the process keeps it, and the second half of the work is allocated on top of the gaps
    left by the first.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def read_input(options: CompactOptions) -> CompactInput:
    """Read the transcript to compact. Raises as ``load`` does.

    Also raises ChangedError if a plan was made for another transcript, and UsageError if the file
    ends with an incomplete append from a killed run.
    """
    if options.output.fork is not None:
        source, history, file = load_fork(options.input, options.output.fork)
    else:
        file = load(options.input)
        source, history = file.source, history_behind(file)
    if options.plan_file is not None:
        check_input(options.plan_file, source.digest, options.input.path)
    read = CompactInput(source=source, history=history, file=file)
    if options.end is not None:
        read = ended_at(read, options.end, options.input.path)
    if options.redo:
        read = _without_client_compactions(read, is_new_session=options.output.fork is not None)
    return _without_superseded_records(options, read)


def _without_client_compactions(read: CompactInput, *, is_new_session: bool) -> CompactInput:
    """Undo the compactions by the client."""
    loaded = without_repeats(read.file)
    compactions = compactions_of(current_state(loaded))
    if not compactions:
        return read
    undone = undo_compactions(
        loaded,
        compactions,
        read.parent,
        read.file.lines,
        leaves_out_refused=is_new_session,
    )
    return replace(
        read,
        file=undone.loaded,
        undone=undone.compactions,
        changes=(*read.changes, undone.undo_deposit),
    )


def _without_superseded_records(options: CompactOptions, read: CompactInput) -> CompactInput:
    """Leave out records that no longer count, if the output is appended to the session."""
    if options.output.layout != "native":
        return read
    if before_interrupted_append(read.history) is not None:
        raise UsageError(
            f"{options.input.path}: ends with an incomplete append from a killed run; remove it "
            "with compactctl rewind, then compact again"
        )
    return replace(read, file=without_superseded_records(read.file), appended_to=read.file)


def _draft_of_whole_history(options: CompactOptions, read: CompactInput) -> Draft:
    """Draft with the cuts of the history joined, if a repair joins them."""
    if _repairs(options) or REPAIR in options.recipe.plan.stages:
        file = with_cuts_joined(read.file)
        draft = draft_compaction(options, replace(read, file=file))
        edits = draft.run.applied.edits
        if file is read.file or any(isinstance(edit, CorrectRecord) for edit in edits):
            return draft
    return draft_compaction(options, read)


def draft_compaction(options: CompactOptions, read: CompactInput, held: str = "") -> Draft:
    """Measure, plan and run the stages; ``held`` says why none may run."""
    transcript, recipe, plan_file = read.file.transcript, options.recipe, options.plan_file
    summarizer = summarizer_for(recipe.summarizer)
    check_strict(transcript, options.input)
    measured = measure(transcript, recipe.measure)
    error = recipe.plan.refusal
    subject = None if error is None else subject_of(error, transcript, measured)
    make = plan_rescue if options.only_accepted else make_plan
    plan = make(recipe, measured.limits, measured.model)
    if _repairs(options):
        plan = plan.with_repair()
    if _only_repairs(options, transcript, measured, subject):
        plan = plan.of_repair()
    inputs = _stage_inputs(options, read, plan, summarizer)
    if subject is not None:
        inputs = replace(inputs, recipient=subject.recipient)
    if plan_file is None:
        sized = SizedTranscript.of(transcript, measured)
        done = run_stages(sized, plan, inputs, held)
        if summarizer is None:
            done = with_other_order(
                done, plan, lambda other: run_stages(sized, other, inputs, held)
            )
    else:
        renamed = options.output.fork is not None
        done = apply_plan(transcript, plan_file, measured, inputs, renamed=renamed)
    return Draft(
        options=options,
        input=read,
        measured=measured,
        plan=plan,
        run=done,
        summaries=_audited(options, read.file, done.applied, inputs.originals, measured),
        subject=subject,
        restated=_restated(options, read.file, done, measured),
        held=held,
    )


def _repairs(options: CompactOptions) -> bool:
    """Whether what is refused is repaired unasked: in new sessions, and by our own profiles.

    What an error is about is repaired wherever it can be.
    """
    if options.plan_file is not None:
        return options.plan_file.repair
    recipe = options.recipe
    is_own = not (recipe.plan.stages or emulates_system(recipe.measure.profile))
    is_asked = options.output.fork is not None or recipe.plan.refusal is not None
    return options.output.layout == "split" and (is_asked or is_own)


def _only_repairs(
    options: CompactOptions,
    transcript: Transcript,
    measured: Measurement,
    subject: ErrorSubject | None,
) -> bool:
    """Whether a rescue has something to set right and, as it was not asked to, no space to free.

    What it brings back stays, unless it does not fit.
    """
    plan = options.recipe.plan
    is_asked = plan.overflow is not None or replace(plan, error=None) != PlanOptions()
    if not options.only_accepted or is_asked:
        return False
    brings_back = options.end is not None or joins_cuts(transcript)
    recipient = None if subject is None else subject.recipient
    faults = faults_of(transcript, measured, recipient=recipient)
    if subject is not None and not _fits_without_media(subject):
        return False
    is_refused = subject is not None or any(fault.is_refused for fault in faults)
    if not (brings_back or is_refused):
        return False
    size = context_size(transcript, measured)
    requests = sized_requests(transcript.effective, measured.meter, size.unseen)
    if brings_back:
        return all(request.tokens < measured.limits.base_tokens for request in requests)
    trigger = builtin_profile(DEFAULT_PROFILE).effective_trigger
    situations = (request.situation(measured.limits) for request in requests)
    return not any(map(trigger.matched_condition, situations))


def _fits_without_media(subject: ErrorSubject) -> bool:
    """Whether a request has few enough bytes without media; else only less context helps."""
    is_size = subject.rule.id == REQUEST_SIZE
    return not is_size or all(fault.part is not None for fault in subject.faults)


def _stage_inputs(
    options: CompactOptions, read: CompactInput, plan: Plan, summarizer: Summarizer | None
) -> StageInputs:
    removes_unsent = (
        plan.removes_unsent if options.plan_file is None else bool(options.plan_file.unsent)
    )
    output = options.output
    hint = archive_hint(
        None if output.path == STANDARD_STREAM else output.url or target_of(options),
        is_archived=is_archived(options, read.history),
        lines=len(read.file.lines),
    )
    return StageInputs(
        originals=originals_of(read.file, read.history),
        summarizer=summarizer,
        texts=replace(options.recipe.plan.texts, archive_hint=hint),
        unsent=_unsent(options, read.file) if removes_unsent else {},
        refused=read.file.transcript.refused,
        keeps_originals=output.layout != "split",
    )


def _unsent(
    options: CompactOptions, file: TranscriptFile
) -> Mapping[UnsentKind, RecordStats] | None:
    """Return the statistics of records never sent, None if the layout keeps such records."""
    if options.output.layout != "split":
        return None
    rules = file.format.unsent
    kinds = {rule.kind for rule in rules}
    return unsent_stats(find_unsent(file.lines, file.transcript, rules, kinds))


def _audited(
    options: CompactOptions,
    file: TranscriptFile,
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    measured: Measurement,
) -> tuple[WrittenSummary, ...]:
    """Audit the summaries; AuditFailedError, SummarizerFailedError for one that is unusable."""
    edited = options.plan_file.edited_summaries if options.plan_file else ()
    if not options.recipe.summarizer.may_be_unrelated:
        require_related(options.input.path, applied, originals, edited=edited)
    include_built_in, cwd = options.require_audit or options.compare, file.transcript.session.cwd
    summaries = summaries_of(
        applied, originals, measured.meter, cwd, include_built_in=include_built_in
    )
    if options.require_audit:
        require_audit(options.input.path, summaries)
    return summaries


def _restated(
    options: CompactOptions, file: TranscriptFile, done: StageRun, measured: Measurement
) -> UsageRestatement | None:
    """Return the usage that the client will read as its context size, None to keep what is there.

    Usage is only rewritten in a tagged file: without tags nobody could tell that it is not the
    provider's.
    """
    output = options.output
    is_rewritten = any(not isinstance(edit, RecordEdit) for edit in done.applied.edits)
    is_rewritten = is_rewritten and output.layout != "inline" and output.tags
    fields = file.format.usage_fields
    if not is_rewritten or output.messages_only or fields is None:
        return None
    if fields.is_of_session and file.transcript.session.usage_line is None:
        return None
    tokens, size = done.outcome.after.request_tokens, measured.meter.message
    return restatement(file.transcript, done.applied.after, tokens, size)


def _laid_out(draft: Draft) -> Prepared:
    """Lay out the new file; without edits it is the old one."""
    read, applied, content = draft.input, draft.run.applied, draft.input.file.source.content
    identity = identity_of(draft) if applied.edits else ""
    operation = operation_id(identity) if identity else None
    expected: tuple[ExpectedMessage, ...] = ()
    deposits = list(read.changes)
    if operation is not None:
        expected = expected_messages(applied.after)
        new = new_file(draft, operation)
        content = Content.from_chunks(new)
        deposits.append(deposit_of(draft, operation, new, content.digest))
    return Prepared(
        result=compact_result(draft, content.digest, operation),
        source=read.source,
        history=read.history,
        format=read.file.format,
        content=content,
        expected=expected,
        deposits=tuple(deposits),
        identity=identity,
        unrepaired=tuple(_unrepaired(draft)),
        undo_option=_undo_option(draft, deposits),
    )


def _undo_option(draft: Draft, deposits: Sequence[ArchiveDraft]) -> str:
    """Return the option of the rewind that undoes a compaction with all that was done before it."""
    read = draft.input
    if read.appended_to is not None:
        return undo_option(read.appended_to, closed=draft.options.output.closed)
    return "--all" if read.end is not None and len(deposits) > 1 else ""


def _remaining(
    transcript: Transcript, result: CompactResult, unrepaired: Iterable[Fault]
) -> tuple[Fault, ...]:
    """Return what will still be refused of a new file, by the rules of an error too."""
    subject = result.subject
    if subject is None:
        return faults_of(transcript, result.measure)
    # Its indices of parts are other ones now.
    recipient = replace(subject.recipient, named=frozenset())
    named = {(fault.rule.id, fault.message) for fault in subject.faults}
    faults = faults_of(transcript, result.measure, recipient=recipient)
    still_named = (
        replace(fault, is_named=(fault.rule.id, fault.message) in named) for fault in faults
    )
    return (*still_named, *unrepaired)


def _unrepaired(draft: Draft) -> Iterator[Fault]:
    """Yield what the error is about, and what only the error shows, where nothing changed it."""
    after = {message.id: message for message in draft.run.applied.after}
    edits = draft.run.applied.edits
    corrected = {(edit.line, edit.path) for edit in edits if isinstance(edit, CorrectRecord)}
    for fault in draft.subject.faults if draft.subject else ():
        message = after.get(fault.message or MessageId(""))
        is_there = message is not None and (message.line, message.record_path) not in corrected
        if message is None or fault.part is None or not is_there:
            continue
        if may_break(fault.rule.id, message, message.parts[fault.part]):
            yield fault


def _proven(prepared: Prepared) -> Prepared:
    """Return it with what will still be refused of the new file.

    Raises OutputFaultError unless the new file reads back as the stages left the messages, and
    NotUnderstoodError if a client would refuse a new session.
    """
    if not prepared.is_changed:
        return prepared
    lines = ChunkedLines(prepared.content.chunks)
    name = str(prepared.source.path or "standard input")
    transcript = prove_layout(lines, prepared.format, prepared.expected, name)
    result = prepared.result
    remaining = _remaining(transcript, result, prepared.unrepaired)
    if result.options.output.fork is not None:
        records = [fault.record for fault in remaining if fault.is_refused and fault.record]
        before = [fault.record.reason for fault in result.faults if fault.record]
        check_accepted(result.options.input.path, records, before)
    return replace(prepared, result=replace(result, remaining=remaining))
