"""The group of commands; each is imported only when it runs."""

import importlib
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from compactctl import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Name -> what ``--help`` says about it; a command's own first help line says the same.
COMMANDS = {
    "stats": "Show where the context went.",
    "compact": "Compact a transcript; every byte can be restored.",
    "view": "Show what the model sees, and what is hidden.",
    "log": "List the compactions behind a transcript.",
    "rewind": "Restore an earlier state, byte for byte.",
    "batch": "Measure or compact many transcripts.",
}


class LazyGroup(click.Group):
    """A group that knows its commands' names and help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order in which they are used."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module and return its command; UsageError for an unknown name."""
        if cmd_name not in COMMANDS and ctx.resilient_parsing:
            return None
        if cmd_name not in COMMANDS:
            close = get_close_matches(cmd_name, COMMANDS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command {cmd_name!r}; {hint}", ctx)
        command = importlib.import_module(f"compactctl.cli.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands from the table, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list["CompletionItem"]:
        """Return completions from the table, importing no command."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=help_line)
            for name, help_line in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="compactctl")
def cli() -> None:
    """See where an LLM agent's context went, compact its transcript, get every byte back.

    Works offline on the session files of coding agents (Claude Code, Codex CLI, Copilot CLI,
    OpenCode, Cline, Roo Code, pi) and on OpenAI, Anthropic and NeuroLink messages.
    """
