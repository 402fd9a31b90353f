"""Which counter measures a transcript: the model's own, or one a user names."""

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
    NeuroLinkCounter,
    RatioCounter,
)
from compactctl.tokens.counters.fast import MIN_CHARS_TO_LOAD, exact_counter
from compactctl.tokens.counters.rank_file import rank_file_counter
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
_PER_TOKEN: dict[str, Callable[[float], TokenCounter]] = {
    "chars": CharsCounter,
    "bytes": BytesCounter,
}


def best_counter(model: ModelInfo, min_chars: int = MIN_CHARS_TO_LOAD) -> TokenCounter:
    """Return the best counter for a model that is installed.

    The one that the user's own table names, else exact with the model's own vocabulary,
    reconstructed with ctok, or an estimate. ``min_chars`` as for ``fast_counter``.

    Raises:
        UsageError: the user's table names a counter that is not there.
    """
    if model.user_row is not None and model.user_row.counter:
        return user_counter(model.user_row, min_chars)
    if model.reconstruction and claude_is_installed():
        return ClaudeCounter(model.reconstruction)
    base = exact_counter(model.counter, min_chars)
    return base if model.is_exact else RatioCounter(base, model.factor, model.family)


def parse_counter(name: str, min_chars: int = MIN_CHARS_TO_LOAD) -> TokenCounter:
    """Return the counter a user names; any name may be followed by a factor, as in ``… x1.2``.

    ``min_chars`` as for ``fast_counter``.

    Raises:
        UsageError: there is no counter of that name, what it needs is not installed, or the rank
            file it names is not such a file.
    """
    base_name, size = _without_factor(name)
    base = _base_counter(base_name, min_chars)
    if base is None:
        names = ", ".join(COUNTER_NAMES)
        raise UsageError(
            f"no token counter is named {name!r}; there are {names},"
            ' and each of them times a factor, such as "o200k_base x1.2"'
        )
    return base if size is None else RatioCounter(base, float(size), "chosen by the user")


def rank_file_of(name: str) -> str:
    """Return the file, and its pattern if any, that a counter's name names; "" without one."""
    kind, _, argument = _without_factor(name)[0].partition(":")
    return argument if kind == RANK_FILE else ""


def _without_factor(name: str) -> tuple[str, Fraction | None]:
    wanted = name.strip()
    base_name, times, factor = wanted.rpartition(" x")
    size = parse_token_size(factor) if times else None
    return (base_name, size) if size else (wanted, None)


def user_counter(row: UserModel, min_chars: int = MIN_CHARS_TO_LOAD) -> TokenCounter:
    """Return the counter that a row of the user's table names; UsageError names the row."""
    try:
        return parse_counter(row.counter, min_chars)
    except UsageError as error:
        raise UsageError(f"{row.source}: {row.prefix!r}: counter: {error}") from error


def _base_counter(name: str, min_chars: int) -> TokenCounter | None:
    if name in VOCABULARIES:
        return exact_counter(name, min_chars)
    if name in VERSIONS:
        return claude_counter(name)
    kind, _, argument = name.partition(":")
    if kind == "tiktoken" and argument in VOCABULARIES:
        return BpeCounter(argument)
    return rank_file_counter(argument) if kind == RANK_FILE and argument else _estimate(name)


def _estimate(name: str) -> TokenCounter | None:
    kind, slash, argument = name.partition("/")
    if kind == "neurolink" and (not slash or argument in NEUROLINK_MULTIPLIERS):
        return NeuroLinkCounter(argument)
    build, size = _PER_TOKEN.get(kind), parse_token_size(argument)
    return build(float(size)) if build and size else None
