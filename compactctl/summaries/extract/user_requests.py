"""What the people asked for: their requests, their rules and their answers, in their words."""

import re
from collections.abc import Iterable, Iterator, Sequence

from compactctl.summaries.extract.items import RULES, SummaryItem, Worth, clipped, one_line
from compactctl.summaries.extract.passages import Passage, ToolPair
from compactctl.summaries.extract.sentences import sentences

# Characters kept of a request between the first and the last.
OTHER_REQUEST = 420
# Characters of a sentence that can be a rule.
RULE = range(8, 401)

# More quotation marks are those of data.
_MOST_QUOTES = 6

_OTHER = Worth(0.5, 0.5)
_STRICT_RULE = Worth(1.0, 0.3)
_RULE = Worth(0.6, 0.3)
_ANSWER = Worth(0.3, 0.5)

_STRICT = re.compile(
    r"\b(?:must(?:n['\u2019]?t)?|never|always|do not|don['\u2019]?t|shouldn['\u2019]?t"
    r"|should not|not allowed|forbidden|required?|requires)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:only|prefer|instead of|rather than|avoid|without|make sure|ensure|important|exactly"
    r"|at least|at most|keep (?:the|it|all)|no need|stop \w+ing|remember|has to|have to|needs? to"
    r"|i want)\b",
    re.IGNORECASE,
)


def between_items(passages: Sequence[Passage]) -> Iterator[SummaryItem]:
    """Yield the requests between the first and the last, but those that are rules alone."""
    for passage, text in requests(passages)[1:-1]:
        if rules(text) != [text]:
            yield SummaryItem(
                section=6,
                label="Requests in between:",
                text=f"{passage.spot} {clipped(text, OTHER_REQUEST)}",
                value=_OTHER.at(passage.age),
                place=passage.spot.number,
            )


def rule_items(passages: Sequence[Passage], shown: Iterable[str]) -> list[SummaryItem]:
    """Return the sentences in which a person set a rule, the strictest and newest first.

    Of equal ones it is the newest. What is ``shown`` of requests needs no rules beside it.
    """
    newest: dict[str, tuple[Passage, str]] = {}
    known = [" ".join(text.split()) for text in shown]
    for passage, text in requests(passages):
        told = [rule for rule in rules(text) if not any(rule in each for each in known)]
        newest.update({rule.lower(): (passage, rule) for rule in told})
    items = [
        SummaryItem(
            section=1,
            topic=RULES,
            label="Rules the user set:",
            text=f"{passage.spot} {rule}",
            value=(_STRICT_RULE if _STRICT.search(rule) else _RULE).at(passage.age),
            place=place,
        )
        for place, (passage, rule) in enumerate(newest.values())
    ]
    return sorted(items, key=lambda item: (-item.value, item.place))


def answer_items(pairs: Sequence[ToolPair]) -> Iterator[SummaryItem]:
    """Yield what a person answered to questions and objections to tool calls."""
    for pair in pairs:
        words = pair.result.said if pair.result else ""
        if words:
            yield SummaryItem(
                section=6,
                label="Answers of the user:",
                text=f"{pair.spot} {one_line(words, OTHER_REQUEST)}",
                value=_ANSWER.at(pair.age),
                place=pair.spot.number,
            )


def objection(pair: ToolPair) -> str:
    """Return what a person wrote when they turned down the call, "" when they did not."""
    return pair.result.said if pair.result and pair.result.is_error else ""


def requests(passages: Sequence[Passage]) -> list[tuple[Passage, str]]:
    """Return the requests with their text; of repeated ones the first and the newest."""
    asked = [(passage, passage.text) for passage in passages if passage.kind == "request"]
    newest = {text: passage.spot for passage, text in asked}
    return [
        (passage, text)
        for index, (passage, text) in enumerate(asked)
        if index == 0 or newest[text] == passage.spot
    ]


def rules(text: str) -> list[str]:
    """Return the sentences of a person's text that set a rule."""
    return [
        sentence
        for sentence in sentences(text)
        if len(sentence) in RULE
        and not sentence.endswith("?")
        and sentence.count('"') <= _MOST_QUOTES
        and (_STRICT.search(sentence) or _WISH.search(sentence))
    ]
