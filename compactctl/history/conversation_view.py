"""What a stage looks at: one conversation's effective history and what may not be touched."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from compactctl.model.message import Message, MessageId, Role
from compactctl.model.summary import NO_SUMMARY_INPUTS, Summarizer, SummaryInputs
from compactctl.model.transcript import RecordStats
from compactctl.model.unsent import UnsentKind

Between = Callable[[Message, Message], tuple[Role, ...]]
"""Returns the roles of the messages that have to stand between two, none where they may meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """What no stage may touch.

    Attributes:
        reasons: messages that may not be hidden or rewritten, with the reason in a user's words.
        automatic: those of them that nobody asked for, which are the newest work.
        tools: tools whose calls and results are among them because of their name.
    """

    reasons: Mapping[MessageId, str] = field(default_factory=dict)
    automatic: frozenset[MessageId] = frozenset()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationView:
    """One conversation as the next request would send it.

    Attributes:
        messages: the effective history, in the order it is sent.
        protection: what no stage may touch.
        target: tokens the conversation should get down to; None when there is no target.
        target_for: what the target is for the messages that are left, where that depends on them:
            not all tokens of a request are those of its texts.
        window: the model's context window in tokens; None when it is not known.
        cwd: the session's working folder, to recognize one file under two paths.
        originals: what a stand-in or a rewritten message was before any stage worked on it, in
            this run or an earlier one; originals of originals are none.
        to_be_summarized: messages that no stage may rewrite, as a later one puts a summary in
            their place.
        summarizer: writes the summaries; None for the built-in one.
        summary_inputs: what summaries are given beside the options of their stage.
        no_stubs: messages in which nothing may be replaced by a reference to another message.
        can_write_assistant: whether the format can write what the assistant says: the missing half
            of a tool pair, a summary as the answer to a question.
        between: tells what has to stand between two messages for the API to take them; None where
            any may follow any.
        unsent: what the file holds beside the conversation that is never sent, by its kinds; None
            where every record stays in the file.
    """

    messages: tuple[Message, ...]
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
    between: Between | None = None
    unsent: Mapping[UnsentKind, RecordStats] | None = field(default_factory=dict)

    def with_current_target(self, extra_tokens: int = 0) -> "ConversationView":
        """Return the view with the target for what it holds now, and so many tokens more."""
        target_for = self.target_for
        target = self.target if target_for is None else target_for(self.messages)
        if target_for is None or target is None or not extra_tokens:
            return replace(self, target=None if target is None else target + extra_tokens)
        return replace(
            self,
            target=target + extra_tokens,
            target_for=lambda messages: target_for(messages) + extra_tokens,
        )
