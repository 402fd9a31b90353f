"""Audits the compactions that are already in a transcript."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Literal

from compactctl.commands.client_sessions.places import (
    CompactionPlace,
    PastState,
    compaction_places,
    past_states,
    place_after,
    read_after,
    read_before,
    sent_messages,
    texts_of,
)
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.operations.history import history_behind
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.formats.records.decode import Decoded
from compactctl.lab.audit import AuditInput, without_boilerplate, without_transcript_path
from compactctl.lab.audit import audit as audit_of
from compactctl.lab.audit_findings import Audit, LossKind
from compactctl.model.message import Message, TextPart
from compactctl.model.transcript import Transcript
from compactctl.summaries.extract.passages import SourceRef, source_refs
from compactctl.tokens.meter import Meter

OWN = "compactctl"
# audited: everything could be looked up. sealed: the client keeps its summary encrypted, or keeps
# none. gone: what it stands for is in no file that was found.
AuditVerdict = Literal["audited", "sealed", "gone"]
AuditGate = Literal[
    "lost-rules",
    "lost-tasks",
    "lost-files",
    "lost-errors",
    "lost-identifiers",
    "lost-reads",
    "invented",
    "reread",
    "unaudited",
]
_LOSS_GATES: Mapping[AuditGate, LossKind] = {
    "lost-rules": "rule",
    "lost-tasks": "task",
    "lost-files": "file",
    "lost-errors": "error",
    "lost-identifiers": "identifier",
    "lost-reads": "read",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What to audit, which finds fail the run, and how many of each kind are listed."""

    input: InputOptions
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    fail_on: tuple[AuditGate, ...] = ()
    top: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCompaction:
    """A compaction, in all conversations of a transcript at once, and who did it.

    Attributes:
        writer: ``compactctl``, or the format whose client compacted.
        line: that of its summary or boundary, from 0.
        compaction: what was sent before and after it, without a summary; its source is all that was
            said before, sent or not.
        restored: what the client sent again by itself after it, before the agent went on.
        verdict: what can be looked up.
        operation, stages: of a compaction by compactctl; the stages are those that changed
            something.
    """

    writer: str
    line: int
    compaction: AuditInput
    restored: tuple[Message, ...] = ()
    verdict: AuditVerdict = "audited"
    operation: str | None = None
    stages: tuple[str, ...] = ()

    @property
    def conversations(self) -> tuple[int, ...]:
        """The numbers of the conversations in which anything changed."""
        sent = {message.id: message for message in self.compaction.after}
        changed = {
            message.conversation
            for message in self.compaction.before
            if message.id not in sent or sent[message.id].parts != message.parts
        }
        return tuple(sorted(changed))

    def spot(self, conversation: int) -> SourceRef:
        """Return where the summary stands, or else the boundary."""
        written = {message.id for message in self.written(conversation)}
        after = self.compaction.after
        spots = zip(after, source_refs(after), strict=True)
        found = (spot for message, spot in spots if message.id in written)
        return next(found, SourceRef(self.line + 1))

    def written(self, conversation: int) -> tuple[Message, ...]:
        """Return the summaries that were written for it."""
        known = {message.id for message in self.compaction.before}
        return tuple(
            message
            for message in self.compaction.after
            if message.origin.is_summary
            and message.id not in known
            and message.conversation == conversation
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedCompaction:
    """What a compaction was to one conversation, and what became of what was known.

    Attributes:
        conversation: its number, from 1.
        tokens_before, tokens_after: of the effective history.
        summary_tokens: of the text that was written for it.
        restored_tokens: of what the client sent again by itself, before the agent went on.
        audit: what was found; None unless something could be.
    """

    found: FoundCompaction
    conversation: int
    tokens_before: int
    tokens_after: int
    summary_tokens: int
    restored_tokens: int
    audit: Audit | None

    @property
    def spot(self) -> SourceRef:
        """Where its summary or boundary stands, in the state that it led to."""
        return self.found.spot(self.conversation - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """The compactions of a transcript, oldest first."""

    options: AuditOptions
    format: str
    measure: Measurement
    compactions: tuple[AuditedCompaction, ...]
    warnings: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[AuditGate, ...]:
        """The gates that found something, in the order they were asked for."""
        return tuple(
            gate
            for gate in self.options.fail_on
            if any(_finds(gate, compaction) for compaction in self.compactions)
        )

    @property
    def exit_code(self) -> int:
        """1 where a gate found something, else 0."""
        return int(bool(self.failed))


def audit(options: AuditOptions) -> AuditResult:
    """Audit every compaction of a transcript.

    Raises as reading does, ArchiveError, IntegrityError and ChangedError as ``log`` does, and
    UsageError for what cannot be measured with.
    """
    loaded = load(options.input)
    history = history_behind(loaded)
    measured = measure(loaded.transcript, options.measure)
    found = tuple(_found(tuple(past_states(loaded, history))))
    cwd = loaded.transcript.session.cwd
    return AuditResult(
        options=options,
        format=loaded.format.name,
        measure=measured.without_cached_texts(),
        compactions=tuple(
            _audited(each, conversation, cwd, measured.meter)
            for each in found
            for conversation in each.conversations or (0,)
        ),
        warnings=(*loaded.transcript.warnings, *history.warnings),
    )


def text_of(messages: tuple[Message, ...]) -> str:
    """Return the texts of messages, one below the other."""
    parts = (part for message in messages for part in message.parts)
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _finds(gate: AuditGate, compaction: AuditedCompaction) -> bool:
    audit = compaction.audit
    if gate == "unaudited":
        return compaction.found.verdict != "audited"
    if audit is None:
        return False
    if gate == "invented":
        return bool(audit.invented)
    if gate == "reread":
        return bool(audit.rereads)
    return bool(audit.lost_of(_LOSS_GATES[gate]))


def _found(past: Sequence[PastState]) -> Iterator[FoundCompaction]:
    """Yield the compactions that led from state to state, and those by the client in between."""
    for place, state in enumerate(past):
        start = 0
        if state.step is not None and state.outcome is not None:
            if not state.step.undoes_client:
                yield _by_compactctl(state.step, past[:place], state)
            start = state.outcome.n_lines
        yield from _by_client(state, start)


def _by_compactctl(
    step: OperationStep, past: Iterable[PastState], state: PastState
) -> FoundCompaction:
    """Return what a step did that led from the last of the ``past`` states to this one."""
    past = tuple(past)
    before, outcome = past[-1].transcript, state.outcome or state.transcript
    left = {message.id for message in outcome.messages}
    following = compaction_places(state.transcript, outcome.n_lines)
    end = following[0].first if following else state.transcript.n_lines
    later = (m for m in state.transcript.messages if m.id not in left and m.line < end)
    later = (message for message in later if not message.origin.is_subagent)
    written = (m.line for m in outcome.effective if m.origin.is_synthetic)
    said = chain.from_iterable(each.transcript.messages for each in past)
    return FoundCompaction(
        writer=OWN,
        line=min(written, default=0),
        compaction=AuditInput(
            before=sent_messages(before),
            after=sent_messages(outcome),
            summary=None,
            source=tuple({message.id: message for message in said}.values()),
            later=tuple(later),
        ),
        operation=step.id,
        stages=_stages(step),
    )


def _stages(step: OperationStep) -> tuple[str, ...]:
    if not isinstance(step, ArchivedStep):
        return ()
    return tuple(record.name for record in step.operation.stages if record.outcome == "applied")


def _by_client(state: PastState, start: int) -> Iterator[FoundCompaction]:
    """Yield what a client compacted on line ``start`` or later, oldest first.

    What changed nothing is left out. Every compaction has what stands before it read once more.
    """
    messages = state.transcript.messages
    found = compaction_places(state.transcript, start)
    places = [place_after(state.transcript, moment) for moment in found]
    for moment, (place, end) in zip(found, pairwise([*places, len(messages)]), strict=True):
        result = _found_compaction(state, moment, messages[place:end])
        if result.compaction.before != result.compaction.after:
            yield result


def _found_compaction(
    state: PastState, moment: CompactionPlace, following: Sequence[Message]
) -> FoundCompaction:
    tagged = _tagged(state, moment)
    if tagged is not None:
        return tagged
    before, after = read_before(state, moment), read_after(state, moment)
    said = [
        m
        for m in following
        if not (m.origin.is_subagent or m.origin.is_summary or m.origin.is_synthetic)
    ]
    answers = (at for at, message in enumerate(said) if message.role == "assistant")
    answer = next(answers, len(said))
    restored = (message for message in said[:answer] if not message.starts_turn)
    return FoundCompaction(
        writer=state.transcript.format,
        line=moment.last,
        compaction=AuditInput(
            before=sent_messages(before),
            after=sent_messages(after),
            summary=None,
            source=before.messages,
            client_context="\n".join(texts_of(_known_lines(state, moment, said[answer:]))),
            later=tuple(said[answer:]),
        ),
        restored=tuple(restored),
        verdict=_verdict(before, after),
    )


def _tagged(state: PastState, moment: CompactionPlace) -> FoundCompaction | None:
    """Return a compaction that tagged what it hides, and left it in the file; None for others.

    When it happened is not told: all that is sent beside the summary counts as kept.
    """
    left = sent_messages(state.transcript)
    at_moment = (m for m in left if m.origin.is_summary and (m.line, m.record_path) == moment.place)
    summary = next((m for m in at_moment if m.tags.condense_id), None)
    if summary is None:
        return None
    group = summary.tags.condense_id
    messages = state.transcript.messages
    hidden = tuple(m for m in messages if m.tags.condense_parent == group)
    if not hidden:
        return None
    shown = {m.id for m in (*hidden, *left)} - {summary.id}
    return FoundCompaction(
        writer=state.transcript.format,
        line=moment.last,
        compaction=AuditInput(
            before=tuple(m for m in messages if m.id in shown),
            after=left,
            summary=None,
            source=hidden,
        ),
    )


def _known_lines(
    state: PastState, moment: CompactionPlace, later: Sequence[Message]
) -> Sequence[Decoded]:
    """Return the lines that a client may have facts from.

    Those behind a compaction count up to the answer: what a person asked of it is among them.
    """
    if moment.element:
        return state.decoded[: moment.first]
    end = later[0].line if later else len(state.decoded)
    return (*state.decoded[: moment.first], *state.decoded[moment.last + 1 : end])


def _verdict(before: Transcript, after: Transcript) -> AuditVerdict:
    known, left = ({m.id for m in each.effective} for each in (before, after))
    new = tuple(message for message in after.effective if message.id not in known)
    if new and known <= left:
        return "gone"
    return (
        "sealed" if new and not text_of(tuple(m for m in new if m.origin.is_summary)) else "audited"
    )


def _audited(
    found: FoundCompaction, conversation: int, cwd: str | None, meter: Meter
) -> AuditedCompaction:
    told = found.compaction
    before, after, restored, later = (
        _within(messages, conversation)
        for messages in (told.before, told.after, found.restored, told.later)
    )
    summary = text_of(found.written(conversation))
    is_own = found.writer == OWN
    claims = without_boilerplate(summary) if is_own else without_transcript_path(summary)
    judged = replace(
        told,
        before=before,
        after=(*after, *restored),
        summary=None if found.verdict == "sealed" else claims,
        later=later,
        cwd=cwd,
    )
    return AuditedCompaction(
        found=found,
        conversation=conversation + 1,
        tokens_before=meter.total(before),
        tokens_after=meter.total(after),
        summary_tokens=meter.text(summary),
        restored_tokens=meter.total(restored),
        audit=None if found.verdict == "gone" else audit_of(judged, meter.text_uncached),
    )


def _within(messages: Sequence[Message], conversation: int) -> tuple[Message, ...]:
    return tuple(message for message in messages if message.conversation == conversation)
