"""The summaries of a run, audited before anything is written."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from compactctl.auditing.audit import Compaction
from compactctl.auditing.audit import audit as judged
from compactctl.auditing.finds import Audit, LossKind
from compactctl.auditing.own_words import without_own_words
from compactctl.commands.planning.run_stages import AppliedEdits
from compactctl.errors import AuditFailedError, SummarizerFailedError
from compactctl.model.edit import Edit, Hide, Insert
from compactctl.model.message import Message, MessageId
from compactctl.model.summary import BUILT_IN, COUNTS
from compactctl.stages.support.condensation import with_originals
from compactctl.summaries.by_model.guards import unrelated
from compactctl.summaries.by_model.unsupported_claims import source_texts
from compactctl.tokens.meter import Meter

# Who writes without a model: the built-in summarizer, and stage plain, which only counts.
_OWN = (BUILT_IN, COUNTS)
_WORDS: Mapping[LossKind, str] = {
    "rule": "rule",
    "task": "open task",
    "file": "changed file",
    "error": "error",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryAudit:
    """What a summary lost and made up, who wrote it, and its group.

    ``unrelated`` says that it names nothing from what it replaces, "" when it names something.
    """

    group: str
    writer: str
    audit: Audit
    unrelated: str = ""

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
        return ", ".join(filter(None, (self.unrelated, *told)))

    @property
    def failed(self) -> bool:
        """Whether a rule, or all there was to lose, was lost, or anything made up."""
        lost_all = 0 < sum(self.audit.known.values()) == len(self.audit.lost)
        lost = lost_all or self.unrelated or self.audit.lost_of("rule")
        return bool(lost or self.audit.invented)


def audits_of(
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    meter: Meter,
    cwd: str | None,
    *,
    own: bool,
) -> tuple[SummaryAudit, ...]:
    """Audit the summaries that somebody else wrote; with ``own`` the built-in ones as well."""
    return tuple(
        SummaryAudit(
            group=each.group,
            writer=each.writer,
            audit=judged(_compaction(applied, originals, each, cwd), meter.text_once),
            unrelated=_unrelated(applied, originals, each),
        )
        for each in _written(applied.edits)
        if own or each.writer not in _OWN
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
    for each in _written(applied.edits):
        if each.writer not in _OWN or each.group in edited:
            unrelated = _unrelated(applied, originals, each)
            if unrelated:
                raise SummarizerFailedError(
                    f"{path}: the summary {unrelated}; nothing was written, write another one"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenSummary:
    """The text of a summary, who wrote it, and the ids of the messages it replaces."""

    group: str
    writer: str
    text: str
    hidden: frozenset[str]


def _written(edits: Iterable[Edit]) -> Iterator[_WrittenSummary]:
    edits = tuple(edits)
    hidden = {str(edit.group): frozenset(edit.ids) for edit in edits if isinstance(edit, Hide)}
    for edit in edits:
        if isinstance(edit, Insert) and "summarizer" in edit.message.details:
            message = edit.message
            yield _WrittenSummary(
                group=message.group,
                writer=str(message.details["summarizer"]),
                text=message.text,
                hidden=hidden.get(message.group, frozenset()),
            )


def _unrelated(
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    summary: _WrittenSummary,
) -> str:
    """Say that a summary names nothing from what it replaces; one of counts alone names nothing."""
    if summary.writer == COUNTS:
        return ""
    hidden = [message for message in applied.before if message.id in summary.hidden]
    source = source_texts(with_originals(hidden, originals))
    return unrelated(without_own_words(summary.text), source)


def _compaction(
    applied: AppliedEdits,
    originals: Mapping[MessageId, tuple[Message, ...]],
    summary: _WrittenSummary,
    cwd: str | None,
) -> Compaction:
    """Return what a summary stands for as a compaction of its conversation."""
    numbers = {m.conversation for m in applied.before if m.id in summary.hidden}
    before = tuple(m for m in applied.before if m.conversation in numbers)
    source = with_originals(before, originals)
    return Compaction(
        before=source,
        after=tuple(m for m in applied.after if m.conversation in numbers),
        summary=without_own_words(summary.text),
        source=source,
        cwd=cwd,
    )
