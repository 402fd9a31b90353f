"""Builds the result of a compaction: figures, warnings, and what options request."""

from compactctl.commands.compact.draft import Draft
from compactctl.commands.compact.result import CompactOptions, CompactResult, Requested
from compactctl.commands.measuring.acceptance import faults_of
from compactctl.commands.measuring.figures import FileDetails, StageEffect, details_of, figures_of
from compactctl.commands.measuring.measure import NO_DETAILS
from compactctl.commands.planning.fates import compare, message_fates
from compactctl.commands.planning.plan_file import PlanFile, planned_messages
from compactctl.commands.planning.run_stages import AppliedEdits, StageRun
from compactctl.commands.reading.session_title import session_title
from compactctl.errors import DoesNotFitError, NotUnderstoodError
from compactctl.history.apply import net_edits
from compactctl.history.unread import describe_unread
from compactctl.model.edit import (
    CorrectRecord,
    Edit,
    Hide,
    Insert,
    PartEdit,
    groups_of,
)
from compactctl.model.message import MessageId
from compactctl.model.operation import Digest, OperationId, StateChange
from compactctl.records import replace
from compactctl.stages.repair import NAME as REPAIR
from compactctl.tokens.meter import Meter


def compact_result(draft: Draft, after: Digest, operation: OperationId | None) -> CompactResult:
    """Return the result of a compaction before it is written.

    ``after`` is the digest of the new file; ``operation`` is None if nothing changed. Raises
    DoesNotFitError if ``require_fit`` is not met, or if no compaction could reach the target.
    """
    _check_reachable(draft)
    file, outcome = draft.input.file, draft.run.outcome
    unread = describe_unread(file.transcript.unread)
    recipient = None if draft.subject is None else draft.subject.recipient
    faults = faults_of(file.transcript, draft.measured, recipient=recipient)
    result = CompactResult(
        options=draft.options,
        format=file.format.name,
        measure=draft.measured.without_cached_texts(),
        plan=draft.plan,
        outcome=outcome,
        change=StateChange(before=draft.input.before, after=after, operation=operation),
        summaries=draft.summaries,
        restated=draft.restated,
        undone=draft.input.undone,
        end=draft.input.end,
        subject=draft.subject,
        faults=faults,
        remaining=faults,
        opaque=file.transcript.opaque,
        unread=unread,
        requested=_requested(draft),
        warnings=(
            *filter(None, (unread,)),
            *file.transcript.warnings,
            *filter(None, (outcome.size.doubt,)),
            *_held(draft),
            *_words(draft.run),
            *_findings(draft),
        ),
    )
    if draft.options.require_fit and result.judgment.is_over:
        raise DoesNotFitError(
            f"{draft.options.input.path}: {result.largest_after:,} tokens after all stages, over "
            f"the limit of {result.limit:,}; nothing was written; add a stage or protect less"
        )
    if draft.options.require_fit and unread:
        raise NotUnderstoodError(
            f"{draft.options.input.path}: {unread}, so it is unknown whether the result fits; "
            "nothing was written; leave out --require-fit to compact the rest"
        )
    return result


def _check_reachable(draft: Draft) -> None:
    """Raise DoesNotFitError if the fixed part of every request alone exceeds the target."""
    reach, target = draft.plan.reach, draft.run.outcome.target
    ran = draft.options.plan_file is None and not draft.held
    if not ran or reach.tokens is None or target is None:
        return
    if draft.run.fixed >= target:
        raise DoesNotFitError(
            f"{draft.options.input.path}: {target:,} tokens cannot be reached: "
            f"{draft.run.fixed:,} of each request are not in the transcript; nothing "
            "was written; use a larger --target, or --keep 30%"
        )


def _requested(draft: Draft) -> Requested:
    options, transcript = draft.options, draft.input.file.transcript
    applied, measured, size = draft.run.applied, draft.measured, draft.run.outcome.size
    fates = message_fates(applied, measured.meter) if _names_messages(options) else ()
    return Requested(
        fates=fates,
        comparison=(
            compare(applied, fates, measured.meter, transcript.session.cwd)
            if options.compare
            else None
        ),
        title=session_title(options.input.path, transcript.format) if options.compare else "",
        figures=figures_of(transcript, measured, size) if options.figures else None,
        details=_details(draft) if options.details != NO_DETAILS else None,
        plan_file=None if options.plan_out is None else _plan_file(draft),
        pays_after=_pays_after(draft),
    )


def _details(draft: Draft) -> FileDetails:
    """Return the rows about the input, with what stages did to each message."""
    options, transcript = draft.options, draft.input.file.transcript
    effects = fates_by_id(draft.run.applied, draft.measured.meter)
    return details_of(options.input.path, transcript, draft.measured, options.details, effects)


def fates_by_id(applied: AppliedEdits, meter: Meter) -> dict[MessageId, StageEffect]:
    """Return the tokens that stages left of each input message, and the stage that changed it."""
    return {
        MessageId(row.id): StageEffect(row.tokens_after, row.stage or None)
        for row in message_fates(applied, meter)
        if row.fate != "written"
    }


def _plan_file(draft: Draft) -> PlanFile:
    outcome, applied = draft.run.outcome, draft.run.applied
    repair = _repairs_beyond_plan(applied)
    if repair:
        applied = _without_repair(applied)
    fates = message_fates(applied, draft.measured.meter)
    return PlanFile(
        path=draft.options.input.path,
        format=draft.input.file.format.name,
        input=draft.input.source.digest,
        redo=draft.options.redo,
        target=outcome.target,
        tokens_before=outcome.before.tokens,
        tokens_after=outcome.after.tokens,
        messages=planned_messages(applied, fates),
        unsent=tuple(net_edits(applied.edits).removed_unsent),
        repair=repair,
    )


def _repairs_beyond_plan(applied: AppliedEdits) -> bool:
    """Whether a repair has edits that a plan cannot list.

    It lists rewritten texts, but not inputs of calls that change their kind, and markers only with
    what they replace.
    """
    hiding = groups_of(edit for edit in applied.edits if isinstance(edit, Hide))
    return any(
        isinstance(edit, PartEdit | CorrectRecord)
        or (isinstance(edit, Insert) and edit.message.group not in hiding)
        for edit in applied.edits
        if _is_repair(edit, applied)
    )


def _without_repair(applied: AppliedEdits) -> AppliedEdits:
    """Return the edits that a plan lists; those of the repair are made anew when it is applied."""
    edits = tuple(edit for edit in applied.edits if not _is_repair(edit, applied))
    repaired = net_edits(edit for edit in applied.edits if _is_repair(edit, applied))
    names = repaired.hidden.keys() | repaired.replaced.keys()
    reasons = {MessageId(name): "repaired after all else" for name in names}
    return replace(applied, edits=edits, protected={**applied.protected, **reasons})


def _is_repair(edit: Edit, applied: AppliedEdits) -> bool:
    return applied.groups[groups_of([edit])[0]] == REPAIR


def _names_messages(options: CompactOptions) -> bool:
    """Return whether any option needs the fate of each message."""
    asked = options.explain or options.compare or options.plan_out is not None
    return bool(asked or options.recipe.protect.pins or options.recipe.protect.tools)


def _pays_after(draft: Draft) -> int | None:
    cache, prices = draft.run.outcome.cache, draft.options.prices
    if cache is None or prices is None:
        return None
    price = prices.price_for(draft.measured.model.name, cache.held + cache.resent)
    return cache.pays_after(price) if price else None


def _findings(draft: Draft) -> tuple[str, ...]:
    faulty = (s for s in draft.summaries if s.findings and not s.is_built_in)
    return tuple(
        f"the summary by {summary.writer}: {summary.findings}; compactctl lab audit lists them"
        for summary in faulty
    )


def _words(stage_run: StageRun) -> tuple[str, ...]:
    """Warn that the user's words, which stages keep, are larger than the target."""
    target, beside = stage_run.outcome.target, stage_run.preamble + stage_run.outcome.after.unseen
    if target is None or not stage_run.words or stage_run.words + beside <= target:
        return ()
    words, size = f"{stage_run.words:,} tokens", f"more than the {target:,} asked for"
    if stage_run.words > target:
        return (f"your words alone take {words}, {size}",)
    return (f"your words take {words}, beside {beside:,} in every request: {size}",)


def _held(draft: Draft) -> tuple[str, ...]:
    if not draft.held:
        return ()
    what = "not changed: the result could not be read back from the damaged file"
    return (f"{what} ({draft.held}); leave more of it alone, or try other stages",)
