"""Each command's result has every output, and another output is an entry here and no more."""

import re
import subprocess
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from compactctl.views.registry import OUTPUTS, PACKAGE, PAGES, RESULTS, function_at

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

run(["show", "stages", "--plain"])
run(["harness", "overflow", "prompt is too long", "--plain"])
"""


def test_another_output_needs_its_views_and_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all.py").write_text(PLAIN)
    words = [sys.executable, "-c", WITH_PLAIN]
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    shown = ["StagesResult in plain words", "Overflow in plain words"]
    assert done.stdout.splitlines() == shown, done.stderr


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_a_view_for_every_output_that_takes_its_type(name: str) -> None:
    views = [f"{RESULTS[name]}_{output.suffix}" for output in OUTPUTS.values()]
    if has_messages(name):
        views.append(f"{RESULTS[name]}_messages")
    if name in PAGES:
        views.append(f"{PAGES[name]}_page")
    for place in views:
        module, _, function = place.partition(":")
        assert hasattr(import_module(f"{PACKAGE}.{module}"), function), (
            f"compactctl/views/{module.replace('.', '/')}.py: add {function}, which takes a {name}:"
            " RESULTS in compactctl/views/registry.py says how its views begin"
        )
        taken, *_ = signature(function_at(place)).parameters.values()
        assert taken.annotation.__name__ == name, (
            f"compactctl/views: {place} shows a {name}; annotate its first parameter with that type"
        )


def test_what_is_said_on_standard_error_is_found_by_its_name() -> None:
    for module in {place.partition(":")[0] for place in RESULTS.values()}:
        own = import_module(f"{PACKAGE}.{module}")
        said = {
            f"{module}:{name}"
            for name, value in vars(own).items()
            if re.fullmatch(r"[a-z]\w*_messages", name) and value.__module__ == own.__name__
        }
        assert said <= {f"{place}_messages" for place in RESULTS.values()}, module


def has_messages(name: str) -> bool:
    module, _, begins = RESULTS[name].partition(":")
    return hasattr(import_module(f"{PACKAGE}.{module}"), f"{begins}_messages")


def test_an_output_is_printed_by_a_function_that_is_there() -> None:
    for output in OUTPUTS.values():
        assert "error" in signature(function_at(output.print)).parameters, (
            f"compactctl/views: {output.print} needs a parameter error, for standard error"
        )
