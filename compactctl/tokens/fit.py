"""Compare the size of a context with the window and with the client's compaction threshold."""

from typing import Literal

from compactctl.records import Record, replace
from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule

LimitBase = Literal["client", "window", "available"]
"""The limit that levels and gates refer to."""


class Limits(Record):
    """The limits of a context, in tokens.

    Attributes:
        budget: the window, and the input that a profile or NeuroLink's rule allows in it.
        base: the limit that levels and gates refer to.
        client: the client whose compaction threshold is known; None without one.
        compacts_at: the approximate size at which that client compacts; None without one.
        assumed_window: the window that the client assumes for a model it does not know.
    """

    budget: Budget
    base: LimitBase
    client: ClientRule | None = None
    compacts_at: int | None = None
    assumed_window: int | None = None

    @property
    def compaction_due_at(self) -> int | None:
        """The size at which the client should compact at the latest; None without a client.

        A client that assumes a larger window than the model has compacts too late.
        """
        if self.client is None or self.compacts_at is None:
            return None
        threshold = self.client.threshold_tokens(self.budget)
        return min(self.compacts_at, self.budget.available if threshold is None else threshold)

    @property
    def base_tokens(self) -> int:
        """The size that levels and gates refer to."""
        if self.base == "client" and (due := self.compaction_due_at) is not None:
            return due
        return self.budget.window if self.base == "window" else self.budget.available


def size_limit(target: int | None, limits: Limits) -> int:
    """Return the tokens a context may have: the target, but never more than the window.

    A target that is a share of a long session may exceed the window. Without a target, the limit is
    the base of the limits.
    """
    return limits.base_tokens if target is None else min(target, limits.budget.window)


def limits_of(
    budget: Budget,
    client: ClientRule | None,
    requested_base: LimitBase = "client",
    assumed_window: int | None = None,
) -> Limits:
    """Return the limits; without a client threshold, the available input replaces it as the base.

    ``assumed_window`` is the window that the client assumes; None for that of the budget.
    """
    assumed = budget
    if assumed_window is not None:
        assumed = replace(budget, window=assumed_window, max_output=None, is_input_only=False)
    threshold = None if client is None else client.threshold_tokens(assumed)
    if threshold is None:
        return Limits(
            budget=budget, base="available" if requested_base == "client" else requested_base
        )
    return Limits(
        budget=budget,
        base=requested_base,
        client=client,
        compacts_at=threshold,
        assumed_window=assumed_window,
    )


class Fit(Record):
    """The space that a context leaves, in tokens.

    Attributes:
        window_left: the rest of the window; negative if the context is too large.
        until_compaction: the space until the client compacts, at least 0; None without a client.
        max_answer: the most tokens the answer can have; None if unknown.
    """

    window_left: int
    until_compaction: int | None
    max_answer: int | None

    @property
    def fits(self) -> bool:
        """Whether the context fits into the window."""
        return self.window_left >= 0


def fit_of(tokens: int, limits: Limits) -> Fit:
    """Compare a context of ``tokens`` with the limits."""
    remaining = limits.budget.window - tokens
    threshold = limits.compacts_at
    return Fit(
        window_left=remaining,
        until_compaction=None if threshold is None else max(0, threshold - tokens),
        max_answer=_max_answer(remaining, limits.budget),
    )


def _max_answer(remaining: int, budget: Budget) -> int | None:
    if remaining < 0:
        return 0
    if budget.is_input_only:
        return budget.max_output
    return remaining if budget.max_output is None else min(remaining, budget.max_output)
