"""Options of a compaction that have no effect are named: most are typing errors."""

from pathlib import Path
from typing import Any

import pytest
from asked import asked
from unit.commands.conversations import EAGER, FAST, TALK, saved

from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions, unused_options
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions


def unused(folder: Path, *stages: str, records: Any = TALK, **fields: Any) -> tuple[str, ...]:
    """Return the warnings about a compaction with these stages and options."""
    path = saved(folder / "talk.jsonl", records)
    settings = fields.pop("settings", {})
    recipe = Recipe(
        measure=FAST,
        plan=PlanOptions(stages=stages, settings={name: EAGER[name] for name in stages} | settings),
        protect=ProtectOptions(keep_turns=0, **fields),
    )
    options = CompactOptions(input=InputOptions(path=str(path)), recipe=recipe)
    options = asked(options, output=str(folder / "out.jsonl"), force=True, explain=True)
    return unused_options(compact(options))


def test_options_that_have_an_effect_are_not_named(tmp_path: Path) -> None:
    assert unused(tmp_path, "collapse", tools=("read_file",)) == ()


@pytest.mark.parametrize("tool", ["read_file", "Read_File"])
def test_a_tool_is_found_in_any_case(tool: str, tmp_path: Path) -> None:
    assert unused(tmp_path, "prune", tools=(tool,)) == ()


def test_a_tool_that_is_never_called_is_named_with_those_that_are(tmp_path: Path) -> None:
    assert unused(tmp_path, "prune", tools=("bash",)) == (
        "--protect-tool bash: no message calls this tool; there are read_file",
    )
    talk = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello."}]
    assert unused(tmp_path, "prune", records=talk, tools=("bash",)) == (
        "--protect-tool bash: no message calls this tool; there are no tool calls",
    )


def test_a_pin_that_keeps_nothing_is_named(tmp_path: Path) -> None:
    assert unused(tmp_path, "prune", pins=("m99",)) == (
        "--pin m99: matches no message; check the id or the pattern",
    )


def test_options_of_a_stage_that_did_not_run_are_named(tmp_path: Path) -> None:
    assert unused(tmp_path, "prune", "dedup", settings={"truncate": {"fraction": 0.2}}) == (
        "options of truncate have no effect: the stages are prune, dedup",
    )


def test_instructions_are_for_a_model(tmp_path: Path) -> None:
    said = {"summarize": {**EAGER["summarize"], "instructions": "Be brief."}}
    assert unused(tmp_path, "summarize", settings=said) == (
        "--summarize-instructions has no effect on the built-in summary; see --summarizer",
    )
