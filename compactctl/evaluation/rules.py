"""Sentences in which a person says how things have to be, for judging what became of them."""

import re
from collections.abc import Iterator, Sequence

from compactctl.evaluation.reading import plain
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.user_requests import spoken

# Characters of a sentence that is neither a fragment nor pasted data.
_SENTENCE = range(8, 401)
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_MARKS = " \t-*>#"
MOST = 300
"""So many are asked for at most: each is searched for in all of a context."""

# Words of obligation, prohibition and preference; apart from those that summaries look for.
_RULE = re.compile(
    r"\b(?:must|never|always|only|ensure|prefer|avoid|without|remember|important|exactly|stop"
    r"|do not|don['\u2019]?t|should(?: not|n['\u2019]?t)|make sure|instead of|rather than"
    r"|(?:has|have|needs?|want) to|no need|at (?:least|most)|not allowed|requires?|required)\b",
    re.IGNORECASE,
)


def rules_in(passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the newest distinct sentences of persons that set a rule, with single blanks."""
    return tuple(dict.fromkeys(_rules(passages)))[-MOST:]


def _rules(passages: Sequence[Passage]) -> Iterator[str]:
    for passage in spoken(passages):
        for part in _END.split(passage.text):
            sentence = plain(part).strip(_MARKS)
            if len(sentence) in _SENTENCE and _RULE.search(sentence):
                yield sentence
