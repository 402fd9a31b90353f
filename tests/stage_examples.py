"""The examples of all stages, as settings of a plan: each has something to do in a few messages."""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.model.operation import OptionValue
from compactctl.records import asdict
from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.stage import Stage

EXAMPLES: Mapping[str, Mapping[str, OptionValue]] = {
    stage.name: {
        name: value
        for name, value in asdict(stage.example).items()
        if value != getattr(stage.options(), name)
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


def why_idle(stage: Stage[Any], conversation: str) -> str:
    """Say what to do about a stage that does nothing in a conversation of the tests."""
    file = f"compactctl/stages/{stage.name}.py"
    if stage.example is None:
        return (
            f"{file}: STAGE has no example, and with its default options {stage.name} does nothing"
            f" in {conversation}; give STAGE an example: options with which it does something there"
        )
    return (
        f"{file}: with STAGE.example, {stage.example}, {stage.name} does nothing in {conversation};"
        " choose an example with which it does, such as a lower limit"
    )
