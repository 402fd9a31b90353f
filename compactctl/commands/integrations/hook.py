"""The answer of a hook before and after a client compacts.

All four clients keep what they compact in their files, so nothing has to be saved first.
"""

import shlex
from collections.abc import Mapping
from dataclasses import replace
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
from compactctl.records import dataclass
from compactctl.summaries.extract.items import one_line

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
_BY_COMPACTION = "compact"
_BY_HAND = "manual"
_REASON = (
    "compactctl blocks manual compactions of this session. To compact it without losing anything, "
    "run: compactctl compact {path}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOptions:
    """The client of the hook, the command that agents are told to run, and whether to refuse."""

    integration: Integration
    program: str
    block_manual: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """The answer of a hook; "" where it says nothing.

    ``message`` is for the user, ``context`` for the agent; ``refusal`` keeps the client from
    compacting.
    """

    options: HookOptions
    event: str
    message: str = ""
    context: str = ""
    refusal: str = ""


def hook(hook_input: Mapping[str, Any], options: HookOptions) -> HookResult:
    """Return the answer to an event of a client. Raises as ``audit`` does."""
    event = text_or_empty(hook_input.get("hook_event_name"))
    result = HookResult(options=options, event=event)
    path = transcript_of(hook_input)
    if path is None:
        return result
    if event == BEFORE and options.block_manual and hook_input.get("trigger") == _BY_HAND:
        return replace(result, refusal=_REASON.format(path=shlex.quote(path)))
    if event == AFTER:
        is_heard = options.integration.tells_agent
        losses = _losses(path, text_or_none(hook_input.get("compact_summary")))
        message = _message(losses, options) if losses else ""
        return replace(result, message=message, context=_way(options) if is_heard else "")
    if event == STARTED and hook_input.get("source") == _BY_COMPACTION:
        return replace(result, context=_way(options))
    return result


def _losses(path: str, summary: str | None) -> str:
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
    texts = [one_line(loss.text, _WIDTH) for loss in finding.lost_of(kind)]
    more = f" and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else ""
    return (
        f"{len(texts):,} {noun}{'' if len(texts) == 1 else 's'} ({', '.join(texts[:_NAMED])}{more})"
    )


def _message(losses: str, options: HookOptions) -> str:
    return f"The summary omits: {losses}. {_way(options)}"


def _way(options: HookOptions) -> str:
    return (
        "The compacted messages are still in the session. To search them: "
        f"{options.program} view {options.integration.client}:. --archived --grep 'REGEX' --limit 5"
    )
