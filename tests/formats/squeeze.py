"""Compacts a document and takes it back, as the commands do, and checks what is promised."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from file_commands import compact_file, load_file, rewind_file
from stage_examples import EXAMPLES

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import CompactOptions, CompactResult, compact
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.pairs import find_orphans
from compactctl.model.message import JsonPath
from compactctl.pipeline.layout import Layout
from compactctl.pipeline.spans import find_array
from compactctl.stages.registry import ALL_STAGES

# What small documents do not hold: parted pairs, records that are never sent, tools without use,
# pictures, a size to reach, the ends of a span that somebody names.
_NOTHING_TO_DO = {"repair", "unsent", "drop", "images", "prioritize", "shorten", "span"}
ALL = tuple(stage.name for stage in ALL_STAGES if stage.name not in _NOTHING_TO_DO)
PLANS = (*((stage,) for stage in ALL), ALL)
# A change is tried with one stage of each kind, and all together; a long run with every one.
USUAL = {("dedup",), ("prune",), ("summarize",), ("truncate",), ALL}


def each_plan(*left_out: str) -> pytest.MarkDecorator:
    """Parametrize a test over the plans, but for those of the stages that are named."""
    return pytest.mark.parametrize(
        "stages",
        [
            pytest.param(each, id="+".join(each), marks=() if each in USUAL else pytest.mark.long)
            for each in PLANS
            if each not in {(name,) for name in left_out}
        ],
    )


def plan(stages: tuple[str, ...]) -> PlanOptions:
    """Return a plan of these stages with low limits."""
    return PlanOptions(stages=stages, settings=EXAMPLES)


def pretty(document: object, path: Path) -> Path:
    """Write a document over many lines, with tabs and without a line break at the end."""
    path.write_text(json.dumps(document, indent="\t", ensure_ascii=False), encoding="utf-8")
    return path


def compacted(path: Path, *stages: str) -> Path:
    """Compact a file with these stages; return the new file."""
    out = path.with_name(f"out{path.suffix}")
    compact_file(path, output=out, plan=plan(stages))
    return out


def squeezed(path: Path, stages: tuple[str, ...], layout: Layout, folder: Path) -> CompactResult:
    """Compact a file to ``folder/out.json`` and check that it is whole and can be taken back."""
    out = folder / "out.json"
    before = find_orphans(load_file(path).transcript.effective)
    options = CompactOptions(
        input=InputOptions(path=str(path)),
        output=OutputOptions(path=str(out), layout=layout),
        recipe=Recipe(plan=plan(stages)),
    )
    result = compact(options)
    written = load_file(out)
    assert find_orphans(written.transcript.effective) <= before
    assert written.format.name == result.format
    again = CompactOptions(
        input=InputOptions(path=str(out)),
        recipe=Recipe(plan=plan(stages)),
        output=OutputOptions(layout=layout, dry_run=True),
    )
    assert not compact(again).compacted
    if result.compacted:
        rewind_file(out)
    assert out.read_bytes() == path.read_bytes()
    return result


def pieces(text: str, array: JsonPath = ()) -> list[str]:
    """Return the text of a document as the elements of an array in it and what is around them."""
    spans = find_array(text, array).elements
    bounds = [0, *(bound for span in spans for bound in span), len(text)]
    return [text[start:end] for start, end in pairwise(bounds)]


def edited(before: Path, after: Path, array: JsonPath = ()) -> list[int]:
    """Return the places of the records that differ; nothing else does."""
    old, new = (pieces(path.read_text(), array) for path in (before, after))
    changed = [index for index, pair in enumerate(zip(old, new, strict=True)) if len({*pair}) > 1]
    assert all(index % 2 for index in changed)
    return [index // 2 for index in changed]
