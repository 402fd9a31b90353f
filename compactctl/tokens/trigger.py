"""Triggers: conditions on the size of a conversation, any of which makes a compaction due."""

import re
from fractions import Fraction
from typing import Literal, get_args

from compactctl.errors import UsageError
from compactctl.records import Record
from compactctl.tokens.budget import MIN_TOKEN_TARGET
from compactctl.tokens.models.token_sizes import parse_token_size

Metric = Literal["ratio", "window", "tokens", "free", "turns", "messages"]
Operator = Literal[">=", ">", "<=", "<"]

_METRICS: dict[str, Metric] = {metric: metric for metric in get_args(Metric)}
_COUNT_METRICS = frozenset({"tokens", "free", "turns", "messages"})
_OPERATORS: dict[str, Operator] = {operator: operator for operator in get_args(Operator)}
_CONDITION = re.compile(r"(?P<metric>[a-z]+)\s*(?P<operator>>=|<=|>|<)\s*(?P<value>\S+)", re.ASCII)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.])")
_OR = re.compile(r"\s+or\s+|\s*[,|]\s*", re.IGNORECASE)
_ALWAYS, _NEVER = "always", "never"
_PERCENT = "%"
_EXAMPLES = "write it as 80%, 0.8, 60k, 'turns>20', 'tokens>=4000 or turns>20', or always"


class TriggerInput(Record):
    """The measurements that a trigger's conditions compare.

    Attributes:
        tokens: the size of the next request.
        available: the tokens available for input, or another limit that ratios refer to.
        turns, messages: their numbers in the effective history.
        window: the context window in tokens; 0 means ``available``.
    """

    tokens: int
    available: int
    turns: int
    messages: int
    window: int = 0

    def value(self, metric: Metric) -> Fraction:
        """Return one measurement; the ratio is 1 when nothing is available."""
        if metric == "ratio":
            return Fraction(self.tokens, self.available) if self.available > 0 else Fraction(1)
        if metric == "window":
            return Fraction(self.tokens, max(1, self.window or self.available))
        values = {
            "tokens": self.tokens,
            "free": self.available - self.tokens,
            "turns": self.turns,
            "messages": self.messages,
        }
        return Fraction(values[metric])


class Condition(Record):
    """One comparison, such as ``ratio >= 0.8``.

    ``free`` is the rest of the available tokens, ``window`` the share of the window. A number of
    tokens above the available ones is clamped to them, as Copilot Chat clamps its threshold.
    """

    metric: Metric
    operator: Operator
    value: Fraction

    def holds(self, measurements: TriggerInput) -> bool:
        """Return whether the measurements meet the condition."""
        value, bound = measurements.value(self.metric), self.value
        if self.is_clamped(measurements.available):
            bound = Fraction(measurements.available)
        match self.operator:
            case ">=":
                return value >= bound
            case ">":
                return value > bound
            case "<=":
                return value <= bound
            case "<":
                return value < bound

    def is_clamped(self, available: int) -> bool:
        """Return whether the condition names more tokens than are available."""
        is_size = self.metric == "tokens" and self.operator in (">=", ">")
        return is_size and 0 < available < self.value

    def describe(self, measurements: TriggerInput) -> str:
        """Return the condition as text, with the available tokens if it names more."""
        if not self.is_clamped(measurements.available):
            return str(self)
        return f"{self}, of which {measurements.available:,} are available"

    def threshold(self, available: int, window: int) -> int | None:
        """Return the size in tokens at which the condition is met; None if size does not matter."""
        match self.metric:
            case "ratio":
                return int(self.value * available)
            case "window":
                return int(self.value * window)
            case "tokens":
                tokens = int(self.value)
                return min(tokens, available) if available > 0 else tokens
            case "free":
                return max(0, available - int(self.value))
            case _:
                return None

    def __str__(self) -> str:
        number = float(self.value)
        text = (
            f"{number:,.0f}"
            if number == int(number) and self.metric in _COUNT_METRICS
            else f"{number:g}"
        )
        return f"{self.metric} {self.operator} {text}"


class Trigger(Record):
    """Fires if any of its conditions is met; always, if it has none."""

    conditions: tuple[Condition, ...] = ()

    def matched_condition(self, measurements: TriggerInput) -> str:
        """Return the first condition that is met, as text.

        It is ``always`` for a trigger without conditions, and "" if none is met.
        """
        if not self.conditions:
            return _ALWAYS
        condition = self._first_matching(measurements)
        return "" if condition is None else str(condition)

    def describe(self, measurements: TriggerInput) -> str:
        """Return ``matched_condition``, with the available tokens if the condition names more."""
        condition = self._first_matching(measurements)
        if condition is None:
            return self.matched_condition(measurements)
        return condition.describe(measurements)

    def _first_matching(self, measurements: TriggerInput) -> Condition | None:
        return next(
            (condition for condition in self.conditions if condition.holds(measurements)), None
        )

    def threshold(self, available: int, window: int) -> int | None:
        """Return the size in tokens at which the trigger fires; None if size does not matter."""
        thresholds = [condition.threshold(available, window) for condition in self.conditions]
        return min((tokens for tokens in thresholds if tokens is not None), default=None)

    def fires_at(self, tokens: int, available: int, window: int) -> bool:
        """Return whether the size of a context alone makes the trigger fire."""
        size = TriggerInput(tokens=tokens, available=available, turns=0, messages=0, window=window)
        return any(
            condition.holds(size)
            for condition in self.conditions
            if condition.threshold(available, window) is not None
        )

    def __str__(self) -> str:
        if self == NEVER:
            return _NEVER
        return " or ".join(map(str, self.conditions)) or _ALWAYS


ALWAYS = Trigger()
# No size is negative.
NEVER = Trigger(conditions=(Condition(metric="tokens", operator="<", value=Fraction(0)),))
_KEYWORDS = {_ALWAYS: ALWAYS, _NEVER: NEVER}


def parse_trigger(text: str) -> Trigger:
    """Parse a trigger: a share, tokens, comparisons joined with ``or``, ``always`` or ``never``.

    A comma also joins, unless it groups digits, as in ``tokens >= 60,000``.

    Raises:
        UsageError: it cannot be parsed, or is a number from 1 to 100, which could mean either.
    """
    normalized = text.strip().lower()
    if normalized in _KEYWORDS:
        return _KEYWORDS[normalized]
    normalized = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), normalized)
    return Trigger(conditions=tuple(_parse_condition(part) for part in _OR.split(normalized)))


def _parse_condition(text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        return _parse_bare_number(text)
    metric, size = _METRICS.get(match["metric"]), _parse_size(match["value"])
    is_share = match["value"].endswith(_PERCENT)
    if metric is None or size is None or (is_share and metric in _COUNT_METRICS):
        raise UsageError(f"{text!r} is not a trigger; {_EXAMPLES}")
    if metric not in _COUNT_METRICS:
        _check_ratio(text, size)
    return Condition(metric=metric, operator=_OPERATORS[match["operator"]], value=size)


def _check_ratio(text: str, ratio: Fraction) -> None:
    if ratio > 1:
        raise UsageError(f"the trigger {text!r} fires too late; a ratio is at most 1")


def _parse_bare_number(text: str) -> Condition:
    """Parse a number without a metric; between 1 and 100 it is rejected, as in Copilot Chat."""
    size = _parse_size(text)
    if size is None:
        raise UsageError(f"{text!r} is not a trigger; {_EXAMPLES}")
    if text.endswith(_PERCENT):
        _check_ratio(text, size)
    elif 1 < size < MIN_TOKEN_TARGET:
        raise UsageError(
            f"the trigger {text!r} is ambiguous; write a share as 80% or 0.8, or at least"
            f" {MIN_TOKEN_TARGET} tokens as 60000 or 60k"
        )
    return Condition(metric="ratio" if size <= 1 else "tokens", operator=">=", value=size)


def _parse_size(text: str) -> Fraction | None:
    """Parse a size or a share; underscores may group digits, as in TOML and Python."""
    size = parse_token_size(text.removesuffix(_PERCENT).replace("_", ""))
    return size / 100 if size is not None and text.endswith(_PERCENT) else size
