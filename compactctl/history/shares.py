"""What each message of a conversation holds: tokens by category, and those of results by tool."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.history.categories import Category, categorised
from compactctl.history.pairs import result_tools
from compactctl.history.reads import file_reads
from compactctl.model.message import Message
from compactctl.tokens.meter import Meter


@dataclass(frozen=True, slots=True)
class Share:
    """The tokens of one message by category, and those of its tool results by tool."""

    categories: Counter[Category]
    tools: Counter[str]


def shares(messages: Sequence[Message], cwd: str | None, meter: Meter) -> list[Share]:
    """Return what each message holds; ``cwd`` is the folder that paths in reads start from."""
    found = [Share(Counter(), Counter()) for _ in messages]
    reads = file_reads(messages, cwd=cwd)
    for place, category, tokens in categorised(messages, reads, meter):
        found[place.message].categories[category] += tokens
    for place, tool in result_tools(messages).items():
        part = messages[place.message].parts[place.part]
        found[place.message].tools[tool] += meter.part(part)
    return found
