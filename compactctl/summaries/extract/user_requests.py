"""The user's requests, rules and answers and the operator's instructions, verbatim."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile
from typing import get_args

from compactctl.records import dataclass
from compactctl.summaries.extract.budget import MIN_USEFUL
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

SPOKEN: frozenset[PassageKind] = frozenset(get_args(SpokenKind))
"""The kinds of passages that hold words of the user or the operator."""
# The section, topic and label of each kind that is quoted whole.
_HEADINGS: Mapping[PassageKind, tuple[int, str, str]] = {
    "request": (1, "", REQUESTS),
    "answer": (6, "", ANSWERS),
    "instruction": (1, RULES, INSTRUCTIONS),
}

# Characters quoted of a request between the first and the newest.
OTHER_REQUEST = 420
# A longer text is pasted, and most of its sentences describe something. There, only a sentence that
# demands something is a rule; of an instruction that long only the rules are quoted.
MAX_TYPED = 1_600
# Characters of a sentence that can be a rule: longer ones in a pasted text are data.
RULE, TYPED_RULE = range(8, 401), range(8, MAX_TYPED + 1)
# Some users begin no sentence with a capital.
_CLAUSE_END = re.compile(r"(?<=[.!?;])\s+")

# A sentence with more quotation marks is data.
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
    """The words of the user and the operator that survive every compaction, by passage index.

    Attributes:
        whole: passages that are quoted whole.
        rules: the rules in all other passages.
    """

    whole: Mapping[int, str]
    rules: Mapping[int, tuple[str, ...]]

    @property
    def texts(self) -> dict[int, str]:
        """What is quoted of each passage."""
        return {**self.whole, **{index: "\n\n".join(rules) for index, rules in self.rules.items()}}


def find_lasting_words(
    passages: Sequence[Passage], following: Sequence[Passage] = (), *, continues: bool = False
) -> LastingWords:
    """Return the lasting words: two requests, answers, short instructions, and rules.

    The two requests are the first, unless others come before (``continues``), and the newest,
    unless a newer one is among the passages ``following``. Of equal rules, the newest counts. A
    rule that is part of a whole passage, or of ``following``, is not quoted twice.
    """
    holds_newest = not any(passage.kind == "request" for passage in following)
    requests = [index for index, passage in enumerate(passages) if passage.kind == "request"]
    ends = {*([] if continues else requests[:1]), *(requests[-1:] if holds_newest else ())}
    main = {
        index for index in requests if any(_is_same_message(passages, index, end) for end in ends)
    }
    whole = {
        index: passage.text.strip()
        for index, passage in enumerate(passages)
        if passage.kind == "answer"
        or index in main
        or (passage.kind == "instruction" and len(passage.text) <= MAX_TYPED)
    }
    quoted = [*whole.values(), *(p.text for p in following if p.kind in SPOKEN)]
    newest: dict[str, tuple[int, str]] = {}
    for index, passage in enumerate(passages):
        if passage.kind in SPOKEN and index not in whole:
            newest.update((_key(rule), (index, rule)) for rule in find_rules(passage.text))
    rules: dict[int, tuple[str, ...]] = {}
    for index, rule in newest.values():
        if not any(rule in text for text in quoted):
            rules[index] = (*rules.get(index, ()), rule)
    return LastingWords(whole=whole, rules=dict(sorted(rules.items())))


def _is_same_message(passages: Sequence[Passage], index: int, other: int) -> bool:
    """Whether two passages are the same, or different parts of one message."""
    first, second = passages[index].part_index, passages[other].part_index
    return index == other or (first.message == second.message and first.part != second.part)


def budget_with(budget: int, word_tokens: int, min_tokens: int, spoken_tokens: int = 0) -> int:
    """Return the budget of a text, raised if the lasting words in it take more.

    The words are quoted whatever they take. If they exceed the budget, the text may have
    ``min_tokens``, which it needs with nothing but the words, plus up to ``MIN_USEFUL`` to be worth
    reading. ``spoken_tokens`` are lasting words outside of the text that count against the budget.

        budget 2,000, words 500:  2,000        budget 2,000, words 5,000, min 5,100:  5,700
    """
    total = budget + spoken_tokens
    is_exceeded = 0 < total < word_tokens + spoken_tokens
    return min_tokens + min(MIN_USEFUL, total) if is_exceeded else budget


def spoken_passages(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages in which the user or the operator speaks.

    Without the leading system prompt, which no compaction removes.
    """
    conversation = dropwhile(lambda passage: passage.kind == "instruction", passages)
    return [passage for passage in conversation if passage.kind in SPOKEN]


def find_user_rules(passages: Sequence[Passage]) -> list[tuple[Passage, str]]:
    """Return the rules that the user set, each on one line; of equal rules the newest."""
    newest = {
        _key(rule): (passage, " ".join(rule.split()))
        for passage in spoken_passages(passages)
        for rule in find_rules(passage.text)
    }
    return list(newest.values())


def _key(rule: str) -> str:
    return " ".join(rule.lower().split())


def lasting_items(passages: Sequence[Passage], lasting: LastingWords) -> Iterator[SummaryItem]:
    """Yield the lasting words as items, which are never omitted or shortened."""
    items = [
        (index, text, _HEADINGS[passages[index].kind]) for index, text in lasting.whole.items()
    ]
    for index, rules in lasting.rules.items():
        items += [(index, rule, (1, RULES, SET_RULES)) for rule in rules]
    for index, text, (section, topic, label) in items:
        yield SummaryItem(
            section=section,
            topic=topic,
            label=label,
            text=f"{passages[index].ref} {text}",
            value=0.0,
            position=index,
        )


def middle_request_items(
    passages: Sequence[Passage], lasting: LastingWords
) -> Iterator[SummaryItem]:
    """Yield the requests that are not quoted whole, except those that are nothing but a rule."""
    whole = {id(passages[index]) for index in lasting.whole}
    for passage, text in user_requests(passages):
        if id(passage) not in whole and find_rules(text) != [text]:
            yield SummaryItem(
                section=6,
                label="Requests in between:",
                text=f"{passage.ref} {clip_middle(text, OTHER_REQUEST)}",
                value=_OTHER.at(passage.age),
                position=passage.ref.position,
            )


def user_requests(passages: Sequence[Passage]) -> list[tuple[Passage, str]]:
    """Return the requests with their text; a repeated one counts once, where it is newest.

    The first request is always included.
    """
    requests = [(p, p.text.strip()) for p in passages if p.kind == "request"]
    newest = {text: index for index, (_, text) in enumerate(requests)}
    return [
        (passage, text)
        for index, (passage, text) in enumerate(requests)
        if index in (0, newest[text])
    ]


def find_rules(text: str) -> list[str]:
    """Return the sentences of a text that set a rule, with the line ends they have there."""
    is_typed = len(text) <= MAX_TYPED
    return [
        _as_written(sentence, text)
        for candidate in sentences(text)
        for sentence in ([candidate] if len(candidate) in RULE else _CLAUSE_END.split(candidate))
        if len(sentence) in (TYPED_RULE if is_typed else RULE)
        and not sentence.endswith("?")
        and sentence.count('"') <= _MAX_QUOTES
        and (_STRICT.search(sentence) or _PREFERENCE.search(sentence))
        and (is_typed or _DEMAND.search(sentence))
    ]


def _as_written(sentence: str, text: str) -> str:
    """Return a sentence with the line ends that ``unwrap`` removed."""
    if sentence in text:
        return sentence
    match = re.search(r"\s+".join(map(re.escape, sentence.split())), text)
    return match[0] if match else sentence
