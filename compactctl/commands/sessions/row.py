"""A session as a row of a list: how full it is, and the shortest name that means it alone."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compactctl.sessions.session import Entry, Session
from compactctl.tokens.models.lookup import resolve_model, window_holding

SHORTEST = 8
"""Characters of an id that are shown even where fewer would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A session, the beginning of its id that no other session has, and its context window.

    ``window`` is the recorded one, else that of its model; None where the model is not known.
    """

    session: Session
    short_id: str
    window: int | None

    @property
    def ratio(self) -> float | None:
        """The share of the window that the newest request and its answer took, if both are told."""
        context = self.session.details.context
        return context / self.window if context is not None and self.window else None


class ShortIds:
    """The beginnings of ids that mean one session each."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._sorted: Sequence[str] = sorted({entry.id for entry in entries})

    def row(self, session: Session) -> Row:
        """Return a row about a session."""
        return Row(session=session, short_id=self._short(session.entry.id), window=_window(session))

    def _short(self, full: str) -> str:
        at = bisect_left(self._sorted, full)
        beside = [*self._sorted[max(0, at - 1) : at], *self._sorted[at + 1 : at + 2]]
        needed = max((_shared(full, other) + 1 for other in beside), default=0)
        return full[: max(SHORTEST, needed)]


def _shared(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _window(session: Session) -> int | None:
    """Return the window that holds what was answered, where anything is known of it."""
    details = session.details
    if details.window:
        return details.window
    model = resolve_model(details.model)
    if not (model.known or model.inferred):
        return None
    if details.context is not None and details.context > model.window:
        return window_holding(model, details.context)
    return model.window
