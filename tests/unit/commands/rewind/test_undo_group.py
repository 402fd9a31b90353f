"""One group comes back; all else stays as it was, whatever ids records have."""

import json
from pathlib import Path

import pytest
from file_commands import load_file, rewind_file
from formats.claude_code.sessions import answered, called, user
from formats.claude_code.sessions import said as spoken
from unit.commands.conversations import (
    append,
    group_of,
    jsonl,
    log_of,
    said,
    saved,
    squeeze,
    turn,
    turns,
    words,
)

from compactctl.errors import UsageError
from compactctl.history.pairs import find_orphans


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", turns(0, 1, 2, 3))


def in_effect(path: Path) -> list[str]:
    return [g.id for e in log_of(path).operations if e.in_effect for g in e.groups]


def test_the_only_group_taken_back_is_a_rewind(path: Path) -> None:
    result = squeeze(path, "truncate")
    taken = rewind_file(path, group=group_of(result, "truncate"))
    assert path.read_bytes() == jsonl(turns(0, 1, 2, 3))
    assert taken.undone == (result.change.operation,)
    assert taken.in_effect == ()


def test_the_other_groups_of_an_operation_stay(path: Path) -> None:
    result = squeeze(path, "prune", "truncate")
    pruned, truncated = (group_of(result, name) for name in ("prune", "truncate"))
    before = said(path)
    rewind_file(path, group=truncated)
    assert in_effect(path) == [pruned]
    assert said(path).count("[Tool result") == 4
    rewind_file(path, to=result.change.operation)
    assert said(path) == before
    rewind_file(path, group=pruned)
    assert in_effect(path) == [truncated]
    assert "file 3" in said(path)


def test_later_operations_are_carried_out_again(path: Path) -> None:
    first = squeeze(path, "prune")
    more = append(path, turn(4))
    second = squeeze(path, "summarize")
    latest = append(path, turn(5))
    rewind_file(path, group=group_of(first, "prune"))
    assert in_effect(path) == [group_of(second, "summarize")]
    assert not find_orphans(load_file(path).transcript.effective)
    assert "[Tool result" not in said(path)
    assert said(path)[-4:] == ["prompt 5", 'read_file{"path": "f5.py"}', "file 5", "answer 5"]
    rewind_file(path, all=True)
    assert path.read_bytes() == jsonl(turns(0, 1, 2, 3)) + more + latest


def test_of_equal_messages_the_right_one_stays_hidden(path: Path) -> None:
    again = {"role": "user", "content": "go on"}
    talk = [*turn(0), again, *turn(1), again, *turn(2), again, *turn(3)]
    saved(path, talk)
    first = squeeze(path, "collapse")
    append(path, [*turn(4), again, *turn(5)])
    second = squeeze(path, "truncate")
    hidden_twice = said(path)
    rewind_file(path, group=group_of(first, "collapse"))
    left = said(path)
    assert in_effect(path) == [group_of(second, "truncate")]
    assert [text for text in hidden_twice if text not in left] == []
    assert left[-5:] == hidden_twice[-5:]


def test_a_summary_of_a_summary_still_stands_where_it_did(path: Path) -> None:
    first = squeeze(path, "summarize")
    append(path, turns(4, 5))
    squeeze(path, "summarize")
    assert said(path)[0] == "[Previous conversation"
    before = load_file(path).transcript.effective
    rewind_file(path, group=group_of(first, "summarize"))
    after = load_file(path).transcript.effective
    assert sum(message.origin.is_summary for message in after) == 1
    assert len(after) > len(before)
    assert {m.id for m in before if not m.origin.is_summary} <= {m.id for m in after}


def test_a_stage_that_hides_a_marker_of_its_own_run_can_stay_alone(path: Path) -> None:
    result = squeeze(path, "prune", "truncate", "summarize")
    assert said(path)[0] == "[Previous conversation"
    rewind_file(path, group=group_of(result, "prune"))
    assert said(path)[0] == "[Previous conversation"
    rewind_file(path, all=True)
    assert path.read_bytes() == jsonl(turns(0, 1, 2, 3))


def test_records_with_their_own_ids_keep_their_chain(path: Path) -> None:
    text = words(40)
    saved(
        path,
        [
            user("u1", None, f"one {text}"),
            called("a1", "u1", "c1"),
            answered("r1", "a1", "c1", text),
            user("u2", "r1", f"two {text}"),
            spoken("a2", "u2", f"three {text}"),
            user("u3", "a2", f"four {text}"),
            spoken("a3", "u3", f"five {text}"),
        ],
    )
    first = squeeze(path, "prune")
    second = squeeze(path, "truncate")
    rewind_file(path, group=group_of(first, "prune"))
    assert in_effect(path) == [group_of(second, "truncate")]
    assert said(path)[-3:] == ["three word", "four word", "five word"]


@pytest.mark.parametrize("tags", [True, False])
def test_layout_and_tags_stay_those_of_the_operation(path: Path, *, tags: bool) -> None:
    result = squeeze(path, "prune", "truncate", tags=tags)
    rewind_file(path, group=group_of(result, "prune"))
    assert (b"truncationId" in path.read_bytes()) == tags


def test_an_inline_operation_with_an_archive_stays_inline(path: Path) -> None:
    result = squeeze(path, "prune", "truncate", layout="inline")
    rewind_file(path, group=group_of(result, "prune"))
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert sum("truncationParent" in record for record in records) > 0
    assert not any("editParent" in record for record in records)
    rewind_file(path, all=True)
    assert path.read_bytes() == jsonl(turns(0, 1, 2, 3))


def test_a_group_that_only_edits_what_is_hidden_comes_back_too(path: Path) -> None:
    result = squeeze(path, "microcompact", "window", tags=False)
    compacted, cleared = path.read_bytes(), group_of(result, "microcompact")
    assert rewind_file(path, group=cleared).moved
    assert path.read_bytes() == compacted
    rewind_file(path, group=group_of(result, "window"))
    assert path.read_bytes() == jsonl(turns(0, 1, 2, 3))


def test_taking_a_group_back_can_be_undone(path: Path) -> None:
    result = squeeze(path, "prune", "truncate")
    compacted = path.read_bytes()
    rewind_file(path, group=group_of(result, "truncate"))
    rewind_file(path, to=result.change.operation)
    assert path.read_bytes() == compacted


def test_rewinding_after_a_group_came_back_adds_nothing(path: Path) -> None:
    first = squeeze(path, "prune")
    second = squeeze(path, "truncate")
    more = append(path, turn(4))
    rewind_file(path, group=group_of(first, "prune"))
    rewind_file(path, to=second.change.operation)
    rewind_file(path, all=True)
    assert path.read_bytes() == jsonl(turns(0, 1, 2, 3)) + more


def test_an_unknown_group_is_refused_with_those_there_are(path: Path) -> None:
    result = squeeze(path, "truncate")
    with pytest.raises(UsageError, match=group_of(result, "truncate")):
        rewind_file(path, group="nonsense")


def test_a_group_is_taken_back_before_lines_after_an_unterminated_one(path: Path) -> None:
    first = jsonl(turns(0, 1, 2)) + b'{"role": "user", "content": ""}'
    path.write_bytes(first)
    result = squeeze(path, "truncate")
    more = append(path, turn(3))
    rewind_file(path, group=group_of(result, "truncate"))
    assert path.read_bytes() == first + b"\n" + more
