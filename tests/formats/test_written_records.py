"""What compactctl writes is read back as what it is, in every format and container."""

import json

import pytest
from formats.agent_code.sessions import NOTE, session
from formats.agent_code.sessions import TALK as AGENT_CODE
from formats.anthropic_talk import TALK as ANTHROPIC
from formats.claude_code.sessions import answered, called, said, user
from formats.codex.rollouts import call, message, output, record, tokens
from formats.gemini_cli.talks import SESSION, apart, put
from formats.jsonl import decoded, file_lines, raw_lines, texts
from formats.known import REAL, WRITTEN, Known, each_known
from formats.logs import contents, converse
from formats.logs import response_items as responses
from formats.logs import ui_messages as ui
from formats.neurolink_talk import TALK as NEUROLINK
from formats.openai_talk import TALK as OPENAI
from formats.openai_talk import answered as openai_answer
from formats.openai_talk import called as openai_call
from formats.openai_talk import say
from formats.spring_ai.events import event, row, talk
from formats.written import (
    STUB,
    SUMMARY,
    Case,
    compacted,
    halved,
    load,
    with_new_arguments,
)

from compactctl.clients.detection import detect
from compactctl.history.apply import apply, net_edits
from compactctl.history.pairs import find_orphans
from compactctl.model.message import (
    Message,
)
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import Layout, LayoutOptions, lay_out

CODEX = [
    record("session_meta", base_instructions={"text": "base"}),
    message("user", "one"),
    call("a"),
    output("a", "1"),
    tokens(100, 5, 105),
    message("assistant", "first done"),
    message("user", "two"),
    call("b"),
    output("b", [{"type": "input_text", "text": "2"}]),
    message("assistant", "second done"),
]
COMPACTED = [
    CODEX[0],
    record(
        "compacted",
        message="",
        replacement_history=[each["payload"] for each in (*CODEX[1:4], *CODEX[5:9])],
    ),
    CODEX[9],
]
CHAT = [
    *OPENAI,
    say("user", "Read b.py"),
    say("assistant", None, tool_calls=[openai_call("c2")]),
    openai_answer("c2", [{"type": "text", "value": "print(2)"}]),
    say("assistant", "It prints 2."),
]
TOOLS = [{"type": "function", "function": {"name": "read_file"}}]
MESSAGES = [*ANTHROPIC, *json.loads(json.dumps(ANTHROPIC).replace("t1", "t2"))]
CLAUDE = [
    user("u1", None, "one"),
    called("a1", "u1", "c1"),
    answered("r1", "a1", "c1"),
    said("a2", "r1", "first done"),
    user("u2", "a2", "two"),
    called("a3", "u2", "c2"),
    answered("r2", "a3", "c2"),
    said("a4", "r2", "second done"),
]
LINK = [*NEUROLINK, {"id": "m7", "role": "user", "content": "thanks"}]

# In an exported chat, contents can be replaced and nothing can be hidden.
EDITABLE = [known for known in WRITTEN if known.format != "vscode-copilot-chat"]
CASES = (
    Case("codex lines", CODEX, range(1, 5), 7),
    Case("codex compaction", COMPACTED, range(1, 5), 7),
    Case("openai lines", CHAT, range(1, 5), 7),
    Case("openai request", [{"tools": TOOLS, "messages": CHAT}], range(2, 6), 8),
    Case("openai array", [CHAT], range(1, 5), 7),
    Case("anthropic lines", MESSAGES, range(4), 6),
    Case("anthropic request", [{"messages": MESSAGES, "system": "s"}], range(1, 5), 7),
    Case("claude lines", CLAUDE, range(4), 6),
    Case("gemini lines", [SESSION, *apart()], range(4), 6),
    Case("gemini document", [{**SESSION, "messages": apart()}], range(4), 6),
    Case("gemini list", [SESSION, put(*apart())], range(4), 6),
    Case("spring lines", talk(event), range(4), 6),
    Case("spring rows", talk(row), range(4), 6),
    Case("spring document", [{"session": {"id": "s1"}, "events": talk(row)}], range(4), 6),
    Case("agent-code document", [session(NOTE, *AGENT_CODE)], range(4), 6),
    Case("converse lines", converse.talk(), range(4), 6),
    Case("gemini-api lines", contents.talk(), range(4), 6),
    Case("gemini-api request", [{"contents": contents.talk(ids=True)}], range(4), 6),
    Case("responses lines", responses.talk(3), range(4), 6),
    Case("responses array", [responses.js_talk(3)], range(4), 6),
    Case("responses request", [responses.request(responses.talk(3))], range(1, 5), 7),
    Case("ai-sdk lines", ui.talk(), range(4), 5),
    Case("ai-sdk array", [ui.older_talk()], range(4), 5),
    Case("neurolink lines", [*LINK, *LINK[1:3], *LINK[3:5]], range(6), 9),
    Case("neurolink array", [[*LINK, *LINK[1:3], *LINK[3:5]]], range(6), 9),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("layout", ["split", "inline"])
def test_the_new_file_says_what_the_edits_say(case: Case, layout: Layout) -> None:
    _, again, expected = compacted(case, layout)

    assert texts(again.effective) == expected
    assert SUMMARY in expected
    # Calls and results of some formats stand in one record with the answer.
    assert any(STUB in said for said in expected)
    assert find_orphans(again.effective) == frozenset()
    assert again.warnings == ()
    assert again.opaque == ()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("layout", ["split", "inline"])
def test_new_arguments_stand_in_the_shape_of_the_old(case: Case, layout: Layout) -> None:
    lines = raw_lines(*case.records)
    found, parsed = load(lines), decoded(lines)
    edits = with_new_arguments(found.effective)
    style = LayoutOptions(layout=layout, operation="op1")
    new = tuple(lay_out(lines, found, net_edits(edits), detect(parsed, "test"), style))
    again = load([line.data for line in new])

    assert len(edits) >= 2
    assert texts(again.effective) == texts(apply(found.effective, edits))
    assert find_orphans(again.effective) == find_orphans(found.effective)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("layout", ["split", "inline"])
def test_the_summary_is_known_as_ours(case: Case, layout: Layout) -> None:
    _, again, _ = compacted(case, layout)

    ours = [message for message in again.effective if message.origin.is_synthetic]
    assert [(m.origin.is_summary, m.starts_turn, m.tags.condense_id) for m in ours] == [
        (True, False, "g1")
    ]
    assert ours[0].tags.operation == "op1"
    assert [m.tags.edit_id for m in again.effective if m.tags.edit_id] == ["e1"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_new_file_is_still_of_its_format(case: Case) -> None:
    before = load(raw_lines(*case.records))
    _, again, _ = compacted(case, "split")

    assert again.format == before.format
    assert len(again.messages) == len(before.messages) - len(case.hide) + 1


@pytest.mark.each_choice
@each_known((*EDITABLE, *REAL))
@pytest.mark.parametrize("layout", ["split", "inline"])
def test_a_file_reads_back_as_its_edits_say(known: Known, layout: Layout) -> None:
    lines = file_lines(known.place)
    found = load(lines)
    edits = [edit for messages in by_conversation(found) for edit in halved(messages)]
    style = LayoutOptions(layout=layout, operation="op1")
    new = tuple(lay_out(lines, found, net_edits(edits), detect(decoded(lines), "test"), style))
    again = load([line.data for line in new])

    assert edits
    assert again.format == found.format
    assert texts(again.effective) == texts(apply(found.effective, edits))
    assert len(find_orphans(again.effective)) <= known.orphans
    # Some sessions are written with what is warned of.
    assert again.warnings == (found.warnings if known.is_written else ())


def by_conversation(found: Transcript) -> list[list[Message]]:
    numbers = dict.fromkeys(message.conversation for message in found.effective)
    return [[m for m in found.effective if m.conversation == number] for number in numbers]


def test_a_written_codex_line_has_the_envelope_and_an_item_in_a_compaction_has_none() -> None:
    line, _, _ = compacted(CASES[0], "split")
    inner, _, _ = compacted(CASES[1], "split")

    written = json.loads(line[1])
    assert (written["type"], written["timestamp"]) == ("response_item", CODEX[1]["timestamp"])
    assert written["payload"] == {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": SUMMARY}],
    }
    item = json.loads(inner[1])["payload"]["replacement_history"][0]
    assert item["content"] == [{"type": "input_text", "text": SUMMARY}]
    assert "payload" not in item


def test_rewritten_content_keeps_the_shape_it_had() -> None:
    lines, _, _ = compacted(CASES[0], "split")
    chat, _, _ = compacted(CASES[2], "split")

    outputs = [json.loads(line)["payload"].get("output") for line in lines]
    assert [{"type": "input_text", "text": STUB}] in outputs
    contents = [json.loads(line)["content"] for line in chat]
    assert [{"type": "text", "value": STUB}] in contents
