"""Help of commands with many options, in sections; options of stages are explained elsewhere."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from compactctl.cli.opt import ADDS_TEXT, MAY, OF_STAGES, HelpSection, Opt, section_of

if TYPE_CHECKING:
    from compactctl.stages.support.option_field import OptionField


class StageOption(Opt):
    """An option of one stage: the ``field`` of its options that it sets.

    A project may set it unless it is text.
    """

    def __init__(
        self,
        flag: str,
        *,
        field: "OptionField",
        **attributes: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(
            [flag],
            place=f"{field.stage}_{field.name}",
            section=OF_STAGES,
            project=ADDS_TEXT if field.kind == "text" else MAY,
            **attributes,
        )
        self.field = field


TYPED = "compactctl.typed"
"""In the context: the arguments of the command as they were typed."""


def is_typed(parameter: str) -> bool:
    """Tell whether a parameter of the command that runs stands on its command line."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE


class SectionedCommand(click.Command):
    """A command whose help has sections.

    The options of a single stage are one of them; those of all stages are explained elsewhere. What
    was typed behind its name stays in the context, for a command that is suggested instead.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, and keep them as they were typed."""
        ctx.meta[TYPED] = tuple(args)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections of those options that the command has."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for section in HelpSection:
            if section != OF_STAGES:
                in_it = (each for each in options if section_of(each) == section)
                _write(ctx, formatter, section, in_it)
        of_stages = [each for each in options if isinstance(each, StageOption)]
        stages = {each.field.stage for each in of_stages}
        if len(stages) == 1:
            _write(ctx, formatter, f"Options of {min(stages)}", of_stages)
        elif stages:
            with formatter.section(OF_STAGES):
                formatter.write_text(
                    "Each stage has options of its own, such as --prune-min-savings; "
                    "compactctl stages lists the stages, compactctl stages prune its options."
                )


def _write(
    context: click.Context,
    formatter: click.HelpFormatter,
    title: str,
    options: Iterable[click.Option],
) -> None:
    rows = list(_rows(context, options))
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)


def _rows(context: click.Context, options: Iterable[click.Option]) -> Iterator[tuple[str, str]]:
    for option in options:
        row = option.get_help_record(context)
        if row is not None:
            yield row
