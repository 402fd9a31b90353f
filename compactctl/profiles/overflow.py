"""Classify an error: whether the context was too long and by how much, or what was refused."""

from collections.abc import Iterable, Mapping
from typing import Literal

from compactctl.model.refusal_rule import UNKNOWN, RefusalError
from compactctl.profiles.error_texts import NOT_RETRYABLE, error_texts
from compactctl.profiles.refusals import (
    ErrorPattern,
    FigureForm,
    TokenFigures,
    load_patterns,
    read_figures,
    refusal_in,
    size_refusal,
)
from compactctl.records import Record, replace

# NeuroLink does not retry an error with this status.
_BAD_REQUEST = "status 400"
_LOWER_MAX_TOKENS = "too many tokens are reserved for the answer: lower max_tokens"


ErrorKind = Literal["overflow", "refused", "rate"]
"""What an error means: the request is too large, its content is not accepted, or it is one of too
many."""


class Overflow(Record):
    """What an error says about the request that it answers.

    Attributes:
        kind: what the error means; None if it is not known.
        provider: who answered, if the error says so; None if it is not an overflow.
        actual: tokens sent; None if the error does not say, as for limits in bytes.
        limit: tokens allowed; None likewise.
        answer: the tokens of ``actual`` that were reserved for the answer.
        retryable: whether the same request can succeed later; None if unknown.
        pattern: the pattern of refusals.toml that decided; None if none did.
        refusal: what is refused, as far as the error says: something in the request, or its size in
            bytes; None for any other error.
        note: what is uncertain, or what to do; "" for nothing.
    """

    kind: ErrorKind | None = None
    provider: str | None = None
    actual: int | None = None
    limit: int | None = None
    answer: int = 0
    retryable: bool | None = None
    pattern: str | None = None
    refusal: RefusalError | None = None
    note: str = ""

    @property
    def overflow(self) -> bool:
        """Whether the request was too large."""
        return self.kind == "overflow"

    @property
    def is_of_tokens(self) -> bool:
        """Whether the request had too many tokens."""
        return self.overflow and self.refusal is None

    @property
    def rule(self) -> str | None:
        """The id of the rule by which the request was refused; None if that is not known."""
        if self.refusal is None or UNKNOWN in self.refusal.rules:
            return None
        return self.refusal.rules[0].id

    @property
    def prompt(self) -> int | None:
        """The tokens of the prompt alone; None if unknown."""
        return TokenFigures(actual=self.actual, answer=self.answer).prompt

    @property
    def gap(self) -> int | None:
        """The tokens over the limit; None if unknown or within it."""
        return TokenFigures(actual=self.actual, limit=self.limit).gap


def classify_error(text: str) -> Overflow:
    """Classify an error: plain text, a JSON body, or JSON within text. Never raises.

    Of a long text, only a bounded part is read. A rate limit or an exhausted quota is not an
    overflow unless the error also says that the request is too long. Too many tokens reserved for
    the answer are none either, unless the conversation fills its window.
    """
    error_patterns, error_text = load_patterns(), "\n".join(error_texts(text))
    figures = read_figures(error_text, error_patterns.figure_forms)
    answer = _first_match(error_patterns.answers, error_text)
    if answer is not None and (figures.leaves_room or not figures.answer):
        return _describe_answer(answer, figures)
    rate_limit = _first_match(error_patterns.rate_limits, error_text)
    refusal = _find_refusal(error_text, rate_limit)
    tells_other = rate_limit is not None or (refusal is not None and UNKNOWN not in refusal.rules)
    overflow_patterns = (
        pattern for pattern in error_patterns.overflow if not (pattern.yields and tells_other)
    )
    pattern = _first_match(overflow_patterns, error_text)
    if pattern is not None and pattern.unit == "tokens" and figures.leaves_room:
        return _describe_answer(pattern, figures)
    if pattern is not None:
        return _describe_overflow(pattern, figures, error_text, error_patterns.hints)
    return (
        _classify_by_figures(error_text, error_patterns.figure_forms)
        or (None if refusal is None else _describe_refusal(refusal))
        or _classify_by_status(rate_limit, error_text)
    )


def _find_refusal(error_text: str, rate_limit: ErrorPattern | None) -> RefusalError | None:
    """Return what an error says is refused; a rate limit may say more than that."""
    if rate_limit is not None and rate_limit.decides:
        return None
    refusal = refusal_in(error_text)
    is_unknown = refusal is not None and UNKNOWN in refusal.rules
    return None if is_unknown and rate_limit is not None else refusal


def _describe_answer(pattern: ErrorPattern, figures: TokenFigures) -> Overflow:
    """Describe an error that only the tokens reserved for the answer caused."""
    return Overflow(
        kind="refused",
        actual=figures.prompt if figures.answer else None,
        limit=figures.limit if figures.answer else None,
        retryable=False,
        pattern=pattern.text,
        note=_LOWER_MAX_TOKENS,
    )


def _describe_overflow(
    pattern: ErrorPattern,
    figures: TokenFigures,
    error_text: str,
    hints: Mapping[str, tuple[str, ...]],
) -> Overflow:
    """Describe an overflow, which is never retryable: the same request would fail again."""
    hinted_provider = _hinted_provider(pattern, error_text, hints)
    is_settled = hinted_provider is not None and len(pattern.providers) != 1
    result = Overflow(
        kind="overflow",
        provider=hinted_provider or next(iter(pattern.providers), None),
        retryable=False,
        pattern=pattern.text,
        note="" if is_settled else pattern.note,
    )
    if pattern.unit != "tokens":
        return replace(result, refusal=size_refusal(error_text))
    return replace(result, actual=figures.actual, limit=figures.limit, answer=figures.answer)


def _classify_by_figures(error_text: str, forms: Iterable[FigureForm]) -> Overflow | None:
    """Classify an error without known words by figures that prove an overflow."""
    for form in forms:
        figures = read_figures(error_text, [form])
        if form.proves_overflow and figures.gap is not None:
            return Overflow(
                kind="overflow",
                actual=figures.actual,
                limit=figures.limit,
                answer=figures.answer,
                retryable=False,
                pattern=form.text,
                note=form.note,
            )
    return None


def _describe_refusal(refusal: RefusalError) -> Overflow:
    """Describe an error about what is in a request: sent again, it is refused again."""
    return Overflow(
        kind="refused",
        retryable=False,
        pattern=refusal.sentence or None,
        refusal=refusal,
        note="compactctl rescue --from-error names and repairs the record that is refused",
    )


def _classify_by_status(rate_limit: ErrorPattern | None, error_text: str) -> Overflow:
    """Classify any other error by its rate limit or its HTTP status."""
    if rate_limit is not None:
        return Overflow(
            kind="rate",
            retryable=rate_limit.retryable,
            pattern=rate_limit.text,
            note=rate_limit.note,
        )
    is_final = not {NOT_RETRYABLE, _BAD_REQUEST}.isdisjoint(error_text.split("\n"))
    return Overflow(retryable=False if is_final else None)


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
