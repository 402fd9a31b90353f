"""The model's decisions and findings, in its own words."""

import re
from collections.abc import Iterator, Sequence

from compactctl.history.shell_lines import only_looks
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.items import DECISIONS, FINDINGS, ItemValue, SummaryItem
from compactctl.summaries.extract.passages import Passage, ToolPair
from compactctl.summaries.extract.sentences import sentences

# Characters of a finding: shorter ones say too little, longer ones are data.
FINDING = range(15, 401)
# With fewer words it must hold a number or code.
_MIN_WORDS = 6
# How many passages after a thought may show that it was acted on.
_SOON = 30

_STATED = ItemValue(0.1, 0.2)
_ACTED_ON = ItemValue(0.1, 0.12)

_FINDING = re.compile(
    r"\b(?:decid\w+|ch(?:ose|oose)|root cause|because|instead of|rather than|turns out|approach"
    r"|the (?:issue|problem|bug|fix|reason|cause) (?:is|was)|trade-?off|confirm(?:ed|s)|verified"
    r"|discovered|found (?:that|the)|key (?:finding|insight|decision)|fixed|works? now|passes"
    r"|all tests pass|doesn['\u2019]t (?:work|exist)|not (?:supported|available)"
    r"|i(?:['\u2019]ll| will) (?:use|keep|go with|implement))\b",
    re.IGNORECASE,
)
# Announcing the next step is not a finding.
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

    From its reasoning, only decisions that a later call carried out.
    """
    seen: set[str] = set()
    for passage, finding in _findings(passages, lexicon):
        if finding in seen:
            continue
        seen.add(finding)
        value = _STATED if passage.kind == "reply" else _ACTED_ON
        yield SummaryItem(
            section=4,
            topic=DECISIONS,
            label=FINDINGS,
            ref=passage.ref.name,
            text=finding,
            value=value.at(passage.age),
            position=len(seen),
        )


def is_finding(text: str) -> bool:
    """Whether a sentence or line states a specific decision or finding."""
    if len(text) not in FINDING or text.endswith((":", "?")) or not _FINDING.search(text):
        return False
    is_specific = len(text.split()) >= _MIN_WORDS or _SPECIFIC.search(text) is not None
    return is_specific and _NARRATION.match(text) is None


def _findings(passages: Sequence[Passage], lexicon: Lexicon) -> Iterator[tuple[Passage, str]]:
    for index, passage in enumerate(passages):
        if passage.kind == "reply":
            yield from ((passage, s) for s in sentences(passage.text) if is_finding(s))
        elif passage.kind == "thought":
            choices = [sentence for sentence in sentences(passage.text) if _is_choice(sentence)]
            actions = _later_actions(passages, index) if choices else []
            yield from ((passage, s) for s in choices if _was_acted_on(s, actions, lexicon))


def _is_choice(text: str) -> bool:
    return len(text) in FINDING and _CHOICE.search(text) is not None


def _later_actions(passages: Sequence[Passage], index: int) -> list[str]:
    """Return the texts of the next calls that changed or ran something."""
    soon = passages[index + 1 : index + 1 + _SOON]
    calls = (passage.pair for passage in soon if passage.kind == "call")
    return [action for pair in calls if pair and (action := _action_text(pair))]


def _action_text(pair: ToolPair) -> str:
    is_action = pair.changes or (pair.command is not None and not only_looks(pair.command))
    return "\n".join((*pair.changes, pair.text)) if is_action and pair.is_done else ""


def _was_acted_on(sentence: str, actions: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether one action holds all entities that a sentence names."""
    names = lexicon.entities(sentence)
    return bool(names) and any(all(name in action for name in names) for action in actions)
