"""Each command's result has every output, and another output is an entry here and no more."""

import shutil
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest
from cli.asking import SERVERS

from compactctl.cli.group import COMMANDS
from compactctl.views.registry import OUTPUTS, PAGES, RESULTS, function_at

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

# Results that say nothing on standard error.
SILENT = {
    "VerifyResult",
    "CacheResult",
    "StagesResult",
    "ProfilesResult",
    "ModelsResult",
    "ConfigResult",
    "HookResult",
    "StatusLineResult",
    "Overflow",
    "ChunksResult",
    "LimitOutputResult",
    "FileBudgetResult",
}

# Another output, which says what it was asked to show.
PLAIN = """
def plain(result):
    return f"{type(result).__name__} in plain words"

def print_plain(text, *, error):
    print(text, flush=True)
"""

WITH_PLAIN = """
from importlib import import_module

import compactctl.views
from compactctl.views.registry import OUTPUTS, RESULTS, Output

compactctl.views.__path__.append(".")
from compactctl.views.all import plain

for module, name in (place.split(":") for place in RESULTS.values()):
    setattr(import_module(f"compactctl.views.{module}"), f"{name}_plain", plain)
OUTPUTS["plain"] = Output(suffix="plain", print="all:print_plain", help="Print plain words.")

from compactctl.__main__ import run

for command, arguments in RUNS.items():
    run([command, *arguments, "--plain"])
"""


def test_another_output_needs_its_views_and_a_row_and_reaches_every_command(
    tmp_path: Path,
) -> None:
    assert set(RUNS) == set(COMMANDS) - SERVERS
    shutil.copy(SAMPLES / "openai-chat.jsonl", tmp_path / "run.jsonl")
    (tmp_path / "all.py").write_text(PLAIN)
    code = f"RUNS = {RUNS!r}\n{WITH_PLAIN}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True, text=True
    )
    shown = done.stdout.splitlines()
    assert len(shown) == len(RUNS), done.stderr
    assert list(dict.fromkeys(shown)) == [f"{name} in plain words" for name in RESULTS]


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_view_for_every_output_that_takes_its_type(name: str) -> None:
    views = [f"{RESULTS[name]}_{output.suffix}" for output in OUTPUTS.values()]
    if has_messages(name):
        views.append(f"{RESULTS[name]}_messages")
    if name in PAGES:
        views.append(f"{PAGES[name]}_page")
    for place in views:
        taken, *_ = signature(function_at(place)).parameters.values()
        assert taken.annotation.__name__ == name, (
            f"compactctl/views: {place} shows a {name}; annotate its first parameter with that type"
        )


def test_what_is_said_on_standard_error_is_found_by_its_name() -> None:
    assert {name for name in RESULTS if not has_messages(name)} == SILENT, (
        f"add a function <result>_messages to the file of its views, or the type to SILENT in "
        f"{Path(__file__).name}"
    )


def has_messages(name: str) -> bool:
    module, _, begins = RESULTS[name].partition(":")
    return hasattr(import_module(f"compactctl.views.{module}"), f"{begins}_messages")


def test_an_output_is_printed_by_a_function_that_is_there() -> None:
    for output in OUTPUTS.values():
        assert "error" in signature(function_at(output.print)).parameters, (
            f"compactctl/views: {output.print} needs a parameter error, for standard error"
        )
