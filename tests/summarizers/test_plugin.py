"""Summaries through the ``llm`` package: absent, or with a model of a plugin."""

import re
import sys
import threading
from pathlib import Path

import pytest

from compactctl.errors import UsageError
from compactctl.extras import install_command
from compactctl.llm.ask import NoAnswerError
from compactctl.llm.plugin import plugin_asker

# What the package looks like from here, with models of its own.
PACKAGE = """
import time

class UnknownModelError(KeyError): pass

class Response:
    def __init__(self, text): self._text = text
    def text(self): return self._text

class Options:
    model_fields = {"temperature": None, "top_k": None}

class Local:
    Options = Options
    def prompt(self, prompt, stream, **options):
        if prompt == "sleep": time.sleep(60)
        if prompt == "fill": raise MemoryError
        if prompt == "break": raise RuntimeError("out\\nof memory")
        return Response(f"{prompt} {stream} {options}")

class Service(Local):
    needs_key = "somewhere"

def get_model(name):
    if name not in ("local", "service"): raise UnknownModelError(name)
    return Local() if name == "local" else Service()
"""


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "llm.py").write_text(PACKAGE)
    monkeypatch.delitem(sys.modules, "llm", raising=False)
    monkeypatch.syspath_prepend(tmp_path)


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llm", None)
    with pytest.raises(UsageError, match=re.escape(install_command("llm>=0.19"))):
        plugin_asker("local", timeout=9)


@pytest.mark.usefixtures("_installed")
def test_a_model_gets_the_options_it_has() -> None:
    assert plugin_asker("local", timeout=9)("prompt", 5).text == "prompt False {'temperature': 0}"


@pytest.mark.usefixtures("_installed")
def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(UsageError, match="no such model; see llm models"):
        plugin_asker("other", timeout=9)


@pytest.mark.usefixtures("_installed")
def test_a_model_behind_a_service_needs_leave() -> None:
    with pytest.raises(UsageError, match="--allow-network"):
        plugin_asker("service", timeout=9)
    assert plugin_asker("service", timeout=9, allow_network=True)("x", 1).text.startswith("x")


@pytest.mark.usefixtures("_installed")
def test_whatever_a_plugin_raises_is_no_answer() -> None:
    with pytest.raises(NoAnswerError, match="RuntimeError: out of memory"):
        plugin_asker("local", timeout=9)("break", 1)


@pytest.mark.usefixtures("_installed")
def test_a_plugin_that_runs_out_of_memory_ends_the_program() -> None:
    with pytest.raises(MemoryError):
        plugin_asker("local", timeout=9)("fill", 1)


@pytest.mark.usefixtures("_installed")
def test_a_model_that_takes_too_long_gives_no_answer() -> None:
    with pytest.raises(NoAnswerError, match=r"no answer within 0\.1 seconds"):
        plugin_asker("local", timeout=0.1)("sleep", 1)
    # At its end Python waits for threads that are not daemons.
    waited_for = [thread for thread in threading.enumerate() if not thread.daemon]
    assert waited_for == [threading.main_thread()]
