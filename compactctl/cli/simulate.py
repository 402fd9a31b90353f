"""``compactctl simulate``."""

from typing import Any

import click

from compactctl.cli.options.shared import (
    format_option,
    json_option,
    limit_options,
    measure_options,
    measured_with,
    strict_option,
)
from compactctl.commands.simulate.simulate import SimulateOptions, simulate


@click.command("simulate")
@click.argument("path", metavar="FILE")
@click.option(
    "--profile",
    "names",
    metavar="NAME|FILE",
    multiple=True,
    help="Simulate this profile (repeatable). [default: all that compact by themselves]",
)
@click.option(
    "--scope",
    type=click.Choice(["effective", "full"]),
    default="effective",
    show_default=True,
    help="From the client's own newest compaction on, or everything that was ever a message.",
)
@click.option(
    "--seed",
    type=int,
    metavar="N",
    help="Draw where background compaction starts, as VS Code Copilot Chat does, from this seed. "
    "[default: the middle of the range]",
)
@format_option
@limit_options
@measure_options
@strict_option
@json_option
def command(
    path: str,
    *,
    names: tuple[str, ...],
    scope: str,
    as_json: bool,
    **values: Any,  # noqa: ANN401
) -> None:
    """Show where each profile would have compacted, and what it would have left.

    FILE is a transcript; - reads standard input. Its largest conversation is walked through request
    by request; where a profile's trigger fires its stages run, and the conversation goes on with
    what they leave. Nothing is written.
    """
    from compactctl.profiles.library import load_profile
    from compactctl.reports.rendering.screen import Screen, tell
    from compactctl.reports.terminal.simulate import simulate_messages, simulate_screen

    result = simulate(
        SimulateOptions(
            path=path,
            format=values.pop("format_name"),
            measure=measured_with(values),
            profiles=tuple(load_profile(name) for name in names),
            full=scope == "full",
            **values,
        )
    )
    if as_json:
        from compactctl.reports.json.simulate import simulate_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(simulate_json(result)), nl=False)
    else:
        Screen().show(*simulate_screen(result, firings=bool(names)))
    tell(*simulate_messages(result))
