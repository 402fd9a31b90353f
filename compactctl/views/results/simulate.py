"""When each profile would have compacted a session, and to what size."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.commands.lab.simulate import SimulateResult
from compactctl.commands.lab.simulated_session import (
    CompactionKind,
    SimulatedCompaction,
    SimulatedSession,
)
from compactctl.commands.measuring.next_request import InputCost
from compactctl.views.encode import encoded, measure_fields, record
from compactctl.views.facts import counter_text, model_text, warning_lines
from compactctl.views.terminal.graph import small_bars
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem
from compactctl.views.terminal.tables import Column, number, table, text
from compactctl.views.terminal.text import line_text, one_line, path_name, plural

_LINE_WIDTH = 24
_WHEN: Mapping[CompactionKind, str] = {
    "foreground": "before a request",
    "background": "in the background",
    "reactive": "after an error",
    "manual": "on request",
}


def simulate_terminal(result: SimulateResult) -> Iterator[ScreenItem]:
    """Yield the answer, then a row per profile and, for named profiles, per compaction."""
    yield Accent(_answer(result), "bold")
    yield ""
    yield Facts(tuple(_facts(result)))
    yield ""
    columns: tuple[Column, ...] = (
        text("Profile"),
        text("Compacted"),
        number("Largest request", spare=2),
        number("Next request", spare=3),
        number("All requests", spare=1),
        number("Too large"),
        text("Size of each request", spare=4),
    )
    rows = [_cells(replay, result.peak) for replay in result.replays]
    if result.options.prices:
        columns += (number("Input $"), number("Uncached $"))
        rows = [
            (*row, *_costs(result, replay))
            for row, replay in zip(rows, result.replays, strict=True)
        ]
    yield table(columns, rows)
    if result.options.profiles:
        for replay in result.replays:
            yield from _firings(replay)


def simulate_document(result: SimulateResult) -> dict[str, Any]:
    """Return the figures of the session without compaction and with each profile."""
    return {
        "schema": "compactctl.simulate/1",
        "path": result.options.input.path,
        "format": result.transcript.format,
        **measure_fields(result.measure),
        "conversationCount": result.conversations,
        "turnCount": result.turns,
        "requestCount": len(result.requests),
        "rounds": encoded(result.rounds),
        "unseenTokens": result.unseen,
        "peakTokens": result.peak,
        "sentTokens": result.sent,
        **_cost(result.cost(result.requests)),
        "profiles": [
            {**_replayed(replay), **_cost(result.cost(replay.requests))}
            for replay in result.replays
        ],
        **record(result, only=("unusable", "warnings")),
    }


def simulate_messages(result: SimulateResult) -> Iterator[str]:
    """Yield the warnings and what was not simulated, for standard error."""
    yield from warning_lines(result.warnings)
    yield from (f"not simulated: {reason}" for reason in result.unusable)
    if result.conversations > 1:
        yield f"only the largest of {result.conversations:,} conversations was simulated"


def _answer(result: SimulateResult) -> str:
    """Return what is replayed and was sent, and the profile with which it would send least.

    Only profiles that compacted, and with which all requests fit, are compared.
    """
    source = "by recorded usage" if result.rounds.is_fitted else "as counted"
    answer = f"{_replayed_text(result)}: {result.sent:,} tokens without compaction ({source})"
    if not any(replay.firings for replay in result.replays):
        return f"{answer}; no profile compacted"
    fitting = [replay for replay in result.replays if replay.firings and not replay.over]
    if not fitting:
        return f"{answer}; with no profile that compacted does every request fit"
    cheapest = min(fitting, key=lambda replay: replay.sent)
    return f"{answer}, {cheapest.sent:,} with {one_line(cheapest.profile.name)}"


def _replayed_text(result: SimulateResult) -> str:
    """Return which requests are replayed, in the terms of ``stats --rounds``."""
    rounds, count = result.rounds, len(result.requests)
    if not rounds.recorded:
        return f"{plural(count, 'request')} in {plural(result.turns, 'turn')}, no usage recorded"
    replayed = f"{rounds.replayed:,} of {plural(rounds.recorded, 'round')}"
    turns = f"{rounds.replayed_turns:,} of {plural(rounds.recorded_turns, 'turn')}"
    others = count - rounds.replayed
    rest = "the next request" if others == 1 else f"{others:,} other requests"
    return f"{replayed} in {turns}, and {rest}"


def _facts(result: SimulateResult) -> Iterator[Fact]:
    yield Fact("session", path_name(result.options.input.reference))
    yield Fact("counted with", f"{counter_text(result.measure)}; {model_text(result.measure)}")
    yield Fact("window", f"{result.measure.budget.window:,} tokens")
    yield Fact("largest request", f"{result.peak:,} tokens without compaction")
    if result.options.prices:
        yield Fact("input", _without_compaction(result))


def _without_compaction(result: SimulateResult) -> str:
    cost = result.cost(result.requests)
    if cost is None:
        return f"cost unknown: no price for {line_text(result.measure.model.name)}"
    return (
        f"${_dollars(cost.cached)} without compaction, ${_dollars(cost.uncached)} also without a "
        "prompt cache (estimate)"
    )


def _dollars(amount: float) -> str:
    return f"{amount:,.2f}"


def _cells(replayed: SimulatedSession, highest: int) -> tuple[str, ...]:
    return (
        one_line(replayed.profile.name),
        _times(replayed),
        f"{replayed.peak:,}",
        f"{replayed.final:,}",
        f"{replayed.sent:,}",
        f"{replayed.over:,}" if replayed.over else "",
        small_bars([request.tokens for request in replayed.requests], max(1, highest), _LINE_WIDTH),
    )


def _times(replayed: SimulatedSession) -> str:
    """Return how often a profile compacted, and when; or why it did not."""
    paths = Counter(firing.path for firing in replayed.firings)
    if paths:
        return "; ".join(f"{plural(n, 'time')}, {_WHEN[path]}" for path, n in paths.items())
    return "due, but nothing could be removed" if replayed.idle else "never"


def _costs(result: SimulateResult, replayed: SimulatedSession) -> tuple[str, str]:
    cost = result.cost(replayed.requests)
    return ("", "") if cost is None else (_dollars(cost.cached), _dollars(cost.uncached))


def _firings(replayed: SimulatedSession) -> Iterator[ScreenItem]:
    yield ""
    yield Accent(f"{one_line(replayed.profile.name)}: {replayed.trigger}", "bold")
    if not replayed.firings:
        yield _times(replayed)
        return
    columns = (
        number("Turn"),
        number("Step"),
        number("Line", spare=3),
        text("When", spare=2),
        number("Before"),
        number("After"),
        text("Stages", "end", min_width=12, spare=1),
        text("Why", "end", min_width=12),
    )
    yield table(
        columns,
        [
            (
                f"{firing.request.turn:,}",
                f"{firing.request.step:,}",
                "" if firing.request.line is None else f"{firing.request.line + 1:,}",
                _WHEN[firing.path],
                f"{firing.tokens_before:,}",
                f"{firing.tokens_after:,}",
                ", ".join(firing.stages),
                firing.why if firing.fits else f"{firing.why}; still too large",
            )
            for firing in replayed.firings
        ],
    )


def _cost(cost: InputCost | None) -> dict[str, Any]:
    """Return the cost of input in US dollars; None if not requested or without a price."""
    return {
        "inputCost": round(cost.cached, 4) if cost else None,
        "uncachedInputCost": round(cost.uncached, 4) if cost else None,
    }


def _replayed(replayed: SimulatedSession) -> dict[str, Any]:
    return {
        "profile": replayed.profile.name,
        "trigger": str(replayed.trigger),
        "availableInputTokens": replayed.limits.budget.available,
        "base": replayed.limits.base,
        "baseTokens": replayed.limits.base_tokens,
        "peakTokens": replayed.peak,
        "finalTokens": replayed.final,
        "sentTokens": replayed.sent,
        "requestsOver": replayed.over,
        "idleFirings": replayed.idle,
        "firings": encoded(replayed.firings),
    }


@encoded.register
def _firing(firing: SimulatedCompaction) -> dict[str, Any]:
    request = firing.request
    return {
        **record(request, only=("turn", "step")),
        "line": None if request.line is None else request.line + 1,
        **record(firing, without=("request",)),
    }
