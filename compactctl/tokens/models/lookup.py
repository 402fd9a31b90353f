"""From the name of a model, as transcripts and gateways write it, to what is known of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from compactctl.errors import suggestion
from compactctl.tokens.models import table
from compactctl.tokens.models.names import (
    dash_versions,
    is_edition,
    is_name_prefix,
    normalize_name,
    strip_provider,
)
from compactctl.tokens.models.table import Family, VocabularyName
from compactctl.tokens.models.user_models import NO_USER_MODELS, UserModel, UserModelTable

# How a model was looked up: by its own name, or else by what its name is like.
Rule = Literal[
    "own table",
    "name",
    "longest prefix",
    "Claude version",
    "Claude line",
    "provider default",
    "unknown",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What is known of a model.

    Attributes:
        name: as it was asked for; ``unknown`` when there was none.
        family: label of the models that count alike.
        counter: vocabulary to count with, and ``factor`` what to multiply its counts by.
        is_exact: whether ``counter`` is the model's own vocabulary.
        reconstruction: the counter that an optional package offers for the family, or "".
        window: context window in tokens.
        max_output: longest answer in tokens; None when not known.
        matched_prefix: the row it was found by: a name, a beginning of it, or a provider; "" for
            none.
        rule: how that row was chosen.
        long_window: the longer window that the model can have as well; None when there is one
            alone.
        is_input_only: whether the window is for input alone, beside the answer.
        keeps_reasoning: whether it reads the reasoning of earlier turns again, for models whose
            reasoning is encrypted.
        user_row: the row of the user's table that has the last word; None without one.
    """

    name: str
    family: str
    counter: VocabularyName
    factor: float
    is_exact: bool
    reconstruction: str
    window: int
    max_output: int | None
    matched_prefix: str
    rule: Rule
    long_window: int | None = None
    is_input_only: bool = False
    keeps_reasoning: bool = False
    user_row: UserModel | None = None

    @property
    def is_known(self) -> bool:
        """Whether a table names this model; if not, window and family are inferred or defaults."""
        return self.rule in ("own table", "name")

    @property
    def is_inferred(self) -> bool:
        """Whether window and family are those of a model with a similar name."""
        return self.rule in ("longest prefix", "Claude version", "Claude line")


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the tables, and the rule it is found by."""

    match: str
    rule: Rule
    family: Family
    window: int
    max_output: int | None = None
    longer: int | None = None


_LONG_WINDOW = re.compile(r"\[1m\]|[-:](?:1m|1000k)(?![0-9a-z])")
_CLAUDE = re.compile(r"\bclaude\b|^(?:opus|sonnet|haiku|fable)\b")
_CLAUDE_LINE = re.compile(r"opus|sonnet|haiku|fable|mythos")
# A version has one or two numbers of one or two digits; a date after it has eight digits.
_CLAUDE_VERSION = re.compile(r"(?<!\d)(\d{1,2})(?:-(\d{1,2}))?(?!\d)")


def resolve_model(name: str | None, user_models: UserModelTable = NO_USER_MODELS) -> ModelInfo:
    """Look a model up by its name, else by the longest beginning of it that a table has.

    Providers, regions and gateways in front of the name and dates, variants and API versions
    behind it do not matter. What the user's own table says counts more than the built-in one.
    Never raises: an unknown model gets its provider's defaults if the name has one, else a window
    of 128,000 and an estimate by ``o200k_base``.
    """
    built_in, row = _built_in(name), user_models.match(name)
    if row is None:
        return built_in
    return replace(
        built_in,
        window=row.window or built_in.window,
        max_output=row.max_output or built_in.max_output,
        long_window=None if row.window else built_in.long_window,
        is_input_only=built_in.is_input_only and row.window is None,
        matched_prefix=row.prefix,
        rule="own table",
        user_row=row,
    )


def smallest_window_for(model: ModelInfo, tokens: int) -> int:
    """Return the smallest window known of the model's family that holds ``tokens``.

    Where none does it is the long one that names can ask for, and ``tokens`` themselves above it.
    """
    known = {*_WINDOWS.get(model.family, ()), model.window}
    longest = max(table.LONG_WINDOW, tokens)
    return min((window for window in known if window >= tokens), default=longest)


def longest_window(model: ModelInfo) -> int:
    """Return the longest window known of a model or its family; of any model for an unknown one."""
    known = _WINDOWS.get(model.family, set()) if model.is_known else set().union(*_WINDOWS.values())
    return max(model.window, model.long_window or 0, *known)


def all_models() -> Iterator[ModelInfo]:
    """Yield what is known for every row of the built-in tables, in their order."""
    names = (name for row in table.MODELS for name in _names(row[0]))
    versions = (_claude_name(line, version) for line, version, _, _ in _CLAUDES)
    for name in (*versions, *names, *(f"{provider}/" for provider in table.PROVIDERS)):
        yield resolve_model(name)


def model_suggestion(name: str) -> str:
    """Return "did you mean …?" with the listed model that a name is most like; "" for none."""
    return suggestion(normalize_name(name), (m.name for m in all_models() if m.is_known), "")


def _built_in(name: str | None) -> ModelInfo:
    path = normalize_name(name)
    bare = strip_provider(path)
    own = _LONG_WINDOW.sub("", bare)
    found = _claude(own) or _longest_match(own)
    row = found or _provider_default(path)
    return ModelInfo(
        name=name or "unknown",
        family=row.family.label,
        counter=row.family.counter,
        factor=row.family.factor,
        is_exact=row.family.exact,
        reconstruction=row.family.reconstruction,
        window=row.window if own == bare else max(row.window, table.LONG_WINDOW),
        max_output=row.max_output,
        matched_prefix=row.match,
        rule=row.rule,
        long_window=row.longer if own == bare else None,
        is_input_only=row.match in table.INPUT_ONLY_WINDOWS and own == bare,
        keeps_reasoning=row.match.startswith(table.KEEP_REASONING),
    )


def _provider_default(path: str) -> _Row:
    provider = _PROVIDERS.get(_letters(path.partition("/")[0]))
    return provider or _Row("", "unknown", table.UNKNOWN, table.DEFAULT_WINDOW)


def _letters(name: str) -> str:
    """Return a provider's name as NeuroLink compares it: GoogleAI, google-ai and google_ai."""
    return re.sub("[^a-z]", "", name)


def _names(names: str) -> list[str]:
    """Return the names of a row without the star of those that are beginnings only."""
    return names.replace("*", "").split()


_ROWS = {
    dash_versions(name): _Row(name, "longest prefix", *row[1:])
    for row in table.MODELS
    for name in _names(row[0])
}
_BEGINNINGS = {
    dash_versions(name[:-1]) for row in table.MODELS for name in row[0].split() if name[-1] == "*"
}
_WINDOWS = {
    family.label: {row[2] for row in table.MODELS if row[1] is family}
    for family in {row[1] for row in table.MODELS}
}
_LONGEST_ROW = max(map(len, _ROWS))
_PROVIDERS = {
    _letters(name): _Row(f"{name}/", "provider default", *row)
    for name, row in table.PROVIDERS.items()
}


def _longest_match(bare: str) -> _Row | None:
    for end in range(min(len(bare), _LONGEST_ROW), 0, -1):
        row = _ROWS.get(bare[:end])
        if row and is_name_prefix(bare[:end], bare):
            is_name = bare[:end] not in _BEGINNINGS and is_edition(bare[end:])
            return replace(row, rule="name") if is_name else row
    return None


def _claude(bare: str) -> _Row | None:
    """Judge a Claude by line and version, so that one newer than the table is still right."""
    start = _CLAUDE.search(bare)
    if start is None:
        return None
    line = _CLAUDE_LINE.search(bare)
    rows = [row for row in _CLAUDES if line and row[0] == line[0]]
    name = f"claude-{line[0]}" if line else "claude"
    version = _CLAUDE_VERSION.search(bare, start.start())
    if version is None:
        # An alias such as "opus" means a new model in a new transcript: rather count too much.
        window = min((row[2] for row in rows), default=table.CLAUDE_WINDOW)
        return _Row(name, "Claude line", table.CLAUDE, window)
    number = (int(version[1]), int(version[2] or 0))
    family = table.CLAUDE if number >= table.NEW_CLAUDE_VOCABULARY else table.CLAUDE_OLD
    reached = [row for row in rows if _version_number(row[1]) <= number]
    if not reached:
        return _Row(name, "Claude line", family, table.CLAUDE_WINDOW)
    which, newest, window, max_output = max(reached, key=lambda row: _version_number(row[1]))
    longer = table.LONG_WINDOW if (which, newest) in table.CLAUDE_WITH_LONG_WINDOW else None
    rule: Rule = "name" if _version_number(newest) == number else "Claude version"
    return _Row(_claude_name(which, newest), rule, family, window, max_output, longer)


def _claude_name(line: str, version: str) -> str:
    return f"claude-{line}-{version}"


def _version_number(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor or 0)


# A row for each version.
_CLAUDES = [
    (line, version, window, max_output)
    for line, versions, window, max_output in table.CLAUDE_LIMITS
    for version in versions.split()
]
