"""The command group, which imports a command only when it runs, and its help."""

import importlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from compactctl import __version__
from compactctl.cli.precedence import Decision, decide, flag_of, variable_of
from compactctl.cli.settings import (
    active_settings_files,
    settings_of_command_line,
    settings_of_environment,
    settings_of_files,
    values_of,
)
from compactctl.errors import UsageError, suggestion
from compactctl.views.terminal.text import safe_text

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """A section of the help: a title, and a line for each command.

    A command's line must equal the first line of its own help. The commands are in ``module``, or
    in a module named like the command; ``_MODULES`` has the exceptions.
    """

    title: str
    module: str = ""
    lines: Mapping[str, str]


_SECTIONS = (
    _Section(
        title="Sessions on this machine",
        lines={
            "sessions": "List the agent sessions on this machine, newest first.",
            "rescue": "Make room in a session whose context is full.",
        },
    ),
    _Section(
        title="Look into a transcript",
        lines={
            "stats": "Show where the context went.",
            "check": "Tell whether a compaction is due: exit 0 for no, 1 for yes.",
            "view": "Show what the model sees, and what is hidden.",
            "explain": "Show one message: its cost, its fate, and the way back to it.",
        },
    ),
    _Section(
        title="Compact, and undo",
        lines={
            "compact": "Compact a transcript; every byte can be restored.",
            "tag": "Hide messages by hand, behind a summary or a marker.",
            "log": "List the compactions behind a transcript.",
            "rewind": "Restore an earlier state, byte for byte.",
            "verify": "Prove that every byte that was taken out can be put back.",
            "archives": "List the archives of sessions, and forget what is not needed.",
        },
    ),
    _Section(
        title="Choose and judge a policy",
        module="lab",
        lines={
            "simulate": "Show when each profile would have compacted, and to what size.",
            "eval": "Measure what compactions keep of what was needed later.",
            "audit": "Show what compactions lost, made up, and what was read again.",
        },
    ),
    _Section(
        title="Many transcripts, and CI",
        lines={
            "batch": "Measure or compact many transcripts.",
            "report": "Show what the reports of batches say together.",
            "cache": "Show what batches remember of files, or forget it.",
        },
    ),
    _Section(
        title="What there is to choose from",
        module="reference",
        lines={
            "stages": "List the stages of a compaction, or explain some of them.",
            "profiles": "List the profiles of known systems, or explain one.",
            "models": "List the known models, or show how a name is looked up.",
            "config": "Show a command's settings, and where each comes from.",
        },
    ),
    _Section(
        title="Beside a client",
        module="clients",
        lines={
            "integrate": "Set up a client to run compactctl, or take that back.",
            "hook": "Tell what a compaction lost, as a hook of a client.",
            "statusline": "Print a line about a session for its client's status line.",
            "mcp": "Answer an agent about its project's sessions, over MCP.",
        },
    ),
    _Section(
        title="Parts for agent harnesses",
        module="harness",
        lines={
            "overflow": "Tell whether an error says that the context was too long.",
            "prompt": "Print the prompt that a summarizer would get.",
            "chunks": "Show the chunks in which older messages would be summarized.",
            "limit-output": "Cut the output of a tool to a size, before an agent sees it.",
            "file-budget": "Show how much of which files fits into a request.",
        },
    ),
)

COMMANDS = {name: line for section in _SECTIONS for name, line in section.lines.items()}
# Names that similar programs use -> the command that does the same here.
_COMMANDS_BY_OTHER_NAME = {
    "list": "sessions",
    "ls": "sessions",
    "undo": "rewind",
    "restore": "rewind",
    "history": "log",
    "show": "view",
    "compress": "compact",
}
# The module of each command; some share the module of another command.
_MODULES = {name: section.module or name for section in _SECTIONS for name in section.lines} | {
    "rescue": "compact",
    "tag": "compact",
    "check": "stats",
    "archives": "verify",
    "audit": "audit",
    "file-budget": "file_budget",
    "prompt": "prompts",
    "chunks": "prompts",
}

# Commands that show settings or that clients run must work whatever is in a settings file.
_WITHOUT_SETTINGS = {"config", *(name for name, module in _MODULES.items() if module == "clients")}

# click breaks lines at hyphens, so a character of the same width replaces those of flags until all
# lines are broken.
_FLAG = re.compile(r"--[a-z][a-z-]+")
_NONBREAKING_HYPHEN = "\u2011"
# A terminal with fewer columns shows texts below the options, indented this much.
_NARROW_WIDTH = 72
_NARROW_INDENT = 6
# Longer lines are hard to read.
_MAX_WIDTH = 100


class _SafeFormatter(click.HelpFormatter):
    """Writes help as safe text, because defaults in it may come from a project's settings.

    On a narrow terminal, the text of an option is below the option instead of next to it.
    """

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


class _SafeContext(click.Context):
    """The context of a command whose help is safe text."""

    formatter_class = _SafeFormatter

    def __init__(self, *arguments: Any, **attributes: Any) -> None:  # noqa: ANN401 - click's
        attributes.setdefault("max_content_width", _MAX_WIDTH)
        super().__init__(*arguments, **attributes)


class LazyGroup(click.Group):
    """A group that lists its commands without importing them."""

    context_class = _SafeContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return its command; UsageError for an unknown name."""
        if cmd_name not in COMMANDS and ctx.resilient_parsing:
            return None
        if cmd_name not in COMMANDS:
            hint = suggestion(cmd_name, COMMANDS, f"there are {', '.join(COMMANDS)}")
            if cmd_name in _COMMANDS_BY_OTHER_NAME:
                hint = f"did you mean {_COMMANDS_BY_OTHER_NAME[cmd_name]}?"
            raise click.UsageError(f"there is no command {cmd_name!r}; {hint}", ctx)
        return _import_command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, and decide which of its settings take effect."""
        name, command, arguments = super().resolve_command(ctx, args)
        if name is not None and command is not None and not ctx.resilient_parsing:
            decision = self._decide(ctx, name, command, arguments)
            ctx.obj = decision
            ctx.default_map = {name: values_of(command, decision.in_effect.values())}
        return name, command, arguments

    def _decide(
        self, ctx: click.Context, name: str, command: click.Command, arguments: list[str]
    ) -> Decision:
        """Decide which settings of a command take effect; some commands read no settings files.

        Raises UsageError for options that contradict each other or would have no effect.
        """
        environment = settings_of_environment(command, os.environ)
        if name in _WITHOUT_SETTINGS:
            return decide(name, environment)
        inner = command.context_class(command, info_name=name, parent=ctx)
        typed, _, _ = command.make_parser(inner).parse_args(args=list(arguments))
        files = settings_of_files(Commands(), name, active_settings_files(ctx.params.get("config")))
        settings = (*settings_of_command_line(command, typed), *environment, *files)
        decision = decide(name, settings)
        if decision.complaint and "help" not in typed:
            raise UsageError(decision.complaint)
        return decision

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an error about a value names the setting that it came from."""
        try:
            return super().invoke(ctx)
        except click.BadParameter as error:
            option = error.param if isinstance(error.param, click.Option) else None
            setting = ctx.obj.in_effect.get(flag_of(option)) if option and ctx.obj else None
            if setting is None or setting.source.place == "command line":
                raise
            if setting.source.place != "environment":
                raise UsageError(
                    f"{setting.source.file}: {setting.option}: {error.message}"
                ) from error
            lines = ", one on a line" if option and option.multiple else ""
            origin = f"the value of {variable_of(setting.option)} in the environment{lines}"
            message = f"{error.message.rstrip('.')}; it is {origin}"
            raise click.BadParameter(message, error.ctx, error.param, error.param_hint) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands from the table, without importing them."""
        width = max(map(len, COMMANDS))
        for section in _SECTIONS:
            with formatter.section(section.title):
                formatter.write_dl(
                    [(name.ljust(width), line) for name, line in section.lines.items()]
                )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """Return completions from the table, without importing commands."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=help_line)
            for name, help_line in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]


class Commands(Mapping[str, click.Command]):
    """The commands by name; each is imported on access."""

    def __getitem__(self, name: str) -> click.Command:
        if name not in COMMANDS:
            raise KeyError(name)
        return _import_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _import_command(name: str) -> click.Command:
    module = importlib.import_module(f"compactctl.cli.{_MODULES[name]}")
    command: click.Command = getattr(module, f"{name.replace('-', '_')}_command")
    command.name = name
    command.context_class = _SafeContext
    return command


# Here and in the commands, help is not a docstring: python -OO leaves docstrings out.
_HELP = """See where an LLM agent's context went, compact its transcript, get every byte back.

Works offline on the session files of coding agents (Claude Code, Codex CLI, Copilot CLI,
Gemini CLI, OpenCode, Cline, Roo Code, pi) and on OpenAI, Anthropic and NeuroLink messages.
"""


@click.group(cls=LazyGroup, help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="compactctl")
@click.option(
    "--config",
    metavar="FILE|none",
    envvar=variable_of("config"),
    help="Take settings from this file instead of those that compactctl config shows.",
)
def cli(config: str | None) -> None:
    """Run ``compactctl``; the command that is invoked gets its settings."""
