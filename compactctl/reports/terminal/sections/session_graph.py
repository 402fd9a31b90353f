"""The contexts of a session's requests as a graph on a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping

from compactctl.commands.inspect.life import Timeline
from compactctl.commands.inspect.stats import StatsResult
from compactctl.reports.rendering.graph import SHADES, Graph
from compactctl.reports.rendering.scale import short_count
from compactctl.reports.rendering.screen import ScreenItem
from compactctl.reports.rendering.text import plural

_OTHERS = "all else"
# A window that is so many times higher than all there is would make everything flat.
_HIGHEST = 3
_HEADROOM = 1.1


def session_graph(result: StatsResult, timeline: Timeline) -> Iterator[ScreenItem]:
    """Yield the graph and what it shows; a sentence where there is nothing to draw."""
    if not timeline.held:
        yield "there is no request to draw"
        return
    names = _largest(timeline)
    peak = max(each.context for each in timeline.rounds.rounds)
    limits = [(name, size) for name, size in _limits(result) if size <= _HIGHEST * peak]
    yield Graph(
        columns=tuple(_layers(held, names) for held in timeline.held),
        top=_HEADROOM * max(peak, *(size for _, size in limits), 1),
        limits=tuple(size for _, size in limits),
        marks=tuple(_compactions(timeline)),
    )
    yield f"{plural(len(timeline.held), 'request')}, at most {peak:,} tokens; {_lines(limits)}"
    yield _legend(names, timeline)


def _largest(timeline: Timeline) -> list[str]:
    """Return the categories that take most of all requests, the largest first."""
    sums: Counter[str] = Counter()
    for held in timeline.held:
        sums.update(held)
    return [name for name, size in sums.most_common(len(SHADES) - 1) if size]


def _layers(held: Mapping[str, int], names: list[str]) -> tuple[float, ...]:
    known = [held.get(name, 0) for name in names]
    return (*known, sum(held.values()) - sum(known))


def _limits(result: StatsResult) -> Iterator[tuple[str, int]]:
    limits = result.measure.limits
    if limits.client is not None and limits.compacts_at is not None:
        yield f"{limits.client.name} compacts", limits.compacts_at
    yield "the window ends", limits.budget.window


def _lines(limits: list[tuple[str, int]]) -> str:
    told = [f"{name} at {short_count(size)}" for name, size in limits]
    return " and ".join(told) or "its window is far above"


def _compactions(timeline: Timeline) -> Iterator[int]:
    for at, each in enumerate(timeline.rounds.rounds):
        if {"compacted", "compactctl"} & set(each.marks):
            yield at


def _legend(names: list[str], timeline: Timeline) -> str:
    told = [f"{shade} {name}" for shade, name in zip(SHADES, [*names, _OTHERS], strict=False)]
    if any(True for _ in _compactions(timeline)):
        told.append("▲ compacted")
    if not timeline.is_reported:
        told.append("counted, for nothing was reported")
    return "  ".join(told)
