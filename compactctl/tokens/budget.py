"""How much of a model's context window is free for input, and how full that is."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from compactctl.errors import UsageError
from compactctl.model.numbers import exact
from compactctl.tokens.models.token_sizes import parse_token_size

Level = Literal["none", "info", "warning", "critical", "over"]

# NeuroLink, "Context Window Registry": 35 % of the window and at most 64,000 tokens are kept for
# the answer when no maximum of output tokens is given.
DEFAULT_RESERVE_PERCENT = 35
MAX_DEFAULT_RESERVE = 64_000

# In percent of the available input. NeuroLink informs above 60 and compacts from 80; Codebuddy
# warns from 80 and compacts from 90.
INFO_ABOVE = 60
WARNING_FROM = 80
CRITICAL_FROM = 90

# VS Code Copilot Chat refuses values between a ratio and this many tokens as ambiguous.
MIN_TOKEN_TARGET = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRule:
    """How much of a window is kept for the answer, and how much of the rest is used.

    Attributes:
        reserve: tokens kept for the answer; None keeps ``percent`` of the window.
        percent: see ``reserve``.
        max_reserve: never keep more than this; None for no bound.
        use_max_output: keep as much as the model's longest answer has, ``reserve`` if not known.
        usable_share: share of what is then left that may be filled.
    """

    reserve: int | None = None
    percent: int = DEFAULT_RESERVE_PERCENT
    max_reserve: int | None = MAX_DEFAULT_RESERVE
    use_max_output: bool = False
    usable_share: Fraction = Fraction(1)

    def reserve_for(self, window: int, max_output: int | None = None) -> int:
        """Return the tokens of ``window`` kept for the answer of a model with that limit.

        Where that would leave nothing for input, it is the share that is kept without a rule.
        """
        share = -(-window * self.percent // 100)
        wanted = share if self.reserve is None else self.reserve
        if self.use_max_output and max_output is not None:
            wanted = max_output
        kept = wanted if self.max_reserve is None else min(self.max_reserve, wanted)
        return kept if kept < window else -(-window * DEFAULT_RESERVE_PERCENT // 100)


DEFAULT_BUDGET_RULE = BudgetRule()


def output_reserve(
    window: int,
    max_tokens: int | None = None,
    rule: BudgetRule = DEFAULT_BUDGET_RULE,
    max_output: int | None = None,
) -> int:
    """Return the tokens kept for the answer: ``max_tokens`` if positive, else by the rule."""
    if max_tokens is not None and max_tokens > 0:
        return max_tokens
    return rule.reserve_for(window, max_output)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A context window and what of it is kept for the answer, in tokens.

    ``source`` says in words where the window comes from, to be shown beside it;
    ``usable`` is the share of what is left that may be filled. ``max_output`` is the model's
    longest answer, None when not known. ``is_recorded`` tells that the transcript names the window,
    ``is_input_only`` that it is for input alone, beside the answer.
    """

    window: int
    output_reserve: int
    source: str
    usable: Fraction = Fraction(1)
    max_output: int | None = None
    is_recorded: bool = False
    is_input_only: bool = False

    @property
    def available(self) -> int:
        """The tokens free for input, never negative."""
        return max(0, int((self.window - self.output_reserve) * self.usable))


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilization:
    """How full the available input is, or another limit in its place.

    ``ratio`` is 1.0 when nothing is available; ``percent_left`` is rounded half up, at least 0.
    """

    tokens: int
    available: int
    ratio: float
    level: Level
    percent_left: int


def utilization(tokens: int, available: int) -> Utilization:
    """Judge how full ``available`` tokens of input are with ``tokens``."""
    room = max(0, available)
    return Utilization(
        tokens=tokens,
        available=room,
        ratio=tokens / room if room else 1.0,
        level=_level(tokens, room),
        percent_left=_percent_left(tokens, room),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSize:
    """What a compaction is to reach: a share (``ratio``) of a limit, or tokens."""

    value: float
    unit: Literal["ratio", "tokens"]

    def resolve(self, limit: int) -> int:
        """Return the target in tokens: never above ``limit``, but at least 1."""
        wanted = int(self.value if self.unit == "tokens" else exact(self.value) * limit)
        return max(1, min(wanted, limit))


def parse_share(share: object) -> float:
    """Read a share, ``30%``, ``0.3`` or a number.

    Raises UsageError unless it is above 0 and at most 1.
    """
    percent = _is_percent(share)
    size = parse_token_size(str(share).strip().removesuffix("%").rstrip() if percent else share)
    if size is None or size > (100 if percent else 1):
        raise UsageError(f"{share!r} is not a share; write it as 30% or 0.3")
    return float(size / 100 if percent else size)


def _is_percent(size: object) -> bool:
    return isinstance(size, str) and size.strip().endswith("%")


def parse_target(target: object) -> TargetSize:
    """Read a target: a share, ``60%`` or ``0.6``, or tokens, ``60000`` or ``60k``, or a number.

    Raises:
        UsageError: ``target`` is not a number, or one from 1 to 100, which could mean either; 1.0
            is all of it.
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
            f"the target {target!r} is ambiguous; write a share with its sign, as 60% (all of it is"
            f" 100%), or at least {MIN_TOKEN_TARGET} tokens as 60000 or 60k"
        )
    if size.denominator != 1:
        raise UsageError(f"the target {target!r} is not a whole number of tokens")
    return TargetSize(value=size.numerator, unit="tokens")
