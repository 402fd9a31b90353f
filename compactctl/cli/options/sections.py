"""Help of commands with many options, in sections; options of stages are explained elsewhere."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from compactctl.stages.support.option_field import OptionField

# Title -> the options below it, by their names without dashes, in every command that has them.
SECTIONS = {
    "Which messages, or which state": (
        "archived", "all", "grep", "limit", "page", "to", "group", "client",
    ),
    "Profile and stages": ("profile", "stages"),
    "Plans in files": ("plan", "plan-out"),
    "When, and how small": ("trigger", "if-needed", "target", "keep", "from-error"),
    "Where a session is cut": ("at", "every"),
    "Gates and questions": (
        "fail-on", "fail-over-tokens", "require-audit", "gate", "baseline", "tolerance", "answers",
        "answers-timeout",
    ),
    "Which messages": ("condense", "truncate", "widen"),
    "What stays": ("protect-tool", "pin", "keep-turns", "freeze-before", "keep-prefix"),
    "Summaries": (
        "redo", "summary-file", "template", "summarizer", "summarizer-cmd", "summarizer-model",
        "base-url", "api-key-env", "allow-network", "summarizer-timeout", "summarizer-context",
        "on-summarizer-failure", "label-style",
    ),
    "What others get to see": ("mask-secrets", "redact"),
    "Where to write": (
        "output", "out", "in-place", "native", "while-open", "archived-out", "layout", "tags",
        "dry-run", "check", "force", "report", "report-format", "junit", "messages-out",
        "rounds-out", "annotate", "plot", "html",
    ),
    "What is read": (
        "format", "messages-at", "archive", "scope", "files-from", "shard", "include", "exclude",
        "skip-unknown",
        "column", "strict", "max-line", "max-unpacked", "jobs", "timeout", "cache",
        "verify-cache", "resume",
    ),
    "How it is measured": (
        "model", "window", "windows", "max-tokens", "counter", "counter-cmd", "chars-per-token",
        "image-tokens", "system", "tools", "prompt", "attach", "fail-base", "fail-over",
        "require-fit", "seed",
    ),
    "What is shown": (
        "top", "rounds", "graph", "prices", "explain", "full", "jsonl", "json", "help",
    ),
}  # fmt: skip
OTHERS = "Other options"


class StageOption(click.Option):
    """An option of one stage: the ``field`` of its options that it sets."""

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        field: "OptionField",
        **attributes: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(*args, **attributes)
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
        own = [each for each in options if not isinstance(each, StageOption)]
        for title in (*SECTIONS, OTHERS):
            _write(ctx, formatter, title, (each for each in own if section_of(each) == title))
        of_stages = [each for each in options if isinstance(each, StageOption)]
        stages = {each.field.stage for each in of_stages}
        if len(stages) == 1:
            _write(ctx, formatter, f"Options of {min(stages)}", of_stages)
        elif stages:
            with formatter.section("Options of stages"):
                formatter.write_text(
                    "Each stage has options of its own, such as --prune-min-savings; "
                    "compactctl stages lists the stages, compactctl stages prune its options."
                )


def section_of(option: click.Option) -> str:
    """Return the title below which an option stands."""
    names = {each.lstrip("-") for each in option.opts}
    return next((title for title, each in SECTIONS.items() if names & set(each)), OTHERS)


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
