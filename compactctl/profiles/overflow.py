"""What an error of a provider says: whether the context was too long, whose it is, by how much."""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

# Bounded, so that no text takes long: a number has at most 19 digits and separators.
_NUMBER = r"\(?(?<![\d.,_])(\d[\d,_]{0,18})(?![\d_])"
_SPACE = r"[ \"':]{0,3}"
_GAP = r"[^\d\n]{0,100}?"
_PLACE = re.compile(r"\{(actual|limit|answer|other)\}| ?… ?| ")
_SEPARATED = re.compile(r"\d+|\d{1,3}(?:[,_]\d{3})+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenFigures:
    """Tokens that were sent and tokens that are allowed; None where the error does not say.

    ``answer`` is what of the sent ones was kept for the answer.
    """

    actual: int | None = None
    limit: int | None = None
    answer: int = 0

    @property
    def gap(self) -> int | None:
        """The tokens over the limit; None when a figure is missing or it is not exceeded."""
        if self.actual is None or self.limit is None or self.actual <= self.limit:
            return None
        return self.actual - self.limit


@dataclass(frozen=True, slots=True)
class FigureForm:
    """A way to write the figures: what to search for, and what each number in it is.

    ``proves_overflow`` says that figures written like this make an overflow of any error.
    """

    text: str
    pattern: re.Pattern[str]
    roles: tuple[str, ...]
    proves_overflow: bool = False


def compile_form(form: str, *, decides: bool = False) -> FigureForm:
    """Return a form as it is searched for; see the file of patterns for what may stand in it."""
    pieces, end = [], 0
    for place in _PLACE.finditer(form):
        pieces.append(re.escape(form[end : place.start()]))
        pieces.append(_NUMBER if place[1] else _GAP if "…" in place[0] else _SPACE)
        end = place.end()
    pieces.append(re.escape(form[end:]))
    roles = tuple(place[1] for place in _PLACE.finditer(form) if place[1])
    search = re.compile("".join(pieces), re.ASCII | re.IGNORECASE)
    return FigureForm(form, search, roles, decides)


def read_figures(text: str, forms: Iterable[FigureForm]) -> TokenFigures:
    """Return the figures of the first form that exceeds its limit, else of the first there is."""
    matches = ((form, form.pattern.search(text)) for form in forms)
    found = [_figures(form, match) for form, match in matches if match is not None]
    return next((each for each in found if each.gap is not None), next(iter(found), TokenFigures()))


def _figures(form: FigureForm, match: re.Match[str]) -> TokenFigures:
    numbers: dict[str, int] = {}
    for role, digits in zip(form.roles, match.groups(), strict=True):
        numbers[role] = numbers.get(role, 0) + _number(digits)
    answer = numbers.get("answer", 0)
    actual = numbers["actual"] + answer if "actual" in numbers else None
    return TokenFigures(actual=actual, limit=numbers.get("limit"), answer=answer)


def _number(digits: str) -> int:
    """Read a number; of one that is followed by a comma of the sentence the comma is left out."""
    written = digits.rstrip(",_")
    whole = _SEPARATED.fullmatch(written)
    return int(re.sub(r"[,_]", "", written if whole else re.split(r"[,_]", written)[0]))


# What may lie between the two halves of a pattern, in characters.
_BETWEEN = ".{0,200}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPattern:
    """Words of an error, and what they mean.

    Attributes:
        text: the words.
        source: who says so.
        search: how they are found.
        providers: who answers with them, the one to name in doubt first; empty for everybody.
        unit: what the limit is one of; figures are read for tokens only.
        yields_to_rate_limit: whether words of a rate limit beside it win.
        retryable: of a rate limit: whether the same request can succeed later.
        note: what to do about it, or what to say when it stays open which of several providers
            answered.
    """

    text: str
    source: str
    search: re.Pattern[str]
    providers: tuple[str, ...] = ()
    unit: str = "tokens"
    yields_to_rate_limit: bool = False
    retryable: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPatterns:
    """Everything that is known of errors; hints by provider, gateways first."""

    overflow: tuple[ErrorPattern, ...]
    rate_limits: tuple[ErrorPattern, ...]
    figure_forms: tuple[FigureForm, ...]
    hints: Mapping[str, tuple[str, ...]]


@cache
def patterns() -> ErrorPatterns:
    """Return what the file holds."""
    resource = files(__package__).joinpath("overflow.toml")
    document = tomllib.loads(resource.read_text("utf-8"))
    return ErrorPatterns(
        overflow=tuple(map(_pattern, document["overflow"])),
        rate_limits=tuple(map(_pattern, document["limited"])),
        figure_forms=tuple(map(_form, document["figures"])),
        hints={name: tuple(words) for name, words in document["hints"].items()},
    )


def _form(row: Mapping[str, Any]) -> FigureForm:
    return compile_form(row["form"], decides=row.get("decides", False))


def _pattern(row: Mapping[str, Any]) -> ErrorPattern:
    providers = tuple(row.get("providers", ()))
    return ErrorPattern(**{**row, "providers": providers, "search": _search(row["text"])})


def _search(text: str) -> re.Pattern[str]:
    """Compile a pattern's text; a number in it is never part of a longer one."""
    words = _BETWEEN.join(re.escape(half.strip()) for half in text.split("…"))
    before = r"(?<!\d)" if text[0].isdigit() else ""
    after = r"(?!\d)" if text[-1].isdigit() else ""
    return re.compile(f"{before}{words}{after}", re.IGNORECASE | re.DOTALL)


# An error is short; what is longer is a log or an echo of the request. Its two ends are read.
MAX_TEXT = 32_768
MAX_JSON = 1_000_000
_MAX_DEPTH = 12
_MAX_VALUES = 500
# Places in a text where an object may begin.
_MAX_STARTS = 8

# Where errors of the known libraries keep what happened; an echo of the request is elsewhere.
_TEXT_KEYS = frozenset({
    "body", "cause", "causes", "code", "data", "detail", "details", "error", "error_description",
    "errors", "exception", "failure", "innererror", "message", "metadata", "msg", "name", "raw",
    "reason", "response", "responsebody", "statustext", "title", "type",
})  # fmt: skip
_STATUS_KEYS = frozenset({"code", "status", "status_code", "statuscode"})
# TokenFigures that llama.cpp gives as fields.
_FIGURE_KEYS = frozenset({"n_ctx", "n_prompt_tokens"})
_RETRYABLE_KEYS = frozenset({"isretryable", "retryable"})
NOT_RETRYABLE = "not retryable"


def error_texts(text: str) -> tuple[str, ...]:
    """Return the texts to look at, each on one line: of JSON those of an error, else the text.

    Statuses are written as ``status 413``. At most ``MAX_TEXT`` characters come back, from both
    ends of what is longer.
    """
    whole = _parsed(text)
    if whole is not None:
        return tuple(_bounded(list(_words(whole)) or [text]))
    embedded = [words for value in _embedded(text) for words in _words(value)]
    return tuple(_bounded([*embedded, text]))


def _embedded(text: str) -> Iterator[Any]:
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


def _parsed(text: str) -> object:
    """Return the value of a JSON text; None for other text, and for more than is read."""
    if len(text) > MAX_JSON or text.lstrip()[:1] not in {"{", "[", '"'}:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _next_start(text: str, start: int) -> int:
    found = [at for at in (text.find("{", start), text.find("[", start)) if at >= 0]
    return min(found, default=-1)


def _words(value: object) -> Iterator[str]:
    """Yield the texts of an error, outer ones first, from a bounded number of values."""
    queue: list[tuple[Any, int]] = [(value, 0)]
    for seen, (each, depth) in enumerate(queue):
        if seen >= _MAX_VALUES:
            return
        inner = _parsed(each) if isinstance(each, str) else None
        if isinstance(each, str) and inner is None:
            yield each
        elif isinstance(each, dict):
            yield from _remarks(each)
        if depth < _MAX_DEPTH:
            queue += [(part, depth + 1) for part in _parts(each, inner)]


def _parts(value: object, inner: object) -> list[Any]:
    """Return what within a value may tell of the error: of a JSON string its own value."""
    if isinstance(value, dict):
        return [value[key] for key in value if key.lower() in _TEXT_KEYS]
    if isinstance(value, list):
        return value[:_MAX_VALUES]
    return [] if inner is None else [inner]


def _remarks(fields: dict[str, Any]) -> Iterator[str]:
    """Yield what an error says beside its texts, as text."""
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


def _bounded(texts: list[str]) -> Iterator[str]:
    """Yield texts on one line each until there is enough; long ones without their middle."""
    left = MAX_TEXT
    for text in texts:
        half = left // 2
        ends = text if len(text) <= left else f"{text[:half]} {text[-half:] if half else ''}"
        line = " ".join(ends.replace("\\u003e", ">").replace("&gt;", ">").split())
        left -= len(line)
        yield line
        if left <= 0:
            return


# NeuroLink: an error with this status is not tried again.
_BAD_REQUEST = "status 400"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """What an error says of the context.

    Attributes:
        overflow: whether the request was too large.
        provider: who answered, where the error tells; None for what is not an overflow.
        actual: tokens sent; None where the error does not say, as for limits of bytes.
        limit: tokens allowed; None likewise.
        answer: what of ``actual`` was kept for the answer.
        retryable: whether the same request can succeed later; None when that is not known.
        pattern: what in the error decided, as the file of patterns has it; None without one.
        note: what is uncertain about it, or what to do, in words; "" for nothing.
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
        """The tokens of the prompt alone; None when unknown."""
        return None if self.actual is None else self.actual - self.answer

    @property
    def gap(self) -> int | None:
        """The tokens over the limit; None when unknown or none."""
        return TokenFigures(actual=self.actual, limit=self.limit).gap


def classify_error(text: str) -> Overflow:
    """Judge an error: plain text, a JSON body, or JSON within text. Never raises.

    Only a bounded part of a long text is looked at. A rate limit or an exhausted quota is no
    overflow, unless the error says as well that the request is too long.
    """
    error_patterns, error_text = patterns(), "\n".join(error_texts(text))
    limited = _first_match(error_patterns.rate_limits, error_text)
    certain = (
        each for each in error_patterns.overflow if limited is None or not each.yields_to_rate_limit
    )
    found = _first_match(certain, error_text)
    if found is not None:
        return _overflow(found, error_text, error_patterns)
    if limited is not None:
        return Overflow(
            overflow=False, retryable=limited.retryable, pattern=limited.text, note=limited.note
        )
    return _by_figures(error_text, error_patterns)


def _overflow(pattern: ErrorPattern, error_text: str, error_patterns: ErrorPatterns) -> Overflow:
    """Describe an overflow; sending the same request again would fail again."""
    hinted = _hinted_provider(pattern, error_text, error_patterns.hints)
    is_settled = hinted is not None and len(pattern.providers) != 1
    result = Overflow(
        overflow=True,
        provider=hinted or next(iter(pattern.providers), None),
        retryable=False,
        pattern=pattern.text,
        note="" if is_settled else pattern.note,
    )
    if pattern.unit != "tokens":
        return result
    figures = read_figures(error_text, error_patterns.figure_forms)
    return replace(result, actual=figures.actual, limit=figures.limit, answer=figures.answer)


def _by_figures(error_text: str, error_patterns: ErrorPatterns) -> Overflow:
    """Judge an error without known words by figures that can mean nothing else."""
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
    """Return the provider that other words of the error name, among those who say this."""
    rest = pattern.search.sub(" ", error_text).lower()
    for provider, words in hints.items():
        is_possible = provider in pattern.providers or not pattern.providers
        if is_possible and any(word.lower() in rest for word in words):
            return provider
    return None


def _first_match(error_patterns: Iterable[ErrorPattern], error_text: str) -> ErrorPattern | None:
    return next((each for each in error_patterns if each.search.search(error_text)), None)
