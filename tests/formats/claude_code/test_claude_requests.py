"""What newer clients record of their requests: the texts they send, system prompt and tools."""

from pathlib import Path
from typing import Any

import pytest
from file_commands import load_file
from formats.claude_code.sessions import (
    Record,
    answered,
    attached,
    boundary,
    called,
    said,
    summarized,
    user,
)
from formats.jsonl import detected, read, texts, write_lines
from formats.squeeze import ALL, each_plan, squeezed

from compactctl.clients.claude_code.format import ClaudeCode
from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.model.message import FilePart, TextPart, ToolDefinitionPart
from compactctl.pipeline.layout import Layout

PROMPT = "You keep the harbour's books. Never sign for a ship that has not berthed."
TOOLS = [
    {"name": "Read", "description": "Reads a file.", "input_schema": {"type": "object"}},
    {"name": "Tide", "description": "Tells the tide.", "input_schema": {"type": "object"}},
]
LATER = {"name": "Later", "description": "Loaded on demand.", "defer_loading": True}


def rendered(
    uuid: str, parent: str | None, kind: str, *contents: object, **fields: object
) -> Record:
    messages = [{"content": content} for content in contents]
    return attached(uuid, parent, kind, **fields) | {"rendered": messages, "renderedRole": "system"}


def shape(name: str, prompt: str = PROMPT, *tools: Any) -> Record:
    system = [{"type": "text", "text": prompt}]
    return {
        "type": "api-request-shape",
        "sessionId": "s",
        "shapeHash": name,
        "shape": {"system": system, "tools": [*(tools or TOOLS), LATER]},
    }


def request(name: str, of: str) -> Record:
    return {"type": "api-request", "sessionId": "s", "id": name, "shapeHash": of, "tail": []}


def snapshot(uuid: str, parent: str, *, tools: bool = True) -> Record:
    defined = [{"name": t["name"], "description": "", "schema": t} for t in TOOLS]
    more = {"tools": defined, "cliPrefix": "You are an agent."} if tools else {}
    return attached(uuid, parent, "prompt_snapshot", systemPrompt=[PROMPT, "Be brief."], **more)


def usage(context: int) -> dict[str, Any]:
    return {"usage": {"input_tokens": context, "output_tokens": 5}}


def session(turns: int = 4) -> list[Record]:
    """Return a session as the client writes it: what it sends along, then turns with requests."""
    records = [
        user("u0", None, "Which ships are due?"),
        rendered("a1", "u0", "environment", "<system-reminder>\n# Environment\n</system-reminder>"),
        rendered("a2", "a1", "instructions", "Contents of CLAUDE.md: count the masts.", files=[]),
        attached("a3", "a2", "session_context", context={}),
        rendered("a4", "a3", "date", "Today's date is 2026-11-25.", date="2026-11-25"),
        snapshot("a5", "a4", tools=False),
        {"type": "atis-latch", "atis": "", "sessionId": "s"},
    ]
    parent = "a5"
    for turn in range(turns):
        text = f"berth {turn}: " + "the tide turns at noon and the pilot waits. " * 60
        if turn:
            records.append(user(f"u{turn}", parent, f"And berth {turn}?"))
            parent = f"u{turn}"
        records += [
            shape("h1"),
            request(f"r{turn}", "h1"),
            called(f"c{turn}", parent, f"t{turn}", requestRef=f"r{turn}"),
            answered(f"k{turn}", f"c{turn}", f"t{turn}", text),
            said(f"s{turn}", f"k{turn}", f"Berth {turn} is free.", requestRef=f"r{turn}"),
            {"type": "tools-used", "tools": ["Read"], "sessionId": "s"},
            {"type": "cost-state", "totalCostUSD": 0.1, "sessionId": "s"},
        ]
        parent = f"s{turn}"
    return records


def test_the_texts_that_are_recorded_as_sent_are_sent() -> None:
    found = read(
        "claude-code",
        user("u0", None, "Go"),
        rendered("a1", "u0", "date", "Today is a Wednesday.", date="2026-11-25"),
        rendered("a2", "a1", "deferred_tools_delta", "More tools: Tide", addedLines=["Tide"]),
        rendered(
            "a3", "a2", "file", "Called Read", [{"type": "text", "text": "1 a"}], filename="f"
        ),
        rendered("a4", "a3", "never_seen_before", "A new kind."),
        attached("a5", "a4", "session_context", context={}),
        attached("a6", "a5", "total_tokens_reminder", text="<total_tokens>9</total_tokens>"),
    )

    assert texts(found.effective)[1:] == [
        "Today is a Wednesday.",
        "More tools: Tide",
        "Called Read | 1 a",
        "A new kind.",
        "<total_tokens>9</total_tokens>",
    ]
    kinds = [type(part) for message in found.effective[1:] for part in message.parts]
    assert kinds == [TextPart, ToolDefinitionPart, FilePart, FilePart, TextPart, TextPart]
    assert found.effective[1].parts[0].path == ("rendered", 0, "content")
    assert all(message.origin.is_injected for message in found.effective[1:])


def test_the_file_from_which_a_text_was_made_is_not_sent_beside_it() -> None:
    lines = [f"the crew of watch {number} rested ashore" for number in range(99)]
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    content = {"type": "text", "file": {"content": "\n".join(lines)}}
    record = rendered("a", "u", "file", numbered, filename="f", content=content)

    assert not read("claude-code", user("u", None, "Go"), record).unread.lost


def test_system_prompt_and_tools_of_the_newest_request_come_first() -> None:
    found = read("claude-code", *session(), shape("h2", "Another prompt."))
    first, *rest = found.effective

    assert first.role == "system"
    assert texts((first,))[0].startswith(PROMPT)
    assert [part.name for part in first.parts if isinstance(part, ToolDefinitionPart)] == [
        "Read",
        "Tide",
    ]
    assert first.locks.immutable_reason
    assert first.locks.unmovable_reason
    assert found.session.holds_overhead
    assert "system" not in {message.role for message in rest}
    assert found.messages.count(first) == 1
    assert [m.line for m in found.messages] == sorted(m.line for m in found.messages)


def test_a_prompt_that_changed_is_that_of_the_newest_answer() -> None:
    more = [
        user("n1", "s3", "Go on"),
        shape("h2", "You keep the lighthouse."),
        request("n", "h2"),
        said("n2", "n1", "Yes.", requestRef="n"),
    ]
    found = read("claude-code", *session(), *more)

    assert texts(found.effective)[0].startswith("You keep the lighthouse.")
    assert [message.role for message in found.effective].count("system") == 1


def test_after_a_compaction_of_the_client_the_prompt_is_still_that_of_the_request() -> None:
    found = read("claude-code", *session(), boundary("b"), summarized("z", "b", "All so far."))

    assert [text.split(".")[0] for text in texts(found.effective)] == [
        "You keep the harbour's books",
        "All so far",
    ]


def test_a_snapshot_stands_in_where_no_request_is_recorded() -> None:
    records = [each for each in session() if not str(each["type"]).startswith("api-request")]
    later = snapshot("p", "k0")
    found = read("claude-code", *records, later)

    assert texts(found.effective)[0].startswith(f"You are an agent. | {PROMPT} | Be brief.")
    assert [p.name for p in found.effective[0].parts if isinstance(p, ToolDefinitionPart)] == [
        "Read",
        "Tide",
    ]
    assert not read("claude-code", *records).session.holds_overhead


def test_records_of_requests_are_recognized() -> None:
    assert detected(*(shape(f"h{n}") for n in range(9)), *session(1)) == "claude-code"


def test_no_overhead_is_inferred_where_the_file_holds_it() -> None:
    def size(*records: Record) -> Any:
        found = read("claude-code", *records)
        return context_size(found, measure(found, MeasureOptions(counter="chars/4")))

    records = session()
    for number, record in enumerate(each for each in records if "requestRef" in each):
        # A result of some 660 tokens comes before every other request.
        record["message"] |= usage(2_000 + 680 * ((number + 1) // 2) + 20 * number)
    whole = size(*records)
    bare = size(*(each for each in records if each["type"] != "api-request-shape"))

    assert whole.overhead == 0
    assert bare.overhead > 0
    assert whole.total == bare.total
    counted = whole.counted + whole.hidden_reasoning + whole.frames + whole.unexplained
    assert counted == whole.total


def test_without_usage_nothing_is_said_to_be_missing_where_the_file_holds_it() -> None:
    found = read("claude-code", *session())
    size = context_size(found, measure(found, MeasureOptions(counter="chars/4")))
    assert size.unreported == ""


@pytest.mark.parametrize("kind", ["environment", "model", "instructions", "date"])
def test_what_the_client_would_send_again_stays(kind: str) -> None:
    found = read("claude-code", user("u", None, "Go"), rendered("a", "u", kind, "Words."))
    assert found.effective[1].locks.immutable_reason


@each_plan()
@pytest.mark.parametrize("layout", ["split", "inline"])
def test_it_is_compacted_and_restored(
    tmp_path: Path, stages: tuple[str, ...], layout: Layout
) -> None:
    path = write_lines(tmp_path / "in.jsonl", *session(8))
    before = load_file(path).transcript.effective
    squeezed(path, stages, layout, tmp_path)
    after = load_file(tmp_path / "out.json").transcript.effective if stages == ALL else before

    kept = {"You keep the harbour's books", "Contents of CLAUDE", "Today's date is 2026-11-25"}
    assert kept <= {text.split(".")[0] for text in texts(after)}
    assert texts(after)[0] == texts(before)[0]


@pytest.mark.parametrize("content", ["long words", [{"type": "text", "text": "long words"}]])
def test_what_is_written_into_a_text_that_is_sent_is_read_back(content: object) -> None:
    record = rendered("a", None, "file", content, filename="f", content={"file": {"content": "x"}})
    (message,) = read("claude-code", record).effective
    new = ClaudeCode().new_value(message, 0, content, "shorter")
    (again,) = read("claude-code", rendered("a", None, "file", new, filename="f")).effective
    assert texts((again,)) == ["shorter"]
    assert type(new) is type(content)
