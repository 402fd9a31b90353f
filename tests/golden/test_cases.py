"""Cases out of the systems' documents: a talk, a command line, and what has to come of it.

``case.toml`` holds the ``source``, the arguments of ``run`` and the ``talk``, which is written as
NeuroLink writes it: groups of messages, each group so many ``times``; a text is repeated up to its
``chars``, and ``{n}`` in it counts messages. ``expect`` are fields of the JSON document by their
path, ``contains`` texts in them, ``most`` what they may come to at the most. What a compaction
wrote is restored to the byte.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from formats.jsonl import write_lines

from compactctl.__main__ import run

CASES = Path(__file__).parent / "cases"
NAMES = sorted(str(each.parent.relative_to(CASES)) for each in CASES.glob("*/*/case.toml"))


def records(talk: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    count = 0
    for group in talk:
        for _ in range(group.get("times", 1)):
            for message in group["messages"]:
                text = message.get("text", "").replace("{n}", str(count))
                chars = message.get("chars", len(text))
                made = {"id": f"m{count}", "role": message["role"]}
                more = {key: message[key] for key in ("tool", "args", "metadata") if key in message}
                yield {**made, **more, "content": (text * (chars // max(1, len(text)) + 1))[:chars]}
                count += 1


def found_at(document: Mapping[str, Any], path: str) -> Any:
    def within(value: Any, key: str) -> Any:
        return value[int(key)] if isinstance(value, list) else value[key]

    return reduce(within, path.split("."), document)


@pytest.mark.parametrize("name", NAMES)
def test_case(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    case = tomllib.loads((CASES / name / "case.toml").read_text())
    source = write_lines(tmp_path / "talk.jsonl", *records(case["talk"]))
    settings = tmp_path / "settings.toml"
    settings.write_text(case.get("profile", ""))
    arguments = [str(settings) if each == "PROFILE" else each for each in case["run"]]
    code = run([*arguments, str(source), "--format", "neurolink", "--json"])
    captured = capfd.readouterr()
    assert code == case.get("code", 0), captured.err
    document = json.loads(captured.out)
    for path, value in case.get("expect", {}).items():
        assert found_at(document, path) == value, path
    for path, value in case.get("most", {}).items():
        assert found_at(document, path) <= value, path
    for path, value in case.get("contains", {}).items():
        assert value in found_at(document, path), path
    written = tmp_path / "talk.compacted.jsonl"
    if written.exists():
        assert run(["rewind", str(written), "-o", str(tmp_path / "back.jsonl")]) == 0
        assert (tmp_path / "back.jsonl").read_bytes() == source.read_bytes()
