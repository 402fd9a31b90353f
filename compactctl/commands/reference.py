"""Lists models, profiles and stages, and options with the origin of their values."""

from collections.abc import Iterable, Mapping
from typing import Any

from compactctl.clients.sizes import CLIENT_SIZES
from compactctl.model.operation import OptionValue
from compactctl.profiles.profile import Profile
from compactctl.profiles.registry import PROFILES, builtin_profile, load_profile
from compactctl.records import Record, asdict
from compactctl.stages.registry import ALL_STAGES, stage_named
from compactctl.stages.support.stage import Stage
from compactctl.tokens.budget import Budget, output_reserve
from compactctl.tokens.client_sizes import ClientRule
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.selection import best_counter
from compactctl.tokens.models.lookup import ModelInfo, all_models, resolve_model
from compactctl.tokens.models.table import SOURCES
from compactctl.tokens.models.user_models import NO_USER_MODELS, UserModelTable


class ConfigRow(Record):
    """An option, its value (None if it has none) and the origin of that in words.

    ``project`` tells whether a project's settings file may set it.
    """

    option: str
    value: object
    origin: str
    project: bool


class ConfigResult(Record):
    """The settings of one command, and the files that were read, in order of precedence."""

    command: str
    files: tuple[str, ...]
    rows: tuple[ConfigRow, ...]


class KnownModel(Record):
    """A model with the counter that would measure it."""

    model: ModelInfo
    counter: TokenCounter

    @property
    def budget(self) -> Budget:
        """The window, and what of it is free for input."""
        window = self.model.window
        return Budget(window=window, output_reserve=output_reserve(window), source=self.model.rule)


class ModelsResult(Record):
    """The rows of the tables, the user's own first; ``resolved`` if a name was given.

    ``sources`` name where the windows are from, and as of when; ``clients`` when clients compact.
    """

    rows: tuple[KnownModel, ...] = ()
    clients: tuple[ClientRule, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    resolved: KnownModel | None = None


class ProfilesResult(Record):
    """The built-in profiles, the default one first, or the ``named`` one."""

    profiles: tuple[Profile, ...]
    named: bool


class StageInfo(Record):
    """A stage: its name, a one-sentence description, and its options with their defaults."""

    name: str
    title: str
    options: Mapping[str, OptionValue]


class StagesResult(Record):
    """Stages in display order."""

    stages: tuple[StageInfo, ...]


def models(name: str | None = None, user_models: UserModelTable = NO_USER_MODELS) -> ModelsResult:
    """List known models, or resolve one name.

    Raises:
        UsageError: the user's table names an unknown counter.
    """
    if name is not None:
        return ModelsResult(resolved=_known_model(resolve_model(name, user_models)))
    first = (resolve_model(row.prefix, user_models) for row in user_models.rows)
    rows = tuple(map(_known_model, (*first, *all_models())))
    rules = tuple(rule for sizes in CLIENT_SIZES.values() for rule in sizes.rules)
    return ModelsResult(rows=rows, clients=rules, sources=SOURCES)


def profiles(name: str | None = None) -> ProfilesResult:
    """List the built-in profiles, or load one of them or the user's.

    Raises UsageError if no profile has that name.
    """
    if name is not None:
        return ProfilesResult(profiles=(load_profile(name),), named=True)
    return ProfilesResult(profiles=tuple(map(builtin_profile, PROFILES)), named=False)


def stages(names: Iterable[str] = ()) -> StagesResult:
    """Describe the named stages, or all, from the one that loses least.

    Raises UsageError for an unknown name.
    """
    selected = tuple(map(stage_named, names)) or ALL_STAGES
    return StagesResult(stages=tuple(map(_info, selected)))


def _known_model(model: ModelInfo) -> KnownModel:
    return KnownModel(model=model, counter=best_counter(model))


def _info(stage: Stage[Any]) -> StageInfo:
    return StageInfo(name=stage.name, title=stage.title, options=asdict(stage.options()))
