"""Look up a model by its name as transcripts and gateways write it."""

import re
from collections.abc import Iterator
from typing import Literal

from compactctl.errors import suggestion
from compactctl.records import Record, replace
from compactctl.tokens.models import table
from compactctl.tokens.models.names import (
    ReleaseDate,
    dash_versions,
    is_edition,
    is_name_prefix,
    normalize_name,
    split_date,
    strip_provider,
)
from compactctl.tokens.models.table import Family, VocabularyName
from compactctl.tokens.models.user_models import NO_USER_MODELS, UserModel, UserModelTable

Rule = Literal[
    "own table",
    "name",
    "longest prefix",
    "Claude version",
    "Claude line",
    "provider default",
    "unknown",
]
"""How a model was found: by its name, or by what its name resembles."""


class ModelInfo(Record):
    """What is known of a model.

    Attributes:
        name: as it was looked up; ``unknown`` if that was empty.
        family: label of the models with the same tokens.
        counter: vocabulary to count with.
        factor: what to multiply these counts by.
        is_exact: whether ``counter`` is the model's own vocabulary.
        reconstruction: the counter that an optional package offers for the family; "" for none.
        window: context window in tokens.
        max_output: longest answer in tokens; None if unknown.
        matched_prefix: the row that matched: a name, the beginning of one, or a provider; "" for
            none.
        rule: how that row was found.
        long_window: a longer window that the model can also have; None if it has only one.
        asks_for_long_window: whether the name itself asks for the long window, as in "…[1m]".
        is_input_only: whether the window holds only input, without the answer.
        keeps_reasoning: whether earlier turns' reasoning is read again, for models with encrypted
            reasoning.
        user_row: the row of the user's table that overrides the built-in one; None for none.
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
    asks_for_long_window: bool = False
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


class _Row(Record, kw_only=False):
    match: str
    rule: Rule
    family: Family
    window: int
    max_output: int | None = None
    long_window: int | None = None


_LONG_WINDOW = re.compile(r"\[1m\]|[-:](?:1m|1000k)(?![0-9a-z])")
_CLAUDE = re.compile(r"\bclaude\b|^(?:opus|sonnet|haiku|fable)\b")
_CLAUDE_LINE = re.compile(r"opus|sonnet|haiku|fable|mythos")
# The size of open weights: "-24b", ":8x7b".
_WEIGHTS = re.compile(r"[-:](?:\d+x)?\d+b(?![0-9a-z])")
# A version has one or two numbers of one or two digits; a date after it has eight digits.
_CLAUDE_VERSION = re.compile(r"(?<!\d)(\d{1,2})(?:-(\d{1,2}))?(?!\d)")


def resolve_model(name: str | None, user_models: UserModelTable = NO_USER_MODELS) -> ModelInfo:
    """Look up a model by its name, else by the longest prefix of it in a table.

    Providers, regions and gateways before the name, and variants and API versions after it, are
    ignored; so is a date that only names a snapshot. The user's table takes precedence over the
    built-in one. Never raises: an unknown model gets the defaults of the provider in its name, else
    a window of 128,000 and estimates by ``o200k_base``.
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


def window_in_use(model: ModelInfo, recorded: int | None, answered: int) -> int:
    """Return the window that a client has recorded, else the model's, as far as that can be true.

    A client may record the window of another model than the one that was asked: it is at least what
    the model's name asks for, and holds the largest request that was ``answered``.
    """
    window = recorded or model.window
    if model.asks_for_long_window:
        window = max(window, model.window)
    return window if answered <= window else smallest_window_for(model, answered)


def smallest_window_for(model: ModelInfo, tokens: int) -> int:
    """Return the smallest window of the model's family that holds ``tokens``.

    If none does, it is the long window that a name can request, or ``tokens`` if that is larger.
    """
    windows = {*_WINDOWS.get(model.family, ()), model.window}
    fallback = max(table.LONG_WINDOW, tokens)
    return min((window for window in windows if window >= tokens), default=fallback)


def longest_window(model: ModelInfo) -> int:
    """Return the longest window of a model's family, or of all models for an unknown one."""
    windows = (
        _WINDOWS.get(model.family, set()) if model.is_known else set().union(*_WINDOWS.values())
    )
    return max(model.window, model.long_window or 0, *windows)


def all_models() -> Iterator[ModelInfo]:
    """Yield the models of the built-in tables in their order, then the providers' defaults."""
    names = (name for row in table.MODELS for name in _names(row[0]))
    versions = (_claude_name(line, version) for line, version, _, _ in _CLAUDES)
    for name in (*versions, *names, *(f"{provider}/" for provider in table.PROVIDERS)):
        yield resolve_model(name)


def model_suggestion(name: str) -> str:
    """Return "did you mean …?" with the listed model most like ``name``; "" if none is."""
    return suggestion(normalize_name(name), (m.name for m in all_models() if m.is_known), "")


def _built_in(name: str | None) -> ModelInfo:
    path = normalize_name(name)
    bare = strip_provider(path)
    model = _LONG_WINDOW.sub("", bare)
    asks_for_long_window = model != bare
    row = _claude(model) or _longest_match(model) or _provider_default(path)
    return ModelInfo(
        name=name or "unknown",
        family=row.family.label,
        counter=row.family.counter,
        factor=row.family.factor,
        is_exact=row.family.exact,
        reconstruction=row.family.reconstruction,
        window=max(row.window, table.LONG_WINDOW) if asks_for_long_window else row.window,
        max_output=row.max_output,
        matched_prefix=row.match,
        rule=row.rule,
        long_window=None if asks_for_long_window else row.long_window,
        asks_for_long_window=asks_for_long_window,
        is_input_only=row.match in table.INPUT_ONLY_WINDOWS and not asks_for_long_window,
        keeps_reasoning=row.match.startswith(table.KEEP_REASONING),
    )


def _provider_default(path: str) -> _Row:
    provider = _PROVIDERS.get(letters_of(path.partition("/")[0]))
    return provider or _Row("", "unknown", table.UNKNOWN, table.DEFAULT_WINDOW)


def letters_of(name: str) -> str:
    """Return a provider's name as NeuroLink compares it: GoogleAI, google-ai, google_ai are one."""
    return re.sub("[^a-z]", "", name)


def _names(names: str) -> list[str]:
    """Return the names of a row, without the star of those that are only prefixes."""
    return names.replace("*", "").split()


_ROWS = {
    dash_versions(name): _Row(name, "longest prefix", *row[1:])
    for row in table.MODELS
    for name in _names(row[0])
}
_PREFIXES = {
    dash_versions(name[:-1]) for row in table.MODELS for name in row[0].split() if name[-1] == "*"
}
_RELEASES: dict[str, dict[str, _Row]] = {}
for _name, _row in _ROWS.items():
    _base, _date = split_date(_name)
    if _date is not None:
        _RELEASES.setdefault(_base, {})[_date.digits] = _row
_WINDOWS = {
    family.label: {row[2] for row in table.MODELS if row[1] is family}
    for family in {row[1] for row in table.MODELS}
}
_MAX_NAME_LENGTH = max(map(len, _ROWS))
_PROVIDERS = {
    letters_of(name): _Row(f"{name}/", "provider default", *row)
    for name, row in table.PROVIDERS.items()
}


def _longest_match(bare: str) -> _Row | None:
    for end in range(min(len(bare), _MAX_NAME_LENGTH), 0, -1):
        name = bare[:end]
        row = _ROWS.get(name)
        if row and is_name_prefix(name, bare):
            is_name = name not in _PREFIXES and is_edition(bare[end:])
            date = split_date(bare[end:])[1]
            if date is None and _WEIGHTS.search(bare[end:]):
                return _of_unknown_release(name, row, is_name=is_name)
            return _of_edition(name, date) if is_name else row
    return None


def _of_edition(name: str, date: ReleaseDate | None) -> _Row:
    """Return the row of a listed model, or of the model of that name with this date.

    "gpt-4.1-2025-04-14" is a snapshot of gpt-4.1: a date that is written out after a version. But
    "mistral-medium-2312" is another model than mistral-medium is today, as "gpt-3.5-turbo-0613" is
    another than gpt-3.5-turbo. If such a date is not listed, the row of the newest date before it
    is inferred, else the one with the smallest window.
    """
    row, releases = _ROWS[name], _RELEASES.get(name, {})
    if date is None:
        return replace(row, rule="name")
    if date.digits in releases:
        return replace(releases[date.digits], rule="name")
    if date.is_written_out and any(map(str.isdigit, name)):
        return replace(row, rule="name")
    earlier = [digits for digits in releases if "20" <= digits < date.digits]
    if earlier:
        return releases[max(earlier)]
    return min((row, *releases.values()), key=lambda release: release.window)


def _of_unknown_release(name: str, row: _Row, *, is_name: bool) -> _Row:
    """Return the row of open weights without a date: "codestral:22b" is not today's codestral.

    If the releases of that name differ, the smallest window is inferred.
    """
    smallest = min((row, *_RELEASES.get(name, {}).values()), key=lambda release: release.window)
    if smallest.window < row.window:
        return smallest
    return replace(row, rule="name") if is_name else row


def _claude(bare: str) -> _Row | None:
    """Look up a Claude by line and version, so that one newer than the table gets a sane row.

    "opus-4-6" has its own row, "opus-4-9" that of 4.8, "opus" the smallest window of the line.
    """
    start = _CLAUDE.search(bare)
    if start is None:
        return None
    line = _CLAUDE_LINE.search(bare)
    rows = [row for row in _CLAUDES if line and row[0] == line[0]]
    name = f"claude-{line[0]}" if line else "claude"
    version = _CLAUDE_VERSION.search(bare, start.start())
    if version is None:
        # An alias such as "opus" means a recent model, so use the family that counts more.
        window = min((row[2] for row in rows), default=table.CLAUDE_WINDOW)
        return _Row(name, "Claude line", table.CLAUDE, window)
    number = (int(version[1]), int(version[2] or 0))
    family = table.CLAUDE if number >= table.NEW_CLAUDE_VOCABULARY else table.CLAUDE_OLD
    released = [row for row in rows if _version_number(row[1]) <= number]
    if not released:
        return _Row(name, "Claude line", family, table.CLAUDE_WINDOW)
    line_name, newest, window, max_output = max(released, key=lambda row: _version_number(row[1]))
    has_long_window = (line_name, newest) in table.CLAUDE_WITH_LONG_WINDOW
    return _Row(
        match=_claude_name(line_name, newest),
        rule="name" if _version_number(newest) == number else "Claude version",
        family=family,
        window=window,
        max_output=max_output,
        long_window=table.LONG_WINDOW if has_long_window else None,
    )


def _claude_name(line: str, version: str) -> str:
    return f"claude-{line}-{version}"


def _version_number(version: str) -> tuple[int, int]:
    major, _, minor = version.partition(".")
    return int(major), int(minor or 0)


_CLAUDES = [
    (line, version, window, max_output)
    for line, versions, window, max_output in table.CLAUDE_LIMITS
    for version in versions.split()
]
