"""Complete agents run against a server that refuses what the API refuses."""

import importlib.util
import re
from functools import partial
from pathlib import Path
from typing import Any

import openai
import pytest
from conftest import ROOT
from library.strict_server import StrictServer, serving

from compactctl import Compactor
from compactctl.__main__ import run

RULE = "Read all the parts and find out why the build fails; never touch prod.yaml."
PARTS = 40
AGENT = ROOT / "docs" / "examples" / "agent.py"
CALLS = [("read_file", {"path": f"part_{number}.txt"}) for number in range(PARTS)]


def part(number: int) -> str:
    return "\n".join(f"part {number}, step {n}: compiled module_{number}_{n}.c" for n in range(70))


def assert_sound(server: StrictServer, *, too_large: int) -> None:
    assert len(server.requests) == PARTS + 1
    assert server.refusals == []
    assert len(server.too_large) == too_large
    assert all(RULE in str(request) for request in server.requests)
    # Between cuts a request begins with the one before, so that the cache holds it.
    pairs = zip(server.requests, server.requests[1:], strict=False)
    assert sum(after[: len(before)] != before for before, after in pairs) <= 12


@pytest.mark.parametrize(("believed", "too_large"), [(12_000, 0), (24_000, 1)])
def test_the_loop_of_the_library_page(believed: int, too_large: int) -> None:
    page = (ROOT / "docs" / "library.md").read_text()
    lines = next(b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if ".fit(" in b)

    def run_tool(call: Any) -> dict[str, Any]:
        number = int(re.findall(r"\d+", call.function.arguments)[0])
        return {"role": "tool", "tool_call_id": call.id, "content": part(number)}

    with serving(StrictServer(window=12_000, calls=CALLS)) as server:
        client = openai.OpenAI(base_url=server.url, api_key="-", max_retries=0)
        names = {
            "Compactor": partial(Compactor, window=believed),
            "openai": openai,
            "client": client,
            "partial": partial,
            "messages": [{"role": "user", "content": RULE}],
            "TOOLS": [],
            "run_tool": run_tool,
        }
        lines = lines.replace("from compactctl import Compactor\n", "")
        exec(lines.replace(", tools=TOOLS", ""), names)  # noqa: S102 - the page's own lines
    assert_sound(server, too_large=too_large)


def test_the_complete_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(AGENT.read_text().splitlines()) < 60
    for number in range(PARTS):
        (tmp_path / f"part_{number}.txt").write_text(part(number))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "-")
    spec = importlib.util.spec_from_file_location("agent", AGENT)
    assert spec is not None
    assert spec.loader is not None
    agent = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(agent)
    monkeypatch.setattr(agent, "Compactor", partial(Compactor, window=12_000))
    with serving(StrictServer(window=12_000, calls=CALLS)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert agent.main(RULE) == "All parts are read."
    assert_sound(server, too_large=0)
    [archive] = tmp_path.glob("agent-*.jsonl")
    assert run(["rewind", str(archive)]) == 0
    assert archive.read_text().count("compiled module_0_") == 70
