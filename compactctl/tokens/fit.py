"""What the size of a context means: window, the client's own compaction, and the answer."""

from dataclasses import dataclass, replace
from typing import Literal

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_thresholds import ClientRule

# What levels and gates refer to.
LimitBase = Literal["client", "window", "available"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The sizes in tokens that a context is judged by.

    Attributes:
        budget: the window, and what of it a profile, or NeuroLink's rule, leaves for input.
        base: which of them levels and gates refer to.
        client: whose own compaction is known; None without one.
        compacts_at: from about which size on it compacts; None without a client.
        assumed_window: the window that the client assumes for a model it does not know.
    """

    budget: Budget
    base: LimitBase
    client: ClientRule | None = None
    compacts_at: int | None = None
    assumed_window: int | None = None

    @property
    def due_at(self) -> int | None:
        """The size where the client would compact in time: no later than if it knew the window."""
        if self.client is None or self.compacts_at is None:
            return None
        in_time = self.client.threshold_tokens(self.budget)
        return min(self.compacts_at, self.budget.available if in_time is None else in_time)

    @property
    def base_tokens(self) -> int:
        """The size that levels and gates refer to."""
        if self.base == "client" and (due := self.due_at) is not None:
            return due
        return self.budget.window if self.base == "window" else self.budget.available


def size_limit(target: int | None, limits: Limits) -> int:
    """Return the tokens a context may have: the target, and never more than the window.

    A share to keep may be far more than the window. Without a target, levels and gates decide.
    """
    return limits.base_tokens if target is None else min(target, limits.budget.window)


def limits_of(
    budget: Budget,
    client: ClientRule | None,
    requested_base: LimitBase = "client",
    assumed_window: int | None = None,
) -> Limits:
    """Return the limits; the available input is the base where the client has none.

    ``assumed_window`` is the window that the client takes the model to have, None for the budget's.
    """
    believed = budget
    if assumed_window is not None:
        believed = replace(budget, window=assumed_window, max_output=None, is_input_only=False)
    limit = None if client is None else client.threshold_tokens(believed)
    if limit is None:
        return Limits(
            budget=budget, base="available" if requested_base == "client" else requested_base
        )
    return Limits(
        budget=budget,
        base=requested_base,
        client=client,
        compacts_at=limit,
        assumed_window=assumed_window,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How much room a context leaves, in tokens.

    Attributes:
        window_left: up to the end of the window; negative for what is too much.
        until_compaction: up to where the client compacts, 0 once it is there; None without one.
        max_answer: how long the answer can still be; None when not known.
    """

    window_left: int
    until_compaction: int | None
    max_answer: int | None

    @property
    def fits(self) -> bool:
        """Whether it can be sent at all."""
        return self.window_left >= 0


def fit_of(tokens: int, limits: Limits) -> Fit:
    """Judge a context of that size."""
    left = limits.budget.window - tokens
    at = limits.compacts_at
    return Fit(
        window_left=left,
        until_compaction=None if at is None else max(0, at - tokens),
        max_answer=_answer(left, limits.budget),
    )


def _answer(left: int, budget: Budget) -> int | None:
    """Beside a window for input alone there is room for the longest answer."""
    if left < 0:
        return 0
    if budget.is_input_only:
        return budget.max_output
    return left if budget.max_output is None else min(left, budget.max_output)
