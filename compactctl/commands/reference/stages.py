"""The stages there are, and what they do."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from compactctl.model.operation import OptionValue
from compactctl.stages.registry import ALL_STAGES, stage_named
from compactctl.stages.support.stage import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class StageInfo:
    """A stage: its name, what it does in a sentence, and its options with their defaults."""

    name: str
    title: str
    options: Mapping[str, OptionValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class StagesResult:
    """Stages in the order in which they are to be shown."""

    stages: tuple[StageInfo, ...]


def stages(names: Iterable[str] = ()) -> StagesResult:
    """Describe the stages of these names; without any all, from the one that loses least.

    Raises UsageError for a name that no stage has.
    """
    found = tuple(map(stage_named, names)) or ALL_STAGES
    return StagesResult(stages=tuple(map(_info, found)))


def _info(stage: Stage[Any]) -> StageInfo:
    return StageInfo(name=stage.name, title=stage.title, options=asdict(stage.options()))
