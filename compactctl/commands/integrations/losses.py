"""What the newest compaction of a session lost, as soon as its client has carried it out."""

from collections.abc import Mapping

from compactctl.auditing.audit import Compaction
from compactctl.auditing.audit import audit as judged
from compactctl.auditing.finds import Audit, LossKind
from compactctl.auditing.own_words import without_frame
from compactctl.commands.audit.audit import audit
from compactctl.commands.audit.found import text_of
from compactctl.commands.audit.result import AuditOptions
from compactctl.commands.loading.load import InputOptions, load
from compactctl.model.message import Message, MessageId, TextPart
from compactctl.summaries.extract.items import one_line

# What is worth a word while one is at work, in the order in which it matters.
_WORDS: Mapping[LossKind, str] = {
    "rule": "rule",
    "task": "open task",
    "file": "changed file",
    "error": "error",
    "identifier": "identifier",
}
# So many of each kind are named, in so many characters each.
_NAMED, _WIDTH = 2, 80


def losses(path: str, summary: str | None) -> str:
    """Return in words what the newest compaction lost; "" for nothing, or without a compaction.

    ``summary`` is what the client tells of it, which may not be in the file yet. Raises as
    ``audit`` does.
    """
    found = None if summary is None else _of_summary(path, summary)
    if found is None:
        compactions = audit(AuditOptions(input=InputOptions(path=path))).compactions
        found = compactions[-1].audit if compactions else None
    return "" if found is None else _in_words(found)


def _of_summary(path: str, summary: str) -> Audit | None:
    """Audit a summary of all that is sent; None where the file has it already."""
    transcript = load(InputOptions(path=path)).transcript
    before = tuple(m for m in transcript.effective if m.conversation == 0)
    if not before or summary in text_of(tuple(m for m in before if m.summary)):
        return None
    written = Message(
        id=MessageId("summary"),
        role="user",
        parts=(TextPart(text=summary),),
        line=before[-1].line + 1,
        summary=True,
    )
    compaction = Compaction(
        before=before,
        after=(written,),
        summary=without_frame(summary),
        source=transcript.messages,
        cwd=transcript.cwd,
    )
    # Tokens are those of looks at what followed, and nothing has.
    return judged(compaction, len)


def _in_words(found: Audit) -> str:
    return "; ".join(
        _kind(found, kind, noun) for kind, noun in _WORDS.items() if found.lost_of(kind)
    )


def _kind(found: Audit, kind: LossKind, noun: str) -> str:
    lost = [one_line(loss.text, _WIDTH) for loss in found.lost_of(kind)]
    more = f" and {len(lost) - _NAMED:,} more" if len(lost) > _NAMED else ""
    return f"{len(lost):,} {noun}{'' if len(lost) == 1 else 's'} ({', '.join(lost[:_NAMED])}{more})"
