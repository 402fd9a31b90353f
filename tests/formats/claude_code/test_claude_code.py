import json
from pathlib import Path

import pytest
from file_commands import load_file, rewind_file
from formats.claude_code.sessions import (
    answered,
    attached,
    called,
    record,
    said,
    user,
)
from formats.jsonl import read, texts
from formats.squeeze import squeezed
from unit.commands.conversations import jsonl, saved, squeeze, words

from compactctl.clients.claude_code.format import ClaudeCode
from compactctl.model.message import FilePart, ToolDefinitionPart, is_replaceable
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import Layout

USAGE = {
    "input_tokens": 3,
    "cache_read_input_tokens": 400,
    "cache_creation_input_tokens": 50,
    "output_tokens": 7,
}


def claude(*records: object) -> Transcript:
    return read("claude-code", *records)


def test_only_what_a_person_wrote_starts_a_turn() -> None:
    found = claude(
        user("u1", None, "Fix it"),
        user("u2", "u1", "Remember this", isMeta=True),
        user("u3", "u2", "<command-name>/clear</command-name>"),
        user("u4", "u3", [{"type": "text", "text": "<system-reminder>x</system-reminder>"}]),
        user("u5", "u4", [{"type": "text", "text": "<b>typed</b>"}]),
    )

    assert [m.starts_turn for m in found.effective] == [True, False, False, False, True]


def test_a_prompt_typed_while_the_agent_worked_starts_a_turn() -> None:
    found = claude(
        user("u", None, "go"),
        attached("q", "u", "queued_command", prompt="and hurry"),
        attached("n", "q", "queued_command", prompt="<task-notification>done</task-notification>"),
    )

    assert texts(found.effective)[1:] == [
        "and hurry",
        "<task-notification>done</task-notification>",
    ]
    assert [m.starts_turn for m in found.effective] == [True, True, False]


def test_attachments_are_files_definitions_or_reminders() -> None:
    found = claude(
        user("u", None, "go"),
        attached("f", "u", "file", filename="/w/a.py", content={"file": {"content": "print(1)"}}),
        attached("d", "f", "deferred_tools_delta", addedLines=["tool a", "tool b"]),
        attached("r", "d", "todo", content=[{"content": "task"}]),
        attached("n", "r", "command_permissions", allowedTools=[]),
        attached("k", "n", "never_seen_before", text="x"),
    )

    file, definitions, reminder = (m.parts[0] for m in found.effective[1:])
    assert file == FilePart(
        file_path="/w/a.py",
        text="print(1)",
        path=("attachment", "content", "file", "content"),
    )
    assert isinstance(definitions, ToolDefinitionPart)
    assert definitions.text == "tool a\ntool b"
    assert texts(found.effective)[3] == '{"content":"task"}'
    assert reminder.path == ("attachment", "content")
    assert not is_replaceable(reminder)
    assert set(found.metadata) == {"attachment/command_permissions", "attachment/never_seen_before"}
    assert not any(m.starts_turn for m in found.effective[1:])


@pytest.mark.parametrize(
    ("kind", "field", "content"),
    [
        ("hook_additional_context", "content", "one\ntwo"),
        ("hook_additional_context", "content", ["one", "two"]),
        ("queued_command", "prompt", [{"type": "text", "text": "one"}]),
    ],
)
def test_what_is_written_into_an_attachment_is_read_back(
    kind: str, field: str, content: object
) -> None:
    (message,) = claude(attached("a", None, kind, **{field: content})).effective
    new = ClaudeCode().new_value(message, 0, content, "shorter")
    (again,) = claude(attached("a", None, kind, **{field: new})).effective
    assert texts((again,)) == ["shorter"]
    assert type(new) is type(content)


def test_client_errors_are_no_messages() -> None:
    found = claude(
        user("u", None, "go"),
        said("e1", "u", "API Error", isApiErrorMessage=True, inner={"model": "<synthetic>"}),
        said("a", "e1", "fine"),
    )

    assert texts(found.effective) == ["go", "fine"]
    assert found.metadata["assistant/client error"].count == 1
    assert found.session.model == "m"


def test_what_the_client_answers_itself_is_sent_and_reports_nothing() -> None:
    none = {"input_tokens": 0, "output_tokens": 0}
    found = claude(
        user("u", None, "go"),
        said("a", "u", "fine", inner={"usage": USAGE}),
        said("n", "a", "No response requested.", inner={"model": "<synthetic>", "usage": none}),
    )

    assert texts(found.effective) == ["go", "fine", "No response requested."]
    assert [m.usage is not None for m in found.effective] == [False, True, False]
    assert found.session.model == "m"


def test_usage_is_the_sum_of_what_was_sent() -> None:
    final = {"usage": USAGE, "stop_reason": "end_turn"}
    early = {"usage": USAGE, "stop_reason": None}
    found = claude(
        user("u", None, "go"),
        said("a1", "u", "1", "r", inner=early),
        said("a2", "a1", "2", "r", inner=final),
    )

    assert [(m.usage.context, m.usage.output) for m in found.effective if m.usage] == [
        (453, None),
        (453, 7),
    ]
    assert len({m.response_id for m in found.effective[1:]}) == 1


def test_a_results_tool_is_that_of_its_call_and_its_screen_copy_is_not_sent() -> None:
    found = claude(
        user("u", None, "go"),
        called("a", "u", "c"),
        answered("r", "a", "c", "short", toolUseResult={"file": {"content": "a long copy"}}),
    )

    assert found.effective[2].role == "tool"
    assert found.effective[2].results[0].tool == "Read"
    assert texts(found.effective)[2] == "short"
    assert found.effective[2].results[0].path == ("message", "content", 0, "content")


def test_records_that_never_reach_the_model_are_counted_by_kind() -> None:
    found = claude(
        {"type": "summary", "summary": "A title", "leafUuid": "x"},
        {"type": "queue-operation", "operation": "enqueue", "content": "go", "sessionId": "s"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        record("progress", "p", None, data={"type": "bash_progress"}),
        user("u", "p", "go"),
        b"",
    )

    assert {kind: volume.count for kind, volume in found.metadata.items()} == {
        "summary": 1,
        "queue-operation": 1,
        "file-history-snapshot": 1,
        "progress/bash_progress": 1,
        "blank line": 1,
    }


def test_lines_that_are_not_understood_are_carried() -> None:
    found = claude(user("u", None, "go"), b"{torn", 5, {"type": 7}, {"no": "type"})

    assert [opaque.line for opaque in found.opaque] == [1, 2, 3, 4]
    assert texts(found.effective) == ["go"]


def test_written_records_are_stand_ins_and_rewritten_ones_are_not() -> None:
    own = {"compactctl": {"op": "o1"}}
    found = claude(
        user("s", None, "All of it", isCompactSummary=True, condenseId="g", **own),
        user("u", "s", "a rewritten prompt", editId="e", **own),
    )

    summary, prompt = found.effective
    assert summary.origin.is_synthetic
    assert summary.origin.is_summary
    assert not prompt.origin.is_synthetic
    assert prompt.starts_turn


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_what_names_the_end_of_the_conversation_still_names_a_record(
    tmp_path: Path, layout: str
) -> None:
    records = [
        user("u1", None, words(40)),
        said("a1", "u1", words(40)),
        user("u2", "a1", words(40)),
        said("a2", "u2", words(40)),
        {"type": "last-prompt", "lastPrompt": "one", "leafUuid": "a1", "sessionId": "s"},
    ]
    path = saved(tmp_path / "run.jsonl", records)
    assert squeeze(path, "truncate", layout=layout).compacted
    found = [json.loads(line) for line in path.read_bytes().splitlines()]
    names = {record.get("uuid") for record in found}
    assert [record["leafUuid"] in names for record in found if "leafUuid" in record] == [True]
    rewind_file(path)
    assert path.read_bytes() == jsonl(records)


def test_of_a_rewritten_record_and_its_original_the_client_takes_the_rewritten_one(
    tmp_path: Path,
) -> None:
    records = [
        user("u1", None, words(40)),
        called("a1", "u1", "c1"),
        answered("r1", "a1", "c1", words(400)),
        said("a2", "r1", words(40)),
        user("u2", "a2", words(40)),
    ]
    path = saved(tmp_path / "run.jsonl", records)
    assert squeeze(path, "prune", layout="inline").compacted
    found = [json.loads(line) for line in path.read_bytes().splitlines()]
    newest = {record["uuid"]: record for record in found}
    assert len(newest) == len(records)
    assert "editId" in newest["r1"]
    loaded = load_file(path).transcript
    assert [message.id for message in loaded.effective] == ["u1", "a1", "r1", "a2", "u2"]
    assert not any(message.locks.immutable_reason for message in loaded.effective)
    assert squeeze(path, "truncate").compacted
    rewind_file(path, all=True)
    assert path.read_bytes() == jsonl(records)


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_a_record_that_stands_for_another_is_edited_and_taken_back(
    layout: Layout, tmp_path: Path
) -> None:
    long = [answered(f"r{n}", f"a{n}", f"c{n}", words(300)) for n in range(4)]
    session = [user("u", None, "go")]
    for n, each in enumerate(long):
        session += [called(f"a{n}", f"r{n - 1}" if n else "u", f"c{n}"), each]
    again = [answered(f"r{n}", f"a{n}", f"c{n}", words(200)) for n in (0, 1)]
    path = tmp_path / "run.jsonl"
    turns = [
        record
        for n in range(4)
        for record in (
            user(f"p{n}", f"z{n - 1}" if n else "r3", "on"),
            said(f"z{n}", f"p{n}", "ok"),
        )
    ]
    path.write_bytes(jsonl([*session, *again, *turns]))
    result = squeezed(path, ("strip",), layout, tmp_path)

    assert result.compacted
    assert not result.warnings
