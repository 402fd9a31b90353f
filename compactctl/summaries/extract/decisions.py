"""What the model decided and found."""

import re
from collections.abc import Iterator, Sequence

from compactctl.summaries.extract.command_lines import is_read_only
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.items import DECISIONS, ItemValue, SummaryItem
from compactctl.summaries.extract.outcomes import has_failed
from compactctl.summaries.extract.passages import Passage, ToolPair
from compactctl.summaries.extract.sentences import sentences

# Characters of a finding: less says too little, more is data.
FINDING = range(15, 401)
# With fewer words it must name or count something.
_MIN_WORDS = 6
# Of the passages after a thought, so many can show that it was acted on.
_SOON = 30

_SAID = ItemValue(0.1, 0.2)
_THOUGHT_AND_DONE = ItemValue(0.1, 0.12)

_FINDING = re.compile(
    r"\b(?:decid\w+|ch(?:ose|oose)|root cause|because|instead of|rather than|turns out|approach"
    r"|the (?:issue|problem|bug|fix|reason|cause) (?:is|was)|trade-?off|confirm(?:ed|s)|verified"
    r"|discovered|found (?:that|the)|key (?:finding|insight|decision)|fixed|works? now|passes"
    r"|all tests pass|doesn['\u2019]t (?:work|exist)|not (?:supported|available)"
    r"|i(?:['\u2019]ll| will) (?:use|keep|go with|implement))\b",
    re.IGNORECASE,
)
# What the model does or waits for next is not a finding.
_NARRATION = re.compile(
    r"(?:(?:so|now|ok(?:ay)?|good|meanwhile),? )*"
    r"(?:i(?:['\u2019]m| am| will|['\u2019]ll)|let me|let['\u2019]s|it(?:['\u2019]s| is) not stuck)"
    r"(?: \w+){0,4}? (?:wait\w*|check\w*|verify\w*|monitor\w*|let|letting|captur\w+|look\w*"
    r"|inspect\w*|re-?run\w*|read\w*|hold\w*|poll\w*|give|giving|see|continue)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"\b(?:decid\w+|ch(?:ose|oose)|instead of|rather than|go(?:ing)? with"
    r"|i(?:['\u2019]ll| will| should) (?:use|keep|implement|add|make|write|move|put|call|store))\b",
    re.IGNORECASE,
)
_SPECIFIC = re.compile(r"`|\d")


def finding_items(passages: Sequence[Passage], lexicon: Lexicon) -> Iterator[SummaryItem]:
    """Yield the sentences in which the model states a decision or a finding, each once.

    Of what it only thought those are told that a call then carried out.
    """
    seen: set[str] = set()
    for passage, finding in _findings(passages, lexicon):
        if finding in seen:
            continue
        seen.add(finding)
        worth = _SAID if passage.kind == "reply" else _THOUGHT_AND_DONE
        yield SummaryItem(
            section=4,
            topic=DECISIONS,
            label="Decisions and findings:",
            text=f"{passage.ref} {finding}",
            value=worth.at(passage.age),
            position=len(seen),
        )


def is_finding(text: str) -> bool:
    """Whether a sentence or line states a decision or a finding, and says which."""
    if len(text) not in FINDING or text.endswith((":", "?")) or not _FINDING.search(text):
        return False
    says_which = len(text.split()) >= _MIN_WORDS or _SPECIFIC.search(text) is not None
    return says_which and _NARRATION.match(text) is None


def _findings(passages: Sequence[Passage], lexicon: Lexicon) -> Iterator[tuple[Passage, str]]:
    for index, passage in enumerate(passages):
        if passage.kind == "reply":
            yield from ((passage, each) for each in sentences(passage.text) if is_finding(each))
        elif passage.kind == "thought":
            chosen = [each for each in sentences(passage.text) if _is_choice(each)]
            deeds = _later_actions(passages, index) if chosen else []
            yield from ((passage, each) for each in chosen if _was_acted_on(each, deeds, lexicon))


def _is_choice(text: str) -> bool:
    return len(text) in FINDING and _CHOICE.search(text) is not None


def _later_actions(passages: Sequence[Passage], index: int) -> list[str]:
    """Return what the next calls changed or ran."""
    soon = passages[index + 1 : index + 1 + _SOON]
    calls = (passage.pair for passage in soon if passage.kind == "call")
    return [deed for pair in calls if pair and (deed := _action_text(pair))]


def _action_text(pair: ToolPair) -> str:
    acts = pair.changes or (pair.command is not None and not is_read_only(pair.command))
    return "\n".join((*pair.changes, pair.text)) if acts and not has_failed(pair) else ""


def _was_acted_on(sentence: str, deeds: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether one deed has all the names of a sentence in it."""
    names = lexicon.entities(sentence)
    return bool(names) and any(all(name in deed for name in names) for deed in deeds)
