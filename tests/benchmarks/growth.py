"""How the time of ``compact`` and ``eval`` grows with sessions of thousands of the same thing.

One file read again and again, one result repeated, all calls in one turn, nothing but branches; for
``eval`` names, rules and lines that are all different, and one endless line.


Run: ``python tests/benchmarks/growth.py [--share 1.0] [--only reads …]``. Writes each session in
two sizes, the second four times the first, and prints the CPU seconds of the command on both and
their ratio: 4 is linear, 16 quadratic. What the program takes to start is taken off.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

FACTOR = 4
LONG = " and much more of it" * 20
COMPACT = ("compact", "-n", "--stages", "repair,dedup,prune,drop")
EVAL = ("lab", "eval", "--stages", "repair", "--keep", "0.3")
# Requests of a session that ``eval`` cuts.
REQUESTS = 40
Record = dict[str, Any]


def main() -> None:
    """Measure the sessions named on the command line, all without names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--only", nargs="*", default=list(SESSIONS), choices=list(SESSIONS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only:
            draw, largest, arguments = SESSIONS[name]
            start = seconds(Path(folder, "nothing.jsonl"), branches(1), arguments)
            n = int(largest * given.share)
            small, large = (
                seconds(Path(folder, f"{name}-{size}.jsonl"), draw(size), arguments) - start
                for size in (n // FACTOR, n)
            )
            print(f"{name:9s} {n // FACTOR:>7,}: {small:6.2f} s   {n:>7,}: {large:6.2f} s", end="")
            print(f"   x{large / small:.1f} for {FACTOR} times as many", flush=True)


def seconds(path: Path, records: Iterator[Record], arguments: Sequence[str]) -> float:
    """Write a session and return the CPU seconds of a command on it."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    given = (*arguments, str(path), "--counter", "chars/4")
    command = [sys.executable, "-m", "compactctl", *given]
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    path.unlink()
    return after.children_user + after.children_system - before[2] - before[3]


def reads(n: int) -> Iterator[Record]:
    """One file read ``n`` times, each time with another line in it."""
    yield from answered(
        n, lambda at: f"     1\tkeep\n     2\tline {at}{LONG}\n", "Read", "/src/a.py"
    )


def duplicates(n: int) -> Iterator[Record]:
    """The same result ``n`` times."""
    yield from answered(n, lambda _: "the same long answer " * 20, "Read", "/src/a.py")


def answered(n: int, result: Callable[[int], str], tool: str, path: str) -> Iterator[Record]:
    """Turns of one call and its result each."""
    parent = None
    for at in range(n):
        asked = {
            "type": "tool_use",
            "id": f"toolu_{at}",
            "name": tool,
            "input": {"file_path": path},
        }
        given = {"type": "tool_result", "tool_use_id": f"toolu_{at}", "content": result(at)}
        for role, block in (("assistant", asked), ("user", given)):
            uuid = f"{role}-{at}"
            yield record(uuid, parent, role, [block])
            parent = uuid


def calls(n: int) -> Iterator[Record]:
    """One request of a person, and ``n`` calls of other files after it."""
    yield record("question", None, "user", "Read all files, please.")
    for index, each in enumerate(answered(n, lambda at: f"text {at}", "Read", "")):
        block = each["message"]["content"][0]
        if block["type"] == "tool_use":
            block["input"] = {"file_path": f"/src/{index}.py"}
        yield {**each, "parentUuid": each["parentUuid"] or "question"}


def branches(n: int) -> Iterator[Record]:
    """``n`` answers to one request, of which the newest counts."""
    yield record("question", None, "user", "Which way?")
    for at in range(n):
        yield record(f"answer-{at}", "question", "assistant", [{"type": "text", "text": f"{at}"}])


def record(uuid: str, parent: str | None, role: str, content: object) -> Record:
    """One record of Claude Code."""
    message = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"msg_{uuid}", "model": "gpt-5"}
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": role,
        "message": message,
        "uuid": uuid,
        "sessionId": "growth",
        "timestamp": "2026-03-24T08:00:00.000Z",
    }


def names(n: int) -> Iterator[Record]:
    """``n`` names in lines of their own, some of which later calls repeat."""
    yield from taken_up(lambda at: "\n".join(_named(at, row) for row in range(n // REQUESTS)))


def one_line(n: int) -> Iterator[Record]:
    """The same names in lines that do not end."""
    yield from taken_up(lambda at: " ".join(_named(at, row) for row in range(n // REQUESTS)))


def rules(n: int) -> Iterator[Record]:
    """``n`` rules of a person."""
    told = " ".join(f"Never touch {_named(0, row)}." for row in range(n))
    yield record("question", None, "user", told)
    for each in taken_up(lambda at: "\n".join(_named(at, row) for row in range(50))):
        yield {**each, "parentUuid": each["parentUuid"] or "question"}


def taken_up(result: Callable[[int], str]) -> Iterator[Record]:
    """Results, and calls each of which repeats a line of an earlier one."""
    for index, each in enumerate(answered(REQUESTS, result, "Edit", "/src/a.py")):
        block = each["message"]["content"][0]
        if block["type"] == "tool_use":
            block["input"] = {"file_path": "/src/a.py", "old_string": _named(index // 4, 1)}
        yield each


def _named(at: int, row: int) -> str:
    return f"name_{at}_{row} is set to value_{row} here"


SESSIONS: dict[str, tuple[Callable[[int], Iterator[Record]], int, Sequence[str]]] = {
    "reads": (reads, 30_000, COMPACT),
    "duplicates": (duplicates, 50_000, COMPACT),
    "calls": (calls, 100_000, COMPACT),
    "branches": (branches, 200_000, COMPACT),
    "names": (names, 80_000, EVAL),
    "one line": (one_line, 80_000, EVAL),
    "rules": (rules, 80_000, EVAL),
}

if __name__ == "__main__":
    main()
