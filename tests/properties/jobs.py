"""Transcripts and options for generated runs, and a folder to run them in."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from asked import asked
from hypothesis import reject
from hypothesis import strategies as st
from properties.chats import SHAPES, WRITERS, lines_of
from properties.claude import claude_session, claude_turn
from properties.plans import LONG_PLANS, PLANS, Plan

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions, TranscriptFile, load
from compactctl.errors import NotUnderstoodError
from compactctl.history.protection import ProtectOptions
from compactctl.stages.registry import ALL_STAGES

CLAUDE = "claude"
# Tried as often as all other shapes together: its records are linked and branch.
_SHAPES = (*SHAPES, *[CLAUDE] * len(SHAPES))
# Estimates need no vocabulary, so that a run takes milliseconds.
FAST = MeasureOptions(counter="chars/4")


class Written(NamedTuple):
    """A transcript that was written down in one of the shapes."""

    shape: str
    data: bytes

    def more(self, plan: Plan, earlier: bytes = b"") -> bytes:
        """Return lines that a client would append after ``earlier`` ones; b"" where it cannot."""
        plan = tuple(step for step in plan if step.kind != "garbage")
        if not self.data.endswith(b"\n"):
            return b""
        if self.shape == CLAUDE:
            return claude_turn(plan, self.data + earlier)
        if self.shape in WRITERS:
            start = 1_000 + earlier.count(b"\n")
            return b"".join(lines_of(WRITERS[self.shape], plan, start=start))
        return b""


def written(plan: Plan, shape: str) -> Written:
    """Write a plan down."""
    return Written(shape, claude_session(plan) if shape == CLAUDE else SHAPES[shape](plan))


TRANSCRIPTS = st.builds(written, PLANS, st.sampled_from(_SHAPES))
LONG_TRANSCRIPTS = st.builds(written, LONG_PLANS, st.sampled_from(_SHAPES))

_NAMES = [stage.name for stage in ALL_STAGES]
_SNAPS = st.sampled_from(["forward", "back", "none"])
_SETTINGS = st.fixed_dictionaries(
    {
        "repair": st.fixed_dictionaries({"policy": st.sampled_from(["drop", "synth"])}),
        "drop": st.fixed_dictionaries({"tools": st.sampled_from([(), ("grep",), ("Read",)])}),
        "dedup": st.fixed_dictionaries({"policy": st.sampled_from(["identical", "latest"])}),
        "prune": st.fixed_dictionaries(
            {"protect_tokens": st.sampled_from([0, 40, 400]), "min_savings": st.just(0)}
        ),
        "strip": st.fixed_dictionaries(
            {"over": st.sampled_from([0, 10, 60]), "keep_recent": st.integers(0, 4)}
        ),
        "limit": st.fixed_dictionaries({"max_tokens": st.sampled_from([20, 100])}),
        "images": st.fixed_dictionaries({"max_images": st.integers(0, 2)}),
        "microcompact": st.fixed_dictionaries({"keep_recent": st.integers(1, 3)}),
        "distill": st.fixed_dictionaries(
            {
                "form": st.sampled_from(["auto", "digest", "in-place"]),
                "keep": st.sampled_from([0.1, 0.3, 0.7]),
            }
        ),
        "summarize": st.fixed_dictionaries(
            {
                "keep_min": st.integers(1, 4),
                "keep_ratio": st.sampled_from([0.1, 0.3, 0.6]),
                "min_messages": st.integers(1, 4),
            }
        ),
        "partial": st.fixed_dictionaries({"keep_recent": st.integers(0, 4)}),
        "chunk": st.fixed_dictionaries(
            {"keep_recent": st.integers(0, 4), "min_messages": st.just(2)}
        ),
        "plain": st.fixed_dictionaries({"keep_recent": st.integers(0, 4)}),
        "truncate": st.fixed_dictionaries(
            {"fraction": st.sampled_from([0.3, 0.5, 0.9]), "keep_first": st.integers(0, 2)}
        ),
        "prioritize": st.fixed_dictionaries(
            {"weights": st.sampled_from([(), ("tool_results=1", "assistant=2"), ("user=1",)])}
        ),
        "collapse": st.fixed_dictionaries({"groups": st.integers(0, 3)}),
        "shorten": st.fixed_dictionaries({"min_tokens": st.sampled_from([10, 60])}),
        "recursive": st.fixed_dictionaries(
            {"keep_events": st.integers(3, 6), "snap": _SNAPS, "min_keep_turns": st.integers(0, 1)}
        ),
        "window": st.fixed_dictionaries(
            {
                "unit": st.sampled_from(["events", "turns", "tokens"]),
                "max": st.sampled_from([1, 2, 6, 300]),
                "snap": _SNAPS,
                "min_keep_turns": st.integers(0, 1),
            }
        ),
    }
)
_STAGES = st.just(tuple(_NAMES)) | st.lists(
    st.sampled_from(_NAMES), min_size=1, max_size=4, unique=True
).map(tuple)
# Of a target that is less than the usage of a chat says every request has nothing would come.
_SHARES = st.none() | st.sampled_from([0.05, 0.2, 0.6])
PLAN_OPTIONS = st.builds(PlanOptions, stages=_STAGES, keep=_SHARES, settings=_SETTINGS)
PROTECT_OPTIONS = st.builds(
    ProtectOptions,
    keep_turns=st.sampled_from([0, 0, 1, None]),
    pins=st.sampled_from([(), (), ("w1 w2 w3 w4 w5 w6 w0 w1 w2 w3",)]),
    tools=st.sampled_from([(), (), ("grep",)]),
)
LAYOUTS = st.sampled_from(["split", "inline"])
WAYS = st.fixed_dictionaries(
    {"plan": PLAN_OPTIONS, "protect": PROTECT_OPTIONS, "layout": LAYOUTS, "tags": st.booleans()}
)


class Bench(NamedTuple):
    """A folder with a transcript in it."""

    folder: Path
    path: Path

    def options(self, **fields: Any) -> CompactOptions:
        """Return options for this transcript that count fast and write beside it."""
        common = CompactOptions(
            input=InputOptions(path=str(self.path)),
            recipe=Recipe(measure=FAST),
            output=OutputOptions(path=None if fields.get("in_place") else str(self.out)),
        )
        return asked(common, **fields)

    @property
    def out(self) -> Path:
        """Where a compaction goes unless it is done in place."""
        return self.folder / f"out{self.path.suffix}"


@contextmanager
def bench(data: bytes) -> Iterator[Bench]:
    """Make a folder with a transcript of these bytes; it is gone afterwards."""
    with TemporaryDirectory() as name:
        path = Path(name) / "run.jsonl"
        path.write_bytes(data)
        yield Bench(Path(name), path)


def read(at: Bench) -> TranscriptFile:
    """Load a generated transcript; a few hold so much damage that no format recognises them."""
    try:
        return load(InputOptions(path=str(at.path)))
    except NotUnderstoodError:
        reject()
