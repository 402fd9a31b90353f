"""Compactions with one purpose: messages hidden by hand, and a full session made usable again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compactctl.commands.archives import all_archives
from compactctl.commands.client_sessions.new_session import continued_with
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.operations.history import OperationHistory, history_of
from compactctl.commands.planning.plan import PlanOptions, StageSettings
from compactctl.commands.reading.transcript import is_in_database
from compactctl.errors import CompactctlError, UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.model.operation import Digest
from compactctl.sessions.reading.folders import FolderScanner
from compactctl.sessions.registry import session_at
from compactctl.sessions.session import Session
from compactctl.stages.span import NAME
from compactctl.store.client_folders import UserEnvironment, this_machine
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.source import Source, open_input

_BETWEEN = ".."
# A new session has its own id in each line, of about the same length, and a title behind them.
_MORE_LINES, _MORE_BYTES = 3, 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOptions:
    """The ``FROM..TO`` to hide, and the summary that is to stand for it, None for a marker.

    With ``widen`` whole tool pairs are hidden where FROM or TO is inside of some.
    """

    messages: str
    summary: str | None = None
    widen: bool = False


def tag(options: CompactOptions, wanted: HandOptions) -> CompactResult:
    """Hide a range of messages.

    Raises as ``compact`` does, and UsageError for a range that may not be hidden.
    """
    first, between, last = wanted.messages.partition(_BETWEEN)
    if not (between and first and last):
        raise UsageError(f"{wanted.messages!r} is not a range; write it as FROM..TO, as in 3..9")
    if wanted.summary is not None and not wanted.summary.strip():
        raise UsageError("the summary is empty; say what the messages were about")
    summary = (wanted.summary or "").strip()
    settings: StageSettings = {
        NAME: {"first": first, "last": last, "summary": summary, "widen": wanted.widen}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RescueResult:
    """What was done, and the command that goes on with the session, None where there is none.

    ``earlier`` is the new session that an earlier rescue made of this one as it still is; nothing
    was written then, and ``compacted`` is what that one comes to. ``uncounted`` are the tokens that
    the client's error says were sent, beyond those that are counted: nothing here takes them out.
    """

    compacted: CompactResult
    continue_with: str | None
    earlier: Session | None = None
    uncounted: int = 0

    @property
    def tokens_before(self) -> int:
        """What the next request was, by the higher of the two figures."""
        return self.compacted.outcome.before.request_tokens + self.uncounted

    @property
    def tokens_after(self) -> int:
        """What the next request is, with what the error counts and the transcript does not hold."""
        return self.compacted.largest_after + self.uncounted


def rescue(options: CompactOptions) -> RescueResult:
    """Compact as ``compact`` does, and tell how to go on; raises as that does.

    A second new session of one that has not changed is only made with options that ask for it.
    """
    source, output, error = options.input, options.output, options.recipe.plan.overflow
    plain = CompactOptions(input=source, output=OutputOptions(dry_run=output.dry_run))
    earlier = earlier_rescue(source.path, source.limits) if options == plain else None
    if earlier is not None:
        options = replace(options, output=replace(output, dry_run=True))
    result = compact(options)
    model = result.measure.long_window_model
    if earlier is not None:
        way_on = continued_with(str(earlier.entry.path), None, model=model)
    elif result.written is not None:
        way_on = result.written.continue_with
    elif output.dry_run:
        way_on = None
    else:
        way_on = continued_with(str(Path(source.path)), None, model=model)
    sent = (error.actual if error else None) or 0
    return RescueResult(
        compacted=result,
        continue_with=way_on,
        earlier=earlier,
        uncounted=max(0, sent - result.outcome.before.request_tokens),
    )


def earlier_rescue(path: str, limits: ReadLimits) -> Session | None:
    """Return the newest compacted session that was made of the one at ``path`` as it is now.

    None for what is in no store of files, and where no such session is there and in effect.
    """
    machine = this_machine()
    session = None if is_in_database(path) else session_at(Path(path), machine)
    if session is None:
        return None
    source = open_input(path, limits)
    return next(_made_of(session, source, machine, limits), None)


def _made_of(
    session: Session, source: Source, machine: UserEnvironment, limits: ReadLimits
) -> Iterator[Session]:
    for archive in all_archives(machine, FolderScanner()):
        try:
            new = session_at(archive.session, machine)
            if new is None or new.entry.client != session.entry.client or new.id == session.id:
                continue
            history = history_of(open_input(str(archive.session), limits), str(archive.session))
            if _begins_as(history, source, new.id.encode(), session.id.encode()):
                yield new
        except CompactctlError:
            continue


def _begins_as(history: OperationHistory, source: Source, new: bytes, old: bytes) -> bool:
    """Tell whether the first state of a history is a session under another id, and compacted."""
    if not history.archived or not _may_be(history.archived[0].operation.before, source.digest):
        return False
    state = [line.replace(new, old) for line in history.archived[0].before()]
    return _is_same(state, source.lines) and bool(history.chain)


def _may_be(state: Digest, source: Digest) -> bool:
    more_lines = state.n_lines - source.n_lines
    more_bytes = abs(state.n_bytes - source.n_bytes)
    return 0 <= more_lines <= _MORE_LINES and more_bytes <= _MORE_BYTES


def _is_same(state: Sequence[bytes], lines: Sequence[bytes]) -> bool:
    """Compare lines; the first of several may say what a session was made of.

    A last line without an end has one where lines were added to it.
    """
    first = len(lines) > 1
    pairs = zip(state[first:], lines[first:], strict=False)
    return all(line.removesuffix(b"\n") == other.removesuffix(b"\n") for line, other in pairs)
