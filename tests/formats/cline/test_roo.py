import json
from pathlib import Path
from typing import Any

import pytest
from formats.cline.tasks import assistant, call, result, results, task, text, user
from formats.jsonl import read, texts
from formats.squeeze import ALL, each_plan, pretty, squeezed

from compactctl.history.pairs import find_orphans
from compactctl.history.reads import find_file_reads
from compactctl.model.message import TextPart
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import Layout

ENVIRONMENT = (
    "<environment_details>\n# Current Mode\n<slug>code</slug>\n<model>m-1</model>\n\n"
    "# Current Workspace Directory (c:/dev/app) Files\na.py\n</environment_details>"
)
BODY = '<files>\n<file><path>a.py</path>\n<content lines="1-1">\n1 | x\n</content></file>'
RANGES = "<line_range>1-2</line_range><line_range>8-9</line_range>"
SUMMARY = {**user("All so far."), "isSummary": True, "condenseId": "c1"}
OLD = [user("one"), assistant("first"), user("two"), assistant("second")]
NEW = [user("three"), assistant("third")]


def roo(*records: object) -> Transcript:
    return read("roo", [*records])


def condensed(*records: dict[str, Any], by: str = "c1") -> list[dict[str, Any]]:
    return [{**record, "condenseParent": by} for record in records]


def asked(words: str, tool: str, answer: str = "Done.") -> list[dict[str, Any]]:
    """Return an answer that calls a tool in its text, and the message with the result."""
    return [assistant(words), user(f"[{tool} for 'x'] Result:", answer, ENVIRONMENT)]


def arguments(words: str, tool: str = "read_file") -> Any:
    (only,) = roo(*asked(words, tool)).effective[0].calls
    return json.loads(only.arguments)


def test_a_call_in_the_text_is_read_with_what_stands_around_it() -> None:
    words = "Let me see.\n\n<list_files>\n<path>src</path>\n<recursive>true</recursive>\n"
    found = roo(*asked(f"{words}</list_files>\n\n[Response interrupted.]", "list_files", "a.py"))

    call_text = 'list_files({"path":"src","recursive":"true"})'
    (said,) = texts(found.effective[:1])
    assert said == f"Let me see.\n\n | {call_text} | \n\n[Response interrupted.]"
    assert {part.path for part in found.effective[0].parts} == {(0, "content", 0, "text")}
    assert results(found.effective) == [("list_files", "a.py")]
    assert find_orphans(found.effective) == frozenset()
    assert (found.session.cwd, found.session.model) == ("c:/dev/app", "m-1")


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("<path>a.py</path>", {"path": "a.py"}),
        ("<path>a.py</path><start_line>3</start_line><end_line> 9 </end_line>",
         {"path": "a.py", "start_line": 3, "end_line": 9}),
        ("<path>a.py</path><start_line>x</start_line>", {"path": "a.py", "start_line": "x"}),
        ("<args>\n<file>\n<path>a.py</path>\n</file>\n</args>", {"path": "a.py"}),
        ("<args><file><path>a.py</path><line_range>3-9</line_range></file></args>",
         {"path": "a.py", "start_line": 3, "end_line": 9}),
        (f"<args><file><path>a</path>{RANGES}</file></args>",
         {"files": [{"path": "a", "line_range": ["1-2", "8-9"]}]}),
        ("<args><file><path>a</path></file><file><path>b</path></file></args>",
         {"files": [{"path": "a"}, {"path": "b"}]}),
        ("<args>{}</args>", {"args": "{}"}),
        ("<path>a.py", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_the_parameters_of_a_read(inner: str, expected: object) -> None:
    assert arguments(f"Look.\n<read_file>\n{inner}\n</read_file>") == expected


def test_files_and_patches_may_hold_any_tag() -> None:
    inner = "<path>a.html</path>\n<content>\n<p>x</p>\n</content>\n<b></content>"
    found = arguments(f"<write_to_file>\n{inner}\n</write_to_file>", "write_to_file")

    assert found == {"path": "a.html", "content": "<p>x</p>\n</content>\n<b>"}


def test_prose_that_names_a_tag_is_no_call() -> None:
    named = "I use <read_file> now.\n<read_file>\n<path>a.py</path>\n</read_file>"
    found = roo(*asked(named, "read_file"), assistant("Never <read_file>b</read_file>."))

    assert [len(m.calls) for m in found.effective] == [1, 0, 0]
    assert found.effective[0].calls[0].arguments == '{"path":"a.py"}'


def test_what_stands_around_a_call_is_text_and_nothing_else_is() -> None:
    call = "<read_file>\n<path>a.py</path>\n</read_file>"
    for answer, texts_around in (
        (call, []),
        (f"Look.{call}", ["Look."]),
        (f"{call} Then", [" Then"]),
        (f"Look.{call} Then", ["Look.", " Then"]),
    ):
        message = roo(*asked(answer, "read_file")).effective[0]
        assert len(message.calls) == 1
        found = [part.text for part in message.parts if isinstance(part, TextPart)]
        assert found == texts_around
        assert all(part.embedded for part in message.parts if isinstance(part, TextPart))


def test_calls_that_nothing_answers_are_text() -> None:
    found = roo(
        assistant("<list_files><path>.</path></list_files>"),
        user("[ERROR] You did not use a tool in your previous response!"),
    )

    assert [len(m.calls) for m in found.effective] == [0, 0]
    assert find_orphans(found.effective) == frozenset()


def test_only_the_last_text_of_an_answer_calls() -> None:
    quoted = "<list_files><path>x</path></list_files>"
    found = roo(
        assistant(quoted, "<list_files><path>y</path></list_files>"),
        user("[list_files for 'y'] Result:", "a.py"),
    )

    assert [only.arguments for only in found.effective[0].calls] == ['{"path":"y"}']


def test_content_may_be_a_text_without_blocks() -> None:
    found = roo(
        {"role": "assistant", "content": "<list_files><path>.</path></list_files>", "ts": 1},
        {"role": "user", "content": "[list_files for '.'] Result:\na.py", "ts": 2},
    )

    assert results(found.effective) == [("list_files", "a.py")]
    assert found.effective[1].results[0].path == (1, "content")


def test_reads_of_one_file_are_known_as_such() -> None:
    words = "<read_file>\n<args>\n<file>\n<path>./a.py</path>\n</file>\n</args>\n</read_file>"
    several = "<read_file><args><file><path>a</path></file><file><path>b</path></file></args>"
    found = roo(
        *asked(words, "read_file", BODY), *asked(f"{several}</read_file>", "read_file", BODY)
    )

    assert [(read.path, read.requested_lines) for read in find_file_reads(found.effective)] == [
        ("a.py", None)
    ]


def test_the_history_starts_at_the_newest_summary() -> None:
    first = {**user("Earlier."), "isSummary": True, "condenseId": "c0", "condenseParent": "c1"}
    found = roo(*condensed(*OLD[:2], by="c0"), first, *condensed(*OLD[2:]), SUMMARY, *NEW)

    assert texts(found.effective) == ["All so far.", "three", "third"]
    assert [m.origin.is_summary for m in found.effective] == [True, False, False]
    assert [bool(m.locks.unmovable_reason) for m in found.effective] == [True, False, False]
    assert len(found.messages) == 8
    assert found.warnings == ()


def test_a_summary_by_the_assistant_leaves_the_first_message_before_it() -> None:
    told = {**assistant("All so far."), "isSummary": True}
    whole = roo(OLD[0], told, *NEW)
    cut = roo(*OLD, told, *NEW)

    assert (
        texts(whole.effective) == texts(cut.effective) == ["one", "All so far.", "three", "third"]
    )
    assert not any(m.locks.unmovable_reason for m in whole.effective)
    assert [bool(m.locks.unmovable_reason) for m in cut.effective] == [True, True, False, False]


def test_results_whose_call_was_condensed_are_not_sent() -> None:
    found = roo(
        *condensed(OLD[0], assistant(call("read_file", "t1", path="a.py"))),
        SUMMARY,
        user(result("t1", "print(1)")),
        user(result("t1", "print(1)"), "and now this"),
    )

    assert texts(found.effective) == ["All so far.", " | and now this"]
    assert find_orphans(found.effective) == frozenset()


def test_results_written_as_text_stay_when_their_call_is_gone() -> None:
    asking, answering = asked("<list_files><path>.</path></list_files>", "list_files", "a.py")
    found = roo(asking, SUMMARY, answering)
    # The summary was put between a call and its result.
    assert texts(found.effective)[1].endswith(f"a.py | {ENVIRONMENT}")
    assert not found.effective[1].starts_turn
    assert find_orphans(found.effective) == frozenset()


def test_truncated_messages_are_hidden_as_long_as_their_marker_is_there() -> None:
    marker = {**user("[2 hidden]"), "isTruncationMarker": True, "truncationId": "t1"}
    hidden = [{**record, "truncationParent": "t1"} for record in OLD[1:3]]
    found = roo(OLD[0], *hidden, marker, OLD[3], *NEW)
    orphaned = roo(OLD[0], *hidden, OLD[3], *NEW)

    assert texts(found.effective) == ["one", "[2 hidden]", "second", "three", "third"]
    assert [bool(m.locks.unmovable_reason) for m in found.effective] == [
        False,
        True,
        False,
        False,
        False,
    ]
    assert not found.effective[1].starts_turn
    assert texts(orphaned.effective)[:3] == ["one", "first", "two"]
    assert len(orphaned.warnings) == 1


def test_tags_of_a_summary_that_is_gone_hide_nothing() -> None:
    found = roo(*condensed(*OLD), *NEW)

    assert len(found.effective) == 6


def condensed_task() -> list[dict[str, Any]]:
    """Return a task whose first turns were condensed and a part of whose rest was truncated."""
    records = [{**record, "content": [*record["content"], text("")]} for record in task(10)]
    marker = {**user("[2 hidden]"), "isTruncationMarker": True, "truncationId": "t1"}
    for record in records[19:23]:
        record["truncationParent"] = "t1"
    return [*condensed(*records[:13]), SUMMARY, *records[13:23], marker, *records[23:]]


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@each_plan()
def test_a_condensed_task_is_compacted_and_taken_back(
    stages: tuple[str, ...], layout: Layout, tmp_path: Path
) -> None:
    path = pretty(condensed_task(), tmp_path / "api_conversation_history.json")
    found = squeezed(path, stages, layout, tmp_path)

    assert found.format == "roo"
    assert found.compacted
    assert stages != ALL or found.outcome.after.messages < found.outcome.before.messages


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@each_plan()
@pytest.mark.parametrize(
    "name", ["heavy-uncondensed", "natural-already-condensed", "synthetic-3-tool-dedup"]
)
def test_a_real_task_is_compacted_and_taken_back(
    name: str, stages: tuple[str, ...], layout: Layout, real_transcripts: Path, tmp_path: Path
) -> None:
    path = real_transcripts / "roo" / name / "api_conversation_history.json"
    squeezed(path, stages, layout, tmp_path)


def test_what_real_tasks_hold(real_transcripts: Path) -> None:
    held = {}
    for path in sorted((real_transcripts / "roo").glob("*/api_conversation_history.json")):
        found = read("roo", json.loads(path.read_text()))
        turns = sum(message.starts_turn for message in found.effective)
        reads = len(find_file_reads(found.effective, cwd=found.session.cwd))
        held[path.parent.name] = (len(found.effective), len(results(found.effective)), turns, reads)

    assert held == {
        "heavy-uncondensed": (54, 26, 1, 0),
        "natural-already-condensed": (30, 11, 6, 1),
        "synthetic-3-tool-dedup": (92, 47, 1, 15),
    }


def test_a_summary_of_the_client_that_is_rewritten_begins_the_context_still() -> None:
    edited = {**SUMMARY, "content": "So far.", "editId": "e1", "compactctl": {"op": "o1"}}
    found = roo(*condensed(*OLD), edited, {**SUMMARY, "editParent": "e1"}, *NEW)

    assert texts(found.effective) == ["So far.", "three", "third"]
    alone = roo(*condensed(*OLD), {**SUMMARY, "editParent": "gone"}, *NEW)
    assert texts(alone.effective) == ["All so far.", "three", "third"]
