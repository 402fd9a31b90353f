"""``stages`` on a terminal."""

from collections.abc import Iterator, Sequence

from compactctl.commands.stages import StageInfo
from compactctl.reports.screen import Item
from compactctl.reports.tables import table, text


def stages_screen(stages: Sequence[StageInfo]) -> Iterator[Item]:
    """Yield what to print: a row per stage."""
    columns = (text("Stage"), text("What it does", "end", least=24))
    yield table(columns, [(stage.name, stage.title) for stage in stages])
    yield ""
    yield "explain one and its options with: compactctl stages STAGE"
