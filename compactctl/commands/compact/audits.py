"""The summaries of a run, audited before anything is written."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace

from compactctl.commands.planning.run_stages import AppliedEdits
from compactctl.errors import AuditFailedError, SummarizerFailedError
from compactctl.lab.audit import AuditInput, without_boilerplate
from compactctl.lab.audit import audit as judged
from compactctl.lab.audit_findings import Audit, LossKind
from compactctl.model.edit import Edit, Hide, Insert
from compactctl.model.message import Message, MessageId
from compactctl.model.summary import BUILTIN_SUMMARIZER, COUNTS
from compactctl.stages.support.condensation import with_originals
from compactctl.summaries.by_model.answers import unrelated
from compactctl.summaries.by_model.unsupported_claims import source_texts
from compactctl.tokens.meter import Meter

# Who writes without a model: the built-in summarizer, and stage plain, which only counts.
_OWN = (BUILTIN_SUMMARIZER, COUNTS)
_WORDS: Mapping[LossKind, str] = {
    "rule": "rule",
    "task": "open task",
    "file": "changed file",
    "error": "error",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSummary:
    """A summary that was written: its group, who wrote it, and what it says.

    ``writer`` is "" for a text of the user's own. ``audit`` is what it lost and made up, None where
    it was not audited; ``unrelated`` says then that it names nothing from what it replaces, "" when
    it names something.
    """

    group: str
    writer: str
    text: str
    audit: Audit | None = None
    unrelated: str = ""

    @property
    def is_own(self) -> bool:
        """Whether it was written without a model."""
        return self.writer in _OWN

    @property
    def findings(self) -> str:
        """What is wrong with it, in words; "" for nothing that matters, or without an audit."""
        if self.audit is None:
            return ""
        lost = ((len(self.audit.lost_of(kind)), what) for kind, what in _WORDS.items())
        told = [f"{_counted(count, what)} lost" for count, what in lost if count]
        if self.audit.invented:
            told.append(f"{_counted(len(self.audit.invented), 'claim')} made up")
        return ", ".join(filter(None, (self.unrelated, *told)))

    @property
    def failed(self) -> bool:
        """Whether a rule, or all there was to lose, was lost, or anything made up."""
        if self.audit is None:
            return False
        lost_all = 0 < sum(self.audit.known_counts.values()) == len(self.audit.lost)
        lost = lost_all or self.unrelated or self.audit.lost_of("rule")
        return bool(lost or self.audit.invented)


def summaries_of(
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    meter: Meter,
    cwd: str | None,
    *,
    own: bool,
) -> tuple[WrittenSummary, ...]:
    """Return the summaries; those that somebody else wrote are audited, with ``own`` all of them.

    None of a text of the user's own is.
    """
    return tuple(
        replace(
            summary,
            audit=judged(_compaction(applied, originals, summary, cwd), meter.text_uncached),
            unrelated=_unrelated(applied, originals, summary),
        )
        if summary.writer and (own or not summary.is_own)
        else summary
        for summary in _written(applied.edits)
    )


def require_related(
    path: str,
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    *,
    edited: Container[str] = (),
) -> None:
    """Raise SummarizerFailedError for a text from elsewhere that names nothing it replaces.

    Built-in summaries are checked where the user has ``edited`` them, which are given by group.
    """
    for summary in _written(applied.edits):
        if summary.writer and (not summary.is_own or summary.group in edited):
            unrelated = _unrelated(applied, originals, summary)
            if unrelated:
                raise SummarizerFailedError(
                    f"{path}: the summary {unrelated}; nothing was written, write another one"
                )


def require_audit(path: str, summaries: Iterable[WrittenSummary]) -> None:
    """Raise AuditFailedError for the first that lost a rule or made something up."""
    for summary in summaries:
        if summary.failed:
            raise AuditFailedError(
                f"{path}: the summary by {summary.writer} fails its audit ({summary.findings}); "
                "nothing was written, leave out --require-audit to see what it is, or have another "
                "one written"
            )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _written(edits: Iterable[Edit]) -> Iterable[WrittenSummary]:
    """Return the summaries; one that is a prompt and an answer has its writer at the answer."""
    summaries: dict[str, WrittenSummary] = {}
    for edit in edits:
        if isinstance(edit, Insert) and edit.message.kind == "summary":
            message = edit.message
            writer = str(message.details.get("summarizer", ""))
            summary = WrittenSummary(group=message.group, writer=writer, text=message.text)
            if writer or message.group not in summaries:
                summaries[message.group] = summary
    return summaries.values()


def _hidden(edits: Iterable[Edit], group: str) -> frozenset[str]:
    """Return the ids of the messages that the summary of a group replaces."""
    hidden = {str(edit.group): edit.ids for edit in edits if isinstance(edit, Hide)}
    return frozenset(hidden.get(group, ()))


def _unrelated(
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    summary: WrittenSummary,
) -> str:
    """Say that a summary names nothing from what it replaces; one of counts alone names nothing."""
    if summary.writer == COUNTS:
        return ""
    names = _hidden(applied.edits, summary.group)
    hidden = [message for message in applied.before if message.id in names]
    source = source_texts(with_originals(hidden, originals))
    return unrelated(without_boilerplate(summary.text), source)


def _compaction(
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    summary: WrittenSummary,
    cwd: str | None,
) -> AuditInput:
    """Return what a summary stands for as a compaction of its conversation."""
    names = _hidden(applied.edits, summary.group)
    numbers = {m.conversation for m in applied.before if m.id in names}
    before = tuple(m for m in applied.before if m.conversation in numbers)
    source = with_originals(before, originals)
    return AuditInput(
        before=source,
        after=tuple(m for m in applied.after if m.conversation in numbers),
        summary=without_boilerplate(summary.text),
        source=source,
        cwd=cwd,
    )
