"""``cache`` on a terminal."""

from collections.abc import Iterator

from compactctl.commands.cache import CacheResult
from compactctl.reports.rendering.screen import ScreenItem
from compactctl.reports.rendering.text import line_text, plural, size_text


def cache_terminal(result: CacheResult) -> Iterator[ScreenItem]:
    """Yield what to print."""
    state = result.state
    held = f"{plural(state.results, 'result')}, {size_text(state.n_bytes)}"
    done = "cleared: " if result.cleared else ""
    yield f"{done}{line_text(str(state.path))} ({held})"
