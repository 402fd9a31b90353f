import pytest
from formats.codex.rollouts import call, event, item, message, output, record, tokens
from formats.jsonl import read, texts

from compactctl.history.pairs import find_orphans
from compactctl.model.message import MediaPart, ReasoningPart, ToolDefinitionPart
from compactctl.model.transcript import Transcript

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAC0lEQVR4nGNgQAcAABIAAXfx"
    "q+MAAAAASUVORK5CYII="
)


def codex(*records: object) -> Transcript:
    return read("codex", *records)


def test_the_base_instructions_come_first_and_are_anchored() -> None:
    found = codex(
        record("session_meta", id="s", cwd="/w", base_instructions={"text": "You are Codex."}),
        message("user", "Hello"),
        record("session_meta", id="older", base_instructions={"text": "Another session's."}),
    )

    assert texts(found.effective) == ["You are Codex.", "Hello"]
    assert found.effective[0].role == "system"
    assert found.effective[0].locks.unmovable_reason == "the session header"
    assert found.effective[0].parts[0].path == ("payload", "base_instructions", "text")
    assert found.session.cwd == "/w"
    assert found.metadata["session_meta"].count == 1


def test_a_header_tells_only_of_tools_that_are_not_deferred() -> None:
    tools = [
        {"name": "now", "description": "d", "inputSchema": {}, "deferLoading": False},
        {"name": "later", "description": "d", "inputSchema": {}, "deferLoading": True},
    ]
    found = codex(record("session_meta", base_instructions={"text": "Hi"}, dynamic_tools=tools))

    definitions = [p for p in found.messages[0].parts if isinstance(p, ToolDefinitionPart)]
    assert [part.name for part in definitions] == ["now"]
    assert definitions[0].path == ("payload", "dynamic_tools", 0)


def test_older_instructions_may_be_null() -> None:
    assert texts(codex(record("session_meta", instructions="Old.")).effective) == ["Old."]
    assert codex(record("session_meta", instructions=None)).effective == ()


def test_only_what_a_person_wrote_starts_a_turn() -> None:
    found = codex(
        message("developer", "<permissions instructions>\nAll of them."),
        message(
            "user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>"
        ),
        message("user", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"),
        message("user", "Fix the leak"),
        message("user", "<turn_aborted>\nStopped.\n</turn_aborted>"),
        message("user", "<div> is never closed here"),
    )

    assert [m.starts_turn for m in found.effective] == [False, False, False, True, False, True]
    assert found.effective[0].role == "system"
    assert found.effective[0].origin.is_injected


def test_outputs_of_every_shape_are_results() -> None:
    image = {"type": "input_image", "image_url": PIXEL}
    old = '{"output":"No such file\\n","metadata":{"exit_code":2,"duration_seconds":0.1}}'
    found = codex(
        call("a"), call("b"), call("c"), call("d"),
        output("a", "Process exited with code 1\nOutput:\nboom\n"),
        output("b", [{"type": "input_text", "text": "see"}, image]),
        output("c", old),
        output("d", {"content": "odd"}),
    )  # fmt: skip

    results = [m.results[0] for m in found.effective if m.results]
    assert [r.has_failed for r in results] == [True, False, True, False]
    assert results[1].text == "see"
    assert [(m.width, m.height) for m in results[1].media] == [(3, 2)]
    assert results[2].text == old
    assert results[3].text == '{"content":"odd"}'
    assert {r.path for r in results} == {("payload", "output")}
    assert {r.tool for r in results} == {"exec_command"}


def test_other_kinds_of_calls_are_calls() -> None:
    found = codex(
        item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="p"),
        item("custom_tool_call_output", call_id="p", output="Exit code: 0\nDone"),
        item("local_shell_call", call_id="l", status="completed",
             action={"type": "exec", "command": ["ls"]}),
        item("function_call_output", call_id="l", output="a.py"),
        item("web_search_call", status="completed", action={"type": "search", "query": "q"}),
        item("image_generation_call", id="ig", revised_prompt="a cat", result="aGVsbG8="),
    )  # fmt: skip

    calls = [part for m in found.effective for part in m.calls]
    assert [(c.tool, c.arguments) for c in calls] == [
        ("apply_patch", "*** Begin Patch"),
        ("local_shell", '{"type":"exec","command":["ls"]}'),
        ("web_search", '{"type":"search","query":"q"}'),
        ("image_generation", "a cat"),
    ]
    assert find_orphans(found.effective) == frozenset()
    assert isinstance(found.effective[-1].parts[-1], MediaPart)


def test_found_tools_are_definitions_that_stay() -> None:
    tools = [{"type": "function", "name": "list_issues", "parameters": {}}]
    found = codex(
        item("tool_search_call", call_id="t", arguments={"query": "issues"}),
        item("tool_search_output", call_id="t", status="completed", tools=tools),
    )

    assert found.effective[0].calls[0].arguments == '{"query":"issues"}'
    answer = found.effective[1]
    assert [p.name for p in answer.parts if isinstance(p, ToolDefinitionPart)] == ["list_issues"]
    assert answer.locks.immutable_reason is not None
    assert find_orphans(found.effective) == frozenset()


def test_what_of_an_answer_was_reasoning_is_read_and_ends_with_its_turn() -> None:
    last = {"input_tokens": 100, "output_tokens": 30, "reasoning_output_tokens": 20}
    found = read(
        "codex",
        message("user", "go"),
        message("assistant", "done"),
        event("token_count", info={"total_token_usage": last, "last_token_usage": last}),
    )

    assert [(m.usage.output, m.usage.reasoning) for m in found.effective if m.usage] == [(30, 20)]
    assert found.session.drops_past_reasoning
    assert not found.compactions.by_client


def test_a_history_that_the_client_put_in_place_is_told() -> None:
    kept = message("user", "go")["payload"]
    compaction = record("compacted", message="", replacement_history=[kept])
    rolled_back = event("thread_rolled_back", num_turns=9)

    assert read("codex", message("user", "go"), compaction).compactions.by_client
    assert not read("codex", message("user", "go"), compaction, rolled_back).compactions.by_client


def test_reasoning_is_read_where_it_is_not_encrypted() -> None:
    found = codex(
        item(
            "reasoning", summary=[{"type": "summary_text", "text": "Plan"}], encrypted_content="x"
        ),
        item("reasoning", summary=[], content=None),
    )

    first, second = (message.parts for message in found.effective)
    assert [(p.text, p.opaque) for p in first if isinstance(p, ReasoningPart)] == [
        ("Plan", False),
        ("", True),
    ]
    assert [p.opaque for p in second if isinstance(p, ReasoningPart)] == [True]


def test_what_a_response_said_up_to_its_first_output_belongs_together() -> None:
    found = codex(
        message("user", "Go"),
        item("reasoning", summary=[]),
        message("assistant", "Looking."),
        call("a"),
        call("b"),
        output("a", "1"),
        output("b", "2"),
        call("c"),
        output("c", "3"),
    )

    groups = [m.response_id for m in found.effective]
    assert groups[0] is None
    assert len(set(groups[1:5])) == 1
    assert groups[5] is groups[6] is None
    assert groups[7] not in (None, groups[1])


def test_usage_counts_once_and_lands_on_the_response_it_is_for() -> None:
    found = codex(
        record("turn_context", model="gpt-x", cwd="/w"),
        message("user", "Go"),
        call("a"),
        output("a", "1"),
        tokens(1_000, 10, 1_010),
        tokens(1_000, 10, 1_010),
        message("assistant", "Done"),
        tokens(2_000, 20, 3_030),
        tokens(0, 0, 3_030),
    )

    reported = {m.parts[0]: m.usage for m in found.effective if m.usage}
    assert [(u.context, u.output) for u in reported.values()] == [(1_000, 10), (2_000, 20)]
    assert [m.usage is not None for m in found.effective] == [False, True, False, True]
    assert found.session.window == 258_400
    assert found.session.model == "gpt-x"
    assert found.session.cwd == "/w"


def test_an_answer_without_items_is_what_its_token_count_reports() -> None:
    found = codex(
        record("turn_context", model="gpt-x"),
        message("user", "Go"),
        message("assistant", "Done"),
        tokens(1_000, 10, 1_010),
        message("user", "Again"),
        tokens(2_000, 20, 3_030),
        message("user", "And again"),
        item("message", role="assistant", content=[]),
        tokens(3_000, 30, 6_060),
    )

    assert texts(found.effective) == ["Go", "Done", "Again", "", "And again", ""]
    reports = [(m.usage.context, m.model) for m in found.effective if m.usage]
    assert reports == [(1_000, "gpt-x"), (2_000, "gpt-x"), (3_000, "gpt-x")]


def test_older_clients_report_usage_before_the_response_is_written() -> None:
    found = codex(
        record("session_meta", instructions=None),
        message("user", "Go"),
        event("token_count", info=None),
        tokens(1_000, 10, 1_010),
        item("reasoning", summary=[{"type": "summary_text", "text": "one"}]),
        call("a"),
        output("a", "1"),
        tokens(1_000, 10, 1_010),
        tokens(2_000, 20, 3_030),
        item("reasoning", summary=[{"type": "summary_text", "text": "two"}]),
        call("b"),
        output("b", "2"),
    )

    costs = {
        said: m.usage.context
        for m, said in zip(found.effective, texts(found.effective), strict=True)
        if m.usage
    }
    assert costs == {"one": 1_000, "two": 2_000}


def test_a_file_without_its_beginning_has_no_report_of_an_answer_it_lacks() -> None:
    found = codex(
        output("z", "0"),
        tokens(900, 9, 909),
        message("assistant", "one"),
        tokens(1_000, 10, 1_919),
        message("user", "Go on"),
        message("assistant", "two"),
        tokens(2_000, 20, 3_939),
    )
    costs = [m.usage.context for m in found.effective if m.usage]
    assert costs == [1_000, 2_000]


def test_what_is_not_sent_is_counted_by_kind() -> None:
    found = codex(
        event("user_message", message="again"),
        item("ghost_snapshot", ghost_commit={}),
        record("turn_context", model="m"),
        record("world_state", full=True),
    )

    assert dict.fromkeys(found.metadata, 1) == {k: v.count for k, v in found.metadata.items()}
    assert set(found.metadata) == {
        "event_msg/user_message",
        "response_item/ghost_snapshot",
        "turn_context",
        "world_state",
    }
    assert found.messages == ()


def test_items_of_unknown_kinds_are_carried() -> None:
    found = codex(item("hologram", x=1), 7, message("user", "Hi"))

    assert [opaque.line for opaque in found.opaque] == [0, 1]
    assert texts(found.effective) == ["Hi"]


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        (record("brand_new", note="All of this is told and not read."), "brand_new"),
        (event("brand_new", note="All of this is told and not read."), "event_msg/brand_new"),
    ],
)
def test_the_text_of_other_unknown_kinds_is_measured(other: dict[str, object], kind: str) -> None:
    found = codex(message("user", "Hi"), other)

    assert not found.opaque
    assert found.metadata[kind].count == 1
    assert found.unread.lost == len("All of this is told and not read.")


def test_bare_items_of_the_oldest_rollouts_are_read() -> None:
    found = codex(
        {"id": "s", "timestamp": "2025-06-01T00:00:00Z", "instructions": "Be kind."},
        {"record_type": "state"},
        message("user", "Hi")["payload"],
        call("a")["payload"],
        output("a", "ok")["payload"],
    )

    assert texts(found.effective) == ["Be kind.", "Hi", "exec_command({})", "ok"]
    assert found.effective[1].parts[0].path == ("content", 0, "text")
    assert found.metadata["state"].count == 1


def test_ids_do_not_repeat_and_do_not_depend_on_tags() -> None:
    plain = message("user", "Hi")
    first = codex(plain, plain).messages
    tagged = codex(plain, {**plain, "condenseParent": "gone"})

    assert len({m.id for m in first}) == 2
    assert [m.id for m in tagged.messages] == [m.id for m in first]
    assert tagged.warnings
