"""The summaries of a run, audited before anything is written."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from compactctl.auditing.audit import Compaction
from compactctl.auditing.audit import audit as judged
from compactctl.auditing.finds import Audit, LossKind
from compactctl.auditing.own_words import without_own_words
from compactctl.commands.planning.run_stages import PlanOutcome
from compactctl.errors import AuditFailedError
from compactctl.model.edit import Hide, Insert
from compactctl.model.message import Message, MessageId
from compactctl.model.summary import BUILT_IN
from compactctl.stages.support.condensation import with_originals
from compactctl.tokens.meter import Meter

# Who writes without a model: the built-in summarizer, and stage plain, which only counts.
_OWN = (BUILT_IN, "counts")
_WORDS: Mapping[LossKind, str] = {
    "rule": "rule",
    "task": "open task",
    "file": "changed file",
    "error": "error",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryAudit:
    """What a summary lost and made up, who wrote it, and its group."""

    group: str
    writer: str
    audit: Audit

    @property
    def is_own(self) -> bool:
        """Whether it was written without a model."""
        return self.writer in _OWN

    @property
    def told(self) -> str:
        """What is wrong with it, in words; "" for nothing that matters."""
        lost = ((len(self.audit.lost_of(kind)), what) for kind, what in _WORDS.items())
        told = [f"{_counted(count, what)} lost" for count, what in lost if count]
        if self.audit.invented:
            told.append(f"{_counted(len(self.audit.invented), 'claim')} made up")
        return ", ".join(told)

    @property
    def failed(self) -> bool:
        """Whether a rule was lost or anything made up."""
        return bool(self.audit.lost_of("rule") or self.audit.invented)


def audits_of(
    outcome: PlanOutcome,
    originals: Mapping[MessageId, tuple[Message, ...]],
    meter: Meter,
    cwd: str | None,
    *,
    own: bool,
) -> tuple[SummaryAudit, ...]:
    """Audit the summaries that somebody else wrote; with ``own`` the built-in ones as well."""
    hidden = {str(edit.group): set(edit.ids) for edit in outcome.edits if isinstance(edit, Hide)}
    return tuple(
        SummaryAudit(
            group=group,
            writer=writer,
            audit=judged(
                _compaction(outcome, originals, hidden.get(group, set()), text, cwd),
                meter.text_once,
            ),
        )
        for group, writer, text in _written(outcome.edits)
        if own or writer not in _OWN
    )


def require_audit(path: str, audits: Iterable[SummaryAudit]) -> None:
    """Raise AuditFailedError for the first that lost a rule or made something up."""
    for each in audits:
        if each.failed:
            raise AuditFailedError(
                f"{path}: the summary by {each.writer} fails its audit ({each.told}); nothing was "
                "written, leave out --require-audit to see what it is, or have another one written"
            )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _written(edits: Iterable[object]) -> Iterator[tuple[str, str, str]]:
    """Yield group, writer and text of each summary."""
    for edit in edits:
        if isinstance(edit, Insert) and "summarizer" in edit.message.details:
            message = edit.message
            yield message.group, str(message.details["summarizer"]), message.text


def _compaction(
    outcome: PlanOutcome,
    originals: Mapping[MessageId, tuple[Message, ...]],
    hidden: set[MessageId],
    text: str,
    cwd: str | None,
) -> Compaction:
    """Return what a summary stands for as a compaction of its conversation."""
    numbers = {message.conversation for message in outcome.before if message.id in hidden}
    before = tuple(m for m in outcome.before if m.conversation in numbers)
    source = with_originals(before, originals)
    return Compaction(
        before=source,
        after=tuple(m for m in outcome.after if m.conversation in numbers),
        summary=without_own_words(text),
        source=source,
        cwd=cwd,
    )
