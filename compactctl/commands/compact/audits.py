"""The summaries of a run, audited before anything is written."""

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

from compactctl.commands.planning.run_stages import AppliedEdits
from compactctl.errors import AuditFailedError, SummarizerFailedError
from compactctl.model.edit import Edit, Hide, Insert
from compactctl.model.message import Message, MessageId
from compactctl.model.summary import BUILTIN_SUMMARIZER, COUNTS
from compactctl.records import Record, replace
from compactctl.stages.support.condensation import with_originals
from compactctl.tokens.meter import Meter

if TYPE_CHECKING:
    from compactctl.audit.findings import Audit, LossKind

# The writers that use no model: the built-in summarizer, and stage plain, which only counts.
_BUILT_IN = (BUILTIN_SUMMARIZER, COUNTS)
_LOSS_NOUNS: "Mapping[LossKind, str]" = {
    "rule": "rule",
    "task": "open task",
    "file": "changed file",
    "error": "error",
}


class WrittenSummary(Record):
    """The text of a summary, the group it belongs to, and its audit.

    ``writer`` is "" for a text by the user. ``audit`` is None if the summary was not audited; if it
    was, ``unrelated`` is the complaint that it names nothing from what it replaces, else "".
    """

    group: str
    writer: str
    text: str
    audit: "Audit | None" = None
    unrelated: str = ""

    @property
    def is_built_in(self) -> bool:
        """Whether it was written without a model."""
        return self.writer in _BUILT_IN

    @property
    def findings(self) -> str:
        """The relevant findings of the audit as one line; "" if there are none, or no audit."""
        if self.audit is None:
            return ""
        lost = ((len(self.audit.lost_of(kind)), label) for kind, label in _LOSS_NOUNS.items())
        findings = [f"{_counted(count, label)} lost" for count, label in lost if count]
        if self.audit.invented:
            findings.append(f"{_counted(len(self.audit.invented), 'claim')} made up")
        return ", ".join(filter(None, (self.unrelated, *findings)))

    @property
    def failed(self) -> bool:
        """Whether it lost a rule, lost everything it could lose, or made something up."""
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
    include_built_in: bool,
) -> tuple[WrittenSummary, ...]:
    """Return the summaries among the edits, with an audit of those that a model wrote.

    ``include_built_in`` also audits those written without a model. Texts by the user are never
    audited.
    """
    return tuple(
        replace(
            summary,
            audit=_audit(applied, originals, summary, meter, cwd),
            unrelated=_unrelated(applied, originals, summary),
        )
        if summary.writer and (include_built_in or not summary.is_built_in)
        else summary
        for summary in _summaries_of(applied.edits)
    )


def require_related(
    path: str,
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    *,
    edited: Container[str] = (),
) -> None:
    """Raise SummarizerFailedError for a model's summary that names nothing from what it replaces.

    ``edited`` holds the groups whose built-in summaries the user edited; these are checked too.
    """
    for summary in _summaries_of(applied.edits):
        if summary.writer and (not summary.is_built_in or summary.group in edited):
            unrelated = _unrelated(applied, originals, summary)
            if unrelated:
                raise SummarizerFailedError(
                    f"{path}: the summary {unrelated}; nothing was written; write another one"
                )


def require_audit(path: str, summaries: Iterable[WrittenSummary]) -> None:
    """Raise AuditFailedError for the first summary whose audit failed."""
    for summary in summaries:
        if summary.failed:
            raise AuditFailedError(
                f"{path}: the summary by {summary.writer} fails its audit ({summary.findings}); "
                "nothing was written; leave out --require-audit to see the summary, or use "
                "another summarizer"
            )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _summaries_of(edits: Iterable[Edit]) -> Iterable[WrittenSummary]:
    """Return the summaries; of a pair of prompt and answer, only the answer names the writer."""
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
    """Return the ids of the messages that a group's summary replaces."""
    hidden = {str(edit.group): edit.ids for edit in edits if isinstance(edit, Hide)}
    return frozenset(hidden.get(group, ()))


def _unrelated(
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    summary: WrittenSummary,
) -> str:
    """Return the complaint that a summary names nothing from what it replaces, or "".

    A summary that only counts messages is not expected to name anything.
    """
    if summary.writer == COUNTS:
        return ""
    from compactctl.audit.audit import without_boilerplate
    from compactctl.summaries.by_model.answers import describe_unrelated
    from compactctl.summaries.by_model.unsupported_claims import source_texts

    ids = _hidden(applied.edits, summary.group)
    hidden = [message for message in applied.before if message.id in ids]
    source = source_texts(with_originals(hidden, originals))
    return describe_unrelated(without_boilerplate(summary.text), source)


def _audit(
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    summary: WrittenSummary,
    meter: Meter,
    cwd: str | None,
) -> "Audit":
    """Audit one summary as the compaction of its conversation."""
    from compactctl.audit.audit import AuditInput, audit, without_boilerplate

    ids = _hidden(applied.edits, summary.group)
    conversations = {m.conversation for m in applied.before if m.id in ids}
    before = tuple(m for m in applied.before if m.conversation in conversations)
    source = with_originals(before, originals)
    compaction = AuditInput(
        before=source,
        after=tuple(m for m in applied.after if m.conversation in conversations),
        summary=without_boilerplate(summary.text),
        source=source,
        cwd=cwd,
    )
    return audit(compaction, meter.text_uncached)
