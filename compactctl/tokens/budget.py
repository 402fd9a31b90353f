"""How much of a model's context window is available for input, and how full that is."""

from fractions import Fraction
from typing import Literal

from compactctl.errors import UsageError
from compactctl.model.numbers import exact
from compactctl.records import Record
from compactctl.tokens.models.token_sizes import parse_token_size

Level = Literal["none", "info", "warning", "critical", "over"]

# NeuroLink, "Context Window Registry": without a maximum of output tokens, 35% of the window and at
# most 64,000 tokens are reserved for the answer.
DEFAULT_RESERVE_PERCENT = 35
MAX_DEFAULT_RESERVE = 64_000

# In percent of the available input. NeuroLink informs above 60 and compacts at 80; Codebuddy warns
# at 80 and compacts at 90.
INFO_ABOVE = 60
WARNING_FROM = 80
CRITICAL_FROM = 90

# VS Code Copilot Chat refuses numbers above 1 and below this as ambiguous.
MIN_TOKEN_TARGET = 100


class BudgetRule(Record):
    """How much of a window is reserved for the answer, and how much of the rest may be filled.

    Attributes:
        reserve: tokens reserved for the answer; None reserves ``percent`` of the window.
        percent: see ``reserve``.
        max_reserve: upper bound of the reserve; None for no bound.
        use_max_output: reserve the model's longest answer, or ``reserve`` if that is unknown.
        usable_share: the share of the remaining window that may be filled.
        is_beside_tools: the share applies to what tool definitions leave, and only with tools.
    """

    reserve: int | None = None
    percent: int = DEFAULT_RESERVE_PERCENT
    max_reserve: int | None = MAX_DEFAULT_RESERVE
    use_max_output: bool = False
    usable_share: Fraction = Fraction(1)
    is_beside_tools: bool = False

    def reserve_for(self, window: int, max_output: int | None = None) -> int:
        """Return the tokens of ``window`` reserved for the answer of a model with that limit.

        If that would leave nothing for input, it is the default share of the window instead.
        """
        share = -(-window * self.percent // 100)
        reserve = share if self.reserve is None else self.reserve
        if self.use_max_output and max_output is not None:
            reserve = max_output
        if self.max_reserve is not None:
            reserve = min(self.max_reserve, reserve)
        return reserve if reserve < window else -(-window * DEFAULT_RESERVE_PERCENT // 100)


DEFAULT_BUDGET_RULE = BudgetRule()


def output_reserve(
    window: int,
    max_tokens: int | None = None,
    rule: BudgetRule = DEFAULT_BUDGET_RULE,
    max_output: int | None = None,
) -> int:
    """Return the tokens reserved for the answer: ``max_tokens`` if positive, else by the rule."""
    if max_tokens is not None and max_tokens > 0:
        return max_tokens
    return rule.reserve_for(window, max_output)


class Budget(Record):
    """A context window and the part of it reserved for the answer, in tokens.

    Attributes:
        source: where the window comes from, in words to be shown beside it.
        usable: the share of the remaining window that may be filled.
        tools: tokens of tool definitions to which the share does not apply.
        max_output: the model's longest answer; None if unknown.
        is_recorded: the transcript names the window.
        is_input_only: the window holds only input; the answer does not count.
    """

    window: int
    output_reserve: int
    source: str
    usable: Fraction = Fraction(1)
    tools: int = 0
    max_output: int | None = None
    is_recorded: bool = False
    is_input_only: bool = False

    @property
    def available(self) -> int:
        """The tokens available for input, never negative.

        window 128,000, no reserve, 40,000 of tools, 90% usable: 40,000 + 79,200 = 119,200
        """
        rest = self.window - self.output_reserve
        messages = max(0, int((rest - self.tools) * self.usable))
        return max(0, min(rest, self.tools + messages))


class Utilization(Record):
    """How full the available input is, or another limit used in its place.

    ``ratio`` is 1.0 if nothing is available; ``percent_left`` is rounded half up and at least 0.
    """

    tokens: int
    available: int
    ratio: float
    level: Level
    percent_left: int

    def exceeds(self, share: float) -> bool:
        """Whether more than ``share`` is used; anything exceeds any share of nothing."""
        return self.tokens > share_of(share, self.available)


def share_of(share: float, limit: int) -> int:
    """Return the most whole tokens that are not more than ``share`` of ``limit``."""
    return int(exact(share) * limit)


def utilization(tokens: int, available: int) -> Utilization:
    """Compute how full ``available`` tokens of input are with ``tokens``."""
    available = max(0, available)
    return Utilization(
        tokens=tokens,
        available=available,
        ratio=tokens / available if available else 1.0,
        level=_level(tokens, available),
        percent_left=_percent_left(tokens, available),
    )


def _level(tokens: int, available: int) -> Level:
    if tokens > available:
        return "over"
    share = tokens * 100
    if share >= CRITICAL_FROM * available:
        return "critical"
    if share >= WARNING_FROM * available:
        return "warning"
    return "info" if share > INFO_ABOVE * available else "none"


def _percent_left(tokens: int, available: int) -> int:
    if tokens >= available:
        return 0
    return (200 * (available - tokens) + available) // (2 * available)


class TargetSize(Record):
    """The target of a compaction: a share (``ratio``) of a limit, or tokens."""

    value: float
    unit: Literal["ratio", "tokens"]

    def resolve(self, limit: int) -> int:
        """Return the target in tokens, from 1 to ``limit``."""
        tokens = int(self.value) if self.unit == "tokens" else share_of(self.value, limit)
        return max(1, min(tokens, limit))


def parse_share(share: object) -> float:
    """Parse a share: ``30%``, ``0.3`` or a number.

    Raises UsageError unless it is above 0 and at most 1.
    """
    is_percent = _is_percent(share)
    size = parse_token_size(str(share).strip().removesuffix("%").rstrip() if is_percent else share)
    if size is None or size > (100 if is_percent else 1):
        raise UsageError(f"{share!r} is not a share; write it as 30% or 0.3")
    return float(size / 100 if is_percent else size)


def _is_percent(size: object) -> bool:
    return isinstance(size, str) and size.strip().endswith("%")


def parse_target(target: object) -> TargetSize:
    """Parse a target: a share, ``60%`` or ``0.6``, or tokens, ``60000`` or ``60k``, or a number.

    Raises:
        UsageError: ``target`` is not a number, or is one from 1 to 100, which could mean either.
            1.0 is a share: all of it.
    """
    if _is_percent(target):
        return TargetSize(value=parse_share(target), unit="ratio")
    size = parse_token_size(target)
    if size is None:
        raise UsageError(
            f"{target!r} is not a target; write a share as 60% or 0.6, or tokens as 60000 or 60k"
        )
    if size < 1 or (size == 1 and "." in str(target)):
        return TargetSize(value=float(size), unit="ratio")
    if size < MIN_TOKEN_TARGET:
        raise UsageError(
            f"the target {target!r} is ambiguous; write a share with its sign, as 60% (100% is "
            f"all of it), or at least {MIN_TOKEN_TARGET} tokens as 60000 or 60k"
        )
    if size.denominator != 1:
        raise UsageError(f"the target {target!r} is not a whole number of tokens")
    return TargetSize(value=size.numerator, unit="tokens")
