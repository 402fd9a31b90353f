"""A compaction, message by message: what was said, and what stands there now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compactctl.commands.planning.explain import Explained
from compactctl.commands.planning.run_stages import PlanOutcome
from compactctl.history.categories import Category, category_tokens
from compactctl.history.reads import file_reads
from compactctl.model.message import Message
from compactctl.tokens.meter import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMessage:
    """What became of a message; ``before`` is None of what was written, ``after`` of what went."""

    explained: Explained
    before: Message | None
    after: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The messages in the order they stand, and the tokens by category before and after.

    These are of the largest next request before and of the largest after.
    """

    messages: tuple[ComparedMessage, ...]
    before: Mapping[Category, int]
    after: Mapping[Category, int]


def compare(
    outcome: PlanOutcome, explained: Sequence[Explained], meter: Meter, cwd: str | None
) -> Comparison:
    """Return the messages of ``explained``, which has all of them, with what they say."""
    before = {str(message.id): message for message in outcome.before}
    after = {str(message.id): message for message in outcome.after}
    return Comparison(
        messages=tuple(
            ComparedMessage(explained=each, before=before.get(each.id), after=after.get(each.id))
            for each in explained
        ),
        before=_categories(outcome.request_before.messages, meter, cwd),
        after=_categories(outcome.request_after.messages, meter, cwd),
    )


def _categories(
    messages: Sequence[Message], meter: Meter, cwd: str | None
) -> Mapping[Category, int]:
    return category_tokens(messages, file_reads(messages, cwd=cwd), meter)
