"""What the model decided and found, what it is at and what it meant to do next."""

import re
from collections.abc import Iterator, Sequence

from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.items import (
    DECISIONS,
    OPERATIONS,
    SummaryItem,
    Worth,
    clipped,
    one_line,
)
from compactctl.summaries.extract.passages import Passage, ToolPair
from compactctl.summaries.extract.sentences import sentences

FINDING = 260
# Newest replies quoted as current work, characters of each, and newest tool calls listed.
REPLIES = 3
REPLY = 700
CALLS = 4
CALL = 160
# Sentences of the newest reply quoted as next steps.
INTENTIONS = 3

_SAID = Worth(340, 220)
_THOUGHT = Worth(260, 220)
_PER_ENTITY = 20
_MOST_FOR_ENTITIES = 80
_CURRENT = Worth(820, 80)
_CALL = Worth(500)
_NEXT = Worth(850)

# Shorter sentences say too little to be a finding.
_TELLING = range(15, 2_000)
_FINDING = re.compile(
    r"\b(?:decid\w+|ch(?:ose|oose)|root cause|because|instead of|rather than|turns out|approach"
    r"|the (?:issue|problem|bug|fix|reason|cause) (?:is|was)|trade-?off|confirm(?:ed|s)|verified"
    r"|discovered|found (?:that|the)|key (?:finding|insight|decision)|fixed|works? now|passes"
    r"|all tests pass|doesn['\u2019]t (?:work|exist)|not (?:supported|available)"
    r"|i(?:['\u2019]ll| will) (?:use|keep|go with|implement))\b",
    re.IGNORECASE,
)
_INTENTION = re.compile(
    r"^now\b|\b(?:next|now (?:let|i)\b|let me|let['\u2019]s|i(?:['\u2019]ll| will)|remaining|todo"
    r"|still (?:need|to)|need to|then i|pending|waiting for|would you like|should i|shall i)\b",
    re.IGNORECASE,
)


def finding_items(passages: Sequence[Passage], lexicon: Lexicon) -> Iterator[SummaryItem]:
    """Yield the sentences in which the model states a decision or a finding, each once."""
    seen: set[str] = set()
    for passage, finding in _findings(passages):
        if finding in seen:
            continue
        seen.add(finding)
        worth = _SAID if passage.kind == "reply" else _THOUGHT
        bonus = min(_MOST_FOR_ENTITIES, _PER_ENTITY * len(lexicon.entities(finding)))
        yield SummaryItem(
            section=4,
            topic=DECISIONS,
            label="Decisions and findings:",
            text=f"{passage.spot} {finding}",
            value=worth.at(passage.age) + bonus,
            place=len(seen),
        )


def is_finding(text: str) -> bool:
    """Whether a sentence or line states a decision or a finding."""
    return len(text) in _TELLING and _FINDING.search(text) is not None


def current_items(passages: Sequence[Passage], pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield the newest replies and tool calls for section 7."""
    replies = [passage for passage in passages if passage.kind == "reply"]
    for passage in replies[-REPLIES:]:
        yield SummaryItem(
            section=7,
            text=f"{passage.spot} {clipped(passage.text, REPLY)}",
            value=_CURRENT.at(passage.age),
            place=passage.spot.number,
            elastic=True,
        )
    for place, pair in enumerate(pairs[-CALLS:]):
        yield SummaryItem(
            section=7,
            topic=OPERATIONS,
            label="Newest tool calls:",
            text=f"{pair.spot} {call_title(pair, CALL)}",
            value=_CALL.at(pair.age),
            place=place,
        )


def next_items(passages: Sequence[Passage]) -> Iterator[SummaryItem]:
    """Yield what the newest reply says comes next, or the request that has no reply yet."""
    spoken = [passage for passage in passages if passage.kind in {"request", "reply"}]
    if not spoken:
        return
    newest = spoken[-1]
    if newest.kind == "request":
        text = f"The request of {newest.spot} has no reply yet."
        yield SummaryItem(section=8, text=text, value=_NEXT.at(0), place=0)
        return
    at_work = newest is not passages[-1]
    for place, sentence in enumerate(_intentions(newest.text, at_work=at_work)):
        text = f"{newest.spot} {clipped(sentence, FINDING)}"
        yield SummaryItem(section=8, text=text, value=_NEXT.at(newest.age) + place, place=place)


def _findings(passages: Sequence[Passage]) -> Iterator[tuple[Passage, str]]:
    for passage in passages:
        if passage.kind in {"reply", "thought"}:
            for sentence in sentences(passage.text):
                if is_finding(sentence):
                    yield passage, clipped(sentence, FINDING)


def _intentions(text: str, *, at_work: bool) -> list[str]:
    """Return the last sentences that state an intention.

    Of a reply in the middle of work the very last sentence counts as one.
    """
    said = [sentence for sentence in sentences(text) if len(sentence) in _TELLING]
    stated = [sentence for sentence in said if _INTENTION.search(sentence)]
    return stated[-INTENTIONS:] or (said[-1:] if at_work else [])


def call_title(pair: ToolPair, limit: int) -> str:
    """Name a call by its tool and the first line of its subject."""
    lines = pair.subject.strip().splitlines()
    return one_line(f"{pair.tool} {lines[0] if lines else ''}", limit)
