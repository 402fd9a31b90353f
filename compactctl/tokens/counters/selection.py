"""Choose the counter that measures a transcript: the best one for its model, or a named one."""

from collections.abc import Callable
from fractions import Fraction

from compactctl.errors import UsageError
from compactctl.tokens.counters.bpe import BpeCounter
from compactctl.tokens.counters.claude import (
    VERSIONS,
    ClaudeCounter,
    claude_counter,
    claude_is_installed,
)
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.estimates import (
    NEUROLINK_MULTIPLIERS,
    BytesCounter,
    CharsCounter,
    NeuroLinkCodeCounter,
    NeuroLinkCounter,
    RatioCounter,
)
from compactctl.tokens.counters.rank_file import rank_file_counter
from compactctl.tokens.counters.tiktoken_counter import TiktokenCounter
from compactctl.tokens.counters.vocabulary import VOCABULARIES
from compactctl.tokens.models.lookup import ModelInfo
from compactctl.tokens.models.token_sizes import parse_token_size
from compactctl.tokens.models.user_models import UserModel

RANK_FILE = "file"
COUNTER_NAMES = (
    *VOCABULARIES,
    "chars/4",
    "bytes/4",
    "neurolink",
    "neurolink/PROVIDER",
    *VERSIONS,
    "tiktoken:o200k_base",
    "file:RANKS",
    "file:RANKS#cl100k_base",
)
_NEUROLINK: dict[str, Callable[[str], TokenCounter]] = {
    "neurolink": NeuroLinkCounter,
    "neurolink@code": NeuroLinkCodeCounter,
}
_PER_TOKEN: dict[str, Callable[[float], TokenCounter]] = {
    "chars": CharsCounter,
    "bytes": BytesCounter,
}


def best_counter(model: ModelInfo) -> TokenCounter:
    """Return the best installed counter for a model.

    That is the one in the user's table; else one with the model's vocabulary, exact or as ctok
    reconstructs it; else an estimate.

    Raises:
        UsageError: the user's table names an unknown or unavailable counter.
    """
    if model.user_row is not None and model.user_row.counter:
        return user_counter(model.user_row)
    if model.reconstruction and claude_is_installed():
        return ClaudeCounter(model.reconstruction)
    base = BpeCounter(model.counter)
    return base if model.is_exact else RatioCounter(base, model.factor, model.family)


def parse_counter(name: str) -> TokenCounter:
    """Return the counter of that name, which may end with a factor, e.g. ``o200k_base x1.2``.

    Raises:
        UsageError: the name is unknown, the package it needs is not installed, or its rank file is
            invalid.
    """
    base_name, factor = _split_factor(name)
    base = _base_counter(base_name)
    if base is None:
        names = ", ".join(COUNTER_NAMES)
        raise UsageError(
            f"no token counter named {name!r}; there are {names},"
            ' and each of them times a factor, such as "o200k_base x1.2"'
        )
    return base if factor is None else RatioCounter(base, float(factor), "chosen by the user")


def rank_file_of(name: str) -> str:
    """Return the ``PATH`` or ``PATH#PATTERN`` in a counter's name; "" if it names no rank file."""
    kind, _, argument = _split_factor(name)[0].partition(":")
    return argument if kind == RANK_FILE else ""


def _split_factor(name: str) -> tuple[str, Fraction | None]:
    """Split ``o200k_base x1.2`` into name and factor; None if there is no factor."""
    name = name.strip()
    base_name, times, number = name.rpartition(" x")
    factor = parse_token_size(number) if times else None
    return (base_name, factor) if factor else (name, None)


def user_counter(row: UserModel) -> TokenCounter:
    """Return the counter that a row of the user's table names; a UsageError names the row."""
    try:
        return parse_counter(row.counter)
    except UsageError as error:
        raise UsageError(f"{row.source}: {row.prefix!r}: counter: {error}") from error


def _base_counter(name: str) -> TokenCounter | None:
    if name in VOCABULARIES:
        return BpeCounter(name)
    if name in VERSIONS:
        return claude_counter(name)
    kind, _, argument = name.partition(":")
    if kind == "tiktoken" and argument in VOCABULARIES:
        return TiktokenCounter(argument)
    return rank_file_counter(argument) if kind == RANK_FILE and argument else _estimate(name)


def _estimate(name: str) -> TokenCounter | None:
    kind, slash, argument = name.partition("/")
    neurolink = _NEUROLINK.get(kind)
    if neurolink and (not slash or argument in NEUROLINK_MULTIPLIERS):
        return neurolink(argument)
    build, size = _PER_TOKEN.get(kind), parse_token_size(argument)
    return build(float(size)) if build and size else None
