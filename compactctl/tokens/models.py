"""From the name of a model, as transcripts and gateways write it, to what is known of it."""

import re
from dataclasses import dataclass

from compactctl.tokens import model_table as table
from compactctl.tokens.model_table import Family, VocabularyName

_Limits = tuple[Family, int, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What is known of a model.

    Attributes:
        name: as it was asked for; ``unknown`` when there was none.
        family: label of the models that count alike.
        counter: vocabulary to count with, and ``factor`` what to multiply its counts by.
        exact: whether ``counter`` is the model's own vocabulary.
        reconstruction: the counter that an optional package offers for the family, or "".
        window: context window in tokens.
        max_output: longest answer in tokens; None when not known.
        known: whether the table knows the name; if not, window and family are defaults.
    """

    name: str
    family: str
    counter: VocabularyName
    factor: float
    exact: bool
    reconstruction: str
    window: int
    max_output: int | None
    known: bool


# Clouds write vendor and region in front ("us.anthropic.claude-…"), libraries their provider
# ("openai:gpt-…"). A vendor with a colon can be a model of Ollama, such as "mistral:7b".
_PREFIX = re.compile(
    r"(?:(?:anthropic|azure|bedrock|google|openai|openrouter|vertex):)?"
    r"(?:(?:us-gov|us|eu|apac|global|jp|au|ca|sa)\.)?"
    r"(?:(?:anthropic|amazon|google|meta|minimax|mistral|moonshotai|moonshot|openai|qwen|zai)\.)?"
)
_LONG_WINDOW = re.compile(r"\[1m\]|[-:](?:1m|1000k)(?![0-9a-z])")
_CLAUDE = re.compile(r"\bclaude\b|^(?:opus|sonnet|haiku|fable)\b")
_CLAUDE_LINE = re.compile(r"opus|sonnet|haiku|fable|mythos")
# A version has one or two numbers of one or two digits; a date after it has eight digits.
_CLAUDE_VERSION = re.compile(r"(?<!\d)(\d{1,2})(?:-(\d{1,2}))?(?!\d)")


def resolve_model(name: str | None) -> ModelInfo:
    """Look a model up by the longest beginning of its name that the table knows.

    Providers, regions and gateways in front of the name and dates, variants and API versions
    behind it do not matter. Never raises: an unknown model gets its provider's defaults if the
    name has one, else a window of 128,000 and an estimate by ``o200k_base``.
    """
    path = (name or "").strip().lower()
    bare = _bare(path)
    own = _LONG_WINDOW.sub("", bare)
    found = _claude(own) or _longest_match(own)
    family, window, max_output = found or _provider_default(path)
    return ModelInfo(
        name=name or "unknown",
        family=family.label,
        counter=family.counter,
        factor=family.factor,
        exact=family.exact,
        reconstruction=family.reconstruction,
        window=window if own == bare else max(window, table.LONG_WINDOW),
        max_output=max_output,
        known=found is not None,
    )


def _bare(path: str) -> str:
    """Strip what stands in front of a model's own name; write versions with dashes."""
    last = path.rpartition("/")[2].removeprefix("~")
    return _dashed(_PREFIX.sub("", last, count=1))


def _provider_default(path: str) -> _Limits:
    provider = path.partition("/")[0]
    family, window = table.PROVIDERS.get(provider, (table.UNKNOWN, table.DEFAULT_WINDOW))
    return family, window, None


def _dashed(name: str) -> str:
    return name.replace(".", "-")


_ROWS = {_dashed(prefix): (family, window, out) for prefix, family, window, out in table.MODELS}
_LONGEST_ROW = max(map(len, _ROWS))


def _longest_match(bare: str) -> _Limits | None:
    for end in range(min(len(bare), _LONGEST_ROW), 0, -1):
        row = _ROWS.get(bare[:end])
        if row and _is_boundary(bare, end):
            return row
    return None


def _is_boundary(name: str, end: int) -> bool:
    """Tell whether a name can be cut at ``end``: not in a number or word, so o1 is not o100."""
    before, after = name[end - 1], name[end : end + 1]
    return not after.isalnum() or (before.isalpha() and after.isdigit())


def _claude(bare: str) -> _Limits | None:
    """Judge a Claude by line and version, so that one newer than the table is still right."""
    start = _CLAUDE.search(bare)
    if start is None:
        return None
    line = _CLAUDE_LINE.search(bare)
    rows = [row for row in table.CLAUDE_LIMITS if line and row[0] == line[0]]
    version = _CLAUDE_VERSION.search(bare, start.start())
    if version is None:
        # An alias such as "opus" means a new model in a new transcript: rather count too much.
        return table.CLAUDE, min((row[2] for row in rows), default=table.CLAUDE_WINDOW), None
    number = (int(version[1]), int(version[2] or 0))
    family = table.CLAUDE if number >= table.NEW_CLAUDE_VOCABULARY else table.CLAUDE_OLD
    reached = [row for row in rows if row[1] <= number]
    if not reached:
        return family, table.CLAUDE_WINDOW, None
    _, _, window, max_output = max(reached, key=lambda row: row[1])
    return family, window, max_output
