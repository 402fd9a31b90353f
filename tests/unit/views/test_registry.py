"""Each command's result has every output, and another output is an entry here and no more."""

import shutil
import subprocess
import sys
from dataclasses import fields
from inspect import signature
from pathlib import Path

import pytest
from cli.asking import SERVERS

from compactctl.cli.group import COMMANDS
from compactctl.views.registry import OUTPUTS, REPORTS, Report, function_at

SAMPLES = Path(__file__).parents[3] / "sample_transcripts"

# In this order: what is compacted first is looked at and rewound later.
RUNS = {
    "sessions": (),
    "rescue": ("run.jsonl", "-n"),
    "stats": ("run.jsonl",),
    "check": ("run.jsonl",),
    "compact": ("run.jsonl", "--target", "5k", "--explain"),
    "tag": ("run.jsonl", "--truncate", "2..20", "--widen", "-n"),
    "view": ("run.compacted.jsonl", "--full"),
    "explain": ("run.compacted.jsonl", "1"),
    "log": ("run.compacted.jsonl",),
    "rewind": ("run.compacted.jsonl", "--check"),
    "archives": (),
    "verify": ("run.compacted.jsonl",),
    "batch": ("run.jsonl", "--report", "batch.parquet"),
    "report": ("batch.parquet",),
    "cache": (),
    "audit": ("run.compacted.jsonl",),
    "simulate": ("run.jsonl", "--profile", "neurolink"),
    "eval": ("run.jsonl",),
    "stages": ("dedup",),
    "profiles": ("neurolink",),
    "models": ("gpt-4.1",),
    "config": ("stats",),
    "integrate": ("codex",),
    "hook": ("codex",),
    "statusline": (),
    "overflow": ("prompt is too long",),
    "prompt": ("run.jsonl",),
    "chunks": ("run.jsonl",),
    "limit-output": ("run.jsonl",),
    "file-budget": ("run.jsonl",),
}

# Another output, which says what it was asked to show.
PLAIN = """
def plain(result):
    return f"{type(result).__name__} in plain words"

def print_plain(text, *, error):
    print(text, flush=True)
"""

WITH_PLAIN = """
import sys
from dataclasses import asdict, dataclass

import compactctl.views
from compactctl.views.registry import OUTPUTS, REPORTS, Output, Report

@dataclass(frozen=True, kw_only=True)
class WithPlain(Report):
    plain: str = "plain.all:plain"

compactctl.views.__path__.append(".")
OUTPUTS["plain"] = Output(print="plain.all:print_plain", help="Print plain words.")
REPORTS.update({name: WithPlain(**asdict(report)) for name, report in REPORTS.items()})

from compactctl.__main__ import run

for command, arguments in RUNS.items():
    run([command, *arguments, "--plain"])
"""


def test_another_output_needs_a_folder_and_the_registry_and_reaches_every_command(
    tmp_path: Path,
) -> None:
    assert set(RUNS) == set(COMMANDS) - SERVERS
    shutil.copy(SAMPLES / "openai-chat.jsonl", tmp_path / "run.jsonl")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "all.py").write_text(PLAIN)
    code = f"RUNS = {RUNS!r}\n{WITH_PLAIN}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True, text=True
    )
    shown = done.stdout.splitlines()
    assert len(shown) == len(RUNS), done.stderr
    assert list(dict.fromkeys(shown)) == [f"{name} in plain words" for name in REPORTS]


def test_a_report_has_every_output() -> None:
    assert {field.name for field in fields(Report)} == {*OUTPUTS, "messages", "page"}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_made_from_the_type_it_is_registered_for(name: str) -> None:
    places = (getattr(REPORTS[name], field.name) for field in fields(Report))
    for place in filter(None, places):
        taken, *_ = signature(function_at(place)).parameters.values()
        assert taken.annotation.__name__ == name, place


def test_an_output_is_printed_by_a_function_that_is_there() -> None:
    for output in OUTPUTS.values():
        assert "error" in signature(function_at(output.print)).parameters
