"""Audits the compactions that are already in a transcript."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from compactctl.auditing.audit import Compaction
from compactctl.auditing.audit import audit as judged
from compactctl.auditing.own_words import without_frame, without_own_words
from compactctl.commands.audit.by_client import by_client
from compactctl.commands.audit.by_compactctl import by_compactctl
from compactctl.commands.audit.found import OWN, FoundCompaction, text_of
from compactctl.commands.audit.result import AuditedCompaction, AuditOptions, AuditResult
from compactctl.commands.by_client.states import PastState, states
from compactctl.commands.loading.load import load
from compactctl.commands.operations.history import history_behind
from compactctl.commands.sizing.measure import measure
from compactctl.model.message import Message
from compactctl.tokens.meter import Meter


def audit(options: AuditOptions) -> AuditResult:
    """Audit every compaction of a transcript.

    Raises as reading does, ArchiveError, IntegrityError and ChangedError as ``log`` does, and
    UsageError for what cannot be measured with.
    """
    loaded = load(options.input)
    history = history_behind(loaded)
    measured = measure(loaded.transcript, options.measure)
    found = tuple(_found(tuple(states(loaded, history))))
    cwd = loaded.transcript.cwd
    return AuditResult(
        path=options.input.path,
        format=loaded.format.name,
        measure=measured.forgetting(),
        compactions=tuple(
            _audited(each, conversation, cwd, measured.meter)
            for each in found
            for conversation in each.conversations or (0,)
        ),
        fail_on=options.fail_on,
        top=options.top,
        warnings=(*loaded.transcript.warnings, *history.warnings),
    )


def _found(past: Sequence[PastState]) -> Iterator[FoundCompaction]:
    """Yield the compactions that led from state to state, and those by the client in between."""
    for place, state in enumerate(past):
        start = 0
        if state.step is not None and state.outcome is not None:
            if not state.step.undoes_client:
                yield by_compactctl(state.step, past[:place], state)
            start = state.outcome.n_lines
        yield from by_client(state, start)


def _audited(
    found: FoundCompaction, conversation: int, cwd: str | None, meter: Meter
) -> AuditedCompaction:
    before, after, restored, later = (
        _within(messages, conversation)
        for messages in (found.before, found.after, found.restored, found.later)
    )
    written = found.written(conversation)
    summary = text_of(written)
    result = AuditedCompaction(
        writer=found.writer,
        spot=found.spot(conversation),
        operation=found.operation,
        stages=found.stages,
        conversation=conversation + 1,
        tokens_before=meter.total(before),
        tokens_after=meter.total(after),
        summary_tokens=meter.text(summary),
        restored_tokens=meter.total(restored),
        verdict=found.verdict,
    )
    if found.verdict == "gone":
        return result
    is_own = found.writer == OWN
    claims = without_own_words(summary) if is_own else without_frame(summary)
    compaction = Compaction(
        before=before,
        after=(*after, *restored),
        summary=None if found.verdict == "sealed" else claims,
        source=found.source,
        aside=found.aside,
        later=later,
        cwd=cwd,
    )
    return replace(result, audit=judged(compaction, meter.text_once))


def _within(messages: Sequence[Message], conversation: int) -> tuple[Message, ...]:
    return tuple(message for message in messages if message.conversation == conversation)
