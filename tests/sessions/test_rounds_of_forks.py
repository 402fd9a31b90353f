"""A forked session begins with a copy of another: what that sent is in none of its totals."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from formats.jsonl import write_lines
from sessions.homes import Home
from sessions.long_sessions import WRITERS, forked

SENT, ANSWER = 9_000, 50
PARENT = datetime(2026, 5, 1, 10, tzinfo=UTC)
FORKED = PARENT + timedelta(hours=2)
Line = Mapping[str, Any]


def stamp(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def minutes(start: datetime, number: int) -> datetime:
    return start + timedelta(minutes=number)


def original_times(number: int) -> datetime:
    return minutes(PARENT, number)


def one_moment(_: int) -> datetime:
    return FORKED


def over_seconds(number: int) -> datetime:
    """Copying a long session takes a while, although every record follows at once."""
    return FORKED + timedelta(milliseconds=40 * number)


def codex(
    path: Path, copied: int, sent: int, copy_time: Callable[[int], datetime] = one_moment
) -> None:
    def line(time: datetime, kind: str, payload: Line) -> Line:
        return {"timestamp": stamp(time), "type": kind, "payload": payload}

    def header(name: str, time: datetime, **more: object) -> Line:
        payload = {"id": name, "timestamp": stamp(time), "cwd": "/w", "cli_version": "0.142.0"}
        return line(FORKED, "session_meta", {**payload, **more})

    def message(time: datetime, role: str, text: str) -> Line:
        kind = "input_text" if role == "user" else "output_text"
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return line(time, "response_item", payload)

    n_rounds = count(1)

    def round_lines(asked: datetime, answered: datetime, text: str) -> Sequence[Line]:
        usage = {"input_tokens": SENT, "output_tokens": ANSWER, "total_tokens": SENT + ANSWER}
        next_total = next(n_rounds)
        total = {name: next_total * tokens for name, tokens in usage.items()}
        info = {"last_token_usage": usage, "total_token_usage": total}
        return (
            message(asked, "user", f"Build {text}"),
            message(answered, "assistant", f"{text} is built"),
            line(answered, "event_msg", {"type": "token_count", "info": info}),
        )

    records = [header("fork", FORKED, forked_from_id="parent"), header("parent", PARENT)]
    for number in range(copied):
        answered = copy_time(2 * number + (copy_time is original_times))
        records += round_lines(copy_time(2 * number), answered, f"quay {number}")
    for number in range(sent):
        asked = minutes(FORKED, 5 + number)
        records += round_lines(asked, asked + timedelta(seconds=9), f"pilot {number}")
    write_lines(path, *records)


def with_original_times(path: Path, copied: int, sent: int) -> None:
    codex(path, copied, sent, original_times)


def copied_slowly(path: Path, copied: int, sent: int) -> None:
    codex(path, copied, sent, over_seconds)


def times(copied: int, sent: int) -> Sequence[datetime]:
    return (
        *(minutes(PARENT, number) for number in range(copied)),
        *(minutes(FORKED, 1 + number) for number in range(sent)),
    )


def pi(path: Path, copied: int, sent: int) -> None:
    header = {
        "type": "session",
        "version": 3,
        "id": "fork",
        "cwd": "/w",
        "parentSession": "p.jsonl",
    }
    records: list[Line] = [{**header, "timestamp": stamp(FORKED)}]
    parent = None
    usage = {"input": SENT, "output": ANSWER, "cacheRead": 0, "cacheWrite": 0}
    for number, time in enumerate(times(copied, sent)):
        for role in ("user", "assistant"):
            message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": "Quay."}]}
            if role == "assistant":
                message |= {"model": "m", "usage": usage}
            name = f"{role[0]}{number:07}"
            entry = {"type": "message", "id": name, "parentId": parent, "message": message}
            records.append({**entry, "timestamp": stamp(time)})
            parent = name
    write_lines(path, *records)


def opencode(path: Path, copied: int, sent: int) -> None:
    messages = []
    tokens = {"input": SENT, "output": ANSWER, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    for number, time in enumerate(times(copied, sent)):
        for at, role in enumerate(("user", "assistant")):
            created = int(time.timestamp() * 1000) + at
            info: dict[str, object] = {
                "id": f"msg_{number:03}{at}",
                "role": role,
                "sessionID": "ses_f",
            }
            info |= {"time": {"created": created}}
            info |= {"modelID": "m", "tokens": tokens} if at else {}
            part = {"id": f"prt_{number:03}{at}", "type": "text", "text": "Quay."}
            messages.append({"info": info, "parts": [part]})
    session: dict[str, object] = {"id": "ses_f", "directory": "/w", "version": "1.18.33"}
    session |= {"title": "Tides (fork #1)"}
    session |= {"time": {"created": int(FORKED.timestamp() * 1000), "updated": 1}}
    path.write_text(json.dumps({"info": session, "messages": messages}))


def claude(path: Path, copied: int, sent: int) -> None:
    records: list[Line] = []
    parent = None
    for number, time in enumerate(times(copied, sent)):
        origin = {"forkedFrom": {"sessionId": "p", "messageUuid": "m"}} if number < copied else {}
        for role in ("user", "assistant"):
            message: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": "Quay."}]}
            if role == "assistant":
                usage = {"input_tokens": SENT, "output_tokens": ANSWER}
                message |= {"id": f"msg_{number}", "model": "claude-sonnet-4-5", "usage": usage}
                message["stop_reason"] = "end_turn"
            name = f"{role}{number}"
            records.append(
                {"type": role, "uuid": name, "parentUuid": parent, "sessionId": "s",
                 "isSidechain": False, "timestamp": stamp(time), "message": message, **origin}
            )  # fmt: skip
            parent = name
    write_lines(path, *records)


def qwen(path: Path, copied: int, sent: int) -> None:
    records: list[Line] = []
    parent = None
    for number, time in enumerate(times(copied, sent)):
        origin = {"forkedFrom": {"sessionId": "p", "messageUuid": "m"}} if number < copied else {}
        for role, kind in (("user", "user"), ("model", "assistant")):
            message = {"role": role, "parts": [{"text": "Quay."}]}
            counts = {"promptTokenCount": SENT, "totalTokenCount": SENT + ANSWER}
            usage = {"usageMetadata": counts} if role == "model" else {}
            name = f"{role}{number}"
            records.append(
                {"uuid": name, "parentUuid": parent, "sessionId": "s", "cwd": "/w", "type": kind,
                 "version": "0.24.4", "timestamp": stamp(time), "message": message,
                 **origin, **usage}
            )  # fmt: skip
            parent = name
    write_lines(path, *records)


FORKS = (codex, with_original_times, copied_slowly, pi, opencode, claude, qwen)


@pytest.mark.parametrize("copied", [1, 4, 40])
@pytest.mark.parametrize("sent", [0, 1, 3])
@pytest.mark.parametrize("write", FORKS)
def test_totals_hold_what_the_session_sent_itself(
    ask: Ask, tmp_path: Path, write: Callable[[Path, int, int], None], copied: int, sent: int
) -> None:
    path = tmp_path / "fork.jsonl"
    write(path, copied, sent)
    document = ask("stats", path, "--rounds", "--prices", "builtin", "--json").json
    totals = document["roundTotals"]
    assert (totals["rounds"], totals["copiedRounds"]) == (sent, copied)
    assert (totals["sentTokens"], totals["outputTokens"]) == (sent * SENT, sent * ANSWER)
    assert ["copied" in row["marks"] for row in document["rounds"]] == [True] * copied + [
        False
    ] * sent
    assert not any(row["cost"] for row in document["rounds"][:copied])
    shown = ask("stats", path, "--rounds").out
    assert ("of the parent session" in shown) is (copied > 0)


@pytest.mark.parametrize("client", ["claude-code", "qwen-code"])
def test_a_session_that_compactctl_forked_has_sent_nothing_yet(
    home: Home, ask: Ask, client: str
) -> None:
    path = WRITERS[client](home)
    assert ask("stats", path, "--rounds", "--json").json["roundTotals"]["rounds"] == 1
    fork = forked(ask, path)["output"]
    assert ask("rewind", fork).code == 0
    totals = ask("stats", fork, "--rounds", "--json").json["roundTotals"]
    assert (totals["rounds"], totals["copiedRounds"]) == (0, 1)


def test_a_session_that_names_its_parent_in_no_record_has_sent_all(
    ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    codex(path, 3, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    header = json.loads(lines[0])
    del header["payload"]["forked_from_id"]
    path.write_bytes(b"".join((json.dumps(header).encode() + b"\n", *lines[2:])))
    assert ask("stats", path, "--rounds", "--json").json["roundTotals"]["rounds"] == 5
