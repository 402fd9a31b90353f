"""The tables of the agent loop, from the rows of replays."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median
from textwrap import fill
from typing import TypeVar

from benchmarks.loop_replay import Row
from benchmarks.tables import paragraph, table

K = TypeVar("K")

OURS = "Compactor"
"""The system at whose size the others are compared."""
# Dollars per million tokens of Claude Sonnet 4.5, by the pricing page of Anthropic's API: cache
# read, cache write (5 minutes), input, output.
READ, WRITE, INPUT, OUTPUT = 0.30, 3.75, 3.00, 15.00
_MILLION = 1_000_000
# Sizes that differ by less count as equal.
_SAME_SIZE = 0.03
COLUMNS: Mapping[str, str] = {
    "Size": "mean tokens of full requests: those whose whole history is larger than the trigger",
    "Cuts": "per 100 full requests: requests that do not begin with the whole request before",
    "Cached": "percent of all tokens sent that are in the longest prefix sent before",
    "Price": (
        "dollars per 100 requests, without answers: cache reads, cache writes of the rest, and what"
        " summaries read and write, by the prices of Claude Sonnet 4.5"
    ),
    "Invalid": (
        "requests with a call or result without the other, an empty message, or nothing from the"
        " user"
    ),
    "Over": "requests larger than the window",
    "Depth": "the most generations of summaries, or marks of quotations, within one another",
    "Asks": "percent of the user's sentences so far that full requests hold word for word",
    "Rules": "the same of sentences with words such as *must*, *never* or *only*",
    "Far": (
        "percent of the rare words (paths, names, numbers) in recorded answers, last in the history"
        " over 20,000 tokens before, that full requests hold"
    ),
    "At one size": (
        f"the same at the size of {OURS}, interpolated between replays with several targets, and"
        f" how many points more {OURS} holds; in brackets the sessions, if not all reach that size"
    ),
    "CPU": "milliseconds for a request without a cut, the median over requests and sessions",
    "p95": "the same for the 95th percentile of requests",
    "Cut": "milliseconds for a request with a cut",
}
"""What the columns are, with their units."""


def loop_tables(rows: Sequence[Row], target: float, ours: str = OURS) -> str:
    """Return a table for each window, with what was measured and what its columns are.

    A system says in how many sessions it was replayed to the end, unless that is all.

    The rows with other targets show what a system holds at other sizes. ``ours`` is the system at
    whose size the others are compared.
    """
    versions = sorted({row.version for row in rows if row.version})
    legend = (
        fill(f"- **{name}**: {meaning}", 100, subsequent_indent="  ")
        for name, meaning in COLUMNS.items()
    )
    triggers = sorted({f"{row.setting.trigger:.0%}" for row in rows})
    blocks = [
        paragraph(
            "Recorded sessions are replayed as agent loops: before each recorded answer, a system"
            f" gets the history. From {' or '.join(triggers)} of the window on, it is to compact it"
            f" to {target:.0%}. No model is asked. Where a system has one write summaries, a"
            " stand-in repeats the beginning, so that the figures tell what these cost, and not how"
            f" good they are. Sizes are o200k_base tokens. Versions: {', '.join(versions)}."
        ),
        "\n".join(legend),
    ]
    for window, of_window in sorted(_group(rows, lambda row: row.setting.window).items()):
        shown = [row for row in of_window if row.setting.target == target]
        requests = {row.session: row.requests for row in shown if not row.error}
        blocks += [
            paragraph(
                f"Window of {window:,} tokens; sessions: {len(requests)}, requests:"
                f" {sum(requests.values()):,}."
            ),
            table(("System", *COLUMNS), _system_rows(of_window, shown, len(requests), ours)),
        ]
    return "\n\n".join(blocks)


def _system_rows(
    rows: Sequence[Row], shown: Sequence[Row], n_sessions: int, ours: str
) -> Iterator[Sequence[str]]:
    by_system = _group(rows, lambda row: row.system)
    our_rows = {row.session: row for row in shown if row.system == ours}
    for system, of_system in _group(shown, lambda row: row.system).items():
        n_whole = sum(not row.error for row in of_system)
        yield (
            system if n_whole == n_sessions else f"{system} (in {n_whole} sessions)",
            _thousands(row.size for row in of_system),
            _quotient(100 * sum(row.cuts for row in of_system), sum(row.full for row in of_system)),
            _percent(sum(row.cached for row in of_system), sum(row.tokens for row in of_system)),
            f"{100 * price(of_system):.2f}",
            f"{sum(sum(row.invalid.values()) for row in of_system):,}",
            f"{sum(row.over for row in of_system):,}",
            str(max(row.depth for row in of_system)),
            _mean_percent(row.asks for row in of_system),
            _mean_percent(row.rules for row in of_system),
            _percent(sum(row.far_held for row in of_system), sum(row.far for row in of_system)),
            "" if system == ours else compare_at_one_size(by_system[system], our_rows),
            _milliseconds(row.idle for row in of_system),
            _milliseconds(row.idle_p95 for row in of_system),
            _milliseconds(row.cut for row in of_system),
        )


def price(rows: Sequence[Row]) -> float:
    """Return the dollars that a request costs, without answers.

    What is not cached is written to the cache. Summaries are asked for without a cache.
    """
    dollars = sum(
        READ * row.cached
        + WRITE * (row.tokens - row.cached)
        + INPUT * row.summarized
        + OUTPUT * row.summaries
        for row in rows
    )
    n_requests = sum(row.requests for row in rows)
    return dollars / _MILLION / n_requests if n_requests else 0.0


def compare_at_one_size(rows: Sequence[Row], our_rows: Mapping[str, Row]) -> str:
    """Return which share of far words a system holds at our size, and how much more we hold.

    Its share at our size is interpolated between its rows with different targets, session by
    session. In brackets is the number of sessions, unless its sizes surround ours in all of them.
    """
    theirs, held, far = 0.0, 0, 0
    compared = 0
    for session, points in _group(rows, lambda row: row.session).items():
        our_row = our_rows.get(session)
        if our_row is not None and our_row.size is not None and our_row.far:
            share = interpolate(
                [(row.size, row.far_held / row.far) for row in points if row.size and row.far],
                our_row.size,
            )
            if share is not None:
                theirs += share * our_row.far
                held += our_row.far_held
                far += our_row.far
                compared += 1
    if not far:
        return ""
    n_ours = sum(bool(row.far) for row in our_rows.values())
    note = f" ({compared})" if compared < n_ours else ""
    return f"{100 * theirs / far:.1f} {100 * (held - theirs) / far:+.1f}{note}"


def interpolate(points: Iterable[tuple[float, float]], size: float) -> float | None:
    """Return the value at a size between points of size and value; None if it is outside of them.

    A point that is hardly smaller or larger than the size has its value.
    """
    ordered = sorted(points)
    for (low, before), (high, after) in pairwise(ordered):
        if low <= size <= high:
            part = (size - low) / (high - low) if high > low else 0.0
            return before + part * (after - before)
    near = [value for other, value in ordered if abs(other - size) <= _SAME_SIZE * size]
    return near[0] if near else None


def _group(rows: Iterable[Row], key: Callable[[Row], K]) -> dict[K, list[Row]]:
    groups = defaultdict[K, list[Row]](list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def _quotient(value: float, by: float) -> str:
    return f"{value / by:.1f}" if by else ""


def _percent(part: float, whole: float) -> str:
    return _quotient(100 * part, whole)


def _mean_percent(shares: Iterable[float | None]) -> str:
    values = [share for share in shares if share is not None]
    return f"{100 * fmean(values):.1f}" if values else ""


def _thousands(sizes: Iterable[float | None]) -> str:
    values = [size for size in sizes if size is not None]
    return f"{fmean(values) / 1_000:.1f}k" if values else ""


def _milliseconds(seconds: Iterable[float | None]) -> str:
    values = [value for value in seconds if value is not None]
    return f"{1_000 * median(values):.1f}" if values else ""
