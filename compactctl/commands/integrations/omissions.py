"""What the summary of a client's newest compaction omits, in the words of a hook."""

from collections.abc import Mapping

from compactctl.audit.audit import AuditInput, without_transcript_path
from compactctl.audit.audit import audit as judged
from compactctl.audit.findings import Audit, LossKind
from compactctl.commands.inspect.audit import AuditOptions, audit, text_of
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.model.message import Message, MessageId, Origin, TextPart
from compactctl.summaries.extract.items import clip_to_line

# The losses worth mentioning during work, most important first.
_LOSS_NOUNS: Mapping[LossKind, str] = {
    "rule": "rule",
    "task": "open task",
    "file": "changed file",
    "error": "error",
    "identifier": "identifier",
}
# The number of losses named per kind, and the characters of each.
_NAMED, _WIDTH = 2, 80


def describe_losses(path: str, summary: str | None) -> str:
    """Describe what the newest compaction lost; "" for nothing, or without a compaction.

    ``summary`` is the client's, which may not be in the file yet. Raises as ``audit`` does.
    """
    finding = None if summary is None else _of_summary(path, summary)
    if finding is None:
        compactions = audit(AuditOptions(input=InputOptions(path=path))).compactions
        finding = compactions[-1].audit if compactions else None
    return "" if finding is None else _in_words(finding)


def _of_summary(path: str, summary: str) -> Audit | None:
    """Audit a summary of everything sent; None if it is already in the file."""
    transcript = load(InputOptions(path=path)).transcript
    before = tuple(m for m in transcript.effective if m.conversation == 0)
    if not before or summary in text_of(tuple(m for m in before if m.origin.is_summary)):
        return None
    written = Message(
        id=MessageId("summary"),
        role="user",
        parts=(TextPart(text=summary),),
        line=before[-1].line + 1,
        origin=Origin(is_summary=True),
    )
    compaction = AuditInput(
        before=before,
        after=(written,),
        summary=without_transcript_path(summary),
        source=transcript.messages,
        cwd=transcript.session.cwd,
    )
    # Tokens are only counted of messages that follow, and there are none.
    return judged(compaction, len)


def _in_words(finding: Audit) -> str:
    return "; ".join(
        _kind(finding, kind, noun) for kind, noun in _LOSS_NOUNS.items() if finding.lost_of(kind)
    )


def _kind(finding: Audit, kind: LossKind, noun: str) -> str:
    texts = [clip_to_line(loss.text, _WIDTH) for loss in finding.lost_of(kind)]
    more = f" and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else ""
    return (
        f"{len(texts):,} {noun}{'' if len(texts) == 1 else 's'} ({', '.join(texts[:_NAMED])}{more})"
    )
