"""Help with the options of each stage under a heading of its own."""

from typing import Any

import click


class StageOption(click.Option):
    """An option of one stage; ``stage`` is its name."""

    def __init__(self, *args: Any, stage: str, **attributes: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **attributes)
        self.stage = stage


class SectionedCommand(click.Command):
    """A command whose stage options stand behind the others, stage by stage."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record:
                sections.setdefault(_section(option), []).append(record)
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _section(parameter: click.Parameter) -> str:
    return f"Stage {parameter.stage}" if isinstance(parameter, StageOption) else "Options"
