"""What an error of a provider says: whether the context was too long, whose it is, by how much."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from compactctl.profiles.overflow.error_texts import NOT_RETRYABLE, error_texts
from compactctl.profiles.overflow.patterns import Pattern, Patterns, patterns
from compactctl.profiles.overflow.token_figures import TokenFigures, read_figures

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


def read_overflow(text: str) -> Overflow:
    """Judge an error: plain text, a JSON body, or JSON within text. Never raises.

    Only a bounded part of a long text is looked at. A rate limit or an exhausted quota is no
    overflow, unless the error says as well that the request is too long.
    """
    known, shown = patterns(), "\n".join(error_texts(text))
    limited = _first(known.limited, shown)
    certain = (each for each in known.overflow if limited is None or not each.weak)
    found = _first(certain, shown)
    if found is not None:
        return _overflow(found, shown, known)
    if limited is not None:
        return Overflow(
            overflow=False, retryable=limited.retryable, pattern=limited.text, note=limited.note
        )
    return _by_figures(shown, known)


def _overflow(pattern: Pattern, shown: str, known: Patterns) -> Overflow:
    """Describe an overflow; sending the same request again would fail again."""
    hinted = _hinted(pattern, shown, known.hints)
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
    figures = read_figures(shown, known.figures)
    return replace(result, actual=figures.actual, limit=figures.limit, answer=figures.answer)


def _by_figures(shown: str, known: Patterns) -> Overflow:
    """Judge an error without known words by figures that can mean nothing else."""
    for form in known.figures:
        figures = read_figures(shown, [form])
        if form.decides and figures.gap is not None:
            return Overflow(
                overflow=True,
                actual=figures.actual,
                limit=figures.limit,
                answer=figures.answer,
                retryable=False,
                pattern=form.text,
            )
    is_final = not {NOT_RETRYABLE, _BAD_REQUEST}.isdisjoint(shown.split("\n"))
    return Overflow(overflow=False, retryable=False if is_final else None)


def _hinted(pattern: Pattern, shown: str, hints: Mapping[str, tuple[str, ...]]) -> str | None:
    """Return the provider that other words of the error name, among those who say this."""
    rest = pattern.search.sub(" ", shown).lower()
    for provider, words in hints.items():
        is_possible = provider in pattern.providers or not pattern.providers
        if is_possible and any(word.lower() in rest for word in words):
            return provider
    return None


def _first(known: Iterable[Pattern], shown: str) -> Pattern | None:
    return next((each for each in known if each.search.search(shown)), None)
