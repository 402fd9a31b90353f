"""Options of stages, and help that leaves them out."""

from typing import Any

import click


class StageOption(click.Option):
    """An option of one stage; ``stage`` is its name.

    The value of one that ``is_text`` is any text, and goes into a transcript or a prompt.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        stage: str,
        is_text: bool = False,
        **attributes: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **attributes)
        self.stage, self.is_text = stage, is_text


class SectionedCommand(click.Command):
    """A command whose stage options are explained elsewhere: there are too many of them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that belong to no stage, and where those are."""
        options = (each for each in self.get_params(ctx) if isinstance(each, click.Option))
        records = (
            each.get_help_record(ctx) for each in options if not isinstance(each, StageOption)
        )
        with formatter.section("Options"):
            formatter.write_dl([record for record in records if record])
        with formatter.section("Options of stages"):
            formatter.write_text(
                "Each stage has options of its own, such as --prune-min-savings; "
                "compactctl stages lists the stages, compactctl stages prune its options."
            )
