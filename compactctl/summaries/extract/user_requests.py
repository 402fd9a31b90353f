"""What people said: their requests, rules, answers and instructions, in their own words."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import get_args

from compactctl.summaries.extract.items import RULES, ItemValue, SummaryItem, clip_middle
from compactctl.summaries.extract.passages import Passage, PassageKind
from compactctl.summaries.extract.sentences import (
    ANSWERS,
    INSTRUCTIONS,
    REQUESTS,
    SET_RULES,
    SpokenKind,
    sentences,
)

MIN_USEFUL = 600
"""The fewest tokens in which a summary says more than names."""
SPOKEN: frozenset[PassageKind] = frozenset(get_args(SpokenKind))
"""The kinds of passages that hold the words of people."""
# The section, topic and label under which each kind stands that is whole.
_HEADINGS: Mapping[PassageKind, tuple[int, str, str]] = {
    "request": (1, "", REQUESTS),
    "answer": (6, "", ANSWERS),
    "instruction": (1, RULES, INSTRUCTIONS),
}

# Characters kept of a request between the first and the last.
OTHER_REQUEST = 420
# A longer text is pasted, and most of its sentences describe something: of these, a rule is what
# tells somebody to do or not to do something. An instruction that long is kept by its rules.
MAX_TYPED = 1_600
# Characters of a sentence that can be a rule: pasted ones that are longer are data.
RULE, TYPED_RULE = range(8, 401), range(8, MAX_TYPED + 1)
# Some people begin no sentence with a capital.
_CLAUSE_END = re.compile(r"(?<=[.!?;])\s+")

# More quotation marks are those of data.
_MAX_QUOTES = 6

_OTHER = ItemValue(0.5, 0.5)

_STRICT = re.compile(
    r"\b(?:must(?:n['\u2019]?t)?|never|always|do not|don['\u2019]?t|shouldn['\u2019]?t"
    r"|should not|not allowed|forbidden|required?|requires)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"\b(?:only|prefer|instead of|rather than|avoid|without|make sure|ensure|important|exactly"
    r"|at least|at most|keep (?:the|it|all)|no need|stop \w+ing|remember|has to|have to|needs? to"
    r"|i want)\b",
    re.IGNORECASE,
)
_DEMAND = re.compile(
    r"\b(?:must|should|shall|needs? to|has to|have to|required|make sure|ensure|prefer|i want"
    r"|no need|remember|important|not allowed|forbidden|stays?)\b"
    r"|(?:^|[,;:|\u2014(-]\s*|\b(?:please|and|but|or|then|also|to|you|we|i)\s+)[*_`]*"
    r"(?:do not|don['\u2019]?t|never|always|only|avoid|keep|stop|use|instead of|rather than)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastingWords:
    """The words of people that outlive every compaction, by the index of their passage.

    Attributes:
        whole: what is kept whole.
        rules: of all else that was spoken, the rules.
    """

    whole: Mapping[int, str]
    rules: Mapping[int, tuple[str, ...]]

    @property
    def texts(self) -> dict[int, str]:
        """What is kept of each passage."""
        return {**self.whole, **{index: "\n\n".join(rules) for index, rules in self.rules.items()}}


def find_lasting_words(
    passages: Sequence[Passage], following: Sequence[Passage] = (), *, continues: bool = False
) -> LastingWords:
    """Return the words that last: two requests, answers, short instructions, and rules.

    The two requests are the first, unless ``continues`` says that others come before, and the
    newest, unless one is among the passages ``following``. Of equal rules it is the newest; one
    that stands in what is whole, or follows, is not quoted again.
    """
    is_newest = not any(passage.kind == "request" for passage in following)
    asked = [index for index, passage in enumerate(passages) if passage.kind == "request"]
    ends = {*([] if continues else asked[:1]), *(asked[-1:] if is_newest else ())}
    main = {index for index in asked if any(_is_one(passages, index, end) for end in ends)}
    whole = {
        index: passage.text.strip()
        for index, passage in enumerate(passages)
        if passage.kind == "answer"
        or index in main
        or (passage.kind == "instruction" and len(passage.text) <= MAX_TYPED)
    }
    said = [*whole.values(), *(each.text for each in following if each.kind in SPOKEN)]
    newest: dict[str, tuple[int, str]] = {}
    for index, passage in enumerate(passages):
        if passage.kind in SPOKEN and index not in whole:
            newest.update((_key(rule), (index, rule)) for rule in find_rules(passage.text))
    found: dict[int, tuple[str, ...]] = {}
    for index, rule in newest.values():
        if not any(rule in text for text in said):
            found[index] = (*found.get(index, ()), rule)
    return LastingWords(whole=whole, rules=dict(sorted(found.items())))


def _is_one(passages: Sequence[Passage], index: int, other: int) -> bool:
    """Whether two passages were said as one: they are the same, or parts of one message."""
    one, two = passages[index].part_index, passages[other].part_index
    return index == other or (one.message == two.message and one.part != two.part)


def budget_with(budget: int, word_tokens: int, least: int, said: int = 0) -> int:
    """Return the tokens that a text may have which takes at least ``least`` with lasting words.

    That is the ``budget``. Where these words, with those ``said`` in what stays beside the text,
    are more than that, they are kept all the same, with some tokens for the rest, so that it is
    still worth reading.
    """
    asked = budget + said
    return least + min(MIN_USEFUL, asked) if 0 < asked < word_tokens + said else budget


def spoken_passages(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages of a conversation in which people speak, but for its system prompt.

    That stays whatever is compacted.
    """
    conversation = dropwhile(lambda passage: passage.kind == "instruction", passages)
    return [passage for passage in conversation if passage.kind in SPOKEN]


def find_user_rules(passages: Sequence[Passage]) -> list[tuple[Passage, str]]:
    """Return the rules that people set in a conversation, each on one line.

    Of equal ones it is the newest.
    """
    newest = {
        _key(rule): (passage, " ".join(rule.split()))
        for passage in spoken_passages(passages)
        for rule in find_rules(passage.text)
    }
    return list(newest.values())


def _key(rule: str) -> str:
    return " ".join(rule.lower().split())


def lasting_items(passages: Sequence[Passage], lasting: LastingWords) -> Iterator[SummaryItem]:
    """Yield the lasting words as items, none of which is ever left out or cut."""
    places = [
        (index, text, _HEADINGS[passages[index].kind]) for index, text in lasting.whole.items()
    ]
    for index, found in lasting.rules.items():
        places += [(index, rule, (1, RULES, SET_RULES)) for rule in found]
    for place, text, (section, topic, label) in places:
        yield SummaryItem(
            section=section,
            topic=topic,
            label=label,
            text=f"{passages[place].ref} {text}",
            value=0.0,
            position=place,
        )


def middle_request_items(
    passages: Sequence[Passage], lasting: LastingWords
) -> Iterator[SummaryItem]:
    """Yield the requests that are not kept whole, but those that are rules alone."""
    whole = {id(passages[index]) for index in lasting.whole}
    for passage, text in user_requests(passages):
        if id(passage) not in whole and find_rules(text) != [text]:
            yield SummaryItem(
                section=6,
                label="Requests in between:",
                text=f"{passage.ref} {clip_middle(text, OTHER_REQUEST)}",
                value=_OTHER.at(passage.age),
                position=passage.ref.number,
            )


def user_requests(passages: Sequence[Passage]) -> list[tuple[Passage, str]]:
    """Return the requests with their text; of repeated ones the first and the newest."""
    asked = [(each, each.text.strip()) for each in passages if each.kind == "request"]
    newest = {text: passage.ref for passage, text in asked}
    return [
        (passage, text)
        for index, (passage, text) in enumerate(asked)
        if index == 0 or newest[text] == passage.ref
    ]


def find_rules(text: str) -> list[str]:
    """Return the sentences of what a person wrote that set a rule, as they stand there."""
    is_typed = len(text) <= MAX_TYPED
    return [
        _as_written(sentence, text)
        for found in sentences(text)
        for sentence in ([found] if len(found) in RULE else _CLAUSE_END.split(found))
        if len(sentence) in (TYPED_RULE if is_typed else RULE)
        and not sentence.endswith("?")
        and sentence.count('"') <= _MAX_QUOTES
        and (_STRICT.search(sentence) or _PREFERENCE.search(sentence))
        and (is_typed or _DEMAND.search(sentence))
    ]


def _as_written(sentence: str, text: str) -> str:
    """Return a sentence with the line ends that wrapped it."""
    if sentence in text:
        return sentence
    found = re.search(r"\s+".join(map(re.escape, sentence.split())), text)
    return found[0] if found else sentence
