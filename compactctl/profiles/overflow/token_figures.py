"""The figures in an error: how large the request was, and how large it may be."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

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
class Form:
    """A way to write the figures: what to search for, and what each number in it is.

    ``decides`` says that figures written like this make an overflow of any error.
    """

    text: str
    pattern: re.Pattern[str]
    roles: tuple[str, ...]
    decides: bool = False


def compile_form(form: str, *, decides: bool = False) -> Form:
    """Return a form as it is searched for; see the file of patterns for what may stand in it."""
    pieces, end = [], 0
    for place in _PLACE.finditer(form):
        pieces.append(re.escape(form[end : place.start()]))
        pieces.append(_NUMBER if place[1] else _GAP if "…" in place[0] else _SPACE)
        end = place.end()
    pieces.append(re.escape(form[end:]))
    roles = tuple(place[1] for place in _PLACE.finditer(form) if place[1])
    search = re.compile("".join(pieces), re.ASCII | re.IGNORECASE)
    return Form(form, search, roles, decides)


def read_figures(text: str, forms: Iterable[Form]) -> TokenFigures:
    """Return the figures of the first form that exceeds its limit, else of the first there is."""
    matches = ((form, form.pattern.search(text)) for form in forms)
    found = [_figures(form, match) for form, match in matches if match is not None]
    return next((each for each in found if each.gap is not None), next(iter(found), TokenFigures()))


def _figures(form: Form, match: re.Match[str]) -> TokenFigures:
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
