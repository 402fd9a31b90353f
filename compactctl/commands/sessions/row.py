"""A session as a row of a list: how full it is, and the shortest name that means it alone."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compactctl.commands.sessions.doubts import least_size
from compactctl.sessions.session import Entry, Session
from compactctl.tokens.models.lookup import resolve_model, window_holding

CLIENT_RECORD = "recorded by the client"
"""Where the sizes in a list of sessions come from."""
SHORTEST = 8
"""Characters of an id that are shown even where fewer would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session, the beginning of its id that no other session has, and its context window.

    ``window`` is the recorded one, else that of its model; None where the model is not known.
    ``at_least`` is the size in tokens that it has at least, where its client recorded a smaller one
    than can be true; None where that is believed.
    """

    session: Session
    short_id: str
    window: int | None
    at_least: int | None = None

    @property
    def context(self) -> int | None:
        """The tokens of the newest request and its answer, None where they are not known."""
        return self.session.details.context if self.at_least is None else None

    @property
    def ratio(self) -> float | None:
        """The share of the window that the newest request and its answer take, if it is known."""
        return _share(self.context, self.window)

    @property
    def least_ratio(self) -> float | None:
        """The share of the window that is taken at least, None where nothing is known of it."""
        known = self.context if self.at_least is None else self.at_least
        return _share(known, self.window)


class ShortIds:
    """The beginnings of ids that mean one session each."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._sorted: Sequence[str] = sorted({entry.id for entry in entries})

    def row(self, session: Session) -> SessionRow:
        """Return a row about a session."""
        return SessionRow(
            session=session,
            short_id=self._short(session.entry.id),
            window=_window(session),
            at_least=least_size(session),
        )

    def _short(self, full: str) -> str:
        at = bisect_left(self._sorted, full)
        beside = [*self._sorted[max(0, at - 1) : at], *self._sorted[at + 1 : at + 2]]
        needed = max((_shared(full, other) + 1 for other in beside), default=0)
        return full[: max(SHORTEST, needed)]


def _share(context: int | None, window: int | None) -> float | None:
    return context / window if context is not None and window else None


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
