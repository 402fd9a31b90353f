"""The words of rule_words.toml, and whether a sentence sets a rule."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from compactctl.records import Record

# A longer paragraph is pasted, and most of its sentences describe something.
MAX_TYPED = 1_600
"""Characters up to which a paragraph counts as typed."""
# Characters of a sentence that can be a rule: longer ones, and JSON, are data.
_TYPED_RULE, _PASTED_RULE = range(4, MAX_TYPED + 1), range(4, 801)
_DATA = re.compile(r"""["']\s*:\s*["'{\[\d]|\{\s*["']""")
_DATA_START = re.compile(r"""["'{\[]""")
_BLANK, _NO_BLANK = r"\s+", r"\s*"
# Letters of each segment of an abbreviation with periods.
_MAX_SEGMENT = 3
# What may stand before the first word of a clause.
_CLAUSE_START = r"(?:^[ \t]*|[,;:|\u2014\uff0c\u3001(-]\s*)"

# The end of a sentence, also of one before lower case; behind an abbreviation, too.
_SENTENCE_END = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])(?:\s+|(?<=[\u3002\uff01\uff1f]))")
_QUESTION_MARK = re.compile(r"[?\uff1f]+[\"'\u201d\u2019\u00bb)\]}*_`\u300d\u300f\uff09\u3011]*$")

_Words = Literal[
    "demands", "hints", "orders", "openers", "questions", "titles", "tags", "abbreviations"
]


class _Patterns(Record):
    """What recognizes rules in all languages; see rule_words.toml."""

    demands: re.Pattern[str]
    hints: re.Pattern[str]
    orders: re.Pattern[str]
    questions: re.Pattern[str]
    titles: re.Pattern[str]
    tags: re.Pattern[str]
    abbreviations: frozenset[str]


def is_rule(sentence: str, *, is_typed: bool) -> bool:
    """Whether a sentence sets a rule, as far as its words show it.

    In a pasted text (not ``is_typed``), words that often describe something, such as "always", show
    it only where a clause begins with them. A question is not a rule, with or without its mark, but
    a rule may end in one: "Never push, ok?". Nor is data, unless the words before it give an order.
    """
    sentence = sentence.strip()
    if len(sentence) not in (_TYPED_RULE if is_typed else _PASTED_RULE):
        return False
    patterns = _patterns()
    sentence = _without_questions(patterns.tags.sub("", sentence), patterns.questions)
    searched = [patterns.demands, patterns.titles, patterns.orders]
    searched += [patterns.hints] if is_typed else []
    if _DATA.search(sentence):
        sentence = _DATA_START.split(sentence, maxsplit=1)[0]
        if ":" in sentence:
            return False
    return any(pattern.search(sentence) for pattern in searched)


def _without_questions(text: str, questions: re.Pattern[str]) -> str:
    """Return a unit of a text without those of its sentences that ask something.

    how does it count.  we must know  ->  we must know
    """
    parts = _SENTENCE_END.split(text)
    return " ".join(p for p in parts if not (_QUESTION_MARK.search(p) or questions.match(p)))


def is_title(line: str) -> bool:
    """Whether a heading is the title of rules, such as "## Rules"."""
    return _patterns().titles.search(line.strip()) is not None


def is_abbreviation(word: str) -> bool:
    """Whether a period behind a word belongs to it: "Mr", "z.B", and any single letter."""
    segments = word.lower().lstrip("([{\"'\u201c\u201e\u00ab*_").split(".")
    if len(segments) > 1 or len(segments[0]) == 1:
        return all(segment.isalpha() and len(segment) <= _MAX_SEGMENT for segment in segments)
    return segments[0] in _patterns().abbreviations


@cache
def _patterns() -> _Patterns:
    languages = tomllib.loads(files(__package__).joinpath("rule_words.toml").read_text("utf-8"))
    hints, titles = _any_of(languages, "hints"), _any_of(languages, "titles")
    openers, orders = _any_of(languages, "openers"), _any_of(languages, "orders")
    return _Patterns(
        demands=_compiled(_any_of(languages, "demands")),
        hints=_compiled(hints),
        orders=_compiled(rf"(?:{_CLAUSE_START}|{openers}\s+)[*_`]*(?:{hints}|{orders})"),
        questions=_compiled(
            rf"[*_`\s]*(?:{openers}[,\s]+){{0,2}}{_any_of(languages, 'questions')}"
        ),
        titles=_compiled(rf"^(?:[*_\s]*|\s*#.*){titles}[*_\s]*(?:[:\uff1a]|$)"),
        tags=_compiled(
            rf"[,;\uff0c\u3001\u2013\u2014-]\s*\u00bf?{_any_of(languages, 'tags')}\s*[?\uff1f]+$"
        ),
        abbreviations=frozenset(
            word for language in languages.values() for word in language.get("abbreviations", ())
        ),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def _any_of(languages: Mapping[str, Mapping[str, Iterable[str]]], name: _Words) -> str:
    """Return a pattern for these words of all languages, as whole words where blanks part words."""
    parted = (words for words in languages.values() if not words.get("joined"))
    joined = (words for words in languages.values() if words.get("joined"))
    return rf"(?:\b{_alternatives(parted, name)}(?!\w)|{_alternatives(joined, name)})"


def _alternatives(languages: Iterable[Mapping[str, Iterable[str]]], name: _Words) -> str:
    words = (word for language in languages for word in language.get(name, ()))
    patterns = (word.replace(" ?", _NO_BLANK).replace(" ", _BLANK) for word in words)
    # Without words, a pattern that matches nothing.
    return f"(?:{'|'.join(patterns) or '(?!)'})"
