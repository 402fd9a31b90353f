"""What NeuroLink and Roo Code hid by tags is listed, undone by group, and compacted upon."""

import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, load_file, rewind_file
from formats.neurolink_talk import note
from unit.commands.conversations import log_of

from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.rewind.rewind import RewindResult
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.tokens.budget import TargetSize

Record = dict[str, Any]


def summary(name: str, **fields: object) -> Record:
    metadata = {"isSummary": True}
    return note(
        f"s-{name}", "user", f"Summary {name}", condenseId=name, metadata=metadata, **fields
    )


def marker(name: str) -> Record:
    tags = {"truncationId": name, "isTruncationMarker": True}
    return note(f"t-{name}", "user", "[truncated]", metadata={"truncated": True}, **tags)


# What its own tests do: two messages behind a summary, which goes behind an outer one; a marker.
NESTED = [
    note("m1", "user", "one", condenseParent="inner"),
    note("m2", "assistant", "two", condenseParent="inner"),
    summary("inner", condenseParent="outer"),
    note("m3", "user", "three", condenseParent="outer"),
    summary("outer"),
    note("m4", "assistant", "four", truncationParent="cut"),
    marker("cut"),
    note("m5", "user", "five"),
    note("m6", "assistant", "six", metadata={"modelUsed": "m"}),
]


def written(folder: Path, records: list[Record], **style: Any) -> Path:
    path = folder / "talk.jsonl"
    path.write_text("".join(f"{json.dumps(each, **style)}\n" for each in records))
    return path


def shown(path: Path) -> list[str]:
    return [message.id for message in load_file(path).transcript.effective]


def without(path: Path, group: str) -> RewindResult:
    return rewind_file(path, group=group, in_place=True)


@pytest.mark.parametrize(
    "style", [{}, {"separators": (",", ":")}, {"indent": None, "sort_keys": True}]
)
@pytest.mark.parametrize(
    ("group", "left"),
    [
        ("cut", ["s-outer", "m4", "m5", "m6"]),
        ("outer", ["s-inner", "m3", "t-cut", "m5", "m6"]),
        ("inner", ["m1", "m2", "s-outer", "t-cut", "m5", "m6"]),
    ],
)
def test_a_group_is_undone_and_had_again(
    group: str, left: list[str], style: dict[str, Any], tmp_path: Path
) -> None:
    path = written(tmp_path, NESTED, **style)
    before = path.read_bytes()
    without(path, group)
    assert shown(path) == left
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert group not in json.dumps(records)
    bare = {"condenseParent", "truncationParent"}
    kept = [r for r in NESTED if group not in (r.get("condenseId"), r.get("truncationId"))]
    assert records == [
        {key: value for key, value in r.items() if key not in bare or value != group} for r in kept
    ]
    rewind_file(path)
    assert path.read_bytes() == before


def test_groups_are_listed_by_their_tags(tmp_path: Path) -> None:
    listed = log_of(written(tmp_path, NESTED)).by_client
    assert [(each.id, each.what, len(each.hidden), each.in_effect) for each in listed] == [
        ("inner", "summarized", 2, False),
        ("outer", "summarized", 2, True),
        ("cut", "truncated", 1, True),
    ]


def test_a_group_of_an_untouched_file_needs_a_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name an output file with -o, or use --in-place"):
        rewind_file(written(tmp_path, NESTED), group="cut")


def test_a_tagged_transcript_is_compacted_and_its_groups_are_undone_after_that(
    tmp_path: Path,
) -> None:
    talk = [note(f"n{n}", ("user", "assistant")[n % 2], f"word {n} " * 60) for n in range(20)]
    path = written(tmp_path, [*NESTED, *talk])
    before = path.read_bytes()
    plan = PlanOptions(stages=("truncate",), target=TargetSize(value=1_500, unit="tokens"))
    compact_file(path, plan=plan, protect=ProtectOptions(keep_turns=0), in_place=True)
    compacted = shown(path)
    assert len(compacted) < 20
    assert "m4" not in compacted
    without(path, "cut")
    assert "m4" in shown(path)
    for _ in range(2):
        rewind_file(path)
    assert path.read_bytes() == before


def test_roo_codes_document_is_undone_by_group(tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": [{"type": "text", "text": "one"}], "ts": 1},
        {"role": "assistant", "content": "two", "ts": 2, "truncationParent": "cut"},
        {"role": "user", "content": "[Sliding window]", "ts": 3, "truncationId": "cut",
         "isTruncationMarker": True},
        {"role": "assistant", "content": "four", "ts": 4},
    ]  # fmt: skip
    path = tmp_path / "api_conversation_history.json"
    path.write_text(json.dumps(said))
    without(path, "cut")
    assert json.loads(path.read_text()) == [
        said[0], {"role": "assistant", "content": "two", "ts": 2}, said[3],
    ]  # fmt: skip
