"""``statusline`` as clients show it."""

from collections.abc import Iterator

from compactctl.commands.integrations.statusline import StatusLineResult
from compactctl.reports.rendering.text import plural

_THOUSAND = 1_000
_SEPARATOR = " · "
_NO_CONTEXT = "context: not told yet"


def statusline_terminal(result: StatusLineResult) -> Iterator[str]:
    """Yield the line."""
    yield _SEPARATOR.join(_pieces(result))


def _pieces(result: StatusLineResult) -> Iterator[str]:
    yield _context(result)
    if result.compacts_at:
        yield f"compacts at {_short(result.compacts_at)}"
    if result.compactions:
        yield f"compacted {plural(result.compactions, 'time')}"


def _context(result: StatusLineResult) -> str:
    if result.context is None:
        return _NO_CONTEXT
    if not result.window:
        return f"context {_short(result.context)}"
    share = round(result.context * 100 / result.window)
    return f"context {_short(result.context)} of {_short(result.window)} ({share} %)"


def _short(tokens: int) -> str:
    """Return tokens as there is room for: 950, 68k, 1.2M."""
    if tokens < _THOUSAND:
        return str(tokens)
    thousands = round(tokens / _THOUSAND)
    return f"{thousands}k" if thousands < _THOUSAND else f"{thousands / _THOUSAND:.3g}M"
