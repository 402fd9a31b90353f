"""Logs with requests to several APIs: each row is read and written as its own API has it."""

import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file, scan_file
from formats import anthropic_talk, openai_talk
from formats.jsonl import detected, raw_lines, read, texts, write_lines
from formats.squeeze import ALL, squeezed

from compactctl.clients.format import Format
from compactctl.clients.registry import ALL_FORMATS
from compactctl.commands.reading.transcript import InputOptions, load, scan
from compactctl.errors import NotUnderstoodError
from compactctl.pipeline.layout import Layout

TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {}}}
OPENAI: dict[str, Any] = {"model": "gpt-4o", "messages": openai_talk.TALK, "tools": [TOOL]}
ANTHROPIC: dict[str, Any] = {"system": "Be kind.", "messages": anthropic_talk.TALK}
PLAIN: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello"}]}
ANSWER: dict[str, Any] = {
    "id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Good."}],
    "usage": {"input_tokens": 900, "output_tokens": 5},
}  # fmt: skip


def written(tmp_path: Path, *records: object) -> Path:
    return write_lines(tmp_path / "log.jsonl", *records)


def test_rows_of_two_apis_are_read_each_as_its_own(tmp_path: Path) -> None:
    found = scan_file(written(tmp_path, OPENAI, ANTHROPIC, PLAIN))

    assert found.format == "api-log"
    assert not found.opaque
    assert [m.conversation for m in found.effective] == [0] * 6 + [1] * 5 + [2]
    assert texts(found.effective)[6] == "Be kind."
    assert [r.tool for m in found.effective for r in m.results] == ["read_file", "Read"]


def test_another_api_behind_the_first_records_is_found_too(tmp_path: Path) -> None:
    loaded = load_file(written(tmp_path, *[OPENAI] * 60, ANTHROPIC))

    assert loaded.format.name == loaded.transcript.format == "api-log"
    assert texts(loaded.transcript.effective)[-5] == "Be kind."


def test_what_reads_the_same_in_two_is_what_the_other_rows_are() -> None:
    assert detected(PLAIN) == "openai-chat"
    assert detected(PLAIN, ANTHROPIC) == "anthropic-messages"
    assert detected(PLAIN, OPENAI) == "openai-chat"


def test_the_answer_tells_the_api_where_the_request_does_not(tmp_path: Path) -> None:
    found = scan_file(written(tmp_path, {**PLAIN, "call_type": "x", "response": ANSWER}))

    assert found.format == "anthropic-messages"
    assert texts(found.effective) == ["Hello", "Good."]
    assert [m.usage.context for m in found.effective if m.usage] == [900]


def test_an_instruction_in_the_middle_is_anthropics() -> None:
    talk = anthropic_talk.TALK
    row = {**ANTHROPIC, "messages": [*talk[:1], {"role": "system", "content": "Now."}, *talk[1:]]}

    assert detected(row) == "anthropic-messages"
    found = read("anthropic-messages", row)
    assert not found.opaque
    assert texts(found.effective)[:3] == ["Be kind.", "Read a.py", "Now."]
    assert [m.role for m in found.effective][:3] == ["system", "user", "system"]


def test_what_fits_two_dialects_is_refused_with_both_names(tmp_path: Path) -> None:
    both = {**OPENAI, "system": "Be kind.", "messages": [*openai_talk.TALK, *anthropic_talk.TALK]}

    with pytest.raises(NotUnderstoodError, match="fits openai-chat and anthropic-messages; name"):
        detected(both)
    found = scan_file(written(tmp_path, OPENAI, both))
    (opaque,) = found.opaque
    assert opaque.damage.startswith("a conversation that fits openai-chat and anthropic-messages;")


def test_a_format_that_is_asked_for_reads_nothing_else(tmp_path: Path) -> None:
    path = written(tmp_path, {"contents": [{"parts": [{"text": "hi"}]}]}, {"note": "x"})

    for read_file in (scan, load):
        with pytest.raises(NotUnderstoodError, match=r"contains no openai-chat \(line 1") as told:
            read_file(InputOptions(path=str(path), format="openai-chat"))
        assert str(told.value).endswith("; name another with --format, or leave it out")


@pytest.mark.parametrize("known", ALL_FORMATS, ids=lambda known: known.name)
def test_no_format_says_of_nothing_that_it_is_little(known: Format, tmp_path: Path) -> None:
    path = written(tmp_path, {"zq": [{"turns": "x"}]})

    for read_file in (scan, load):
        with pytest.raises(NotUnderstoodError, match=f"contains no {known.name}"):
            read_file(InputOptions(path=str(path), format=known.name))


def test_a_request_without_messages_may_have_an_answer() -> None:
    assert texts(read("api-log", {"messages": [], "response": ANSWER}).effective) == ["Good."]


@pytest.mark.parametrize("row", [openai_talk.TALK, {"messages": openai_talk.TALK}])
def test_arrays_of_conversations_are_conversations(row: object, tmp_path: Path) -> None:
    found = scan_file(written(tmp_path, [row, row]))

    assert (found.format, found.opaque) == ("openai-chat", ())
    assert [m.conversation for m in found.effective] == [0] * 5 + [1] * 5


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("stages", [("summarize",), ("truncate",), ALL], ids="+".join)
@pytest.mark.parametrize("shape", ["lines", "array", "arrays"])
def test_every_row_is_compacted_and_restored(
    shape: str, layout: Layout, stages: tuple[str, ...], tmp_path: Path
) -> None:
    long = "The cart adds the shipping twice when a voucher is used. " * 12
    more = [
        {"role": role, "content": f"{n} {long}"} for n in range(6) for role in ("user", "assistant")
    ]
    rows: list[Any] = [
        {**OPENAI, "messages": [*openai_talk.TALK, *more]},
        {**ANTHROPIC, "messages": [*anthropic_talk.TALK, *more], "response": ANSWER},
    ]
    if shape == "arrays":
        rows = [rows[0]["messages"], openai_talk.TALK]
    path = tmp_path / "log.json"
    lines = raw_lines(*rows) if shape == "lines" else [json.dumps(rows, indent=1).encode()]
    path.write_bytes(b"".join(lines))

    squeezed(path, stages, layout, tmp_path)
