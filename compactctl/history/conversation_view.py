"""The input of a stage: one conversation's effective history, and what it must not change."""

from collections.abc import Callable, Mapping

from compactctl.history.faults import Recipient
from compactctl.model.message import Message, MessageId, Role
from compactctl.model.summary import NO_SUMMARY_INPUTS, Summarizer, SummaryInputs
from compactctl.model.transcript import RecordStats, RefusedRecord
from compactctl.model.unsent import UnsentKind
from compactctl.records import Record, field, replace

RolesBetween = Callable[[Message, Message], tuple[Role, ...]]
"""Returns the roles of the messages that must come between two; () if they may be adjacent."""


class Protection(Record):
    """What no stage may change.

    Attributes:
        reasons: messages that may not be hidden or rewritten, each with the reason shown to users.
        automatic: those that are protected by default: the newest work.
        tools: tools whose calls and results are protected by name.
    """

    reasons: Mapping[MessageId, str] = field(default_factory=dict)
    automatic: frozenset[MessageId] = frozenset()
    tools: tuple[str, ...] = ()


class ConversationView(Record):
    """One conversation as the next request would send it.

    Attributes:
        messages: the effective history, in the order it is sent.
        stored: the same messages as the file has them, before the client leaves out or adds
            anything; () if that is the same.
        protection: what no stage may change.
        target: size in tokens to compact the conversation to; None for no target.
        target_for: returns the target for the remaining messages, if it depends on them: not every
            token of a request is a token of its texts.
        window: the model's context window in tokens; None if unknown.
        cwd: the session's working folder, to recognize one file under two paths.
        originals: the messages behind each stand-in or rewritten message, as they were before any
            stage of this run or an earlier one changed them.
        to_be_summarized: messages that no stage may rewrite, because a later one replaces them by a
            summary.
        summarizer: writes the summaries; None for the built-in one.
        summary_inputs: inputs of summaries besides the options of their stage.
        no_stubs: messages in which nothing may be replaced by a reference to another message.
        can_write_assistant: whether the format can write assistant messages: the missing half of a
            tool pair, or a summary as the answer to a question.
        can_write_results: whether the format can write the results of calls.
        roles_between: returns the roles that must come between two messages for the API to accept
            them; None if any message may follow any other.
        unsent: records in the file that are never sent, by kind; None if every record must stay in
            the file.
        recipient: who gets the request, and what they refuse.
        refused: records for which the client refuses the file.
        keeps_originals: whether the new file keeps all records, so that a message can be hidden
            behind another but not be left out.
        settles: whether stages look for a result that they would not change again, close below the
            target; else the first is taken that exceeds it by a few percent at most, since the next
            run starts over.
    """

    messages: tuple[Message, ...]
    stored: tuple[Message, ...] = ()
    protection: Protection = field(default_factory=Protection)
    target: int | None = None
    target_for: Callable[[tuple[Message, ...]], int] | None = None
    window: int | None = None
    cwd: str | None = None
    originals: Mapping[MessageId, tuple[Message, ...]] = field(default_factory=dict)
    to_be_summarized: frozenset[MessageId] = frozenset()
    summarizer: Summarizer | None = None
    summary_inputs: SummaryInputs = NO_SUMMARY_INPUTS
    no_stubs: frozenset[MessageId] = frozenset()
    can_write_assistant: bool = False
    can_write_results: bool = False
    roles_between: RolesBetween | None = None
    unsent: Mapping[UnsentKind, RecordStats] | None = field(default_factory=dict)
    recipient: Recipient = field(default_factory=Recipient)
    refused: tuple[RefusedRecord, ...] = ()
    keeps_originals: bool = False
    settles: bool = True

    def with_current_target(self, extra_tokens: int = 0) -> "ConversationView":
        """Return the view with the target for its current messages plus ``extra_tokens``."""
        target_for = self.target_for
        target = self.target if target_for is None else target_for(self.messages)
        if target_for is None or target is None or not extra_tokens:
            return replace(self, target=None if target is None else target + extra_tokens)
        return replace(
            self,
            target=target + extra_tokens,
            target_for=lambda messages: target_for(messages) + extra_tokens,
        )
