"""When to compact: conditions on the size of a conversation, any of which is enough."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from compactctl.errors import UsageError
from compactctl.tokens.budget import MIN_TOKEN_TARGET
from compactctl.tokens.models.token_sizes import parse_token_size

Metric = Literal["ratio", "window", "tokens", "free", "turns", "messages"]
Operator = Literal[">=", ">", "<=", "<"]

_MEASURED: dict[str, Metric] = {each: each for each in get_args(Metric)}
_COUNTED = frozenset({"tokens", "free", "turns", "messages"})
_OPERATORS: dict[str, Operator] = {each: each for each in get_args(Operator)}
_CONDITION = re.compile(r"(?P<what>[a-z]+)\s*(?P<operator>>=|<=|>|<)\s*(?P<value>\S+)", re.ASCII)
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d.])")
_OR = re.compile(r"\s+or\s+|\s*[,|]\s*", re.IGNORECASE)
_ALWAYS, _NEVER = "always", "never"
_EXAMPLES = "write it as 0.8, 60k, 'turns>20', 'tokens>=4000 or turns>20', or always"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerInput:
    """What a trigger looks at.

    ``tokens`` are those of the next request, ``available`` those free for input, or another limit
    that shares refer to; ``window`` is the context window, 0 for what is available; ``turns`` and
    ``messages`` are those of the effective history.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One comparison, such as ``ratio >= 0.8``.

    ``free`` are tokens left of what is available, ``window`` is the share of the window. Tokens
    above what is available mean that: Copilot Chat clamps its threshold to the window as well.
    """

    metric: Metric
    operator: Operator
    value: Fraction

    def holds(self, measurements: TriggerInput) -> bool:
        """Tell whether the comparison holds."""
        found, value = measurements.value(self.metric), self.value
        if self.is_clamped(measurements.available):
            value = Fraction(measurements.available)
        match self.operator:
            case ">=":
                return found >= value
            case ">":
                return found > value
            case "<=":
                return found <= value
            case "<":
                return found < value

    def is_clamped(self, available: int) -> bool:
        """Tell whether it names more tokens than are available, and means those."""
        is_size = self.metric == "tokens" and self.operator in (">=", ">")
        return is_size and 0 < available < self.value

    def describe(self, measurements: TriggerInput) -> str:
        """Return it in words, with what it means in this situation where that is less."""
        means = f", of which {measurements.available:,} are available"
        return f"{self}{means if self.is_clamped(measurements.available) else ''}"

    def threshold(self, available: int, window: int) -> int | None:
        """Return the size in tokens where it begins to hold; None if size does not matter."""
        match self.metric:
            case "ratio":
                return int(self.value * available)
            case "window":
                return int(self.value * window)
            case "tokens":
                limit = int(self.value)
                return min(limit, available) if available > 0 else limit
            case "free":
                return max(0, available - int(self.value))
            case _:
                return None

    def __str__(self) -> str:
        number = float(self.value)
        text = (
            f"{number:,.0f}" if number == int(number) and self.metric in _COUNTED else f"{number:g}"
        )
        return f"{self.metric} {self.operator} {text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Fires when any of its conditions holds; always, when it has none."""

    conditions: tuple[Condition, ...] = ()

    def matched_condition(self, measurements: TriggerInput) -> str:
        """Return the first condition that holds in words, ``always`` without any, else ""."""
        if not self.conditions:
            return _ALWAYS
        return next((str(each) for each in self.conditions if each.holds(measurements)), "")

    def describe(self, measurements: TriggerInput) -> str:
        """Return what fired, and what it means where it names more than is available."""
        held = next((each for each in self.conditions if each.holds(measurements)), None)
        return self.matched_condition(measurements) if held is None else held.describe(measurements)

    def threshold(self, available: int, window: int) -> int | None:
        """Return the size in tokens from which on it fires; None if size does not matter."""
        limits = [condition.threshold(available, window) for condition in self.conditions]
        return min((limit for limit in limits if limit is not None), default=None)

    def fires_at(self, tokens: int, available: int, window: int) -> bool:
        """Tell whether a context of that size, and nothing else about it, makes it fire."""
        at = TriggerInput(tokens=tokens, available=available, turns=0, messages=0, window=window)
        return any(
            condition.holds(at)
            for condition in self.conditions
            if condition.threshold(available, window) is not None
        )

    def __str__(self) -> str:
        if self == NEVER:
            return _NEVER
        return " or ".join(map(str, self.conditions)) or _ALWAYS


ALWAYS = Trigger()
# What can never be.
NEVER = Trigger(conditions=(Condition(metric="tokens", operator="<", value=Fraction(0)),))
_PLAIN = {_ALWAYS: ALWAYS, _NEVER: NEVER}


def parse_trigger(text: str) -> Trigger:
    """Read a trigger: a share, tokens, comparisons joined with ``or``, ``always`` or ``never``.

    A comma joins as well, unless it groups the digits of a number, as our own texts do.

    Raises:
        UsageError: it means nothing, or a number between 1 and 100 that could mean either.
    """
    plain = text.strip().lower()
    if plain in _PLAIN:
        return _PLAIN[plain]
    plain = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), plain)
    return Trigger(conditions=tuple(_condition(part) for part in _OR.split(plain)))


def _condition(text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        return _bare_number(text)
    what, size = _MEASURED.get(match["what"]), _size(match["value"])
    if what is None or size is None:
        raise UsageError(f"{text!r} is not a trigger; {_EXAMPLES}")
    if what in ("ratio", "window") and size > 1:
        raise UsageError(f"the trigger {text!r} can never fire in time; a ratio is at most 1")
    return Condition(metric=what, operator=_OPERATORS[match["operator"]], value=size)


def _bare_number(text: str) -> Condition:
    """Read a number alone; VS Code Copilot Chat refuses those between 1 and 100 as well."""
    size = _size(text)
    if size is None:
        raise UsageError(f"{text!r} is not a trigger; {_EXAMPLES}")
    if 1 < size < MIN_TOKEN_TARGET:
        raise UsageError(
            f"the trigger {text!r} is ambiguous; write a share as 0.8, or at least "
            f" {MIN_TOKEN_TARGET} tokens as 60000 or 60k"
        )
    return Condition(metric="ratio" if size <= 1 else "tokens", operator=">=", value=size)


def _size(text: str) -> Fraction | None:
    """Read a size; a whole number may have underscores, as in TOML and Python."""
    return parse_token_size(text.replace("_", ""))
