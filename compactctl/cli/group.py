"""The command group, which imports a command only when it runs, and its help."""

import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from compactctl import __version__
from compactctl.cli.command_index import COMMAND_INDEX
from compactctl.cli.help import HelpContext, HelpfulCommand, with_short_text, write_examples
from compactctl.cli.opt import NonEmptyOption
from compactctl.cli.precedence import Decision, decide, flag_of, variable_of
from compactctl.cli.renamed import ALIASES, HINTS, current_name, renamed_arguments, renamed_note
from compactctl.cli.set_option import expand_set
from compactctl.errors import UsageError, suggestion

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _Group(NamedTuple):
    """Commands that are typed after the name of their group, and the line of the group."""

    line: str
    commands: Sequence[str]


_SECTIONS: Mapping[str, Sequence[str]] = {
    "Transcripts": (
        "stats", "check", "view", "compact", "log", "rewind", "verify", "batch", "report",
    ),
    "Agent sessions on this machine": ("sessions", "rescue", "client"),
    "Reference and tools": ("show", "lab", "harness", "archive"),
}  # fmt: skip
"""The first page: sections of commands and groups."""

_GROUPS: Mapping[str, _Group] = {
    "client": _Group(
        "Connect a coding agent: hooks, status line, MCP server.",
        ("integrate", "hook", "statusline", "mcp"),
    ),
    "show": _Group(
        "List stages, profiles, models and settings, or explain one.",
        ("stages", "profiles", "models", "settings", "cache"),
    ),
    "lab": _Group(
        "Compare compaction policies: simulate, eval, audit.",
        ("simulate", "eval", "audit"),
    ),
    "harness": _Group(
        "Building blocks for authors of agent harnesses.",
        ("overflow", "prompt", "chunks", "limit-output", "file-budget"),
    ),
}

_GROUP_OF = {name: group for group, (_, names) in _GROUPS.items() for name in names}

COMMANDS: Sequence[str] = tuple(
    name
    for names in _SECTIONS.values()
    for first in names
    for name in (_GROUPS[first].commands if first in _GROUPS else (first,))
)
"""The name of every command, without that of its group."""


def words_of(name: str) -> tuple[str, ...]:
    """Return the words that run a command: its name, after that of its group."""
    return (_GROUP_OF[name], name) if name in _GROUP_OF else (name,)


SUCCESSORS: Mapping[str, str] = {
    "explain": "view --message",
    "tag": "compact --hide",
    "archives": "archive",
    "config": "show settings",
    **{name: f"{group} {name}" for name, group in _GROUP_OF.items() if name != "settings"},
}
"""What to type today, by names that commands had before."""

# Commands that show settings or that clients run must work whatever is in a settings file.
_WITHOUT_SETTINGS = {"settings", *_GROUPS["client"].commands}


class LazyGroup(click.Group):
    """A group that lists the commands in ``sections`` without importing them."""

    context_class = HelpContext

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401 - click's
        sections: Mapping[str, Sequence[str]],
        examples: Sequence[str] = (),
        **attributes: Any,  # noqa: ANN401 - click's
    ) -> None:
        super().__init__(*arguments, **attributes)
        self.sections = sections
        self.examples = examples
        self.names = [name for names in sections.values() for name in names]

    @property
    def lines(self) -> Mapping[str, str]:
        """The help line of each name, which its own help starts with."""
        return {name: _help_line(name) for name in self.names}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of the help."""
        return self.names

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return its command; UsageError for an unknown name."""
        if cmd_name in self.names:
            return _group(cmd_name) if cmd_name in _GROUPS else _import_command(cmd_name)
        if ctx.resilient_parsing:
            return None
        hint = (self is cli and _hint_on(cmd_name)) or suggestion(
            cmd_name, self.names, f"there are {', '.join(self.names)}"
        )
        raise click.UsageError(f"no command named {cmd_name!r}; {hint}", ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, and decide which of its settings take effect."""
        if self is cli:
            args = _current(ctx, args)
        name, command, arguments = super().resolve_command(ctx, args)
        if name is None or command is None or ctx.resilient_parsing:
            return name, command, arguments
        if not isinstance(command, LazyGroup):
            # The help of a group needs no settings.
            from compactctl.cli.settings import values_of

            arguments = expand_set(command, arguments)
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
        from compactctl.cli.settings import (
            active_settings_files,
            settings_of_command_line,
            settings_of_environment,
            settings_of_files,
        )

        environment = settings_of_environment(command, os.environ)
        if name in _WITHOUT_SETTINGS:
            return decide(name, environment)
        inner = command.context_class(command, info_name=name, parent=ctx)
        typed, _, _ = command.make_parser(inner).parse_args(args=list(arguments))
        files = settings_of_files(
            Commands(), name, active_settings_files(ctx.find_root().params.get("config"))
        )
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

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option that shows this help."""
        return with_short_text(super().get_help_option(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the commands, then the options."""
        write_examples(formatter, self.examples)
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands from the index, without importing them."""
        width = max(map(len, self.names))
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), _help_line(name)) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """Return completions from the index, without importing commands."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=help_line)
            for name, help_line in self.lines.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]


class Commands(Mapping[str, HelpfulCommand]):
    """The commands by name; each is imported on access."""

    def __getitem__(self, name: str) -> HelpfulCommand:
        if name not in COMMANDS:
            raise KeyError(name)
        return _import_command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _current(context: click.Context, words: list[str]) -> list[str]:
    """Return the words to run for what was typed: an old name, another word for it, or help."""
    name, arguments = words[0], words[1:]
    if name == "help" and not context.resilient_parsing:
        if not arguments:
            click.echo(context.get_help(), color=context.color)
            context.exit()
        return [*arguments, "--help"]
    if name in SUCCESSORS:
        return _renamed(context, name, arguments)
    return [ALIASES.get(name, name), *arguments]


def _hint_on(name: str) -> str:
    """Return what to type instead of an unknown word, "" if that is not known either."""
    from compactctl.clients.stores import find_store

    if name in HINTS:
        return HINTS[name]
    store = find_store(name)
    if store is None:
        return ""
    alias = store.alias
    return f"compactctl sessions {alias} lists its sessions, compactctl rescue {alias} its newest"


def _renamed(context: click.Context, name: str, arguments: Sequence[str]) -> list[str]:
    """Return the words for an old name, and say what its successor is."""
    successor = current_name(name, SUCCESSORS[name], arguments)
    note = renamed_note(name, successor)
    if note is not None and not context.resilient_parsing:
        from compactctl.views.terminal.screen import print_messages

        print_messages(note)

    def view() -> click.Context:
        # Click keeps the help option of a command's first context: it is to have -h, too.
        return HelpContext(_import_command("view"), parent=context)

    return renamed_arguments(name, successor, arguments, view)


def _group(name: str) -> LazyGroup:
    return LazyGroup(
        name,
        sections={"Commands": _GROUPS[name].commands},
        help=_GROUPS[name].line,
        context_settings=_HELP_NAMES,
        subcommand_metavar="COMMAND [ARGS]...",
    )


def _help_line(name: str) -> str:
    return _GROUPS[name].line if name in _GROUPS else COMMAND_INDEX[name][1]


def _import_command(name: str) -> HelpfulCommand:
    module = importlib.import_module(f"compactctl.cli.{COMMAND_INDEX[name][0]}")
    command: HelpfulCommand = getattr(module, f"{name.replace('-', '_')}_command")
    command.name = name
    return command


_HELP_NAMES = {"help_option_names": ["-h", "--help"]}

# Here and in the commands, help is not a docstring: python -OO leaves docstrings out.
_HELP = """Show where an LLM agent's context went, compact its transcript, and restore every byte on
demand. Works offline on sessions of Claude Code, Codex, Copilot, Gemini CLI, Qwen Code, OpenCode,
Kilo, Cline, Roo Code and pi, and on messages in OpenAI, Anthropic, Spring AI and NeuroLink formats.
"""

_EXAMPLES = (
    "compactctl stats session.jsonl             See what fills the context.",
    "compactctl compact session.jsonl           Make it smaller.",
    "compactctl rewind session.compacted.jsonl  Undo that.",
    "compactctl rescue                          Free up space in a full session.",
)


@click.group(
    cls=LazyGroup,
    sections=_SECTIONS,
    examples=_EXAMPLES,
    help=_HELP,
    context_settings=_HELP_NAMES,
)
@click.version_option(__version__, prog_name="compactctl")
@click.option(
    "--config",
    cls=NonEmptyOption,
    metavar="FILE|none",
    envvar=variable_of("config"),
    help="Read settings from this file only (compactctl show settings).",
)
def cli(config: str | None) -> None:
    """Run ``compactctl``; the command that is invoked gets its settings."""
