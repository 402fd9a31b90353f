"""``limit-output`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.harness.limit_output import LimitOutputResult
from compactctl.reports.rendering.screen import Raw


def limit_output_terminal(result: LimitOutputResult) -> Iterator[Raw]:
    """Yield what to print: the output within its limits, and nothing else."""
    yield Raw([result.data])
