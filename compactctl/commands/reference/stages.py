"""The stages there are, and what they do."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from compactctl.model.operation import OptionValue
from compactctl.stages.registry import ALL_STAGES, stage_named
from compactctl.stages.support.stage import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class StageInfo:
    """A stage: its name, what it does in a sentence, and its options with their defaults."""

    name: str
    title: str
    options: Mapping[str, OptionValue]


def listed() -> Sequence[StageInfo]:
    """Return all stages, from the one that loses least to the last resort."""
    return [_info(stage) for stage in ALL_STAGES]


def described(name: str) -> StageInfo:
    """Return the stage of that name. Raises UsageError when there is none."""
    return _info(stage_named(name))


def _info(stage: Stage) -> StageInfo:
    return StageInfo(name=stage.name, title=stage.title, options=asdict(stage.options()))
