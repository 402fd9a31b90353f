"""What is shown and told of a compacted transcript: view, log, explanations, originals."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file, rewind_file
from store.archive.forging import change_rows
from unit.commands.conversations import (
    TALK,
    append,
    group_of,
    jsonl,
    log_of,
    saved,
    squeeze,
    turn,
    turns,
    view_of,
)

from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.operations.states import originals_of
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.proof import expected_messages, prove_layout
from compactctl.errors import ArchiveError, ChangedError, IntegrityError
from compactctl.model.message import Message, MessageId
from compactctl.stages.support.condensation import with_originals
from compactctl.store.archive.archive import archive_folder
from compactctl.store.files.source import digest_of, split_lines
from compactctl.tokens.budget import TargetSize
from compactctl.tokens.meter import part_texts


def originals(path: Path) -> list[list[str]]:
    """Return the first word and number of the messages behind each summary."""
    loaded = load_file(path)
    found = others(originals_of(loaded, history_behind(loaded))).values()
    return [
        [part_texts(m.parts[0])[0][:8] for m in messages if m.role == "user"] for messages in found
    ]


def others(known: Mapping[MessageId, tuple[Message, ...]]) -> dict[str, tuple[Message, ...]]:
    """Return the originals of messages that stand for others than themselves."""
    return {name: found for name, found in known.items() if [m.id for m in found] != [name]}


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_the_messages_behind_a_summary_are_found(path: Path, layout: str) -> None:
    assert originals(path) == []
    squeeze(path, "summarize", layout=layout)
    assert originals(path) == [["prompt 0", "prompt 1", "prompt 2", "prompt 3"]]


@pytest.mark.parametrize("layouts", [("split", "split"), ("inline", "inline"), ("inline", "split")])
def test_behind_a_summary_of_a_summary_are_the_first_messages(
    path: Path, layouts: tuple[str, str]
) -> None:
    squeeze(path, "summarize", layout=layouts[0])
    append(path, turns(4, 5))
    squeeze(path, "summarize", layout=layouts[1])
    (found,) = originals(path)
    assert found == [f"prompt {n}" for n in range(6)]


def stood_for(path: Path) -> list[str]:
    """Return all that is said by what the messages of a transcript stand for."""
    loaded = load_file(path)
    known = originals_of(loaded, history_behind(loaded))
    messages = with_originals(loaded.transcript.effective, known)
    return ["".join(t for p in m.parts for t in part_texts(p)) for m in messages]


@pytest.mark.parametrize("layouts", [("split", "split"), ("inline", "inline"), ("inline", "split")])
@pytest.mark.parametrize(
    "stages",
    [
        ("prune", "summarize"),
        ("truncate", "summarize"),
        ("prune", "prune"),
        ("summarize", "truncate"),
        ("dedup", "microcompact"),
    ],
)
def test_whatever_stages_took_away_is_known(
    path: Path, stages: tuple[str, ...], layouts: tuple[str, str]
) -> None:
    before = stood_for(path)
    squeeze(path, stages[0], layout=layouts[0])
    assert stood_for(path) == before
    before += stood_for(saved(path.with_name("more.jsonl"), turns(4, 5)))
    append(path, turns(4, 5))
    squeeze(path, stages[1], layout=layouts[1])
    assert stood_for(path) == before


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_what_was_hidden_between_others_comes_back_in_its_place(path: Path, layout: str) -> None:
    plan = PlanOptions(
        stages=("prioritize",),
        target=TargetSize(value=120, unit="tokens"),
        settings={"prioritize": {"weights": ("tool_results=1", "tool_calls=1")}},
    )
    before = stood_for(path)
    squeeze(path, plan=plan, layout=layout)
    assert stood_for(path) == before
    before += stood_for(saved(path.with_name("more.jsonl"), turns(4, 5)))
    append(path, turns(4, 5))
    squeeze(path, plan=plan, layout="split")
    assert stood_for(path) == before


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_what_a_person_dropped_does_not_return(path: Path, layout: str) -> None:
    plan = PlanOptions(stages=("drop",), settings={"drop": {"tools": ("read_file",)}})
    squeeze(path, plan=plan, layout=layout)
    append(path, turns(4))
    squeeze(path, "summarize", layout=layout)
    assert [text[:6] for text in stood_for(path)].count("prompt") == 5
    assert [text.split()[:2] for text in stood_for(path) if text.startswith("file")] == [
        ["file", "4"]
    ]


def test_what_was_tagged_by_hand_does_not_return(path: Path) -> None:
    marker = {"role": "user", "content": "cut", "truncationId": "t", "isTruncationMarker": True}
    cut = [record | {"truncationParent": "t"} for record in TALK[:4]]
    saved(path, [marker, *cut, *TALK[4:]])
    squeeze(path, "summarize")
    assert "prompt 0" not in "".join(stood_for(path))
    assert "prompt 1" in "".join(stood_for(path))


def test_where_a_rewritten_message_is_gone_nothing_is_taken_for_its_original(path: Path) -> None:
    squeeze(path, "prune")
    lines = path.read_bytes().splitlines(keepends=True)
    (first, *_) = (n for n, line in enumerate(lines) if b"editId" in line)
    copy = path.with_name("copy.jsonl")
    copy.write_bytes(b"".join(lines[:first] + lines[first + 1 :]))
    loaded = load_file(copy)
    assert others(originals_of(loaded, history_behind(load_file(path)))) == {}


def test_messages_beside_a_summary_on_its_line_are_not_behind_it(path: Path) -> None:
    saved(path, [{"messages": TALK}])
    squeeze(path, "summarize")
    assert originals(path) == [["prompt 0", "prompt 1", "prompt 2", "prompt 3"]]


def test_a_view_of_all_holds_every_line_there_ever_was(path: Path) -> None:
    first = squeeze(path, "prune")
    more = append(path, turn(4))
    second = squeeze(path, "truncate")
    shown = view_of(path, "all")
    untagged = {
        line.data.split(b',"editParent"')[0].split(b',"truncationParent"')[0]
        for line in shown.lines
    }
    for line in (jsonl(TALK) + more).splitlines(keepends=True):
        assert line in untagged or line.rstrip(b"}\n") in untagged
    hidden = {line.hidden_by for line in shown.lines} - {None}
    assert hidden == {group_of(first, "prune"), group_of(second, "truncate")}
    visible = [line.data for line in shown.lines if line.hidden_by is None]
    assert b"".join(visible) == path.read_bytes()


def test_archived_lines_say_what_hides_them(path: Path) -> None:
    result = squeeze(path, "prune", "truncate")
    shown = view_of(path, "archived")
    for line in shown.lines:
        record = json.loads(line.data)
        assert line.hidden_by in (record.get("truncationParent"), record.get("editParent"))
    stages = {message.hidden.stage for message in shown.messages if message.hidden}
    assert stages == {"prune", "truncate"}
    assert len(shown.lines) == sum(r.hidden for r in result.stages) + 2


def test_a_document_over_many_lines_can_be_viewed_whole(path: Path) -> None:
    path.write_text(json.dumps({"messages": TALK}, indent=1))
    squeeze(path, "truncate")
    shown = view_of(path, "all")
    assert [line.hidden_by is None for line in shown.lines] == [False, True]
    assert shown.lines[1].data == path.read_bytes()


def test_the_effective_view_is_what_is_sent(path: Path) -> None:
    squeeze(path, "truncate", layout="inline")
    shown = view_of(path)
    loaded = load_file(path)
    assert [item.message for item in shown.messages] == list(loaded.transcript.effective)
    assert all(line.data in loaded.lines for line in shown.lines)


def test_the_log_lists_groups_with_what_they_held(path: Path) -> None:
    result = squeeze(path, "prune", "truncate")
    (entry,) = log_of(path).operations
    found = {group.id: group for group in entry.groups}
    truncated = found[group_of(result, "truncate")]
    assert (truncated.stage, truncated.messages) == ("truncate", result.stages[1].hidden)
    assert found[group_of(result, "prune")].messages == result.stages[0].replaced == 4
    assert entry.in_effect
    rewind_file(path)
    first, second = log_of(path).operations
    assert second.operation is not None
    assert (first.in_effect, second.operation.kind) == (False, "rewind")


def test_the_log_lists_all_groups_of_a_document(path: Path) -> None:
    path.write_text(json.dumps({"messages": TALK}, indent=1))
    result = squeeze(path, "prune", "truncate")
    (entry,) = log_of(path).operations
    assert {g.id for g in entry.groups} == {group_of(result, s) for s in ("prune", "truncate")}


def test_the_log_counts_what_was_appended(path: Path) -> None:
    squeeze(path, "truncate")
    assert log_of(path).appended_bytes == 0
    more = append(path, turn(4))
    assert log_of(path).appended_bytes == len(more)


def test_the_log_of_an_inline_file_lists_what_is_in_it(path: Path) -> None:
    out = path.with_name("inline.jsonl")
    result = squeeze(path, "truncate", output=str(out), layout="inline")
    (entry,) = log_of(out).operations
    assert (entry.step.id, entry.in_effect) == (result.change.operation, True)
    assert [group.id for group in entry.groups] == [group_of(result, "truncate")]
    assert digest_of(entry.step.before()) == result.before
    assert entry.step.after == result.change.after


def test_a_damaged_history_is_not_glossed_over(path: Path) -> None:
    squeeze(path, "truncate")
    (archive,) = archive_folder(path).glob("*.parquet")
    archive.write_bytes(archive.read_bytes()[:-20])
    for look in (
        lambda: log_of(path),
        lambda: view_of(path, "all"),
    ):
        with pytest.raises(ArchiveError):
            look()


def test_edits_that_cannot_be_understood_are_told_with_their_file(path: Path) -> None:
    squeeze(path, "truncate")
    (archive,) = archive_folder(path).glob("*.parquet")
    change_rows(archive, lambda rows: rows[0].update(edits="[{}]"))
    for look in (
        lambda: log_of(path),
        lambda: view_of(path, "all"),
    ):
        with pytest.raises(ArchiveError, match=re.escape(f"{archive}: its edits")):
            look()


def test_an_edited_transcript_has_no_known_past(path: Path) -> None:
    squeeze(path, "truncate")
    path.write_bytes(path.read_bytes().replace(b"prompt", b"Prompt"))
    with pytest.raises(ChangedError):
        view_of(path, "all")


def test_every_message_is_explained(path: Path) -> None:
    result = squeeze(path, "prune", "truncate", explain=True)
    fates = [row.fate for row in result.requested.fates]
    assert fates.count("written") == 1
    assert fates.count("hidden") == result.stages[1].hidden
    assert {"kept", "rewritten"} <= set(fates)
    assert all(row.reason for row in result.requested.fates)
    assert sum(row.tokens for row in result.requested.fates) == result.outcome.before.tokens
    assert sum(row.tokens_after for row in result.requested.fates) == result.outcome.after.tokens


def test_a_file_that_does_not_say_what_was_meant_is_not_written(path: Path) -> None:
    loaded = load_file(path)
    expected = expected_messages(loaded.transcript.effective)

    def prove(data: bytes) -> None:
        prove_layout(split_lines(data), loaded.format, expected, str(path))

    prove(jsonl(TALK))
    with pytest.raises(IntegrityError, match="15 messages instead of 16"):
        prove(jsonl(TALK[:-1]))
    with pytest.raises(IntegrityError, match=r"message 1 \(line 1\) differs"):
        prove(jsonl([TALK[3], *TALK[1:]]))


def chat(path: Path, *conversations: list[dict[str, Any]]) -> Path:
    """Save conversations, one per line."""
    return saved(path, [{"messages": messages} for messages in conversations])


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_of_many_messages_on_a_line_those_that_are_hidden_are_archived(
    path: Path, layout: str
) -> None:
    chat(path, TALK, turns(7))
    before = [message.id for message in load_file(path).transcript.effective]
    squeeze(path, "truncate", layout=layout)
    after = [message.id for message in load_file(path).transcript.effective]
    archived = view_of(path, "archived").messages
    assert [item.message.id for item in archived] == [name for name in before if name not in after]
    assert {item.message.tags.truncation_parent for item in archived} == {
        item.hidden and item.hidden.group for item in archived
    }
    shown = view_of(path, "all").messages
    assert [item.message.id for item in shown if item.hidden is None] == after
    assert len(shown) == len(archived) + len(after)


def test_a_rewritten_message_is_shown_as_it_was_beside_its_neighbors_on_the_line(
    path: Path,
) -> None:
    chat(path, TALK)
    result = squeeze(path, "prune")
    archived = view_of(path, "archived").messages
    assert len(archived) == result.stages[0].replaced
    hidden = [item.hidden for item in archived if item.hidden is not None]
    assert [item.message.tags.edit_parent for item in archived] == [by.group for by in hidden]
    assert {by.stage for by in hidden} == {"prune"}


def test_what_a_client_kept_at_its_compaction_can_be_looked_up_again(tmp_path: Path) -> None:
    sample = Path(__file__).parents[4] / "sample_transcripts" / "codex-session.jsonl"
    path = Path(shutil.copy(sample, tmp_path / "rollout.jsonl"))
    before = load_file(path).transcript.effective
    squeeze(path, "truncate")
    after = {message.id for message in load_file(path).transcript.effective}
    hidden = [message.id for message in before if message.id not in after]
    shown = [item.message.id for item in view_of(path, "archived").messages]
    assert [message for message in shown if message in hidden] == hidden


def test_what_was_hidden_inline_stays_hidden_after_another_compaction(path: Path) -> None:
    squeeze(path, "truncate", layout="inline")
    hidden = [item.message.id for item in view_of(path, "archived").messages]
    append(path, turns(4, 5))
    squeeze(path, "prune")
    archived = [item.message.id for item in view_of(path, "archived").messages]
    assert set(hidden) < set(archived)
    assert len(set(archived)) == len(archived)


def summary(name: str, inside: str | None) -> dict[str, Any]:
    """Return a record that sums a group up, itself hidden in another one."""
    record = {"role": "user", "content": f"summary {name}", "condenseId": name}
    return record if inside is None else record | {"condenseParent": inside}


@pytest.mark.parametrize("copies", [1, 2])
def test_summaries_of_summaries_are_followed_once_however_deep(path: Path, copies: int) -> None:
    depth = 3_000
    records = [summary("g0", None)]
    for n in range(1, depth):
        records += [summary(f"g{n}", f"g{n - 1}")] * copies
    last = {"role": "user", "content": "prompt 0", "condenseParent": f"g{depth - 1}"}
    saved(path, [*records, last, {"role": "assistant", "content": "yes"}])
    (found,) = originals(path)
    assert "prompt 0" in found
    assert len(found) <= 1 + (copies - 1) * depth


def test_summaries_of_one_another_are_followed_once(path: Path) -> None:
    records = [summary("a", "b"), summary("b", "a"), summary("a", None)]
    saved(path, [*records, {"role": "assistant", "content": "yes"}])
    assert originals(path) == []
