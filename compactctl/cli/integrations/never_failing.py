"""Commands that clients run: whatever goes wrong, the client goes on."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

T = TypeVar("T")


class NeverFailing(click.Command):
    """A command that ends with 0 after any error, which it tells on standard error.

    Clients take some codes of a hook for a refusal: 2 is that of wrong options here.
    """

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's
    ) -> click.Context:
        """Read the command line."""
        return _told(
            lambda: super(NeverFailing, self).make_context(info_name, args, parent, **extra)
        )

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's
        """Run the command."""
        return _told(lambda: super(NeverFailing, self).invoke(ctx))


def _told(do: Callable[[], T]) -> T:
    """Return what is done; say what went wrong instead, and exit with 0."""
    try:
        return do()
    except click.exceptions.Exit:
        raise
    except Exception as error:
        from compactctl.views.terminal.screen import tell
        from compactctl.views.terminal.text import one_line

        what = error.format_message() if isinstance(error, click.ClickException) else str(error)
        tell(f"compactctl: {one_line(what or type(error).__name__, 500)}")
        raise click.exceptions.Exit(0) from error
