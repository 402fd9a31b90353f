"""What tests of history and stages share: a counter of words, and a stage carried out."""

from collections.abc import Mapping, Sequence
from typing import Any

from builders import conversation

from compactctl.history.apply import apply
from compactctl.history.conversation_view import ConversationView, Protection
from compactctl.model.edit import Hide, Insert, Proposal, Replace, SkippedStage
from compactctl.model.message import Message, MessageId
from compactctl.model.own_texts import WORDS
from compactctl.pipeline.run import unsent_after
from compactctl.records import replace
from compactctl.stages.support.stage import Stage
from compactctl.tokens.counters.counter import Exactness
from compactctl.tokens.meter import Meter


class WordCounter:
    """Counts one token per word."""

    id = "words"
    exactness: Exactness = "estimate"

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


def meter() -> Meter:
    return Meter(WordCounter())


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * count)


def joined(*messages: Message) -> tuple[Message, ...]:
    """Number messages anew, those of other conversations too."""
    return conversation(*(replace(message, id=MessageId("")) for message in messages))


def without_marks(text: str) -> str:
    """Return a text without what a digest puts before each line of the user or the operator."""
    lines = text.split("\n")
    return "\n".join("" if x == WORDS.rstrip() else x.removeprefix(WORDS) for x in lines)


def view(
    messages: Sequence[Message],
    *,
    protected: Sequence[str] = (),
    automatic: Sequence[str] = (),
    protected_tools: Sequence[str] = (),
    **fields: Any,
) -> ConversationView:
    reasons: Mapping[MessageId, str] = {MessageId(name): "pinned" for name in protected}
    return ConversationView(
        messages=tuple(messages),
        protection=Protection(
            reasons=reasons,
            automatic=frozenset(map(MessageId, automatic)),
            tools=tuple(protected_tools),
        ),
        **fields,
    )


def propose(stage: Stage[Any], of: ConversationView, **options: Any) -> Proposal:
    outcome = stage.propose(of, meter(), stage.options(**options))
    assert isinstance(outcome, Proposal), outcome
    return outcome


def skipped(stage: Stage[Any], of: ConversationView, **options: Any) -> SkippedStage:
    outcome = stage.propose(of, meter(), stage.options(**options))
    assert isinstance(outcome, SkippedStage), outcome
    return outcome


def skips(stage: Stage[Any], of: ConversationView, **options: Any) -> bool:
    return isinstance(stage.propose(of, meter(), stage.options(**options)), SkippedStage)


def carried_out(of: ConversationView, proposal: Proposal) -> ConversationView:
    left = apply(of.messages, proposal.edits)
    return replace(of, messages=left, unsent=unsent_after(of, proposal))


def hidden(proposal: Proposal) -> list[str]:
    return [name for edit in proposal.edits if isinstance(edit, Hide) for name in edit.ids]


def rewritten(proposal: Proposal) -> dict[str, str]:
    return {edit.id: edit.text for edit in proposal.edits if isinstance(edit, Replace)}


def inserted(proposal: Proposal) -> Insert:
    (insert,) = (edit for edit in proposal.edits if isinstance(edit, Insert))
    return insert


def reasons(proposal: Proposal) -> list[str | None]:
    """Return the reason of each edit; None for what is inserted, which has none."""
    return [getattr(edit, "reason", None) for edit in proposal.edits]
