"""Sessions of Claude Code in which records follow others that are not in the file any more."""

import json
from pathlib import Path
from typing import Any

import pytest
from formats.claude_code.sessions import Record, answered, attached, called, said, user
from formats.jsonl import texts
from formats.squeeze import plan

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import CompactOptions, CompactResult, compact
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.errors import IntegrityError
from compactctl.history.protection import ProtectOptions
from compactctl.pipeline.layout import Layout

NULS = b"\0" * 64
MARKER = "outside of the window"
HOOK: dict[str, Any] = {
    "content": ["Look at the tide table first. " * 30],
    "hookName": "SessionStart",
}


def turn(number: int, parent: str | None) -> list[Record]:
    name = str(number)
    return [
        user(f"u{name}", parent, f"Part {name}, please."),
        called(f"a{name}", f"u{name}", f"c{name}"),
        answered(f"r{name}", f"a{name}", f"c{name}", "The gate is open.\n" * 9),
        said(f"e{name}", f"r{name}", f"Part {name} is done."),
    ]


TALK = [*turn(0, None), *turn(1, "e0"), *turn(2, "e1"), *turn(3, "e2")]
HOOKS = [
    attached("h0", None, "hook_success", content="ready"),
    attached("h1", "h0", "hook_additional_context", **HOOK),
]


def written(folder: Path, *records: Record, end: bytes = b"") -> Path:
    """Write records a second apart, so that the client joins one without its parent to the last."""
    path = folder / "run.jsonl"
    timed = (
        {**record, "timestamp": f"2026-03-01T10:00:{second:02}.000Z"}
        for second, record in enumerate(records)
    )
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in timed) + end)
    return path


def windowed(path: Path, layout: Layout = "split", *, tags: bool = True) -> CompactResult:
    """Hide all but the newest messages behind a marker."""
    return compact(
        CompactOptions(
            input=InputOptions(path=str(path)),
            output=OutputOptions(path=str(path.with_name("out.jsonl")), layout=layout, tags=tags),
            recipe=Recipe(plan=plan(("window",)), protect=ProtectOptions(keep_turns=0)),
        )
    )


def check(path: Path, result: CompactResult) -> None:
    """Show that a marker stands first, and that all comes back."""
    out = path.with_name("out.jsonl")
    assert result.compacted, result.stages
    assert MARKER in texts(load(InputOptions(path=str(out))).transcript.effective)[0]
    rewind(RewindOptions(input=InputOptions(path=str(out))))
    assert out.read_bytes() == path.read_bytes()


WAYS = pytest.mark.parametrize(
    ("layout", "tags"), [("split", True), ("split", False), ("inline", True)]
)


@WAYS
def test_a_marker_stands_where_the_chain_begins_at_a_lost_record(
    layout: Layout, *, tags: bool, tmp_path: Path
) -> None:
    path = written(tmp_path, *(each for each in TALK if each["uuid"] != "u1"))

    check(path, windowed(path, layout, tags=tags))


@WAYS
def test_a_marker_stands_for_what_hung_beside_a_broken_chain(
    layout: Layout, *, tags: bool, tmp_path: Path
) -> None:
    path = written(tmp_path, *HOOKS, *turn(1, "lost")[1:])

    check(path, windowed(path, layout, tags=tags))


@WAYS
def test_a_marker_stands_right_before_a_record_behind_zeros(
    layout: Layout, *, tags: bool, tmp_path: Path
) -> None:
    last = json.dumps(said("e4", "e3", "All is done.")).encode() + b"\n"
    path = written(tmp_path, *TALK, end=NULS + last)

    check(path, windowed(path, layout, tags=tags))


@WAYS
def test_a_marker_stands_before_answers_of_one_response_that_follow_different_lost_records(
    layout: Layout, *, tags: bool, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        *HOOKS,
        called("a0", "lost", "c0", "response"),
        called("a1", "gone", "c1", "response"),
        answered("r1", "a1", "c1"),
        said("e1", "r1", "Done."),
    )

    check(path, windowed(path, layout, tags=tags))


def test_a_whole_file_that_would_not_read_back_is_a_bug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, *TALK)
    monkeypatch.setattr("compactctl.pipeline.layout._FileLayout._inserted_before", lambda *_: [])

    with pytest.raises(IntegrityError, match="please report"):
        windowed(path)
