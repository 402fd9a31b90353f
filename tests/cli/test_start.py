"""What a command imports before it does anything: a short run is little else."""

import subprocess
import sys
from functools import cache

import pytest
from cli.asking import SAMPLES

# What to do when a test here fails: something imports one of these at the top of its module.
_LATER = "import these in the function that needs them: each start takes as long as its imports"
_RUN = "import sys; from compactctl.__main__ import run; run(sys.argv[1:]); print(*sys.modules)"

SMALL = str(SAMPLES / "openai-chat.jsonl")


@cache
def _imported(*arguments: str) -> set[str]:
    command = [sys.executable, "-c", _RUN, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_group_of_commands_imports_no_counters_and_no_profiles() -> None:
    code = "import compactctl.cli.group, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {
        name.split(".")[1] for name in done.stdout.split() if name.startswith("compactctl.")
    }
    assert packages & {"tokens", "profiles", "stages"} == set(), _LATER


def test_check_imports_nothing_of_what_carries_a_compaction_out() -> None:
    found = _imported("check", SMALL)
    unneeded = {"pipeline.run", "commands.planning.plan", "stages.registry", "summaries"}
    assert found & {f"compactctl.{name}" for name in unneeded} == set(), _LATER


@pytest.mark.parametrize("command", ["stats", "check"])
def test_commands_that_measure_one_file_import_no_room_of_another_command(
    command: str,
) -> None:
    names = [name.split(".") for name in _imported(command, SMALL)]
    rooms = {name[2] for name in names if name[:2] == ["compactctl", "commands"] and name[2:]}
    assert "measuring" in rooms
    assert rooms & {"batch", "compact", "lab", "rewind"} == set(), _LATER


@pytest.mark.parametrize("shown_as", [(), ("--json",)])
def test_what_only_looks_at_the_cache_reads_no_transcript(shown_as: tuple[str, ...]) -> None:
    found = _imported("show", "cache", *shown_as)
    packages = {name.split(".")[1] for name in found if name.startswith("compactctl.")}
    assert packages & {"formats", "history", "profiles", "stages"} == set(), _LATER


def test_the_help_of_batch_imports_nothing_that_runs_a_stage_or_writes_a_file() -> None:
    found = _imported("batch", "--help")
    unneeded = {
        "commands.batch.row",
        "store.publish",
        "summaries.digest",
        "summaries.document.offline",
    }
    assert found & {f"compactctl.{name}" for name in unneeded} == set(), _LATER
