"""Help in which nothing is obeyed: defaults in it may come from settings."""

import click

from compactctl.reports.rendering.text import safe_text


class SafeFormatter(click.HelpFormatter):
    """Writes help as safe text."""

    def getvalue(self) -> str:
        """Return what was written, without control characters and runners' commands."""
        return safe_text(super().getvalue())


class SafeContext(click.Context):
    """The context of a command whose help is safe text."""

    formatter_class = SafeFormatter
