"""Files of next to nothing, in every format: each command answers, or says why it cannot.

A change is tried with three kinds of each format; COMPACTCTL_LONG_TESTS=1 tries all of them.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli.asking import DOCUMENTED, Ask
from formats.jsonl import file_lines
from real.choice import SMALLEST, chosen, name_of

NO_INPUT = {3, 4}
COMMANDS = (
    ("stats", "--details"), ("check",), ("view", "--all"), ("compact",),
    ("compact", "-n", "--stages", "dedup,prune,summarize,truncate"), ("log",), ("verify",),
    ("rewind",), ("batch",), ("rescue", "-n"), ("simulate",), ("eval",), ("audit",), ("prompt",),
    ("chunks",),
)  # fmt: skip


def nothing(lines: list[bytes]) -> bytes:  # noqa: ARG001
    return b""


def first_line(lines: list[bytes]) -> bytes:
    return lines[0]


def first_line_torn(lines: list[bytes]) -> bytes:
    return lines[0][: len(lines[0]) // 2]


def torn_line_behind(lines: list[bytes]) -> bytes:
    return lines[0].rstrip(b"\n") + b"\n" + lines[-1][: len(lines[-1]) // 2] + b"\n"


def without_texts(lines: list[bytes]) -> bytes:
    """Return the first records with their texts empty."""
    return _changed(lines[:4], lambda value: "" if isinstance(value, str) else value)


def without_elements(lines: list[bytes]) -> bytes:
    """Return the first records with their lists empty."""
    return _changed(lines[:4], lambda value: [] if isinstance(value, list) else value)


def without_values(lines: list[bytes]) -> bytes:
    return _changed(lines[:4], lambda _: None)


def last_line(lines: list[bytes]) -> bytes:
    return lines[-1]


_WORDS = frozenset({"type", "role", "kind", "message_type", "id", "uuid", "sessionId", "version"})


def _changed(lines: list[bytes], change: Callable[[Any], Any]) -> bytes:
    """Return lines with other values, but for the words by which formats are recognized."""

    def inside(value: Any) -> Any:
        new = change(value)
        if new is not value and not isinstance(value, Mapping):
            return new
        if isinstance(value, Mapping):
            return {
                name: inner if name in _WORDS and isinstance(inner, str) else inside(inner)
                for name, inner in value.items()
            }
        return [inside(inner) for inner in value] if isinstance(value, list) else value

    changed = []
    for line in lines:
        try:
            changed.append(json.dumps(inside(json.loads(line))).encode() + b"\n")
        except ValueError:
            changed.append(line)
    return b"".join(changed)


KINDS = {
    kind.__name__: kind
    for kind in (
        nothing, first_line, first_line_torn, torn_line_behind, without_texts, without_elements,
        without_values, last_line,
    )
}  # fmt: skip


@pytest.mark.parametrize("path", SMALLEST, ids=name_of)
def test_every_command_answers(ask: Ask, tmp_path: Path, path: Path) -> None:
    lines = file_lines(path)
    for kind in chosen(tuple(KINDS), name_of(path), 3):
        file = tmp_path / kind / path.name
        file.parent.mkdir()
        file.write_bytes(KINDS[kind](lines))
        for command, *options in COMMANDS:
            outcome = ask(command, file, *options)
            case = (kind, command, options, outcome.code, outcome.out, outcome.err)
            assert outcome.code in DOCUMENTED, case
            assert outcome.out or outcome.err, case
            assert "nan" not in outcome.out.split(), case
            if outcome.code in NO_INPUT and not outcome.out:
                assert path.name in outcome.err, case
                assert outcome.err.count("\n") == 1, case
