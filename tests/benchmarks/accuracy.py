"""How far the estimate of a context is from what the provider reported, per estimator.

Run: ``python tests/benchmarks/accuracy.py TRANSCRIPT…``. Prints a Markdown table per model family.

Every recorded request of every transcript is predicted from an earlier one (1, 10 or 50 requests
before, or the first since the context was last edited) and from nothing but the text. Transcripts
are cut at the client's own compactions, so that each piece is seen as it was then.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from compactctl.commands.loading.load import Loaded, load, parse
from compactctl.commands.sizing.measure import MeasureOptions, measure
from compactctl.history.calibration import since_edit
from compactctl.history.requests import Request, requests
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.tokens.counters.choose import counter_named
from compactctl.tokens.framing import framed_tokens, framing_for
from compactctl.tokens.meter import Meter

Size = Callable[[Message], float]
Errors = dict[tuple[str, str, str], list[float]]

_MARKS = (
    b'"subtype":"compact_boundary"',
    b'"subtype":"microcompact_boundary"',
    b'"type":"compacted"',
)
_PLAIN = {
    "chars/4": "chars/4",
    "bytes/4": "bytes/4",
    "NeuroLink formula": "neurolink",
    "raw o200k_base": "o200k_base",
}
_AHEAD = (1, 10, 50)
_HORIZONS = ("1 call", "10 calls", "50 calls", "first usage", "no usage")


def main() -> None:
    """Print the tables for the transcripts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+")
    errors: Errors = defaultdict(list)
    for path in parser.parse_args().paths:
        for piece, start in pieces(load(path)):
            collect(piece, start, errors)
    for family in dict.fromkeys(family for family, _, _ in errors):
        print_table(family, errors)


def pieces(loaded: Loaded) -> Iterator[tuple[Transcript, int]]:
    """Yield the transcript as it was before each compaction, with the line it started at."""
    marks = [i for i, line in enumerate(loaded.lines) if any(mark in line[:900] for mark in _MARKS)]
    for start, end in zip([0, *marks], [*marks, len(loaded.lines)], strict=True):
        yield parse(loaded.lines[:end], loaded.format), start


def collect(piece: Transcript, start: int, errors: Errors) -> None:
    """Add the errors of every estimator on one piece."""
    measured = measure(piece, MeasureOptions())
    model, meter = measured.model, measured.meter
    framing = framing_for(model, measured.counter)
    meter.prime(piece.effective)

    def calibrated(message: Message) -> float:
        return framed_tokens(message, meter, framing)

    sizes: dict[str, Size] = {"compactctl": calibrated}
    for title, name in _PLAIN.items():
        plain = Meter(counter_named(name))
        plain.prime(piece.effective)
        sizes[title] = plain.message
    for title, size in sizes.items():
        found = [r for r in requests(piece.effective, size) if _line(piece, r) >= start]
        for horizon, error in predictions(found, trust_answers=title == "compactctl"):
            errors[model.family, title, horizon].append(error)


def _line(piece: Transcript, request: Request) -> int:
    return piece.effective[request.first].line


def predictions(found: Sequence[Request], *, trust_answers: bool) -> Iterator[tuple[str, float]]:
    """Yield the relative error of each prediction of each request."""
    for place, request in enumerate(found):
        yield "no usage", abs(request.before - request.context) / request.context
        first = place - len(since_edit(found[: place + 1])) + 1
        anchors = [(f"{n} call{'s' * (n > 1)}", place - n) for n in _AHEAD]
        for horizon, anchor in (*anchors, ("first usage", first)):
            if first <= anchor < place:
                said = found[anchor:place] if trust_answers else ()
                guess = found[anchor].context + request.before - found[anchor].before
                guess += sum(each.answer - each.visible for each in said)
                yield horizon, abs(guess - request.context) / request.context


def print_table(family: str, errors: Errors) -> None:
    """Print a family's table: median and 95th percentile of the absolute error."""
    count = len(errors[family, "compactctl", "no usage"])
    print(f"\n{family} ({count} requests)\n")
    print("| estimator | " + " | ".join(f"{horizon}: median / p95" for horizon in _HORIZONS) + " |")
    print("|---" * (len(_HORIZONS) + 1) + "|")
    for title in ("compactctl", *_PLAIN):
        cells = [cell(errors[family, title, horizon]) for horizon in _HORIZONS]
        print(f"| {title} | " + " | ".join(cells) + " |")


def cell(found: list[float]) -> str:
    """Return median and 95th percentile as percentages."""
    if not found:
        return "-"
    ordered = sorted(found)
    return f"{median(ordered):.2%} / {ordered[int(len(ordered) * 0.95)]:.2%}"


if __name__ == "__main__":
    main()
