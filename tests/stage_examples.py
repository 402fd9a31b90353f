"""The examples of all stages, as settings of a plan: each has something to do in a few messages."""

from collections.abc import Iterator, Mapping
from dataclasses import fields

from compactctl.model.operation import OptionValue
from compactctl.stages.registry import ALL_STAGES

EXAMPLES: Mapping[str, Mapping[str, OptionValue]] = {
    stage.name: {
        option.name: value
        for option in fields(stage.example)
        if (value := getattr(stage.example, option.name)) != getattr(stage.options(), option.name)
    }
    for stage in ALL_STAGES
    if stage.example is not None
}


def example_flags(stage: str) -> Iterator[str]:
    """Yield the example of a stage as options of a command line."""
    for name, value in EXAMPLES.get(stage, {}).items():
        flag = f"--{stage}-{name}".replace("_", "-")
        match value:
            case bool():
                yield flag if value else flag.replace("--", "--no-", 1)
            case tuple():
                for each in value:
                    yield from (flag, each)
            case _:
                yield from (flag, str(value))
