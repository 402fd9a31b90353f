"""How far the estimate of the next request is from what the provider then reported.

Run: ``python tests/benchmarks/accuracy.py TRANSCRIPT… [--each 20] [--fitted PROJECT…]``. Prints
Markdown tables per model family, one for the projects named as fitted and one for all others; a
project is the name of a session's working folder.

The protocol is strict. A session is cut right before a recorded request, as it lay there when the
request was made, and everything that was reported after an anchor is taken out: the answers'
sizes too. The anchor is the request 1, 10 or 50 before it, or the first of the session. Requests
whose context fell are kept. Requests that were reported with an empty context are left out and
counted. Of each session at most ``--each`` requests are tried, evenly spread, and besides all that
start a turn or follow a compaction of the client, up to as many again.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from compactctl.commands.loading.load import Loaded, load, parse
from compactctl.commands.sizing.context_size import unseen_size
from compactctl.commands.sizing.measure import MeasureOptions, measure
from compactctl.errors import CompactctlError
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.tokens.counters.choose import counter_named
from compactctl.tokens.meter import Meter

OURS = "compactctl"
PLAIN = {
    "chars/4": "chars/4",
    "bytes/4": "bytes/4",
    "NeuroLink formula": "neurolink",
    "raw o200k_base": "o200k_base",
}
AHEAD = (1, 10, 50)
FIRST, NONE, TURN, COMPACTED = "first usage", "no usage", "new turn", "after a compaction"
HORIZONS = (*(f"{n} call{'s' * (n > 1)}" for n in AHEAD), FIRST, NONE, TURN, COMPACTED)


@dataclass(frozen=True, kw_only=True)
class Reported:
    """A request: the line of its answer's first record, its response and its context in tokens."""

    line: int
    response: str
    context: int


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One estimate of one request."""

    family: str
    project: str
    estimator: str
    horizon: str
    guess: float
    truth: int
    in_range: bool | None = None

    @property
    def error(self) -> float:
        """The absolute error as a share of the truth."""
        return abs(self.guess - self.truth) / self.truth


def main() -> None:
    """Print the tables for the transcripts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--fitted", nargs="*", default=[])
    given = parser.parse_args()
    trials: list[Trial] = []
    sessions = empty = 0
    for path in given.paths:
        try:
            loaded = load(path)
        except CompactctlError as error:
            print(f"left out: {error}")
            continue
        found, left_out = reported(loaded.transcript)
        sessions, empty = sessions + bool(found), empty + left_out
        trials += tried(loaded, found, given.each)
    print(f"{sessions} sessions; {empty} requests with an empty context left out")
    for title, chosen in (
        ("projects fitted on", [t for t in trials if t.project in given.fitted]),
        ("other projects", [t for t in trials if t.project not in given.fitted]),
    ):
        for family in sorted({trial.family for trial in chosen}):
            print_table(f"{family}, {title}", [t for t in chosen if t.family == family])


def reported(transcript: Transcript) -> tuple[list[Reported], int]:
    """Return the requests of a session in file order, and how many were reported as empty."""
    found: dict[str, Reported] = {}
    empty: set[str] = set()
    lines: dict[str, int] = {}
    for message in transcript.messages:
        name = message.response_id
        if name is None:
            continue
        lines.setdefault(name, message.line)
        if message.usage is None or name in found:
            continue
        if message.usage.context <= 0:
            empty.add(name)
        else:
            found[name] = Reported(line=lines[name], response=name, context=message.usage.context)
    return sorted(found.values(), key=lambda each: each.line), len(empty - set(found))


def tried(loaded: Loaded, found: Sequence[Reported], each: int) -> Iterator[Trial]:
    """Yield the estimates of the requests that are chosen of a session."""
    step = max(1, len(found) // each)
    special = 0
    for place, request in enumerate(found):
        is_due = place % step == step - 1
        if not is_due and special >= each:
            continue
        before = parse(loaded.lines[: request.line], loaded.format)
        kind = kind_of(before, found[:place])
        if (not is_due and kind is None) or not follows(loaded, request):
            continue
        special += kind is not None
        yield from estimates(before, found[:place], request, kind, is_due=is_due)


def kind_of(before: Transcript, earlier: Sequence[Reported]) -> str | None:
    """Tell whether the next request starts a turn or follows a compaction of the client."""
    if not earlier or not before.effective:
        return None
    newest = earlier[-1].response
    if before.compacted and all(m.response_id != newest for m in before.effective):
        return COMPACTED
    return TURN if before.effective[-1].starts_turn else None


def follows(loaded: Loaded, request: Reported) -> bool:
    """Tell whether an answer belongs to the conversation, not to a subagent or another branch."""
    after = parse(loaded.lines[: request.line + 1], loaded.format)
    return any(m.response_id == request.response for m in after.effective)


def estimates(
    before: Transcript,
    earlier: Sequence[Reported],
    request: Reported,
    kind: str | None,
    *,
    is_due: bool,
) -> Iterator[Trial]:
    """Yield what every estimator says of the next request, from every anchor."""
    measured = measure(before, MeasureOptions())
    measured.meter.prime(before.effective)
    project = Path(before.cwd or "unknown").name
    for horizon, anchor in anchors(earlier, kind, is_due=is_due):
        seen = known_at(before, anchor)
        size = unseen_size(seen, measured)
        low, high = size.range or (0, 0)
        ours = Trial(
            family=measured.model.family,
            project=project,
            estimator=OURS,
            horizon=horizon,
            guess=size.total,
            truth=request.context,
            in_range=low <= request.context <= high if size.range else None,
        )
        yield ours
        for title, name in PLAIN.items():
            guess = plain(seen.effective, anchor, Meter(counter_named(name)))
            yield replace(ours, estimator=title, guess=guess, in_range=None)


def anchors(
    earlier: Sequence[Reported], kind: str | None, *, is_due: bool
) -> Iterator[tuple[str, Reported | None]]:
    """Yield the horizons, each with the newest request whose report may be seen."""
    if kind is not None:
        yield kind, earlier[-1]
    if not is_due:
        return
    yield NONE, None
    if earlier:
        yield FIRST, earlier[0]
    for ahead, horizon in zip(AHEAD, HORIZONS, strict=False):
        if len(earlier) >= ahead:
            yield horizon, earlier[-ahead]


def known_at(before: Transcript, anchor: Reported | None) -> Transcript:
    """Return a transcript without anything that was reported after the anchor."""
    last = -1 if anchor is None else anchor.line
    names = {m.response_id for m in before.messages if m.response_id and m.line <= last}

    def hidden(message: Message) -> Message:
        seen = message.usage is None or message.response_id in names
        return message if seen else replace(message, usage=None)

    return replace(
        before,
        messages=tuple(map(hidden, before.messages)),
        effective=tuple(map(hidden, before.effective)),
        split=None,
    )


def plain(messages: Sequence[Message], anchor: Reported | None, meter: Meter) -> float:
    """Return what others estimate: the report of the anchor and the text from its answer on."""
    name = None if anchor is None else anchor.response
    start = next((i for i, m in enumerate(messages) if name and m.response_id == name), None)
    if anchor is None or start is None:
        return meter.total(messages)
    return anchor.context + meter.total(messages[start:])


def print_table(title: str, trials: Sequence[Trial]) -> None:
    """Print a table: per horizon median, 95th percentile and largest absolute error."""
    of: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        of[trial.estimator, trial.horizon].append(trial)
    counts = [len(of[OURS, horizon]) for horizon in HORIZONS]
    heads = [f"{name} ({count})" for name, count in zip(HORIZONS, counts, strict=True)]
    projects = len({trial.project for trial in trials})
    print(f"\n**{title}** ({projects} projects)\n")
    print("| estimator | " + " | ".join(heads) + " |")
    print("|---" * (len(HORIZONS) + 1) + "|")
    for name in (OURS, *PLAIN):
        print(f"| {name} | " + " | ".join(cell(of[name, horizon]) for horizon in HORIZONS) + " |")
    ranged = [trial.in_range for trial in trials if trial.in_range is not None]
    if ranged:
        print(f"\nThe range held the truth in {sum(ranged)} of {len(ranged)} estimates.")


def cell(found: Sequence[Trial]) -> str:
    """Return median, 95th percentile and maximum as percentages."""
    if not found:
        return "-"
    ordered = sorted(trial.error for trial in found)
    high = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"{median(ordered):.2%} / {high:.1%} / {ordered[-1]:.1%}"


if __name__ == "__main__":
    main()
