import json
from pathlib import Path
from typing import Any

import pytest
from examples import tries
from formats.cline.tasks import (
    ENVIRONMENT,
    NOT_RUN,
    TASK,
    assistant,
    call,
    result,
    results,
    task,
    text,
    user,
)
from formats.jsonl import read, texts
from formats.squeeze import compacted, each_plan, edited, pretty, squeezed
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.cline.format import Cline
from compactctl.history.pairs import find_orphans
from compactctl.history.reads import find_file_reads
from compactctl.model.message import (
    FilePart,
    GroupId,
    MediaPart,
    MessageId,
    ReasoningPart,
    Synthetic,
)
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import Layout
from compactctl.pipeline.writer import InsertionContext

IMAGE = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}


def cline(*records: object) -> Transcript:
    return read("cline", [*records])


def test_a_task_is_read_with_its_folder_model_and_usage() -> None:
    tokens = {"prompt": 10, "completion": 814, "cached": 8_972}
    info = {"modelId": "m-1", "providerId": "p", "mode": "act"}
    found = cline(
        user(TASK, ENVIRONMENT),
        assistant("Hello.", modelInfo=info, metrics={"tokens": tokens}),
        assistant("Again.", metrics={"tokens": {"prompt": 0, "completion": 0, "cached": 0}}),
    )

    assert [m.record_path for m in found.messages] == [(0,), (1,), (2,)]
    assert (found.session.cwd, found.session.model) == ("/work/app", "m-1")
    usages = [(m.usage.context, m.usage.output) if m.usage else None for m in found.effective]
    assert usages == [None, (8_982, 814), (0, 0)]
    assert len({m.response_id for m in found.effective}) == 3


def test_results_written_as_text_belong_to_the_calls_in_their_order() -> None:
    found = cline(
        assistant("Both.", call("read_file", "t1", path="a.py"), call("read_file", "t2", path="b")),
        user("[read_file for 'a.py'] Result:\nprint(1)\n", NOT_RUN, ENVIRONMENT),
    )

    (answer,) = found.effective[1:]
    assert [part.call_id for part in answer.results] == ["t1", "t2"]
    assert [part.has_failed for part in answer.results] == [False, True]
    heads = ["[read_file for 'a.py'] Result:\n", "Tool [read_file] "]
    (said,) = texts((answer,))
    assert said == " | ".join(
        [heads[0], "print(1)\n", heads[1], NOT_RUN.removeprefix(heads[1]), ENVIRONMENT]
    )
    assert (answer.role, answer.starts_turn) == ("tool", False)
    assert find_orphans(found.effective) == frozenset()
    assert [read.body for read in find_file_reads(found.effective)] == ["print(1)"]


def test_a_result_may_stand_in_the_block_behind_its_head() -> None:
    found = cline(
        assistant("<list_files>\n<path>.</path>\n</list_files>"),
        user("[list_files for '.'] Result:", "a.py\nb.py", ENVIRONMENT),
        assistant("<list_files>\n<path>x</path>\n</list_files>"),
        user("[list_files for 'x'] Result:", ENVIRONMENT),
    )

    assert results(found.effective) == [("list_files", "a.py\nb.py"), ("list_files", "")]
    assert found.effective[1].results[0].path == (1, "content", 1, "text")
    assert find_orphans(found.effective) == frozenset()


def test_a_call_may_be_answered_twice() -> None:
    found = cline(
        assistant("<apply_diff>\n<path>a.py</path>\n</apply_diff>"),
        user(
            "[apply_diff for 'a.py'] Result:", "<feedback>\nYes.\n</feedback>",
            "[apply_diff for 'a.py'] Result:", "Done.",
        ),
    )  # fmt: skip

    assert [text for _, text in results(found.effective)] == [
        "<feedback>\nYes.\n</feedback>",
        "Done.",
    ]
    assert find_orphans(found.effective) == frozenset()


def test_results_in_blocks_of_their_own_are_joined_by_id() -> None:
    found = cline(
        assistant("Both.", call("read_file", "t1", path="a.py"), call("read_file", "t2", path="b")),
        user(result("t2", "two", is_error=True), result("t1", [text("one")]), ENVIRONMENT),
    )

    assert results(found.effective) == [("read_file", "two"), ("read_file", "one")]
    assert find_orphans(found.effective) == frozenset()


def test_a_result_without_a_head_goes_to_the_next_open_call() -> None:
    found = cline(
        assistant("Look.", call("read_file", "t1", path="a.png")),
        user("Image read.", {"type": "image", "source": IMAGE}, ENVIRONMENT),
    )

    assert results(found.effective) == [("read_file", "Image read.")]
    assert isinstance(found.effective[1].parts[1], MediaPart)


def test_calls_without_an_id_get_one_that_tells_their_place() -> None:
    found = cline(
        assistant("Look.", call("read_file", "", path="a.py")),
        user("[read_file for 'a.py'] Result:\nprint(1)"),
    )

    assert found.effective[0].calls[0].call_id
    assert find_orphans(found.effective) == frozenset()


@pytest.mark.parametrize(
    "body",
    ["The tool execution failed with the following error:\n<error>x</error>",
     "The user denied this operation."],
)  # fmt: skip
def test_a_failed_call_shows_no_file(body: str) -> None:
    found = cline(
        assistant("Look.", call("read_file", "t1", path="a.py")),
        user(f"[read_file for 'a.py'] Result:\n{body}"),
    )

    assert found.effective[1].results[0].has_failed
    assert find_file_reads(found.effective) == ()


@pytest.mark.parametrize(
    ("content", "starts"),
    [
        ([TASK, ENVIRONMENT], True),
        (["hello"], True),
        ([ENVIRONMENT], False),
        (["[ERROR] You did not use a tool in your previous response!", ENVIRONMENT], False),
        (["[TASK RESUMPTION] This task was interrupted.", ENVIRONMENT], False),
        (["[TASK RESUMPTION] Now:\n<user_message>\nGo on.\n</user_message>", ENVIRONMENT], True),
        (["\n# task_progress RECOMMENDED\n", ENVIRONMENT], False),
        (["[list_files for '.'] Result:", "a.py", ENVIRONMENT], False),
        (["[attempt_completion] Result:", "<feedback>\nMore.\n</feedback>"], True),
        ([{"type": "image", "source": IMAGE}], True),
    ],
)
def test_a_persons_words_start_a_turn(content: list[Any], *, starts: bool) -> None:
    (message,) = cline(user(*content)).effective

    assert message.starts_turn is starts


def test_what_the_model_says_to_the_person_is_no_call() -> None:
    found = cline(
        assistant(call("attempt_completion", "t1", result="All done.")),
        user("[attempt_completion] Result:\n<feedback>\nThanks, now b.\n</feedback>"),
        assistant(call("attempt_completion", "t2", result="b is done.")),
        user(result("t2", "<feedback>\nGreat.\n</feedback>")),
        assistant(call("attempt_completion", "t3", result="The end.")),
    )

    assert [len(m.calls) for m in found.effective] == [0, 0, 1, 0, 0]
    assert texts(found.effective)[0] == '{"result":"All done."}'
    assert [m.starts_turn for m in found.effective] == [False, True, False, False, False]
    assert find_orphans(found.effective) == frozenset()


def test_thinking_and_files_are_read_as_what_they_are() -> None:
    sealed = {"type": "reasoning", "encrypted_content": "x", "summary": []}
    found = cline(
        assistant(
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "reasoning", "text": "for the screen"},
            sealed,
            {"type": "thoughtSignature", "thoughtSignature": "x"},
        ),
        sealed,
        user(
            {"type": "file", "path": "a.py", "content": "print(1)"},
            {"type": "image", "data": "aGVsbG8=", "mediaType": "image/png"},
        ),
    )

    thinking, more, files = found.effective
    assert [(p.text, p.opaque) for p in thinking.parts if isinstance(p, ReasoningPart)] == [
        ("hm", False),
        ("", True),
        ("", True),
    ]
    assert len(thinking.parts) == 3
    assert more.role == "assistant"
    assert isinstance(files.parts[0], FilePart)
    assert isinstance(files.parts[1], MediaPart)


def test_a_session_of_the_sdk_opens_with_its_system_prompt() -> None:
    info = {"id": "m-1", "provider": "p"}
    document = {
        "version": 1,
        "sessionId": "s",
        "messages": [
            {"id": "msg_1", **user("Hello?", ts=1)},
            {"id": "msg_2", **assistant("Hello.", modelInfo=info)},
        ],
        "system_prompt": "Be brief.",
    }
    found = read("cline", document)

    assert texts(found.effective) == ["Be brief.", "Hello?", "Hello."]
    assert [m.role for m in found.effective] == ["system", "user", "assistant"]
    assert found.effective[0].locks.immutable_reason
    assert [m.id for m in found.effective[1:]] == ["msg_1", "msg_2"]
    assert found.session.model == "m-1"


def test_lines_are_read_like_the_records_of_an_array() -> None:
    records = task(2)

    assert texts(read("cline", *records).effective) == texts(cline(*records).effective)


def test_what_is_no_message_is_carried() -> None:
    found = cline({"role": "robot"}, 5, user(), assistant(), {"type": "reasoning", "summary": []})

    assert found.messages == ()
    assert len(found.opaque) == 2
    assert found.metadata["empty message"].count == 3
    assert read("cline", []).metadata["empty conversation"].count == 1


def test_a_new_result_keeps_the_head_in_its_text() -> None:
    found = cline(*task(1))
    answer = found.effective[2]

    (index, _), (late, _) = [(i, p) for i, p in enumerate(answer.parts) if p in answer.results]
    first = answer.parts[index - 1].text + answer.parts[index].text  # type: ignore[union-attr]
    assert Cline().new_value(answer, index, first, "gone") == (
        "[read_file for 'a.py'] Result:\ngone"
    )
    assert Cline().new_value(answer, late, NOT_RUN, "gone") == "Tool [read_file] gone"


def test_new_content_has_the_shape_of_the_old_and_calls_have_none() -> None:
    xml = assistant("Look.\n<read_file>\n<path>a.py</path>\n</read_file>")
    found = cline(
        xml,
        user("[read_file for 'a.py'] Result:\nprint(1)"),
        assistant(call("read_file", "t1", path="a.py")),
        user(result("t1", [text("print(1)")])),
    )

    assert Cline().new_value(found.effective[3], 0, [text("x")], "gone") == [text("gone")]
    for index in (0, 1):
        with pytest.raises(ValueError, match="no replaceable content"):
            Cline().new_value(found.effective[0], index, "x", "gone")


def test_a_written_message_is_like_its_neighbor() -> None:
    marker = Synthetic(
        id=MessageId("truncation-g"), kind="marker", role="user", text="gone", group=GroupId("g")
    )
    anchor = cline(user("hi", ts=9)).messages[0]

    assert Cline().new_record(
        marker, InsertionContext(anchor=anchor, neighbor=user("hi", ts=9))
    ) == user("gone", ts=8)
    assert Cline().new_record(marker, InsertionContext(anchor=anchor, neighbor=user("hi"))) == user(
        "gone"
    )
    assert Cline().new_record(
        marker, InsertionContext(anchor=anchor, neighbor=user("hi", id="m"))
    ) == {
        "id": "truncation-g",
        **user("gone"),
    }


def test_records_that_no_edit_touches_keep_their_bytes(tmp_path: Path) -> None:
    path = pretty(task(), tmp_path / "history.json")
    out = compacted(path, "dedup")

    # The file is read by the first answer of every turn; the newest read stays.
    assert edited(path, out) == [2, 8, 14, 20, 26]
    assert out.read_text().count("[File a.py - refer to latest read below]") == 5


WORDS = st.sampled_from(
    [
        "[read_file for 'a'] Result:", "[read_file for 'a'] Result:\nbody", NOT_RUN, TASK, "body",
        ENVIRONMENT, "<read_file><path>a</path></read_file>", "<read_file><args><file>", "",
        "<read_file>", "</read_file>", "[a] Result:\n[b] Result:\n", "<start_line>9</start_line>",
    ]
)  # fmt: skip
BLOCKS = st.one_of(
    WORDS.map(text),
    st.builds(call, st.sampled_from(["read_file", "attempt_completion"]), st.sampled_from("ab")),
    st.builds(result, st.sampled_from("ab"), WORDS),
    st.sampled_from([None, 5, {"type": "reasoning"}, {"type": "text", "text": None}]),
)
RECORDS = st.builds(
    lambda role, content: {"role": role, "content": content, "ts": 1},
    st.sampled_from(["user", "assistant"]),
    st.one_of(WORDS, st.lists(BLOCKS, max_size=5)),
)


@tries(200)
@given(records=st.lists(RECORDS, max_size=8))
def test_no_result_written_as_text_is_without_a_call_and_no_text_is_lost(
    records: Any,
) -> None:
    found = cline(*records)

    for message in found.messages:
        written: dict[Any, str] = {}
        for part in message.parts:
            if part.path[-1:] == ("text",) and not message.calls:
                written[part.path] = written.get(part.path, "") + getattr(part, "text", "")
        for path, words in written.items():
            block = records[message.record_path[0]]["content"][path[2]]
            assert words == (block["text"] or "")
    native = {"a", "b"}
    assert all(o.call_id in native for o in find_orphans(found.effective) if o.kind == "result")


def test_what_a_real_task_reports(real_transcripts: Path) -> None:
    path = real_transcripts / "cline/task-1769064454592/api_conversation_history.json"
    found = read("cline", json.loads(path.read_text()))

    reported = [m.usage.context for m in found.messages if m.usage]
    assert (len(reported), max(reported)) == (36, 83_785)
    assert found.session.cwd == "/workspaces/Online-Card-Architecture"
    assert len(find_file_reads(found.effective, cwd=found.session.cwd)) == 17
    assert sum(message.starts_turn for message in found.effective) == 1


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@each_plan()
@pytest.mark.parametrize(
    "name", ["task-1769064454592/api_conversation_history.json", "cline-sdk-basic.compaction.json"]
)
def test_a_real_file_is_compacted_and_taken_back(
    name: str, stages: tuple[str, ...], layout: Layout, real_transcripts: Path, tmp_path: Path
) -> None:
    squeezed(real_transcripts / "cline" / name, stages, layout, tmp_path)


@pytest.mark.parametrize("tags", [{"condenseId": "g1"}, {"truncationId": "g1"}])
def test_what_stands_for_other_messages_answers_no_call(tags: dict[str, str]) -> None:
    written = {**user("Left out."), **tags, "compactctl": {"op": "o1"}}
    found = cline(user("one"), assistant("Reading.", call("read_file", "c1")), written)

    assert results(found.effective) == []
    assert texts(found.effective)[-1] == "Left out."


def _compacted(kind: str, *content: str) -> Transcript:
    return read(
        "cline",
        {
            "version": 1,
            "sessionId": "1784094124598_rruoq",
            "messages": [
                user(*content, id="m1", ts=1, metadata={"kind": kind, "messagesRemoved": 22}),
                assistant("Done.", id="m2", metadata={"compaction": "preserved"}),
                user("And now?", id="m3", ts=3),
            ],
        },
    )


_NOTICE = "<SYSTEM_NOTICE>\nEarlier context was compacted.\n</SYSTEM_NOTICE>"


@pytest.mark.parametrize(
    ("kind", "content"),
    [("compaction", [_NOTICE]), ("compaction_summary", ["Context summary:\n\nThe port."])],
)
def test_what_the_sdk_compacted_is_a_summary(kind: str, content: list[str]) -> None:
    found = _compacted(kind, *content)

    assert [message.origin.is_summary for message in found.effective] == [True, False, False]
    assert [message.starts_turn for message in found.effective] == [False, False, True]


def test_a_request_that_the_sdk_keeps_stays_one() -> None:
    first, *_ = _compacted("compaction", "Mend it", _NOTICE).effective

    assert first.starts_turn
    assert [first.words(part) for part in first.parts] == ["Mend it", ""]
