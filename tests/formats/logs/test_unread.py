"""Text that a format of plain messages leaves aside: measured by field, said, and failing gates.

The fields are named so that no format will ever read them.
"""

import json
from pathlib import Path

import pytest
from formats.jsonl import read, write_lines

from compactctl.__main__ import run
from compactctl.history.unread import describe_unread
from compactctl.model.transcript import Unread

PROSE = "the tide gauge at the north quay was read at dawn; " * 20
SAID = {"role": "user", "content": "What does the gauge at the north quay say this morning?"}
BLOCK = {"type": "text", "text": "What does the gauge at the north quay say?"}
CALL = {"type": "tool_use", "id": "c", "name": "read", "input": {}}


def fields(*records: object, name: str = "openai-chat") -> dict[str, int]:
    return dict(read(name, *records).unread.fields)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({**SAID, "zq_body": PROSE}, "zq_body"),
        ({**SAID, "zq_rows": [{"zq_inner": {"zq_text": PROSE}}]}, "zq_rows"),
        ({**SAID, "content": [{**BLOCK, "zq_note": PROSE}]}, "zq_note"),
        ({"messages": [SAID], "zq_answer": {"zq_text": PROSE}}, "zq_answer"),
        ({"messages": [{**SAID, "zq_body": PROSE}]}, "zq_body"),
        ([{**SAID, "zq_body": PROSE}], "zq_body"),
        ({"messages": [SAID, PROSE]}, "messages"),
        ([SAID, PROSE], "values"),
        ([SAID, [PROSE]], "values"),
        ({"role": "zq", "content": PROSE}, "role: zq"),
        ({"type": "zq", "content": PROSE}, "type: zq"),
        ({"zq_request": {"messages": [{"role": "user", "content": PROSE}]}}, "zq_request"),
        ({"role": "assistant", "content": None, "zq_body": PROSE}, "zq_body"),
        ({**SAID, "zq_body": "北の岸壁の潮位計は夜明けに読み取られた。" * 9}, "zq_body"),
        ({**SAID, "zq_body": json.dumps({"path": "a.py"}) * 9}, "zq_body"),
        ({**SAID, "zq_body": "aGFyYm9y" * 400}, "zq_body"),
        ({**SAID, "zq_body": ",".join(map(str, range(900)))}, "zq_body"),
        ({**SAID, "zq_steps": ["up", "down"] * 200}, "zq_steps"),
        ({"messages": [SAID], "zq_steps": ["up", "down"] * 200}, "zq_steps"),
        ({"role": "user", "content": {"zq_inner": "go on"}}, "content"),
        ({"role": "user", "content": None, "error": "it is late"}, "error"),
        ({"role": "user", "content": "", "metadata": {"text": "it is late"}}, "metadata"),
        ({"messages": [SAID], "response": {"zq_inner": [{"zq_text": PROSE}]}}, "response"),
    ],
)
def test_text_in_unknown_fields_is_measured_by_field(record: object, field: str) -> None:
    assert [*fields(record)] == [field]


LETTERS = "abcdefghijklmnopqrstuvwxyz"
GATEWAY: dict[str, object] = {
    "request_tags": ["nightly run of the harbor team", "a second tag of the same length"],
    "hidden_params": {"note": PROSE},
    "error_information": {"traceback": PROSE},
    "user_agent": "Mozilla/5.0 (X11; Linux x86_64) a browser",
    "scores": [{"comment": PROSE}],
    "headers": {"x-note": PROSE},
}
PARAMETERS: dict[str, object] = {
    "safety_identifier": "the harbor office of the north quay",
    "response_format": {"type": "json_schema", "json_schema": {"description": PROSE}},
    "metadata": {"note": PROSE},
    "guardrails": ["a guardrail with a long name of its own"],
    "stop": ["the end of the answer is reached here"],
}


@pytest.mark.parametrize(
    "row",
    [
        {"messages": [SAID], **GATEWAY},
        {"messages": [SAID], **PARAMETERS},
        {"request": {"messages": [SAID], **PARAMETERS}, **GATEWAY},
        {"request": {"messages": [SAID]}, "response": {"status": 500, "error": {"message": PROSE}}},
        {"messages": [SAID], "response": {"status": "ok", "request_id": "req_8fJq2l0bQf3Jv7tY9"}},
    ],
)
def test_what_gateways_note_and_parameters_are_no_text(row: dict[str, object]) -> None:
    assert not read("openai-chat", row).unread.is_significant


@pytest.mark.parametrize(
    "row",
    [
        {"request": {"messages": [SAID], "zq_system": PROSE}},
        {"messages": [SAID], "instructions": {"zq_text": PROSE}},
        {"messages": [SAID], "response": [{"zq": word} for word in ("Low", "tide") * 20]},
        {"role": "user", "content": "hi", "name": PROSE},
        {
            "role": "user",
            "content": "hi",
            "zq": [{"t": f"{c}{c} " * 8} for c in LETTERS],
        },
        b'e of its record. The tide is low at the north quay."}',
        b'{"role": "user", "content": "The tide is low at the north quay, and',
    ],
)
def test_text_that_a_request_or_an_answer_may_hold_is_lost(row: object) -> None:
    document = {"messages": [{**SAID, "content": PROSE * 9}]}
    found = read("openai-chat", *[SAID] * 9, document, row, SAID)
    assert found.unread.lost > 0


TITLES = {"title": PROSE[:99], "telemetry": {"note": PROSE[:99]}, "display": [PROSE[:99]]}


def test_titles_beside_the_text_of_a_message_are_no_text() -> None:
    rows = [{**SAID, **TITLES}, {"role": "user", "content": [{**BLOCK, **TITLES}]}]
    found = read("openai-chat", *rows, {**SAID, "content": PROSE * 9})
    assert (found.unread.lost, found.unread.is_significant) == (0, False)
    lost = read("openai-chat", {**SAID, "content": None, **TITLES}).unread
    assert lost.lost == 3 * len(PROSE[:99])


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("gemini-api", {"contents": [{"parts": [{"text": "Hi"}]}], "cachedContent": "x/1"}),
        ("openai-responses", {"input": "Hi", "prompt": {"id": "pmpt_1"}}),
        ("openai-responses", {"input": [SAID, {"type": "item_reference", "id": "msg_1"}]}),
        ("openai-responses", {"input": [SAID], "previous_response_id": "resp_0"}),
        ("gemini-api", {"contents": [{"parts": [
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://x/1"}}]}]}),
    ],
)  # fmt: skip
def test_what_the_provider_has_stored_is_of_unknown_size(name: str, row: object) -> None:
    found = read(name, row)
    assert found.unread.elsewhere == 1
    assert describe_unread(found.unread).startswith("1 part of a request is stored elsewhere")


@pytest.mark.parametrize("name", ["openai-chat", "anthropic-messages", "neurolink"])
def test_formats_of_plain_messages_measure_it(name: str) -> None:
    assert fields({**SAID, "id": "a", "zq_body": PROSE}, name=name) == {"zq_body": len(PROSE)}


@pytest.mark.parametrize(
    "beside",
    [
        {"zq_id": "chatcmpl-8fJq2l0bQf3Jv7tY9pWcX1dZr6uKs4mN"},
        {"zq_data": "aGFyYm9y" * 40},
        {"zq_link": "https://example.org/quay/north?gauge=7&at=dawn#readings"},
        {"zq_title": "Readings of the north quay"},
        {"zq_number": 3.5, "zq_flag": True, "zq_null": None},
        {"zq_copy": SAID["content"]},
        {"zq_copy": f"{SAID['content'][:40]} "},
        {"zq_copy": json.dumps({"zq_request": [SAID]})},
        {"metadata": {"zq_note": PROSE}},
        {"usage": {"zq_note": PROSE}},
        {"compactctl": {"zq_note": PROSE}},
        {"choices": [{}, {"zq_note": PROSE}]},
    ],
)
def test_what_is_no_text_or_for_no_model_is_not(beside: dict[str, object]) -> None:
    assert fields({**SAID, **beside}) == {}


def test_json_in_a_text_counts_unless_it_repeats_what_was_read() -> None:
    record = {**SAID, "zq_copy": json.dumps([SAID, {"content": PROSE}])}
    assert fields(record) == {"zq_copy": len(record["zq_copy"])}


def test_messages_in_a_text_are_read_and_what_is_beside_them_in_it_is_not() -> None:
    row = {"messages": json.dumps([{**SAID, "zq_body": PROSE}]), "zq_note": PROSE}
    assert fields(row) == {"zq_body": len(PROSE), "zq_note": len(PROSE)}


def test_all_that_a_message_says_is_read() -> None:
    called = {"role": "assistant", "content": [BLOCK, {**CALL, "input": {"metadata": PROSE}}]}
    answer = {"type": "tool_result", "tool_use_id": "c", "content": [{"zq_block": PROSE}]}
    found = read("anthropic-messages", called, {"role": "user", "content": [answer]}).unread
    assert found.fields == {}
    arguments = json.dumps({"metadata": PROSE}, separators=(",", ":"))
    result = json.dumps({"zq_block": PROSE}, separators=(",", ":"))
    assert found.read == sum(map(len, (BLOCK["text"], arguments, result)))


def test_a_tenth_of_the_text_around_messages_is_said_by_nobody() -> None:
    assert describe_unread(Unread(fields={"a": 100}, read=900)) == ""
    assert (
        describe_unread(Unread(fields={"a": 101}, read=900))
        == "101 bytes of text in `a` was not read"
    )


def test_any_text_of_a_message_is_said_with_its_line() -> None:
    unread = Unread(fields={"a": 9}, read=90_000, lost=1, first_line=1_233)
    assert describe_unread(unread) == "9 bytes of text in `a`, from line 1,234 on, was not read"


def test_fields_are_named_the_largest_first() -> None:
    many = Unread(fields={"a": 9_000, "b": 800, "c": 70, "d": 6, "e": 5})
    expected = "10 kB of text in `a`, `b`, `c` and 2 other fields was not read"
    assert describe_unread(many) == expected


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "log.jsonl", {**SAID, "zq_body": PROSE}, SAID)


SENTENCE = "1 kB of text in `zq_body` was not read"
Captured = pytest.CaptureFixture[str]


def test_stats_says_it_above_the_number(log: Path, capsys: Captured) -> None:
    assert run(["stats", str(log)]) == 0
    shown = capsys.readouterr().out
    assert 0 < shown.index(SENTENCE) < shown.index("Next request")
    assert shown.startswith("at least ")
    assert shown.partition("\n")[0].endswith(": unknown whether it fits")


def test_documents_have_it(log: Path, capsys: Captured) -> None:
    for command, code in (("stats", 0), ("check", 4)):
        assert run([command, str(log), "--json"]) == code
        document = json.loads(capsys.readouterr().out)
        unread = document["unreadText"]
        assert unread["fields"] == {"zq_body": unread["bytes"]} == {"zq_body": len(PROSE)}
        assert unread["readBytes"] == 2 * len(SAID["content"])


def test_check_fails_unless_compaction_is_due_anyway(log: Path, capsys: Captured) -> None:
    assert run(["check", str(log)]) == 4
    shown = capsys.readouterr().out
    assert "unknown whether compaction is due" in shown
    assert SENTENCE in shown
    assert run(["check", str(log), "--trigger", "turns>1"]) == 1


@pytest.mark.parametrize("command", ["stats", "compact", "check", "batch"])
def test_strict_fails(log: Path, capsys: Captured, command: str) -> None:
    assert run([command, str(log), "--strict"]) == 4
    assert SENTENCE in "".join(capsys.readouterr())


def test_batch_flags_the_row(log: Path, capsys: Captured) -> None:
    assert run(["batch", str(log), "--fail-on", "opaque", "--json"]) == 1
    [row] = json.loads(capsys.readouterr().out)["files"]
    assert (row["status"], row["flags"], row["unreadBytes"]) == (
        "incomplete",
        ["opaque"],
        len(PROSE),
    )
    assert row["unread"] == SENTENCE


def test_batch_says_it_without_a_gate(log: Path, capsys: Captured) -> None:
    assert run(["batch", str(log)]) == 0
    shown = capsys.readouterr()
    assert "incomplete" in shown.out
    assert "ok, incomplete" not in shown.out
    assert "warning: text was not read in 1 file; see compactctl check" in shown.err


def test_other_commands_that_tell_sizes_warn(log: Path, capsys: Captured, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(["lab", "simulate", str(log)]) == 0
    assert f"warning: {SENTENCE}" in capsys.readouterr().err
    assert run(["stats", str(log), "--html", str(page)]) == 0
    assert SENTENCE in page.read_text()


def test_compact_warns_and_carries_the_field(log: Path, capsys: Captured, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    assert run(["compact", str(log), "--stages", "truncate", "-o", str(output)]) == 0
    assert f"warning: {SENTENCE}" in capsys.readouterr().err


TORN = '{"type":"user","uuid":"a","sessionId":"s","parentUuid":null,"message":{"role":"us'
WORDLESS = '{"type":"user","uuid":"a","sessionId":"s","parentUuid":null,"message":7}'
SNAPSHOT = '{"type":"file-history-snapshot","messageId":"m","snapshot":{}}'
PROMPT = WORDLESS.replace("7}", '{"role":"user","content":"Hi"}}')


@pytest.mark.parametrize("broken", [TORN, WORDLESS])
def test_where_no_message_is_understood_how_much_room_is_left_is_unknown(
    broken: str, capsys: Captured, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(f"{SNAPSHOT}\n" + f"{broken}\n" * 4)
    run(["stats", str(path)])
    shown = capsys.readouterr().out
    assert "4 lines were not recognized, and no other line holds a message" in shown
    assert "at least 0 of 128,000 tokens (0%): unknown whether it fits" in shown
    assert run(["check", str(path), "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["unreadText"]["lines"] == 4


@pytest.mark.parametrize("lines", [(SNAPSHOT, SNAPSHOT), (TORN, PROMPT), (PROMPT, WORDLESS)])
def test_a_session_without_a_message_or_with_one_has_room(
    lines: tuple[str, ...], capsys: Captured, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    assert run(["check", str(path)]) == 0
    assert "compaction is not due" in capsys.readouterr().out
