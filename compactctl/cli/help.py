"""The help of commands: what they do, examples, and the options that most people need."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import click

from compactctl.asks import OF_STAGES, HelpSection
from compactctl.cli.opt import TYPED, StageOption, section_of
from compactctl.records import Record
from compactctl.views.terminal.text import safe_text

# click breaks lines at hyphens, so a character of the same width replaces those of flags until all
# lines are broken.
_FLAG = re.compile(r"--[a-z][a-z.-]+")
_NONBREAKING_HYPHEN = "\u2011"
# A terminal with fewer columns shows texts below the options, indented this much.
_NARROW_WIDTH = 72
_NARROW_INDENT = 6
# Longer lines are hard to read.
_MAX_WIDTH = 100
# With more parameters than these, help lists them in sections.
_LISTED = 12

_FIRST_SENTENCE = re.compile(r"(?:[^.\[]|(?<=e\.g)\.|\.(?!\s|$)|\[(?!default))+")
_IS_COMPLETE = "compactctl.is_complete"
"""In the context: whether help shows every option."""


class HelpFormatter(click.HelpFormatter):
    """Writes help as safe text, because defaults in it may come from a project's settings.

    On a narrow terminal, the text of an option is below the option instead of next to it.
    """

    def __init__(
        self, indent_increment: int = 2, width: int | None = None, max_width: int = _MAX_WIDTH
    ) -> None:
        # To ask for the width, click would import shutil, and with it every compression.
        super().__init__(indent_increment, width or max(min(_columns(), max_width) - 2, 50))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write a list of terms and their texts."""
        rows = [(term, _FLAG.sub(_with_nonbreaking_hyphens, meaning)) for term, meaning in rows]
        widest = max((len(term) for term, _ in rows), default=0)
        is_side_by_side = widest <= _NARROW_WIDTH // 3 or self.width >= _NARROW_WIDTH
        super().write_dl(rows, col_max if is_side_by_side else _NARROW_INDENT, col_spacing)

    def write_text(self, text: str) -> None:
        """Write a paragraph in which no flag is broken across lines."""
        super().write_text(_FLAG.sub(_with_nonbreaking_hyphens, text))

    def getvalue(self) -> str:
        """Return the help text, without control characters and CI commands."""
        return safe_text(super().getvalue().replace(_NONBREAKING_HYPHEN, "-"))


def _with_nonbreaking_hyphens(flag: re.Match[str]) -> str:
    return flag[0].replace("-", _NONBREAKING_HYPHEN)


def _columns() -> int:
    """Return the columns of the terminal, 80 without one, as shutil does."""
    with suppress(ValueError):
        if (columns := int(os.environ.get("COLUMNS", "0"))) > 0:
            return columns
    with suppress(OSError):
        return os.get_terminal_size(1).columns or 80
    return 80


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    """Write command lines as they are, so that they can be copied."""
    if examples:
        with formatter.section("Examples"):
            indent = " " * formatter.current_indent
            formatter.write("".join(f"{indent}{example}\n" for example in examples))


class HelpContext(click.Context):
    """The context of a command whose help is safe text."""

    formatter_class = HelpFormatter

    def __init__(self, *arguments: Any, **attributes: Any) -> None:  # noqa: ANN401 - click's
        attributes.setdefault("max_content_width", _MAX_WIDTH)
        super().__init__(*arguments, **attributes)


class Help(Record, kw_only=False):
    """The help of a command: a text, command lines, and the options that most people need.

    ``--help`` shows the ``usual`` options, each in one sentence, and ``--help-all`` all of them;
    without ``usual`` ones, ``--help`` shows all.
    """

    text: str
    examples: Sequence[str] = ()
    usual: Sequence[str] = ()


class HelpfulCommand(click.Command):
    """A command whose help has examples and, with many options, sections.

    The options of a single stage are a section; those of all stages are explained elsewhere. The
    typed arguments stay in the context, for suggesting another command.
    """

    context_class = HelpContext

    def __init__(self, help: Help, **attributes: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(None, help=help.text, **attributes)
        self.examples = help.examples
        self.usual = help.usual
        if self.usual:
            self.params.append(_help_all())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, and keep them as typed."""
        ctx.meta[TYPED] = tuple(args)
        return super().parse_args(ctx, args)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option that shows this help."""
        return with_short_text(super().get_help_option(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the options."""
        write_examples(formatter, self.examples)
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        if not self.usual and len(options) <= _LISTED:
            _write_section(formatter, "Options", _records(ctx, options))
            return
        is_short = self.usual and not ctx.meta.get(_IS_COMPLETE)
        shown = [option for option in options if not is_short or _is_in(option, self.usual)]
        for section in HelpSection:
            if section != OF_STAGES:
                records = _records(ctx, (o for o in shown if section_of(o) == section))
                _write_section(formatter, section, _shortened(records) if is_short else records)
        _write_stage_options(ctx, formatter, shown)
        formatter.write_paragraph()
        with formatter.indentation():
            of_click = (option for option in options if section_of(option) is None)
            formatter.write_dl(list(_records(ctx, of_click)))


def with_short_text(help_option: click.Option | None) -> click.Option | None:
    """Return click's option for help, with a shorter text."""
    if help_option is not None:
        help_option.help = "Show this help."
    return help_option


def _shortened(records: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((term, first_sentence(text)) for term, text in records)


def first_sentence(text: str) -> str:
    """Return the first sentence of an option's help, without its default."""
    sentence = _FIRST_SENTENCE.match(text)
    return f"{sentence[0].rstrip()}." if sentence else text


def _is_in(option: click.Option, flags: Sequence[str]) -> bool:
    return not set(option.opts).isdisjoint(flags)


def _help_all() -> click.Option:
    def show(context: click.Context, option: click.Parameter, value: bool) -> None:  # noqa: ARG001
        if value and not context.resilient_parsing:
            context.meta[_IS_COMPLETE] = True
            click.echo(context.get_help(), color=context.color)
            context.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options.",
    )


def _write_stage_options(
    context: click.Context, formatter: click.HelpFormatter, options: Iterable[click.Option]
) -> None:
    of_stages = [option for option in options if isinstance(option, StageOption)]
    stages = {option.field.stage for option in of_stages}
    if len(stages) == 1:
        _write_section(formatter, f"Options of {min(stages)}", _records(context, of_stages))
    elif stages:
        with formatter.section(OF_STAGES):
            formatter.write_text(
                "Set with --set STAGE.OPTION=VALUE, or as --STAGE-OPTION VALUE. "
                "compactctl show stages prune explains those of prune."
            )


def _write_section(
    formatter: click.HelpFormatter, title: str, records: Iterable[tuple[str, str]]
) -> None:
    rows = list(records)
    if rows:
        with formatter.section(title):
            formatter.write_dl(rows)


def _records(context: click.Context, options: Iterable[click.Option]) -> Iterator[tuple[str, str]]:
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            yield record
