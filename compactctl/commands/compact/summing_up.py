"""What a compaction came to, in figures and in words."""

from collections.abc import Sequence

from compactctl.commands.compact.draft import CompactionJob
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.measuring.figures import (
    NO_DETAILS,
    FileDetails,
    Left,
    details_of,
    figures_of,
)
from compactctl.commands.planning.fates import Comparison, Explained, compare, explain
from compactctl.commands.planning.plan_file import PlanFile, planned_messages
from compactctl.commands.planning.run_stages import AppliedEdits
from compactctl.errors import DoesNotFitError
from compactctl.history.unread import unread_text
from compactctl.model.edit import Edit, Insert
from compactctl.model.message import MessageId
from compactctl.model.operation import Digest
from compactctl.pipeline.apply import fold
from compactctl.tokens.meter import Meter


def sum_up(job: CompactionJob, after: Digest, operation: str | None) -> CompactResult:
    """Return what came of a compaction before it is written.

    ``after`` is the digest of the new file, ``operation`` None where that is the old one. Raises
    DoesNotFitError where it was to fit and does not, and where nothing could make it fit.
    """
    _check_reachable(job)
    result = _result(job, after, operation)
    if job.options.require_fit and not result.fits:
        raise DoesNotFitError(
            f"{result.path}: {result.largest_after:,} tokens are left after all stages, "
            f"over the limit of {result.limit:,}; nothing was written, add a stage or keep less"
        )
    return result


def _check_reachable(job: CompactionJob) -> None:
    """Raise DoesNotFitError where what is in every request alone is over the size to reach."""
    plan, target = job.plan, job.run.outcome.target
    ran = job.options.plan_file is None and not job.held
    if not ran or plan.size.tokens is None or target is None:
        return
    if job.run.fixed >= target:
        raise DoesNotFitError(
            f"{job.options.input.path}: no compaction reaches {target:,} tokens, as "
            f"{job.run.fixed:,} are in every request beside the transcript; nothing was written, "
            "name a larger --target or keep a share with --keep 30%"
        )


def _result(job: CompactionJob, after: Digest, operation: str | None) -> CompactResult:
    options, loaded, outcome = job.options, job.loaded, job.run.outcome
    explained = explain(job.run.applied, job.measured.meter) if _names_messages(options) else ()
    return CompactResult(
        path=options.input.path,
        format=loaded.format.name,
        measure=job.measured.forgetting(),
        target=outcome.target,
        stages=outcome.stages,
        summaries=_summaries(job.run.applied.edits),
        profile=job.plan.profile,
        keep_turns=job.plan.protect.keep_turns,
        cache=outcome.cache,
        pays_after=_pays_after(job),
        tokens_before=outcome.before.tokens,
        tokens_after=outcome.after.tokens,
        restated=job.restated,
        unseen=outcome.after.unseen,
        unseen_source=outcome.size.source,
        unreported=outcome.size.unreported,
        largest_before=outcome.before.request,
        situation=outcome.situation,
        messages_before=outcome.before.messages,
        messages_after=outcome.after.messages,
        before=job.redone.archive[0].before if job.redone else loaded.source.digest,
        redone=job.redone.compactions if job.redone else (),
        after=after,
        operation=operation,
        dry_run=options.output.dry_run,
        explain=options.explain,
        figures=(
            figures_of(loaded.transcript, job.measured, outcome.size) if options.figures else None
        ),
        details=_details(job) if options.details != NO_DETAILS else None,
        explained=explained,
        compared=_compared(job, explained) if options.compare else None,
        plan=_plan(job, explained) if options.as_plan else None,
        not_due=outcome.not_due,
        warnings=(
            *filter(None, (unread_text(loaded.transcript.unread),)),
            *loaded.transcript.warnings,
            *_doubt(job),
            *_held(job),
            *_words(job),
            *_findings(job),
        ),
        audits=job.audits,
        opaque=loaded.transcript.opaque,
    )


def _details(job: CompactionJob) -> FileDetails:
    """Return the rows about what was read, with what became of each message."""
    transcript, measured = job.loaded.transcript, job.measured
    left = left_of(job.run.applied, measured.meter)
    return details_of(job.options.input.path, transcript, measured, job.options.details, left)


def left_of(applied: AppliedEdits, meter: Meter) -> dict[MessageId, Left]:
    """Return what stages left of each message that they were given."""
    return {
        MessageId(row.id): Left(row.tokens_after, row.stage or None)
        for row in explain(applied, meter)
        if row.fate != "written"
    }


def _compared(job: CompactionJob, explained: Sequence[Explained]) -> Comparison:
    return compare(job.run.applied, explained, job.measured.meter, job.loaded.transcript.cwd)


def _plan(job: CompactionJob, explained: Sequence[Explained]) -> PlanFile:
    outcome, applied, options = job.run.outcome, job.run.applied, job.options
    return PlanFile(
        path=options.input.path,
        format=job.loaded.format.name,
        input=job.loaded.source.digest,
        redo=options.redo,
        target=outcome.target,
        tokens_before=outcome.before.tokens,
        tokens_after=outcome.after.tokens,
        messages=planned_messages(applied, explained),
        unsent=tuple(fold(applied.edits).unloaded),
    )


def _names_messages(options: CompactOptions) -> bool:
    """Tell whether anybody asks what became of each message."""
    asked = options.explain or options.compare or options.as_plan
    return asked or bool(options.recipe.protect.pins or options.recipe.protect.tools)


def _summaries(edits: Sequence[Edit]) -> dict[str, str]:
    written = (edit.message for edit in edits if isinstance(edit, Insert))
    return {message.group: message.text for message in written if message.kind == "summary"}


def _pays_after(job: CompactionJob) -> int | None:
    cache, prices = job.run.outcome.cache, job.options.prices
    if cache is None or prices is None:
        return None
    price = prices.of(job.measured.model.name, cache.held + cache.anew)
    return cache.pays_after(price) if price else None


def _findings(job: CompactionJob) -> tuple[str, ...]:
    found = (each for each in job.audits if each.told and not each.is_own)
    return tuple(
        f"the summary by {each.writer}: {each.told}; compactctl audit lists them" for each in found
    )


def _doubt(job: CompactionJob) -> tuple[str, ...]:
    doubt = job.run.outcome.size.doubt
    return (doubt,) if doubt else ()


def _words(job: CompactionJob) -> tuple[str, ...]:
    """Say that the words of people are more than was asked for."""
    done, target = job.run, job.run.outcome.target
    beside = done.given + done.outcome.after.unseen
    if target is None or not done.said or done.said + beside <= target:
        return ()
    words, size = f"{done.said:,} tokens", f"more than the {target:,} asked for"
    if done.said > target:
        return (f"your words alone take {words}, {size}",)
    return (f"your words take {words}, beside {beside:,} in every request: {size}",)


def _held(job: CompactionJob) -> tuple[str, ...]:
    if not job.held:
        return ()
    what = "left as it is: what the stages wanted would not be read back from a damaged file"
    return (f"{what} ({job.held}); leave more of it alone, or try other stages",)
