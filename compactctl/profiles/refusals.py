"""Load the table of what providers and clients refuse, and find its words in errors."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from string import Formatter
from typing import Any

from compactctl.model.refusal_rule import UNKNOWN, ErrorPlace, RefusalError, RefusalRule
from compactctl.model.validation import validated
from compactctl.records import Record

# All repetitions are bounded, so that matching is fast on any text. A number has at most 19 digits
# and separators.
_NUMBER = r"\(?(?<![\d.,_])(\d[\d,_]{0,18})(?![\d_])"
_SPACE = r"[ \"':]{0,3}"
_GAP = r"[^\d\n]{0,100}?"
_PLACEHOLDER = re.compile(r"\{(actual|limit|answer|excess|other)\}| ?… ?| ")
_SEPARATED_NUMBER = re.compile(r"\d+|\d{1,3}(?:[,_]\d{3})+")
_INDEX = r"(\d{1,9})(?!\d)"
# The places of messages in requests, whatever is wrong with them.
_PLACES = (
    "messages.{message}.content.{block}",
    "messages.{message}",
    "messages[{message}]",
    "contents[{message}]",
    "input[{item}]",
)
_IDS = frozenset({"call_id", "item_id"})
# A full stop behind an id ends a sentence.
_ID = r"([\w:.|-]{0,200}[\w|-])"
# The share of its window from which a conversation is full: a compaction is due by default.
_FULL = 0.8
# Between the two halves of a pattern, in characters.
_BETWEEN = ".{0,200}?"
_AMOUNT = r"(?<![\d.,])(\d{1,3}(?:,\d{3}){1,5}|\d{1,19}(?:\.\d{1,3})?) ?(bytes|[KMG]i?B)\b"
_SIZE = re.compile(_AMOUNT, re.IGNORECASE)
_LIMIT = re.compile(rf"(?:max|limit)[^\d\n]{{0,40}}{_AMOUNT}", re.IGNORECASE)
# Fewer bytes than any limit of a request.
_MIN_REQUEST = 1 << 10
_BYTES = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class TokenFigures(Record):
    """The tokens sent and the tokens allowed; None if the error does not say.

    ``answer`` are the tokens of ``actual`` that were reserved for the answer.
    """

    actual: int | None = None
    limit: int | None = None
    answer: int = 0

    @property
    def gap(self) -> int | None:
        """The tokens over the limit; None if a figure is missing or the limit is not exceeded."""
        if self.actual is None or self.limit is None or self.actual <= self.limit:
            return None
        return self.actual - self.limit

    @property
    def prompt(self) -> int | None:
        """The tokens of the prompt alone; None if unknown."""
        return None if self.actual is None else self.actual - self.answer

    @property
    def leaves_room(self) -> bool:
        """Whether only the tokens for the answer are too many: the prompt leaves room for some."""
        if self.gap is None or self.prompt is None or self.limit is None:
            return False
        return self.prompt < self.limit * _FULL


class FigureForm(Record, kw_only=False):
    """A way in which errors write the figures.

    Attributes:
        text: the form, as in refusals.toml.
        pattern: what to search for.
        roles: what each group of the pattern is: actual, limit, answer, excess or other.
        proves_overflow: whether an error with such figures is an overflow, whatever else it says.
        note: what to do about it.
    """

    text: str
    pattern: re.Pattern[str]
    roles: tuple[str, ...]
    proves_overflow: bool = False
    note: str = ""


def compile_form(form: str, *, proves_overflow: bool = False, note: str = "") -> FigureForm:
    """Compile a form, whose syntax refusals.toml describes.

    "{actual} tokens > {limit}"  finds  "213,462 tokens > 200000".
    """
    pieces, end = [], 0
    for placeholder in _PLACEHOLDER.finditer(form):
        pieces.append(re.escape(form[end : placeholder.start()]))
        pieces.append(_NUMBER if placeholder[1] else _GAP if "…" in placeholder[0] else _SPACE)
        end = placeholder.end()
    pieces.append(re.escape(form[end:]))
    roles = tuple(placeholder[1] for placeholder in _PLACEHOLDER.finditer(form) if placeholder[1])
    search = re.compile("".join(pieces), re.ASCII | re.IGNORECASE)
    return FigureForm(form, search, roles, proves_overflow, note)


def read_figures(text: str, forms: Iterable[FigureForm]) -> TokenFigures:
    """Return the first figures that exceed their limit, else the first figures, else none."""
    matches = ((form, form.pattern.search(text)) for form in forms)
    candidates = [_figures_in(form, match) for form, match in matches if match is not None]
    exceeding = (figures for figures in candidates if figures.gap is not None)
    return next(exceeding, next(iter(candidates), TokenFigures()))


def _figures_in(form: FigureForm, match: re.Match[str]) -> TokenFigures:
    numbers: dict[str, int] = {}
    for role, digits in zip(form.roles, match.groups(), strict=True):
        numbers[role] = numbers.get(role, 0) + _parse_number(digits)
    answer = numbers.get("answer", 0)
    actual = numbers["actual"] + answer if "actual" in numbers else None
    if "excess" in numbers:
        actual = numbers["limit"] + numbers["excess"]
    return TokenFigures(actual=actual, limit=numbers.get("limit"), answer=answer)


def _parse_number(digits: str) -> int:
    """Parse a number such as 200,000 or 200_000; "8192,10" is 8192, followed by another number."""
    number = digits.rstrip(",_")
    if not _SEPARATED_NUMBER.fullmatch(number):
        number = re.split(r"[,_]", number)[0]
    return int(re.sub(r"[,_]", "", number))


class ErrorPattern(Record):
    """Words of an error, and what they mean.

    Attributes:
        text: the words.
        source: where they are documented.
        search: the compiled words.
        providers: who uses them, the most likely one first; empty for anyone.
        unit: the unit of the limit; figures are only read for tokens.
        yields: whether it is a rate limit or a refusal if the error also has words of one.
        decides: whether it is a rate limit even if the error also has words of something else.
        retryable: for a rate limit, whether the same request can succeed later.
        note: what to do about it, or what to say if any of several providers may have answered.
    """

    text: str
    source: str
    search: re.Pattern[str]
    providers: tuple[str, ...] = ()
    unit: str = "tokens"
    yields: bool = False
    decides: bool = False
    retryable: bool = False
    note: str = ""


class _Sentence(Record):
    """Words of an error, as in refusals.toml and compiled, and the rules that have them."""

    words: str
    search: re.Pattern[str]
    rules: tuple[RefusalRule, ...]


class ErrorPatterns(Record):
    """The words of refusals.toml, compiled; ``hints`` are words by provider, gateways first."""

    overflow: tuple[ErrorPattern, ...]
    answers: tuple[ErrorPattern, ...]
    rate_limits: tuple[ErrorPattern, ...]
    figure_forms: tuple[FigureForm, ...]
    hints: Mapping[str, tuple[str, ...]]


@cache
def load_patterns() -> ErrorPatterns:
    """Load what errors about the size and the rate of requests say, once per process."""
    table = _load_table()
    return ErrorPatterns(
        overflow=tuple(map(_parse_pattern, table["overflow"])),
        answers=tuple(map(_parse_pattern, table["answer"])),
        rate_limits=tuple(map(_parse_pattern, table["limited"])),
        figure_forms=tuple(map(_parse_form, table["figures"])),
        hints={name: tuple(words) for name, words in table["hints"].items()},
    )


@cache
def load_refusals() -> Mapping[str, RefusalRule]:
    """Load the rules for all other refusals by their id, once per process."""
    return {row["id"]: validated(row, RefusalRule) for row in _load_table()["refusal"]}


def rules_of(*refusers: str) -> tuple[RefusalRule, ...]:
    """Return the rules of any of these providers and clients."""
    rules = load_refusals().values()
    return tuple(rule for rule in rules if not set(refusers).isdisjoint(rule.providers))


def refusal_in(error_text: str) -> RefusalError | None:
    """Return what the texts of an error say is refused; None if that is not a part of a request.

    "messages.5.content.0: Invalid `signature`"  is at  message=5, block=0.
    """
    matches = ((sentence, sentence.search.search(error_text)) for sentence in _load_sentences())
    sentence, match = next(((s, match) for s, match in matches if match), (None, None))
    if sentence is None or match is None:
        return _without_reason(error_text)
    providers = [name for rule in sentence.rules for name in rule.providers]
    named = (name for name in _named_providers(error_text) if name in providers)
    return RefusalError(
        rules=sentence.rules,
        sentence=sentence.words,
        provider=next(named, None),
        place=_place_in(error_text, sentence.rules, match),
    )


def _without_reason(error_text: str) -> RefusalError | None:
    """Return the place of an error that is cut off, or new; None if it names none."""
    matches = ((form, _compile_place(form).search(error_text)) for form in _PLACES)
    form, match = next(((form, match) for form, match in matches if match), (None, None))
    if form is None or match is None:
        return None
    return RefusalError(rules=(UNKNOWN,), place=ErrorPlace(**dict(_place_values(form, match))))


def size_refusal(error_text: str) -> RefusalError:
    """Return what the texts of an error say of the size of a request in bytes.

    Of several sizes, the limit is the one that is called so, else the smallest.
    """
    rule = load_refusals()["request-bytes"]
    limits = [*_sizes(_LIMIT.findall(error_text))] or [*_sizes(_SIZE.findall(error_text))]
    return RefusalError(rules=(rule,), limit=min(limits, default=None))


def _sizes(texts: Iterable[tuple[str, str]]) -> Iterator[int]:
    for number, unit in texts:
        size = round(float(number.replace(",", "")) * _BYTES[unit[0].lower()])
        if size >= _MIN_REQUEST:
            yield size


def _named_providers(error_text: str) -> Iterator[str]:
    """Yield the providers whose words are in an error."""
    lower_text = error_text.lower()
    for provider, words in load_patterns().hints.items():
        if any(word.lower() in lower_text for word in words):
            yield provider


def _place_in(error_text: str, rules: Iterable[RefusalRule], sentence: re.Match[str]) -> ErrorPlace:
    """Return the place that an error names nearest to its sentence, and the ids that it names.

    Of places that begin alike, the longest counts.
    """
    forms = dict.fromkeys(place for rule in rules for place in rule.places)
    places = [
        (dict(_place_values(form, match)), match)
        for form in forms
        for match in _compile_place(form).finditer(error_text)
    ]
    places.sort(key=lambda place: (_distance(place[1], sentence), -len(place[1][0])))
    indices = next((values for values, _ in places if not values.keys() & _IDS), {})
    ids = {name: v for values, _ in reversed(places) for name, v in values.items() if name in _IDS}
    return ErrorPlace(**indices, **ids)


def _place_values(form: str, match: re.Match[str]) -> Iterator[tuple[str, Any]]:
    """Yield the placeholders of a place with their values; indices count from 0."""
    fields = ((name, first) for _, name, first, _ in Formatter().parse(form) if name)
    for (name, first), value in zip(fields, match.groups(), strict=True):
        yield name, value if name in _IDS else int(value) - int(first or 0)


def _distance(match: re.Match[str], other: re.Match[str]) -> int:
    return max(0, other.start() - match.end(), match.start() - other.end())


@cache
def _compile_place(place: str) -> re.Pattern[str]:
    pieces = [r"(?<!\w)" if place[0].isalpha() else ""]
    for words, name, _, _ in Formatter().parse(place):
        value = "" if name is None else _ID if name in _IDS else _INDEX
        pieces += [re.escape(words), value]
    return re.compile("".join(pieces), re.ASCII | re.IGNORECASE)


@cache
def _load_sentences() -> tuple[_Sentence, ...]:
    rules: dict[str, list[RefusalRule]] = {}
    for rule in load_refusals().values():
        for words in rule.sentences:
            rules.setdefault(words, []).append(rule)
    return tuple(
        _Sentence(words=words, search=_compile_words(words), rules=tuple(sharing))
        for words, sharing in rules.items()
    )


@cache
def _load_table() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("refusals.toml").read_text("utf-8"))


def _parse_form(row: Mapping[str, Any]) -> FigureForm:
    return compile_form(
        row["form"], proves_overflow=row.get("decides", False), note=row.get("note", "")
    )


def _parse_pattern(row: Mapping[str, Any]) -> ErrorPattern:
    providers = tuple(row.get("providers", ()))
    return ErrorPattern(**{**row, "providers": providers, "search": _compile_words(row["text"])})


def _compile_words(text: str) -> re.Pattern[str]:
    """Compile a pattern's text; a number at its edge never matches part of a longer one."""
    words = _BETWEEN.join(re.escape(half.strip()) for half in text.split("…"))
    before = r"(?<!\d)" if text[0].isdigit() else ""
    after = r"(?!\d)" if text[-1].isdigit() else ""
    return re.compile(f"{before}{words}{after}", re.IGNORECASE | re.DOTALL)
