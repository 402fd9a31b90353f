"""A file with several sessions, or with records in another order, is not compacted."""

from typing import Any

import pytest
from builders import conversation, user

from compactctl.commands.reading.transcript import check_one_session, format_field, recorded_format
from compactctl.errors import NotUnderstoodError
from compactctl.model.transcript import SessionLines, Transcript

MESSAGES = conversation(user("Hello"))


def transcript(**fields: Any) -> Transcript:
    return Transcript(
        format="claude-code", n_lines=9, n_bytes=9, messages=MESSAGES, effective=MESSAGES, **fields
    )


def refusal(path: str, **fields: Any) -> str:
    with pytest.raises(NotUnderstoodError) as refused:
        check_one_session(transcript(**fields), path)
    return str(refused.value)


def test_one_session_in_its_order_is_fine() -> None:
    check_one_session(transcript(), "run.jsonl")


@pytest.mark.parametrize(
    ("count", "more"), [(2, ""), (3, ""), (4, " and 1 more"), (9, " and 6 more")]
)
def test_several_sessions_are_named_with_their_first_lines(count: int, more: str) -> None:
    sessions = tuple(SessionLines(f"s{n}", 2 * n, 2 * n + 1) for n in range(count))
    said = refusal("run.jsonl", session_lines=sessions)
    names = ", ".join(f"s{n} from line {2 * n + 1}" for n in range(min(3, count)))
    assert said.startswith(f"run.jsonl: holds {count} sessions ({names}{more})")


def test_a_file_that_begins_with_the_newest_record_can_be_turned_round() -> None:
    assert "; turn it around: " in refusal("run.jsonl", order="newest first")
    other = refusal("run.jsonl", order="shuffled")
    assert "; export it again in that order" in other
    assert "turn it around" not in other


def test_sessions_in_turn_are_split_by_lines_and_others_by_their_ids() -> None:
    first, second = SessionLines("s 1", 0, 3), SessionLines("s2", 4, 8)
    assert refusal("run.jsonl", session_lines=(first, second)).endswith(
        "; split it: csplit -f session- run.jsonl 5"
    )
    mixed = refusal("run.jsonl", session_lines=(SessionLines("s 1", 0, 4), second))
    assert '== "s 1")' in mixed
    assert mixed.endswith(" > 's 1'.jsonl")
    assert "csplit" not in mixed


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ([], None),
        ([b'{"compactctl": {"format": "openai-chat:request.body"}}'], "openai-chat:request.body"),
        # Only what compactctl wrote counts, and only a format that there is.
        ([b'{"other": {"format": "openai-chat:request.body"}}'], None),
        ([b'{"compactctl": {"format": "no-format:x"}}'], None),
        (
            [
                b'{"compactctl": {"format": "no-format:x"}}',
                b'{"compactctl": {"format": "openai-chat:a"}}',
            ],
            "openai-chat:a",
        ),
    ],
)
def test_a_compaction_records_in_which_field_messages_are(
    lines: list[bytes], name: str | None
) -> None:
    assert recorded_format(lines) == name
    assert format_field(name or "openai-chat") == ({} if name is None else {"format": name})
