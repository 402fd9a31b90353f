"""What a hook of a client has to say before and after the client compacts.

All four clients leave what they compact in their files: nothing has to be saved before that.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from compactctl.commands.integrations.integrate import AFTER, BEFORE, STARTED, Integration
from compactctl.commands.lab.audit import AuditOptions, audit, text_of
from compactctl.commands.reading.hook_input import transcript_of
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.formats.records.json_values import text_or_empty, text_or_none
from compactctl.lab.audit import AuditInput, without_transcript_path
from compactctl.lab.audit import audit as judged
from compactctl.lab.audit_findings import Audit, LossKind
from compactctl.model.message import Message, MessageId, Origin, TextPart
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
_BY_COMPACTION = "compact"
_BY_HAND = "manual"
_REASON = (
    "compactctl was told to keep this session from being summarized by hand. To make it smaller "
    "without losing anything, run: compactctl compact {path}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOptions:
    """Whose hook it is, the command that agents are told to run, and what is refused."""

    integration: Integration
    program: str
    block_manual: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """What a hook says; each is "" for nothing.

    ``message`` is for the person, ``context`` for the agent, ``refusal`` keeps the client from
    compacting.
    """

    options: HookOptions
    event: str
    message: str = ""
    context: str = ""
    refusal: str = ""


def hook(told: Mapping[str, Any], options: HookOptions) -> HookResult:
    """Say what there is to say of an event that a client tells. Raises as ``audit`` does."""
    event = text_or_empty(told.get("hook_event_name"))
    result = HookResult(options=options, event=event)
    path = transcript_of(told)
    if path is None:
        return result
    if event == BEFORE and options.block_manual and told.get("trigger") == _BY_HAND:
        return replace(result, refusal=_REASON.format(path=shlex.quote(path)))
    if event == AFTER:
        is_heard = options.integration.tells_agent
        lost = _losses(path, text_or_none(told.get("compact_summary")))
        message = _message(lost, options) if lost else ""
        return replace(result, message=message, context=_way(options) if is_heard else "")
    if event == STARTED and told.get("source") == _BY_COMPACTION:
        return replace(result, context=_way(options))
    return result


def _losses(path: str, summary: str | None) -> str:
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


def _message(lost: str, options: HookOptions) -> str:
    return f"The summary does not tell: {lost}. {_way(options)}"


def _way(options: HookOptions) -> str:
    return (
        "What was compacted is still in the session; to search it: "
        f"{options.program} view {options.integration.client}:. --archived --grep 'REGEX' --limit 5"
    )
