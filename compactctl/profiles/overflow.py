"""Classify a provider's error: whether the context was too long, by how much, and for whom."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from compactctl.records import Record, replace

# All repetitions are bounded, so that matching is fast on any text. A number has at most 19 digits
# and separators.
_NUMBER = r"\(?(?<![\d.,_])(\d[\d,_]{0,18})(?![\d_])"
_SPACE = r"[ \"':]{0,3}"
_GAP = r"[^\d\n]{0,100}?"
_PLACEHOLDER = re.compile(r"\{(actual|limit|answer|other)\}| ?… ?| ")
_SEPARATED_NUMBER = re.compile(r"\d+|\d{1,3}(?:[,_]\d{3})+")
# Between the two halves of a pattern, in characters.
_BETWEEN = ".{0,200}?"
# An error is short. Anything longer is a log or echoes the request, so only both ends are read.
MAX_TEXT = 32_768
MAX_JSON = 1_000_000
_MAX_DEPTH = 12
_MAX_VALUES = 500
# Positions in a text where an object may begin.
_MAX_STARTS = 8
# The keys under which known libraries describe what happened, as opposed to echoing the request.
_TEXT_KEYS = frozenset({
    "body", "cause", "causes", "code", "data", "detail", "details", "error", "error_description",
    "errors", "exception", "failure", "innererror", "message", "metadata", "msg", "name", "raw",
    "reason", "response", "responsebody", "statustext", "title", "type",
})  # fmt: skip
_STATUS_KEYS = frozenset({"code", "status", "status_code", "statuscode"})
# Token figures that llama.cpp returns as fields.
_FIGURE_KEYS = frozenset({"n_ctx", "n_prompt_tokens"})
_RETRYABLE_KEYS = frozenset({"isretryable", "retryable"})
NOT_RETRYABLE = "not retryable"
# NeuroLink does not retry an error with this status.
_BAD_REQUEST = "status 400"


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


class FigureForm(Record, kw_only=False):
    """A way in which errors write the figures.

    Attributes:
        text: the form, as in overflow.toml.
        pattern: what to search for.
        roles: what each group of the pattern is: actual, limit, answer or other.
        proves_overflow: whether an error with such figures is an overflow, whatever else it says.
    """

    text: str
    pattern: re.Pattern[str]
    roles: tuple[str, ...]
    proves_overflow: bool = False


def compile_form(form: str, *, proves_overflow: bool = False) -> FigureForm:
    """Compile a form, whose syntax overflow.toml describes.

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
    return FigureForm(form, search, roles, proves_overflow)


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
        yields_to_rate_limit: whether it is a rate limit if the error also has words of one.
        retryable: for a rate limit, whether the same request can succeed later.
        note: what to do about it, or what to say if any of several providers may have answered.
    """

    text: str
    source: str
    search: re.Pattern[str]
    providers: tuple[str, ...] = ()
    unit: str = "tokens"
    yields_to_rate_limit: bool = False
    retryable: bool = False
    note: str = ""


class ErrorPatterns(Record):
    """The content of overflow.toml; ``hints`` are words by provider, gateways first."""

    overflow: tuple[ErrorPattern, ...]
    rate_limits: tuple[ErrorPattern, ...]
    figure_forms: tuple[FigureForm, ...]
    hints: Mapping[str, tuple[str, ...]]


@cache
def load_patterns() -> ErrorPatterns:
    """Load overflow.toml, once per process."""
    resource = files(__package__).joinpath("overflow.toml")
    document = tomllib.loads(resource.read_text("utf-8"))
    return ErrorPatterns(
        overflow=tuple(map(_parse_pattern, document["overflow"])),
        rate_limits=tuple(map(_parse_pattern, document["limited"])),
        figure_forms=tuple(map(_parse_form, document["figures"])),
        hints={name: tuple(words) for name, words in document["hints"].items()},
    )


def _parse_form(row: Mapping[str, Any]) -> FigureForm:
    return compile_form(row["form"], proves_overflow=row.get("decides", False))


def _parse_pattern(row: Mapping[str, Any]) -> ErrorPattern:
    providers = tuple(row.get("providers", ()))
    return ErrorPattern(**{**row, "providers": providers, "search": _compile_words(row["text"])})


def _compile_words(text: str) -> re.Pattern[str]:
    """Compile a pattern's text; a number at its edge never matches part of a longer one."""
    words = _BETWEEN.join(re.escape(half.strip()) for half in text.split("…"))
    before = r"(?<!\d)" if text[0].isdigit() else ""
    after = r"(?!\d)" if text[-1].isdigit() else ""
    return re.compile(f"{before}{words}{after}", re.IGNORECASE | re.DOTALL)


def error_texts(text: str) -> tuple[str, ...]:
    """Return the texts to classify, each on one line: those of an error in JSON, or all of it.

    HTTP statuses become ``status 413``. Together they have at most ``MAX_TEXT`` characters; longer
    texts lose their middle.
    """
    value = _parse_json(text)
    if value is not None:
        return tuple(_limit_texts(list(_texts_in(value)) or [text]))
    embedded = [words for value in _embedded_values(text) for words in _texts_in(value)]
    return tuple(_limit_texts([*embedded, text]))


def _embedded_values(text: str) -> Iterator[Any]:
    """Yield the first few JSON objects and arrays within a text."""
    if len(text) > MAX_JSON:
        return
    decoder, start = json.JSONDecoder(), 0
    for _ in range(_MAX_STARTS):
        start = _next_start(text, start)
        if start < 0:
            return
        try:
            value, start = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start += 1
        else:
            yield value


def _parse_json(text: str) -> object:
    """Parse a JSON text; None for other text, and for more than ``MAX_JSON`` characters."""
    if len(text) > MAX_JSON or text.lstrip()[:1] not in {"{", "[", '"'}:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _next_start(text: str, start: int) -> int:
    starts = [pos for pos in (text.find("{", start), text.find("[", start)) if pos >= 0]
    return min(starts, default=-1)


def _texts_in(value: object) -> Iterator[str]:
    """Yield the texts in an error, outer ones first, from a bounded number of values."""
    queue: list[tuple[Any, int]] = [(value, 0)]
    for count, (item, depth) in enumerate(queue):
        if count >= _MAX_VALUES:
            return
        inner = _parse_json(item) if isinstance(item, str) else None
        if isinstance(item, str) and inner is None:
            yield item
        elif isinstance(item, dict):
            yield from _field_texts(item)
        if depth < _MAX_DEPTH:
            queue += [(part, depth + 1) for part in _inner_values(item, inner)]


def _inner_values(value: object, inner: object) -> list[Any]:
    """Return the values inside a value that may describe the error; a JSON string is parsed."""
    if isinstance(value, dict):
        return [value[key] for key in value if key.lower() in _TEXT_KEYS]
    if isinstance(value, list):
        return value[:_MAX_VALUES]
    return [] if inner is None else [inner]


def _field_texts(fields: dict[str, Any]) -> Iterator[str]:
    """Yield the fields of an error that matter, formatted as text: figures, status, no retry."""
    figures = [
        f"{key} {fields[key]}" for key in sorted(_FIGURE_KEYS, reverse=True) if key in fields
    ]
    if figures:
        yield " ".join(figures)
    for key, value in fields.items():
        if key.lower() in _STATUS_KEYS and isinstance(value, int | str):
            yield f"status {value}"
        if key.lower() in _RETRYABLE_KEYS and value is False:
            yield NOT_RETRYABLE


def _limit_texts(texts: list[str]) -> Iterator[str]:
    """Yield texts on one line each, up to ``MAX_TEXT`` characters; long ones lose their middle."""
    remaining = MAX_TEXT
    for text in texts:
        half = remaining // 2
        ends = text if len(text) <= remaining else f"{text[:half]} {text[-half:] if half else ''}"
        line = " ".join(ends.replace("\\u003e", ">").replace("&gt;", ">").split())
        remaining -= len(line)
        yield line
        if remaining <= 0:
            return


class Overflow(Record):
    """What an error says about the context.

    Attributes:
        overflow: whether the request was too large.
        provider: who answered, if the error says so; None if it is not an overflow.
        actual: tokens sent; None if the error does not say, as for limits in bytes.
        limit: tokens allowed; None likewise.
        answer: the tokens of ``actual`` that were reserved for the answer.
        retryable: whether the same request can succeed later; None if unknown.
        pattern: the pattern of overflow.toml that decided; None if none did.
        note: what is uncertain, or what to do; "" for nothing.
    """

    overflow: bool
    provider: str | None = None
    actual: int | None = None
    limit: int | None = None
    answer: int = 0
    retryable: bool | None = None
    pattern: str | None = None
    note: str = ""

    @property
    def prompt(self) -> int | None:
        """The tokens of the prompt alone; None if unknown."""
        return None if self.actual is None else self.actual - self.answer

    @property
    def gap(self) -> int | None:
        """The tokens over the limit; None if unknown or within it."""
        return TokenFigures(actual=self.actual, limit=self.limit).gap


def classify_error(text: str) -> Overflow:
    """Classify an error: plain text, a JSON body, or JSON within text. Never raises.

    Of a long text, only a bounded part is read. A rate limit or an exhausted quota is not an
    overflow unless the error also says that the request is too long.
    """
    error_patterns, error_text = load_patterns(), "\n".join(error_texts(text))
    rate_limit = _first_match(error_patterns.rate_limits, error_text)
    overflow_patterns = (
        pattern
        for pattern in error_patterns.overflow
        if rate_limit is None or not pattern.yields_to_rate_limit
    )
    pattern = _first_match(overflow_patterns, error_text)
    if pattern is not None:
        return _describe_overflow(pattern, error_text, error_patterns)
    if rate_limit is not None:
        return Overflow(
            overflow=False,
            retryable=rate_limit.retryable,
            pattern=rate_limit.text,
            note=rate_limit.note,
        )
    return _classify_by_figures(error_text, error_patterns)


def _describe_overflow(
    pattern: ErrorPattern, error_text: str, error_patterns: ErrorPatterns
) -> Overflow:
    """Describe an overflow, which is never retryable: the same request would fail again."""
    hinted_provider = _hinted_provider(pattern, error_text, error_patterns.hints)
    is_settled = hinted_provider is not None and len(pattern.providers) != 1
    result = Overflow(
        overflow=True,
        provider=hinted_provider or next(iter(pattern.providers), None),
        retryable=False,
        pattern=pattern.text,
        note="" if is_settled else pattern.note,
    )
    if pattern.unit != "tokens":
        return result
    figures = read_figures(error_text, error_patterns.figure_forms)
    return replace(result, actual=figures.actual, limit=figures.limit, answer=figures.answer)


def _classify_by_figures(error_text: str, error_patterns: ErrorPatterns) -> Overflow:
    """Classify an error without known words by figures that prove an overflow."""
    for form in error_patterns.figure_forms:
        figures = read_figures(error_text, [form])
        if form.proves_overflow and figures.gap is not None:
            return Overflow(
                overflow=True,
                actual=figures.actual,
                limit=figures.limit,
                answer=figures.answer,
                retryable=False,
                pattern=form.text,
            )
    is_final = not {NOT_RETRYABLE, _BAD_REQUEST}.isdisjoint(error_text.split("\n"))
    return Overflow(overflow=False, retryable=False if is_final else None)


def _hinted_provider(
    pattern: ErrorPattern, error_text: str, hints: Mapping[str, tuple[str, ...]]
) -> str | None:
    """Return the provider, among those of the pattern, that other words of the error name."""
    other_text = pattern.search.sub(" ", error_text).lower()
    for provider, words in hints.items():
        is_possible = provider in pattern.providers or not pattern.providers
        if is_possible and any(word.lower() in other_text for word in words):
            return provider
    return None


def _first_match(error_patterns: Iterable[ErrorPattern], error_text: str) -> ErrorPattern | None:
    return next((pattern for pattern in error_patterns if pattern.search.search(error_text)), None)
