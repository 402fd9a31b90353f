"""What the model is at, and what it meant to do next."""

import re
from collections.abc import Iterator, Sequence

from compactctl.summaries.extract.command_lines import normalize_command
from compactctl.summaries.extract.items import (
    OPERATIONS,
    ItemValue,
    SummaryItem,
    clip_middle,
    one_line,
)
from compactctl.summaries.extract.passages import Passage, ToolPair
from compactctl.summaries.extract.sentences import sentences

# Newest replies quoted as current work, characters of each, and newest tool calls listed.
REPLIES = 3
REPLY = 700
CALLS = 4
CALL = 160
PATH = 300
# Sentences of the newest reply quoted as next steps, and their characters.
INTENTIONS = 3
_INTENTION_LENGTH = range(15, 401)

_CURRENT = ItemValue(0.7, 0.3)
_CALL = ItemValue(0.2)
_NEXT = ItemValue(0.8)

# What only the model writes.
_OWN = frozenset({"thought", "call"})
_INTENTION = re.compile(
    r"^now\b|\b(?:next|now (?:let|i)\b|let me|let['\u2019]s|i(?:['\u2019]ll| will)|remaining|todo"
    r"|still (?:need|to)|need to|then i|pending|waiting for|would you like|should i|shall i)\b",
    re.IGNORECASE,
)


def current_items(passages: Sequence[Passage], pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield the newest replies and tool calls for section 7."""
    replies = [passage for passage in passages if passage.kind == "reply"]
    for passage in replies[-REPLIES:]:
        yield SummaryItem(
            section=7,
            text=f"{passage.ref} {clip_middle(passage.text, REPLY)}",
            value=_CURRENT.at(passage.age),
            position=passage.ref.number,
        )
    for place, pair in enumerate(pairs[-CALLS:]):
        yield SummaryItem(
            section=7,
            topic=OPERATIONS,
            label="Newest tool calls:",
            text=f"{pair.ref} {call_title(pair, CALL)}",
            value=_CALL.at(pair.age),
            position=place,
        )


def next_items(passages: Sequence[Passage], *, is_answered: bool = False) -> Iterator[SummaryItem]:
    """Yield what the newest reply says comes next, or the request that has no reply yet.

    ``is_answered`` says that the model goes on in messages behind those of the passages.
    """
    spoken = [place for place, each in enumerate(passages) if each.kind in {"request", "reply"}]
    if not spoken:
        return
    newest, later = passages[spoken[-1]], passages[spoken[-1] + 1 :]
    if newest.kind == "request":
        if not (is_answered or any(passage.kind in _OWN for passage in later)):
            text = f"The request of {newest.ref} has no reply yet."
            yield SummaryItem(section=8, text=text, value=_NEXT.at(0), position=0)
        return
    for place, sentence in enumerate(_intentions(newest.text, at_work=bool(later))):
        text = f"{newest.ref} {sentence}"
        yield SummaryItem(section=8, text=text, value=_NEXT.at(newest.age), position=place)


def _intentions(text: str, *, at_work: bool) -> list[str]:
    """Return the last sentences that state an intention.

    Of a reply in the middle of work the very last sentence counts as one.
    """
    said = [sentence for sentence in sentences(text) if len(sentence) in _INTENTION_LENGTH]
    stated = [sentence for sentence in said if _INTENTION.search(sentence)]
    return stated[-INTENTIONS:] or (said[-1:] if at_work else [])


def call_title(pair: ToolPair, limit: int) -> str:
    """Name a call by its tool and the first line of its subject; a file by its whole path."""
    path = next(iter(pair.changes), pair.reads)
    if path:
        return f"{pair.tool} {one_line(path, PATH)}"
    lines = pair.subject.strip().splitlines()[:1]
    subject = normalize_command(lines[0]) or lines[0] if lines else ""
    return one_line(f"{pair.tool} {subject}", limit)
