"""``compactctl profiles``."""

from typing import TYPE_CHECKING

from compactctl.cli.command import emit, plain_command
from compactctl.cli.opt import ONE_RUN, SHOWN, Arg, flag
from compactctl.cli.options.completion import complete_profile
from compactctl.cli.options.output import SHOWN_AS

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile


_HELP = """List the profiles of known systems, or explain one.

A profile names the stages a system runs, with which options, when, and down to which size.
"""


@plain_command(
    Arg("name", metavar="[NAME|FILE]", required=False, shell_complete=complete_profile),
    flag("toml", SHOWN, ONE_RUN, "Print the profile's file, to start your own from."),
    SHOWN_AS,
    help=_HELP,
)
def profiles_command(name: str | None, *, toml: bool, shown_as: str) -> None:
    """Run ``compactctl profiles``."""
    from compactctl.commands.reference import profiles
    from compactctl.errors import UsageError

    if toml and name is None:
        raise UsageError("--toml prints one profile; name it, as in compactctl profiles neurolink")
    result = profiles(name)
    if toml:
        _print_file(result.profiles[0])
    else:
        emit(result, shown_as)


def _print_file(profile: "Profile") -> None:
    from compactctl.views.terminal.screen import Verbatim, print_screen
    from compactctl.views.terminal.text import safe_text

    print_screen([Verbatim(safe_text(profile.text).removesuffix("\n"))])
