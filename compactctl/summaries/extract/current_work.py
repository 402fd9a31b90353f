"""The agent's current work and its next steps, as its newest messages state them."""

import re
from collections.abc import Iterator, Sequence

from compactctl.history.command_lines import normalize_command
from compactctl.summaries.extract.files import MAX_PATH_CHARS
from compactctl.summaries.extract.items import (
    NEWEST_CALLS,
    OPERATIONS,
    REPLIES,
    ItemValue,
    SummaryItem,
    clip_middle,
    clip_to_line,
)
from compactctl.summaries.extract.passages import Passage, ToolPair
from compactctl.summaries.extract.sentences import sentences

# The newest replies to quote and the newest calls to list, and the characters of each.
MAX_REPLIES = 3
MAX_REPLY_CHARS = 700
MAX_CALLS = 4
MAX_CALL_CHARS = 160
# Sentences of the newest reply to quote as next steps, and their characters.
MAX_INTENTIONS = 3
_INTENTION_CHARS = range(15, 401)

_REPLY_VALUE = ItemValue(0.7, 0.3)
_CALL_VALUE = ItemValue(0.2)
_NEXT_STEP_VALUE = ItemValue(0.8)

# Kinds of passages besides replies that show that the agent works on a request.
_AGENT_WORK = frozenset({"thought", "call"})
_INTENTION = re.compile(
    r"^now\b|\b(?:next|now (?:let|i)\b|let me|let['\u2019]s|i(?:['\u2019]ll| will)|remaining|todo"
    r"|still (?:need|to)|need to|then i|pending|waiting for|would you like|should i|shall i)\b",
    re.IGNORECASE,
)


def current_items(passages: Sequence[Passage], pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield the newest replies and tool calls for section 7."""
    replies = [passage for passage in passages if passage.kind == "reply"]
    for passage in replies[-MAX_REPLIES:]:
        yield SummaryItem(
            section=7,
            label=REPLIES,
            ref=passage.ref.name,
            text=clip_middle(passage.text, MAX_REPLY_CHARS),
            value=_REPLY_VALUE.at(passage.age),
            position=passage.ref.position,
        )
    for position, pair in enumerate(pairs[-MAX_CALLS:]):
        yield SummaryItem(
            section=7,
            topic=OPERATIONS,
            label=NEWEST_CALLS,
            ref=pair.ref.name,
            text=call_title(pair, MAX_CALL_CHARS),
            value=_CALL_VALUE.at(pair.age),
            position=position,
        )


def next_items(passages: Sequence[Passage], *, is_answered: bool = False) -> Iterator[SummaryItem]:
    """Yield the next steps that the newest reply states, or the request that has no reply yet.

    With ``is_answered``, the agent replies in messages that follow these passages.
    """
    dialogue = [i for i, passage in enumerate(passages) if passage.kind in {"request", "reply"}]
    if not dialogue:
        return
    newest, later = passages[dialogue[-1]], passages[dialogue[-1] + 1 :]
    if newest.kind == "request":
        if not (is_answered or any(passage.kind in _AGENT_WORK for passage in later)):
            text = "The newest request has no reply yet."
            ref = newest.ref.name
            yield SummaryItem(
                section=8, ref=ref, text=text, value=_NEXT_STEP_VALUE.at(0), position=0
            )
        return
    for position, sentence in enumerate(_intentions(newest.text, is_mid_work=bool(later))):
        yield SummaryItem(
            section=8,
            ref=newest.ref.name,
            text=sentence,
            value=_NEXT_STEP_VALUE.at(newest.age),
            position=position,
        )


def _intentions(text: str, *, is_mid_work: bool) -> list[str]:
    """Return the last sentences that state an intention.

    If a reply in the middle of work states none, its last sentence counts as one.
    """
    candidates = [sentence for sentence in sentences(text) if len(sentence) in _INTENTION_CHARS]
    intentions = [sentence for sentence in candidates if _INTENTION.search(sentence)]
    return intentions[-MAX_INTENTIONS:] or (candidates[-1:] if is_mid_work else [])


def call_title(pair: ToolPair, limit: int) -> str:
    """Return a call's tool and its file's whole path, or else the first line of its subject."""
    path = next(iter(pair.changes), pair.reads)
    if path:
        return f"{pair.tool} {clip_to_line(path, MAX_PATH_CHARS)}"
    lines = pair.subject.strip().splitlines()[:1]
    subject = normalize_command(lines[0]).text or lines[0] if lines else ""
    return clip_to_line(f"{pair.tool} {subject}", limit)
