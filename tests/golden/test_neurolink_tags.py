"""NeuroLink's effective history and tags, case by case.

T numbers are those of NeuroLink's own tests. A case that encodes a defect of NeuroLink, or that
the safe rule answers differently, stands in a table of deviations with its reason, and what
compactctl does is asserted.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, rewind_file
from formats.jsonl import read, write_lines
from golden.trying import Deviation

from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.protection import ProtectOptions
from compactctl.model.summary import SummaryInputs


def tagged(count: int, **tags: Any) -> list[dict[str, Any]]:
    return [{"id": f"t{n}", "role": "user", "content": f"{n}", **tags} for n in range(count)]


def plain(start: int, count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"msg-{n}", "role": "user", "content": f"{n}", "metadata": {"stepIndex": n}}
        for n in range(start, start + count)
    ]


SUMMARY = {
    "id": "s1", "role": "user", "content": "short", "condenseId": "c1",
    "metadata": {"isSummary": True},
}  # fmt: skip
MARKER = {
    "id": "k1", "role": "user", "content": "gone", "truncationId": "k1", "isTruncationMarker": True,
    "metadata": {"truncated": True},
}  # fmt: skip


def effective(*records: dict[str, Any]) -> list[str]:
    return [message.id for message in read("neurolink", *records).effective]


def test_t20_no_tags() -> None:
    assert len(effective(*plain(0, 5))) == 5


def test_t22_a_summary_or_marker_stands_for_what_it_hides() -> None:
    condensed = [*tagged(2, condenseParent="c1"), SUMMARY, *plain(2, 3)]
    assert effective(*condensed) == ["s1", "msg-2", "msg-3", "msg-4"]
    truncated = [*tagged(2, truncationParent="k1"), MARKER, *plain(2, 3)]
    assert effective(*truncated) == ["k1", "msg-2", "msg-3", "msg-4"]


def test_i12_forty_messages_with_ten_condensed() -> None:
    assert len(effective(*tagged(10, condenseParent="c1"), SUMMARY, *plain(10, 30))) == 31


ORPHANED_TAGS = Deviation(3, 5, "what points to no summary is shown, with a warning")


def test_t21_tags_that_point_to_nothing() -> None:
    for tag in ("condenseParent", "truncationParent"):
        found = read("neurolink", *tagged(2, **{tag: "gone"}), *plain(2, 3))
        assert len(found.effective) == ORPHANED_TAGS.ours
        assert (
            "2 messages carry a tag whose summary or marker is missing; they are shown"
            in found.warnings[0]
        )


def test_an_inner_summary_keeps_its_messages_hidden_when_the_outer_one_goes() -> None:
    outer = {**SUMMARY, "id": "s2", "condenseId": "c2"}
    inner = [*tagged(2, condenseParent="c1"), {**SUMMARY, "condenseParent": "c2"}]
    assert effective(*inner, outer, *plain(2, 1)) == ["s2", "msg-2"]
    assert effective(*tagged(2, condenseParent="c1"), SUMMARY, *plain(2, 1)) == ["s1", "msg-2"]


@pytest.mark.parametrize(("stage", "tag"), [("summarize", "condense"), ("truncate", "truncation")])
def test_t23_and_t24_tags_are_written_and_taken_back(stage: str, tag: str, tmp_path: Path) -> None:
    path, output = tmp_path / "run.jsonl", tmp_path / "out.jsonl"
    records = [{**one, "content": f"{one['content']} " * 90} for one in plain(0, 10)]
    write_lines(path, *records)
    texts = SummaryInputs(summary="In short.")
    compact_file(
        path,
        output=output,
        layout="inline",
        plan=PlanOptions(stages=(stage,), texts=texts),
        protect=ProtectOptions(keep_turns=0),
    )
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    parents = {line["id"] for line in lines if line.get(f"{tag}Parent")}
    first = 0 if stage == "summarize" else 2
    assert parents == {f"msg-{n}" for n in range(first, first + len(parents))}
    (written,) = [line for line in lines if line.get(f"{tag}Id")]
    assert {line[f"{tag}Parent"] for line in lines if line["id"] in parents} == {
        written[f"{tag}Id"]
    }
    rewind_file(output, group=written[f"{tag}Id"])
    assert output.read_bytes() == path.read_bytes()
