"""``stages`` on a terminal."""

from collections.abc import Iterator, Sequence

from compactctl.commands.reference.stages import StageInfo
from compactctl.reports.rendering.screen import Fact, Facts, ScreenItem


def stages_screen(stages: Sequence[StageInfo]) -> Iterator[ScreenItem]:
    """Yield what to print: what each stage does, in the order in which they lose more and more."""
    yield Facts(tuple(Fact(stage.name, stage.title) for stage in stages))
    yield ""
    yield "explain one and its options with: compactctl stages STAGE"
