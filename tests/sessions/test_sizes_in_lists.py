"""The size that a list shows, read from the end of a file, is that of stats."""

import json
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cli.asking import SAMPLES, Ask
from sessions.bundled_sessions import ID, sample, session_in
from sessions.homes import Home, Said

from compactctl.commands.measuring.session_size import SessionSize, session_size

Record = dict[str, Any]
PROJECT = Said().project
# More than lists read of a session as a whole.
STEPS = 120
TEXT = "the tide tables of the quay, berth by berth; " * 40


class Talk:
    """A long session of Claude Code, record by record."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._numbers = count()
        self._parent: str | None = None
        self._context = 20_000

    def add(self, role: str, content: object, **fields: Any) -> None:
        """Add a record below the last one."""
        uuid = f"{next(self._numbers):08}-0000-4000-8000-000000000000"
        message = {"role": role, "content": content, **fields.pop("message", {})}
        record = {"type": role, "uuid": uuid, "parentUuid": self._parent, "sessionId": ID,
                  "cwd": PROJECT, "isSidechain": False, "version": "2.1.200",
                  "message": message, **fields}  # fmt: skip
        self.records.append(record)
        self._parent = uuid

    def answer(self, name: str, *blocks: Record, **fields: Any) -> None:
        """Add a response, a record per block, as the client writes them."""
        self._context += 600
        usage = {"input_tokens": 3, "cache_read_input_tokens": self._context,
                 "cache_creation_input_tokens": 0, "output_tokens": 90}  # fmt: skip
        about = {"id": name, "model": "claude-sonnet-4-5-20250929", "usage": usage}
        for block in blocks:
            self.add("assistant", [block], message=about, **fields)

    def step(self, name: str, n_calls: int = 1, **fields: Any) -> None:
        """Add a response with calls, and their results."""
        calls = [f"{name}-{number}" for number in range(n_calls)]
        self.answer(name, *map(called, calls), **fields)
        for call in calls:
            self.add("user", [result(call)], **fields)

    def steps(self, number: int) -> None:
        """Add steps with one call each."""
        for _ in range(number):
            self.step(f"msg_{len(self.records)}")


def called(name: str) -> Record:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "ls"}}


def result(name: str, text: str = TEXT) -> Record:
    return {"type": "tool_result", "tool_use_id": name, "content": text}


def begun() -> Talk:
    talk = Talk()
    talk.add("user", "Mend the tide windows")
    talk.steps(STEPS)
    return talk


def plain() -> Talk:
    return begun()


def cleared_for_a_while() -> Talk:
    talk = begun()
    talk.add("system", "", subtype="microcompact_boundary")
    talk.steps(STEPS)
    return talk


def with_a_gap() -> Talk:
    talk = begun()
    talk.records[STEPS]["parentUuid"] = "ffffffff-0000-4000-8000-000000000000"
    talk.steps(STEPS)
    return talk


def ended_in_a_subagent() -> Talk:
    talk = begun()
    talk.answer("msg_task", called("task"))
    talk.add("user", "Look at each berth", isSidechain=True, parentUuid=None)
    for number in range(STEPS):
        talk.step(f"side_{number}", isSidechain=True)
    return talk


def ended_in_reasoning() -> Talk:
    talk = begun()
    talk.answer("msg_last", {"type": "thinking", "thinking": "Hm. " * 200, "signature": "s" * 300})
    return talk


def ended_in_many_calls() -> Talk:
    talk = begun()
    talk.step("msg_many", n_calls=STEPS)
    return talk


TALKS = (
    plain, cleared_for_a_while, with_a_gap, ended_in_a_subagent, ended_in_reasoning,
    ended_in_many_calls,
)  # fmt: skip


def whole(data: bytes) -> bytes:
    return data


def torn(data: bytes) -> bytes:
    return data[:-700]


def unterminated(data: bytes) -> bytes:
    return data.removesuffix(b"\n")


def with_carriage_returns(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")


def with_a_long_line(data: bytes) -> bytes:
    noise = {"type": "progress", "uuid": "p", "data": {"output": "x" * (1 << 20)}}
    return data + json.dumps(noise).encode() + b"\n"


def with_empty_lines(data: bytes) -> bytes:
    return data + b"\n" * 5_000


ENDS = (whole, torn, unterminated, with_carriage_returns, with_a_long_line, with_empty_lines)


def size_and_stats(ask: Ask, path: Path, client: str) -> tuple[SessionSize, int]:
    size = session_size(session_in(path, client))
    assert size is not None
    tokens: int = ask("stats", path, "--json").json["estimatedInputTokens"]
    return size, tokens


def agrees(size: SessionSize, tokens: int) -> bool:
    match size.certainty:
        case "exact":
            return size.tokens == tokens
        case "at least":
            return 0.9 * tokens < size.tokens <= tokens
        case "about":
            return abs(size.tokens - tokens) < 0.05 * tokens


@pytest.mark.parametrize("ended", ENDS)
@pytest.mark.parametrize("talk", TALKS)
def test_a_list_shows_what_stats_counts(
    tmp_path: Path, ask: Ask, talk: Callable[[], Talk], ended: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(ended(lines_of(talk().records)))
    size, tokens = size_and_stats(ask, path, "claude-code")
    assert agrees(size, tokens), (size, tokens)


@pytest.mark.parametrize("ended", ENDS)
@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_so_it_does_of_a_bundled_session(
    tmp_path: Path, ask: Ask, client: str, ended: Callable[[bytes], bytes]
) -> None:
    for data in (sample(client), (SAMPLES / f"{client}-session.jsonl").read_bytes()):
        path = tmp_path / "run.jsonl"
        path.write_bytes(ended(data))
        size, tokens = size_and_stats(ask, path, client)
        assert agrees(size, tokens), (size, tokens)


@pytest.mark.parametrize("ended", ENDS)
@pytest.mark.parametrize("is_report_first", [True, False])
def test_reports_of_codex_are_of_the_answer_that_they_belong_to(
    tmp_path: Path, ask: Ask, ended: Callable[[bytes], bytes], *, is_report_first: bool
) -> None:
    records = [
        enveloped("session_meta", id=ID, cwd=PROJECT, cli_version="0.58.0"),
        enveloped("response_item", type="message", role="user",
                  content=[{"type": "input_text", "text": "Mend the tide windows"}]),
    ]  # fmt: skip
    context = 9_000
    for number in range(STEPS):
        n_words = 50 + 400 * (number % 2)
        name, text = f"call_{number}", "quay " * n_words
        usage = {"input_tokens": context, "output_tokens": n_words}
        context += 2 * n_words + 30
        total = {"total_tokens": 9_000 * (number + 1)}
        info = {"last_token_usage": usage, "total_token_usage": total,
                "model_context_window": 258_400}  # fmt: skip
        report = enveloped("event_msg", type="token_count", info=info)
        answer = enveloped("response_item", type="function_call", name="shell",
                           arguments=json.dumps({"command": text}), call_id=name)  # fmt: skip
        output = enveloped("response_item", type="function_call_output", call_id=name, output=text)
        records += [report, answer, output] if is_report_first else [answer, output, report]
    path = tmp_path / "run.jsonl"
    path.write_bytes(ended(lines_of(records)))
    size, tokens = size_and_stats(ask, path, "codex")
    assert agrees(size, tokens), (size, tokens)


def enveloped(kind: str, **payload: Any) -> Record:
    return {"timestamp": "2026-01-02T03:04:05.006Z", "type": kind, "payload": payload}


@pytest.mark.parametrize("stages", ["dedup", "distill", "truncate", "prune"])
def test_so_it_does_after_a_compaction_and_a_rewind(home: Home, ask: Ask, stages: str) -> None:
    path = home.root / ".claude/projects/-home-dev-quayside" / f"{ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(lines_of(begun().records))
    for command in ("compact", "rewind"):
        options = ("--stages", stages, "--in-place", "--force") if command == "compact" else ()
        assert ask(command, path, *options).code == 0
        size, tokens = size_and_stats(ask, path, "claude-code")
        assert agrees(size, tokens), (command, size, tokens)


def lines_of(records: Sequence[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)
