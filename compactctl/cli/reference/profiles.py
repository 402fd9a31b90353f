"""``compactctl profiles``."""

import click

from compactctl.cli.options.shared import json_option


@click.command("profiles")
@click.argument("name", metavar="[NAME|FILE]", required=False)
@click.option("--toml", is_flag=True, help="Print the profile's file, to start your own from.")
@json_option
def command(name: str | None, *, toml: bool, as_json: bool) -> None:
    """List the profiles of known systems, or explain one.

    A profile names the stages a system runs, with which options, when, and down to which size.
    """
    from compactctl.commands.reference.profiles import explained, listed
    from compactctl.errors import UsageError
    from compactctl.reports.rendering.screen import Screen, print_text
    from compactctl.reports.rendering.text import safe_text
    from compactctl.reports.terminal.reference.profiles import profile_screen, profiles_screen

    if toml and name is None:
        raise UsageError("--toml prints one profile; name it, as in compactctl profiles neurolink")
    found = [explained(name)] if name is not None else listed()
    if toml:
        print_text([safe_text(found[0].text).removesuffix("\n")])
    elif as_json:
        from compactctl.reports.json.reference.profiles import profiles_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(profiles_json(found)), nl=False)
    else:
        Screen().show(*(profile_screen(found[0]) if name is not None else profiles_screen(found)))
