"""``stages`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.reference.stages import StagesResult
from compactctl.reports.rendering.screen import Fact, Facts, ScreenItem


def stages_terminal(result: StagesResult) -> Iterator[ScreenItem]:
    """Yield what to print: what each stage does, in the order in which they lose more and more."""
    yield Facts(tuple(Fact(stage.name, stage.title) for stage in result.stages))
    yield ""
    yield "explain one and its options with: compactctl stages STAGE"
