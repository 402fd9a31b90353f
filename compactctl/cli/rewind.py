"""``compactctl rewind``."""

from typing import Any

import click

from compactctl.cli.options.file_argument import file_argument
from compactctl.cli.options.shared import json_option, limit_options, one_document
from compactctl.commands.rewind.rewind import RewindOptions, RewindResult, rewind


@click.command("rewind")
@file_argument(compacted=True)
@click.option("--to", metavar="OPERATION", help="Go to the state after this operation.")
@click.option("--group", metavar="ID", help="Bring back the messages of one group only.")
@click.option("--all", is_flag=True, help="Go back to the first state.")
@click.option("--check", is_flag=True, help="Prove that it can be done; write nothing.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the restored state here instead; - is standard output.",
)
@click.option(
    "-f",
    "--force",
    is_flag=True,
    help="Overwrite what compactctl did not write, also while a program has it open.",
)
@limit_options
@json_option
def command(path: str, *, as_json: bool, **values: Any) -> None:  # noqa: ANN401
    """Restore an earlier state, byte for byte.

    FILE is a transcript that compactctl wrote; without it, or with -, one in inline layout is read
    from standard input. Without options the last compaction of FILE is undone. Lines appended since
    are kept. A rewind is an operation too and can itself be undone with --to.
    """
    if not values["check"]:
        one_document(values["output"] or path, as_json=as_json)
    _report(rewind(RewindOptions(path=path, **values)), as_json=as_json)


def _report(result: RewindResult, *, as_json: bool) -> None:
    from compactctl.reports.rendering.screen import Screen, tell, write_bytes
    from compactctl.reports.terminal.rewind import rewind_messages, rewind_screen

    is_piped = result.data is not None and not result.checked
    if as_json:
        from compactctl.reports.json.rewind import rewind_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(rewind_json(result)), nl=False)
    else:
        Screen(error=is_piped).show(*rewind_screen(result))
    if result.data is not None and is_piped:
        write_bytes(result.data)
    tell(*rewind_messages(result))
