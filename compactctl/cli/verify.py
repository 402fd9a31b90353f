"""``compactctl verify``."""

import click

from compactctl.cli.options.shared import json_option, limit_options
from compactctl.commands.verify.verify import VerifyOptions, VerifyResult, verify
from compactctl.store.files.limits import ReadLimits


@click.command("verify")
@click.argument("paths", metavar="PATHS...", nargs=-1, required=True)
@click.option(
    "--repair",
    is_flag=True,
    help="Set right what can be without losing anything: names and permissions of archives, "
    "drafts of killed runs.",
)
@click.option(
    "--exclude", metavar="GLOB", multiple=True, help="Leave out files like this (repeatable)."
)
@limit_options
@json_option
def command(
    paths: tuple[str, ...],
    *,
    repair: bool,
    exclude: tuple[str, ...],
    limits: ReadLimits,
    as_json: bool,
) -> int:
    """Prove that every byte that was taken out can be put back.

    PATHS are transcripts that compactctl wrote, and folders that hold any. Every archive is read
    to its end and every state compared with its digest; nothing is written without --repair.
    Exit 7 when anything is damaged, 8 when a transcript was changed by something else since, 6
    when something could not be looked into, 1 when there is something to repair.
    """
    from compactctl.reports.rendering.progress import BatchProgress

    with BatchProgress() as progress:
        options = VerifyOptions(paths=paths, exclude=exclude, repair=repair, limits=limits)
        result = verify(options, progress.tell)
    _report(result, as_json=as_json)
    return result.exit_code


def _report(result: VerifyResult, *, as_json: bool) -> None:
    if as_json:
        from compactctl.reports.json.verify import verify_json
        from compactctl.reports.rendering.json_document import dump_json

        click.echo(dump_json(verify_json(result)), nl=False)
        return
    from compactctl.reports.rendering.screen import Screen
    from compactctl.reports.terminal.verify import verify_screen

    Screen().show(*verify_screen(result))
