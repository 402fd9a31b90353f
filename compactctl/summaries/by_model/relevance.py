"""Whether a text is about the messages it is to replace: a word in it must point to them."""

import re
from collections.abc import Iterator

from compactctl.summaries.by_model.common_words import COMMON_WORDS

# Scripts without blanks between words: kana, Han characters and Hangul.
_DENSE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_DENSE}]+|[^\W_{_DENSE}]+")
_IS_DENSE = re.compile(rf"[{_DENSE}]")
# Shorter words, and numbers with fewer digits, turn up anywhere by chance.
SHORTEST = 3
# A longer text that begins like a refusal goes on with something else.
REFUSAL_WORDS = 60
_REFUSAL = re.compile(
    r"\W*(?:[^.!?\n]{0,40}\b(?:sorry|apologi[sz]e|apologies|unfortunately|regret|as an ai)\b"
    r"[^.!?\n]{0,40}?)?[\s,;:.!\u2013\u2014-]*(?:but\s+)?"
    r"\b(?:i|we)(?:\s+am|['\u2019]m|\s+are|['\u2019]re|\s+have)?\s+"
    r"(?:can['\u2019]?t|can\s?not|won['\u2019]?t|will\s+not|unable\s+to|must\s+decline\s+to"
    r"|not\s+(?:able|allowed|permitted|going|comfortable)(?:\s+to)?|to\s+decline)\s+(?:\w+\s+)?"
    r"(?:help|assist|summari[sz]|compl|provid|fulfil|process|do\s+th|continu|discuss|answer|shar"
    r"|generat|creat|respond|engag|support|writ)",
    re.IGNORECASE,
)


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.casefold()):
        if _IS_DENSE.match(word):
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        elif len(word) >= SHORTEST:
            yield word


_COMMON = frozenset(_words(COMMON_WORDS))


def distinctive_words(text: str) -> Iterator[str]:
    """Yield the words of a text that point to a conversation: names, identifiers, numbers, topics.

    They are in lower case. Of a script without blanks, every two neighbours count as a word.
    """
    return (word for word in _words(text) if word not in _COMMON)


def is_about(text: str, source: str) -> bool:
    """Whether a text shares a distinctive word with its source.

    True where the source has none, so that nothing can be lost.
    """
    words = set(distinctive_words(source))
    return not words or not words.isdisjoint(distinctive_words(text))


def is_refusal(text: str) -> bool:
    """Whether a short text says, in English, that its writer will not help."""
    return len(text.split()) < REFUSAL_WORDS and _REFUSAL.match(text) is not None
