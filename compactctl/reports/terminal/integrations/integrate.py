"""``integrate`` on a terminal."""

from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice

from compactctl.commands.integrations.integrate import FileChange, IntegrateResult
from compactctl.reports.rendering.screen import ScreenItem, Verbatim
from compactctl.reports.rendering.text import line_text, safe_text

_NO_CHANGES = {
    "print": "there is nothing to add: it is set up",
    "install": "there is nothing to add: it is set up",
    "uninstall": "there is nothing of compactctl's to take back",
}


def integrate_terminal(result: IntegrateResult) -> Iterator[ScreenItem]:
    """Yield what to print: how each file changes, as diff shows it."""
    if not result.changes:
        yield _NO_CHANGES[result.action]
    for change in result.changes:
        yield Verbatim("\n".join(_lines(change)))


def integrate_messages(result: IntegrateResult) -> Iterator[str]:
    """Yield what is done with it, and what is left to do."""
    if result.changes and result.action == "print":
        client = result.request.client
        yield f"nothing is written; to do so: compactctl integrate {client} --install"
    yield from (result.notes if result.changes else ())


def _lines(change: FileChange) -> Iterator[str]:
    what = "new" if change.before is None else "removed" if change.after is None else "changed"
    yield f"{what}: {line_text(str(change.path))}"
    old, new = (
        (each or b"").decode("utf-8", "replace").splitlines()
        for each in (change.before, change.after)
    )
    # Set off, no line can be taken for a command of what shows it.
    yield from (
        f"  {safe_text(line)}" for line in islice(unified_diff(old, new, lineterm=""), 2, None)
    )
