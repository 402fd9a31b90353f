"""Every real transcript: compacted in every way, read back, and restored to the byte."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path

import pytest
from changed_lines import unexplained
from examples import LONG
from file_commands import compact_file, load_file, rewind_file, stats_of_file
from real.choice import FILES, TRIED, each_file, orphaned
from transcripts import FOLDER, needs_real

from compactctl.commands.compact.compact import CompactResult
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions
from compactctl.errors import NotUnderstoodError
from compactctl.model.message import Message, ReasoningPart, ToolCallPart, ToolDefinitionPart
from compactctl.model.operation import OptionValue
from compactctl.pipeline.layout import Layout
from compactctl.stages.registry import ALL_STAGES

_ALL = tuple(stage.name for stage in ALL_STAGES)
_PLANS: dict[str, tuple[str, ...]] = {name: (name,) for name in _ALL} | {"all": _ALL, "default": ()}
# A change tries one plan with each file, and so every plan: of the ways to give them out in turn,
# the one in which most plans find something to do.
_FIRST = 6
# Small enough to do something on short sessions as well.
_SETTINGS: Mapping[str, Mapping[str, OptionValue]] = {
    "prune": {"min_savings": 100, "protect_tokens": 2_000},
    "limit": {"max_tokens": 500},
    "recursive": {"snap": "none", "min_keep_turns": 0},
    "window": {"snap": "none", "min_keep_turns": 0},
    "images": {"max_images": 1},
    "prioritize": {"weights": ("tool_results=10", "tool_calls=10", "assistant=50")},
    "shorten": {"min_tokens": 50},
}
# Stages that do nothing unless there is something to reach, with the share that they keep.
_KEPT = {"default": 0.3, "prioritize": 0.05, "shorten": 0.05}


def squeeze(path: Path, output: Path, plan: str, layout: Layout) -> CompactResult:
    """Compact with fast counting, which changes what fits but nothing that is proven here."""
    keep = _KEPT.get(plan)
    return compact_file(
        path,
        output=output,
        layout=layout,
        measure=MeasureOptions(counter="chars/4"),
        plan=PlanOptions(stages=_PLANS[plan], settings=_SETTINGS, keep=keep),
    )


@each_file
def test_stats_accounts_for_every_byte(path: Path) -> None:
    result = stats_of_file(path, measure=MeasureOptions(counter="chars/4"))
    transcript = result.transcript
    lines = path.read_bytes().splitlines(keepends=True)
    # A document is one line, and what is never sent is a part of that.
    if transcript.n_lines > 1:
        used = {message.line for message in transcript.messages}
        used |= {opaque.line for opaque in transcript.opaque}
        never_sent = sum(kind.n_bytes for kind in transcript.metadata.values())
        assert sum(len(lines[index]) for index in used) + never_sent == path.stat().st_size
    assert transcript.n_bytes == path.stat().st_size
    counted = dict(result.breakdown.categories)
    media = counted.pop("media")
    texts = [text for message in transcript.effective for text in texts_of(message)]
    assert sum(counted.values()) == sum(ceil(len(text) / 4) for text in texts)
    assert sum(counted.values()) + media == result.breakdown.total
    assert result.size.total == result.usage.tokens or result.counts.conversations != 1


def texts_of(message: Message) -> Iterator[str]:
    """Yield what a model reads of a message, but for its images and documents."""
    for part in message.parts:
        if not (isinstance(part, ReasoningPart) and part.opaque):
            names = ["name"] if isinstance(part, ToolDefinitionPart) else []
            names += ["tool", "arguments"] if isinstance(part, ToolCallPart) else ["text"]
            yield from (getattr(part, name, "") for name in (*names, "added"))


def plans_for(path: Path) -> Sequence[str]:
    """Return the next plan for each further file; all with COMPACTCTL_LONG_TESTS=1."""
    plans = tuple(_PLANS)
    return plans if LONG else (plans[(TRIED.index(path) + _FIRST) % len(plans)],)


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@each_file
def test_every_plan_shrinks_keeps_pairs_settles_and_rewinds(
    path: Path, layout: Layout, tmp_path: Path
) -> None:
    before = path.read_bytes()
    found = load_file(path)
    for plan in plans_for(path):
        output = tmp_path / plan / f"run{path.suffix}"
        output.parent.mkdir()
        result = squeeze(path, output, plan, layout)
        after = load_file(output)
        assert orphaned(after.transcript.effective) <= orphaned(found.transcript.effective), plan
        again = squeeze(output, tmp_path / plan / f"again{path.suffix}", plan, layout)
        assert not again.compacted, (plan, [record.detail for record in again.stages])
        if not result.compacted:
            assert output.read_bytes() == before
            continue
        if plan == "unsent":
            assert output.stat().st_size < len(before)
            assert result.outcome.after.tokens == result.outcome.before.tokens
        else:
            assert result.outcome.after.tokens < result.outcome.before.tokens
        if layout == "split":
            is_cut = "unsent" in _PLANS[plan]
            assert unexplained(found, after, unsent=is_cut) == [], plan
        rewind_file(output)
        assert output.read_bytes() == before, plan


@needs_real
def test_files_of_other_formats_are_refused() -> None:
    others = [
        path
        for path in sorted(FOLDER.rglob("*"))
        if path.is_file() and path.suffix != ".md" and path not in FILES
    ]
    assert others
    for path in others:
        with pytest.raises(NotUnderstoodError):
            stats_of_file(path)
