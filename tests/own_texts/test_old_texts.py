"""What version 0.1.0 wrote is understood, and is written in the new form the next time.

The samples are of one invented session: a list without tags for each kind of text, and a session
with tags and an archive.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from compactctl import compact_messages
from compactctl.library.transcripts import compact
from compactctl.model.own_texts import HandOver, OwnDigest, decode, find_own_texts

HERE = Path(__file__).resolve().parent / "old"
COUNTS = {
    "digest": 64, "in-place": 45, "nine": 45, "six": 45, "recursive": 65, "plain": 62, "minimal": 66
}  # fmt: skip
WORDS = ("- never touch src/legacy/tides.py", "The local one. Always write times in UTC.")


def sample(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text().splitlines()]


def own_in(messages: list[dict[str, Any]]) -> list[OwnDigest | HandOver]:
    texts = (message.get("content") for message in messages)
    found = (find_own_texts(text).texts for text in texts if isinstance(text, str))
    return [own for each in found for own in each if isinstance(own, OwnDigest | HandOver)]


def work(number: int) -> list[dict[str, Any]]:
    call = {"name": "Bash", "arguments": json.dumps({"command": f"cat log_{number}.txt"})}
    calls = [{"id": f"w{number}", "type": "function", "function": call}]
    output = "\n".join(
        f"line {row} of log {number}: berth {row * number % 97}" for row in range(80)
    )
    return [
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": f"w{number}", "content": output},
    ]


@pytest.mark.parametrize("name", COUNTS)
def test_it_is_told_from_what_people_said(name: str) -> None:
    (own,) = own_in(sample(name))
    assert own.count == COUNTS[name]
    assert own.encode() not in [message.get("content") for message in sample(name)]


@pytest.mark.parametrize("stage", ["distill", "summarize", "recursive", "chunk", "plain"])
@pytest.mark.parametrize("name", COUNTS)
def test_the_next_text_takes_it_up(name: str, stage: str) -> None:
    later = [step for number in range(30) for step in work(number)]
    messages = [*sample(name), *later, {"role": "user", "content": "Go on with that."}]
    after = list(compact_messages(messages, model="gpt-4.1", stages=[stage], target=3_000))
    (own,) = own_in(after)
    assert own.count > COUNTS[name]
    text = next(text for m in after if "earlier messages" in (text := str(m.get("content"))))
    assert decode(own.encode()) == own
    assert own.encode() in text
    shown = WORDS if name != "in-place" else tuple(words for words in WORDS if words in text)
    quoted = [line for line in text.split("\n") if not line.lstrip().startswith("> ")]
    for words in shown:
        assert [line for line in quoted if line.endswith(words)]
    assert "> > " not in text


def test_with_an_archive_it_is_written_anew_from_the_originals(tmp_path: Path) -> None:
    path = shutil.copytree(HERE / "tagged", tmp_path / "tagged") / "session.jsonl"
    with path.open("a") as stream:
        stream.writelines(json.dumps(step) + "\n" for n in range(30) for step in work(n))
    compact(path, in_place=True, stages=["distill"], keep="15%")
    (own,) = own_in([json.loads(line) for line in path.read_text().splitlines()])
    assert own.count > COUNTS["digest"]
    assert "[L2] user\n| Port the berth planner to the new tide table.\n" in own.encode()
