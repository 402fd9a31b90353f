"""What a view shows, line by line."""

from collections.abc import Iterable

from compactctl.views.terminal.screen import Raw, ScreenItem, item_lines


def shown(items: Iterable[ScreenItem | Raw], width: int | None = None) -> list[str]:
    """Return the lines on a screen of this width; None for any width."""
    return [
        line
        for item in items
        if not isinstance(item, Raw)
        for lines, _ in item_lines(item, width)
        for line in lines
    ]


def words(items: Iterable[ScreenItem | Raw]) -> list[str]:
    """Return the lines with one space between their words; a rule of any length is one dash."""
    return [" ".join(line.split()).strip("─") or line[:1] for line in shown(items)]


def styles(items: Iterable[ScreenItem | Raw]) -> list[str]:
    """Return the style of each item that has one."""
    return [
        style
        for item in items
        if not isinstance(item, Raw)
        for _, style in item_lines(item, None)
        if style
    ]


def titles(items: Iterable[ScreenItem | Raw], width: int) -> list[str]:
    """Return the titles of each table on a screen of this width."""
    lines = shown(items, width)
    return [
        " ".join(lines[index - 1].split())
        for index, line in enumerate(lines)
        if line.strip("─") == "" and line
    ]
