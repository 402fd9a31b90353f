"""Compactions with a fixed recipe: hiding a range of messages, and freeing up a full session."""

from pathlib import Path

from compactctl.asks import ONE_RUN, POLICY, ask, flag
from compactctl.clients.databases import is_in_database
from compactctl.clients.session import Session
from compactctl.commands.client_sessions.new_session import command_to_continue
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.copies import copies_of
from compactctl.commands.operations.find_history import history_of
from compactctl.commands.operations.steps import ArchivedStep
from compactctl.commands.planning.plan import PlanOptions, StageSettings
from compactctl.errors import DoesNotFitError, UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.records import Record, replace
from compactctl.stages.span import NAME
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.source import open_input
from compactctl.tokens.verdict import Judgment

_BETWEEN = ".."


class HiddenRange(Record):
    """The messages to hide, behind the summary or a marker."""

    messages: str = ask(
        "",
        "Hide these messages, behind the text of --summary-file or a marker. FROM and TO are "
        "lines (158), references (L158) or ids; both are hidden. Ranges that separate a tool "
        "call from its result, or save nothing, are rejected.",
        POLICY,
        ONE_RUN,
        flag="--hide",
        metavar="FROM..TO",
    )
    widen: bool = flag("Extend --hide to whole pairs of tool calls and results.", POLICY, ONE_RUN)


def hide_range(options: CompactOptions, hidden: HiddenRange) -> CompactResult:
    """Hide a range of messages.

    Raises as ``compact`` does, and UsageError for a range that may not be hidden.
    """
    first, between, last = hidden.messages.partition(_BETWEEN)
    if not (between and first and last):
        raise UsageError(f"{hidden.messages!r} is not a range; write it as FROM..TO, e.g. 3..9")
    summary = options.recipe.plan.texts.summary
    settings: StageSettings = {
        NAME: {"first": first, "last": last, "summary": summary, "widen": hidden.widen}
    }
    recipe = replace(
        options.recipe,
        plan=PlanOptions(stages=(NAME,), settings=settings),
        protect=ProtectOptions(keep_turns=0),
    )
    result = compact(replace(options, recipe=recipe))
    if not result.compacted:
        why = result.stages[0].detail.replace("--span-widen", "--widen")
        raise UsageError(f"{options.input.path}: {why}")
    return result


class RescueResult(Record):
    """The result of a rescue.

    Attributes:
        compacted: the compaction; a dry run if an ``earlier`` session is reused.
        continue_with: the shell command that resumes the session, None if there is none.
        earlier: the session that an earlier rescue wrote for the same state of this one, if any.
        uncounted: tokens that the client's error reports beyond those in the transcript; no
            compaction removes them.
    """

    compacted: CompactResult
    continue_with: str | None
    earlier: Session | None = None
    uncounted: int = 0

    @property
    def exit_code(self) -> int:
        """5 if the next request will still be refused, for its size or what only the user can fix.

        Also if the error to recover from is about something that the transcript does not show.
        """
        # Of several verdicts, the worst may be that the size is even larger.
        is_refused = not {"will be refused", "over limit"}.isdisjoint(self.judgment.verdicts)
        return DoesNotFitError.exit_code if is_refused or self.compacted.misses_error else 0

    @property
    def judgment(self) -> Judgment:
        """The next request, after the user's prompt, compared with the window and the target."""
        done = self.compacted
        return replace(
            done.judgment,
            tokens=self.tokens_after,
            limit=done.measure.budget.window,
            is_refused=any(fault.outlasts_prompt for fault in done.remaining),
        )

    @property
    def tokens_before(self) -> int:
        """Tokens of the next request before, by the error or the count, whichever is higher."""
        return self.compacted.outcome.before.request_tokens + self.uncounted

    @property
    def tokens_after(self) -> int:
        """Tokens of the next request after, including ``uncounted``."""
        return self.compacted.largest_after + self.uncounted


def rescue(options: CompactOptions) -> RescueResult:
    """Compact with the recovery profile, and find the command that resumes the session.

    If an earlier rescue of the same state exists, nothing is written, unless there are options.
    Raises as ``compact`` does.
    """
    source, output, error = options.input, options.output, options.recipe.plan.overflow
    plain = CompactOptions(input=source, output=OutputOptions(dry_run=output.dry_run))
    earlier = earlier_rescue(source.path, source.limits) if options == plain else None
    if earlier is not None:
        options = replace(options, output=replace(output, dry_run=True))
    result = compact(replace(options, only_accepted=True))
    model = result.measure.long_window_model
    if earlier is not None:
        command = command_to_continue(str(earlier.entry.path), None, model=model)
    elif written := result.written or result.earlier:
        command = written.continue_with
    elif output.dry_run:
        command = None
    else:
        command = command_to_continue(str(Path(source.path)), None, model=model)
    tokens_sent = (error.actual if error else None) or 0
    return RescueResult(
        compacted=result,
        continue_with=command,
        earlier=earlier,
        uncounted=max(0, tokens_sent - result.outcome.before.request_tokens),
    )


def earlier_rescue(path: str, limits: ReadLimits) -> Session | None:
    """Return the newest compacted session made from the current state of the one at ``path``.

    None if there is none, or if ``path`` is not a session stored as a file.
    """
    if is_in_database(path):
        return None

    def is_rescued(copy: Session, step: ArchivedStep) -> bool:
        where = str(copy.entry.path)
        is_whole = step.operation.kind != "end"
        return is_whole and bool(history_of(open_input(where, limits), where).chain)

    return next(copies_of(path, open_input(path, limits), 0, is_rescued), None)
