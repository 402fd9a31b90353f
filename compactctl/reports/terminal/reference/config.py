"""``config`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.reference.config import ConfigResult, ConfigRow
from compactctl.reports.rendering.screen import Fact, Facts, ScreenItem
from compactctl.reports.rendering.tables import table, text
from compactctl.reports.rendering.text import one_line, safe_text


def config_terminal(result: ConfigResult) -> Iterator[ScreenItem]:
    """Yield what to print: the files read, then a row per option."""
    files = result.files or ("none was found",)
    yield Facts(tuple(Fact("" if n else "settings", safe_text(f)) for n, f in enumerate(files)))
    yield ""
    if not result.rows:
        yield f"every option of {result.command} is at its default; --all lists them"
        return
    columns = (
        text("Option"),
        text("Value", "end", least=12),
        text("From", "end", least=12),
        text("Project may", spare=1),
    )
    yield table(columns, [_setting_cells(row) for row in result.rows])


def _setting_cells(row: ConfigRow) -> tuple[str, ...]:
    return (
        row.option,
        _setting_text(row.value),
        one_line(row.origin),
        "yes" if row.project else "no",
    )


def _setting_text(value: object) -> str:
    match value:
        case None:
            return "not set"
        case bool():
            return "on" if value else "off"
        case list():
            return one_line(", ".join(map(str, value))) or "none"
        case _:
            return one_line(str(value))
