"""Audits the compactions in a transcript: those by compactctl, and those by its client."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Literal, get_args

from compactctl.asks import GATES, MAY, SHOWN, ask
from compactctl.audit.audit import AuditInput, without_boilerplate, without_transcript_path
from compactctl.audit.audit import audit as audit_of
from compactctl.audit.findings import Audit, LossKind
from compactctl.clients.records.decode import Decoded
from compactctl.commands.client_sessions.places import (
    CompactionRange,
    PastState,
    find_compactions,
    index_after,
    past_states,
    read_after,
    read_before,
    sent_messages,
    texts_of,
)
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.errors import UsageError, suggestion
from compactctl.history.references import SourceRef, refs_of
from compactctl.model.message import Message, TextPart
from compactctl.model.transcript import Transcript
from compactctl.records import Record, field, replace
from compactctl.tokens.meter import Meter

COMPACTCTL = "compactctl"
# audited: everything could be checked. sealed: the client's summary is encrypted or not in the
# file. gone: the messages it replaces are in no file that was found.
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


_GATES = get_args(AuditGate)


def _gates(text: str) -> tuple[AuditGate, ...]:
    """Return the gates in a comma-separated list. Raises UsageError for an unknown one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in _GATES:
            hint = suggestion(name, _GATES, f"there are {', '.join(_GATES)}")
            raise UsageError(f"no gate named {name!r}; {hint}")
    return tuple(gate for gate in _GATES if gate in names)


class AuditOptions(Record):
    """The transcript to audit, and how."""

    input: InputOptions
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    fail_on: tuple[AuditGate, ...] = ask(
        (),
        f"Exit 1 if any of these was found: {', '.join(_GATES)}. Separate several with commas.",
        GATES,
        MAY,
        metavar="LIST",
        parse=_gates,
        typed="",
    )
    top: int = ask(5, "Number of findings of each kind to list.", SHOWN, MAY, metavar="N")


class FoundCompaction(Record):
    """A compaction in all conversations of a transcript, and its author.

    Attributes:
        writer: ``compactctl``, or the format of the client that compacted.
        line: that of its summary or boundary, from 0.
        audit_input: what was sent before and after it, without a summary; its source is everything
            said before, sent or not.
        restored: what the client sent again on its own afterwards, before the agent answered.
        verdict: what can be checked.
        operation, stages: of a compaction by compactctl; the stages are those that changed
            something.
    """

    writer: str
    line: int
    audit_input: AuditInput
    restored: tuple[Message, ...] = ()
    verdict: AuditVerdict = "audited"
    operation: str | None = None
    stages: tuple[str, ...] = ()

    @property
    def conversations(self) -> tuple[int, ...]:
        """The numbers of the conversations in which anything changed."""
        sent = {message.id: message for message in self.audit_input.after}
        changed = {
            message.conversation
            for message in self.audit_input.before
            if message.id not in sent or sent[message.id].parts != message.parts
        }
        return tuple(sorted(changed))

    def spot(self, conversation: int) -> SourceRef:
        """Return the reference of the summary, or else of the boundary."""
        written = {message.id for message in self.written(conversation)}
        after = self.audit_input.after
        refs = zip(after, refs_of(after), strict=True)
        summary_refs = (ref for message, ref in refs if message.id in written)
        return next(summary_refs, SourceRef(self.line + 1))

    def written(self, conversation: int) -> tuple[Message, ...]:
        """Return the summaries written by it."""
        ids_before = {message.id for message in self.audit_input.before}
        return tuple(
            message
            for message in self.audit_input.after
            if message.origin.is_summary
            and message.id not in ids_before
            and message.conversation == conversation
        )


class AuditedCompaction(Record):
    """The effect of a compaction on one conversation, and on what was known in it.

    Attributes:
        compaction: the compaction.
        conversation: the number of the conversation, from 1.
        tokens_before, tokens_after: those of the effective history.
        summary_tokens: those of the summaries written by it.
        restored_tokens: those that the client sent again on its own, before the agent answered.
        audit: the findings; None if nothing can be checked.
    """

    compaction: FoundCompaction
    conversation: int
    tokens_before: int
    tokens_after: int
    summary_tokens: int
    restored_tokens: int
    audit: Audit | None

    @property
    def spot(self) -> SourceRef:
        """The reference of its summary or boundary in the state that it led to."""
        return self.compaction.spot(self.conversation - 1)


class AuditResult(Record):
    """The compactions of a transcript, oldest first."""

    options: AuditOptions
    format: str
    measure: Measurement
    compactions: tuple[AuditedCompaction, ...]
    warnings: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[AuditGate, ...]:
        """The gates that failed, in the order they were requested."""
        return tuple(
            gate
            for gate in self.options.fail_on
            if any(_finds(gate, compaction) for compaction in self.compactions)
        )

    @property
    def exit_code(self) -> int:
        """1 if a gate failed, else 0."""
        return int(bool(self.failed))


def audit(options: AuditOptions) -> AuditResult:
    """Audit every compaction of a transcript.

    Raises as reading does; ArchiveError, IntegrityError and ChangedError as ``log`` does;
    UsageError for invalid options of measuring.
    """
    loaded = load(options.input)
    history = history_behind(loaded)
    measured = measure(loaded.transcript, options.measure)
    compactions = tuple(_find_compactions(tuple(past_states(loaded, history))))
    cwd = loaded.transcript.session.cwd
    return AuditResult(
        options=options,
        format=loaded.format.name,
        measure=measured.without_cached_texts(),
        compactions=tuple(
            _audited(compaction, conversation, cwd, measured.meter)
            for compaction in compactions
            for conversation in compaction.conversations or (0,)
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
        return compaction.compaction.verdict != "audited"
    if audit is None:
        return False
    if gate == "invented":
        return bool(audit.invented)
    if gate == "reread":
        return bool(audit.rereads)
    return bool(audit.lost_of(_LOSS_GATES[gate]))


def _find_compactions(past: Sequence[PastState]) -> Iterator[FoundCompaction]:
    """Yield the compactions between states, and those by the client within a state."""
    for index, state in enumerate(past):
        start = 0
        if state.step is not None and state.outcome is not None:
            if not state.step.is_without_stages:
                yield _by_compactctl(state.step, past[:index], state)
            start = state.outcome.n_lines
        yield from _by_client(state, start)


def _by_compactctl(
    step: OperationStep, past: Iterable[PastState], state: PastState
) -> FoundCompaction:
    """Return the compaction of the step that led from the last ``past`` state to ``state``."""
    past = tuple(past)
    before, outcome = past[-1].transcript, state.outcome or state.transcript
    kept_ids = {message.id for message in outcome.messages}
    next_compactions = find_compactions(state.transcript, outcome.n_lines)
    end = next_compactions[0].first if next_compactions else state.transcript.n_lines
    later = (m for m in state.transcript.messages if m.id not in kept_ids and m.line < end)
    later = (message for message in later if not message.origin.is_subagent)
    written = (m.line for m in outcome.effective if m.origin.is_synthetic)
    messages = chain.from_iterable(past_state.transcript.messages for past_state in past)
    return FoundCompaction(
        writer=COMPACTCTL,
        line=min(written, default=0),
        audit_input=AuditInput(
            before=sent_messages(before),
            after=sent_messages(outcome),
            summary=None,
            source=tuple({message.id: message for message in messages}.values()),
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
    """Yield the client's compactions from line ``start`` on that changed anything, oldest first.

    For each, the part of the file before it is read again.
    """
    messages = state.transcript.messages
    ranges = find_compactions(state.transcript, start)
    starts = [index_after(state.transcript, compaction_range) for compaction_range in ranges]
    for compaction_range, (begin, end) in zip(
        ranges, pairwise([*starts, len(messages)]), strict=True
    ):
        result = _found_compaction(state, compaction_range, messages[begin:end])
        if result.audit_input.before != result.audit_input.after:
            yield result


def _found_compaction(
    state: PastState, moment: CompactionRange, following: Sequence[Message]
) -> FoundCompaction:
    tagged = _tagged(state, moment)
    if tagged is not None:
        return tagged
    before, after = read_before(state, moment), read_after(state, moment)
    messages = [
        m
        for m in following
        if not (m.origin.is_subagent or m.origin.is_summary or m.origin.is_synthetic)
    ]
    answers = (index for index, message in enumerate(messages) if message.role == "assistant")
    answer = next(answers, len(messages))
    restored = (message for message in messages[:answer] if not message.starts_turn)
    return FoundCompaction(
        writer=state.transcript.format,
        line=moment.last,
        audit_input=AuditInput(
            before=sent_messages(before),
            after=sent_messages(after),
            summary=None,
            source=before.messages,
            client_context="\n".join(texts_of(_known_lines(state, moment, messages[answer:]))),
            later=tuple(messages[answer:]),
        ),
        restored=tuple(restored),
        verdict=_verdict(before, after),
    )


def _tagged(state: PastState, moment: CompactionRange) -> FoundCompaction | None:
    """Return a compaction that tagged what it hides and left it in the file; None for others.

    When it happened is not recorded: everything sent besides the summary counts as kept.
    """
    effective = sent_messages(state.transcript)
    at_moment = (
        m for m in effective if m.origin.is_summary and (m.line, m.record_path) == moment.place
    )
    summary = next((m for m in at_moment if m.tags.condense_id), None)
    if summary is None:
        return None
    group = summary.tags.condense_id
    messages = state.transcript.messages
    hidden = tuple(m for m in messages if m.tags.condense_parent == group)
    if not hidden:
        return None
    ids = {m.id for m in (*hidden, *effective)} - {summary.id}
    return FoundCompaction(
        writer=state.transcript.format,
        line=moment.last,
        audit_input=AuditInput(
            before=tuple(m for m in messages if m.id in ids),
            after=effective,
            summary=None,
            source=hidden,
        ),
    )


def _known_lines(
    state: PastState, moment: CompactionRange, later: Sequence[Message]
) -> Sequence[Decoded]:
    """Return the lines that a client may have facts from.

    Those after a compaction count up to the answer: the user's instructions for it are among them.
    """
    if moment.element:
        return state.decoded[: moment.first]
    end = later[0].line if later else len(state.decoded)
    return (*state.decoded[: moment.first], *state.decoded[moment.last + 1 : end])


def _verdict(before: Transcript, after: Transcript) -> AuditVerdict:
    ids_before, ids_after = ({m.id for m in transcript.effective} for transcript in (before, after))
    new = tuple(message for message in after.effective if message.id not in ids_before)
    if new and ids_before <= ids_after:
        return "gone"
    return (
        "sealed" if new and not text_of(tuple(m for m in new if m.origin.is_summary)) else "audited"
    )


def _audited(
    compaction: FoundCompaction, conversation: int, cwd: str | None, meter: Meter
) -> AuditedCompaction:
    whole = compaction.audit_input
    before, after, restored, later = (
        _within(messages, conversation)
        for messages in (whole.before, whole.after, compaction.restored, whole.later)
    )
    summary = text_of(compaction.written(conversation))
    is_own = compaction.writer == COMPACTCTL
    claims = without_boilerplate(summary) if is_own else without_transcript_path(summary)
    audit_input = replace(
        whole,
        before=before,
        after=(*after, *restored),
        summary=None if compaction.verdict == "sealed" else claims,
        later=later,
        cwd=cwd,
    )
    return AuditedCompaction(
        compaction=compaction,
        conversation=conversation + 1,
        tokens_before=meter.total(before),
        tokens_after=meter.total(after),
        summary_tokens=meter.text(summary),
        restored_tokens=meter.total(restored),
        audit=None if compaction.verdict == "gone" else audit_of(audit_input, meter.text_uncached),
    )


def _within(messages: Sequence[Message], conversation: int) -> tuple[Message, ...]:
    return tuple(message for message in messages if message.conversation == conversation)
