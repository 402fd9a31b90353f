"""What readers tell of requests beside their size: caches, times, subagents, compactions."""

from formats.claude_code.sessions import boundary, microcompacted, said, summarized, user
from formats.codex.rollouts import event, message, record
from formats.copilot_cli.sessions import event as copilot_event
from formats.copilot_cli.sessions import found as copilot
from formats.copilot_cli.sessions import prompt
from formats.copilot_cli.sessions import said as copilot_said
from formats.jsonl import read

from compactctl.model.message import ReportedUsage


def test_a_claude_answer_tells_its_cache_and_its_time() -> None:
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 500,
        "cache_creation_input_tokens": 90,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 70},
    }
    answer = said("a", "u", "hi", inner={"usage": usage}, timestamp="1970-01-01T00:01:00.500Z")
    [_, one] = read("claude-code", user("u", None, "go"), answer).messages
    assert one.usage is not None
    assert (one.usage.context, one.usage.cache_read) == (593, 500)
    assert (one.usage.cache_write, one.usage.cache_write_1h) == (90, 70)
    assert (one.timestamp, one.origin.is_subagent) == (60.5, False)


def test_an_answer_that_the_model_was_asked_for_twice_counts_what_was_sent_first() -> None:
    def asked(kind: str, read: int, output: int) -> dict[str, object]:
        return {
            "type": kind,
            "input_tokens": 2,
            "cache_read_input_tokens": read,
            "output_tokens": output,
        }

    iterations = [asked("message", 6_000, 90), asked("advisor_message", 6_500, 400)]
    iterations.append(asked("message", 7_000, 70))
    usage = {
        # As the provider adds up what it asked its own model for.
        "input_tokens": 4,
        "cache_read_input_tokens": 13_000,
        "output_tokens": 160,
        "iterations": iterations,
    }
    answer = said("a", "u", "hi", inner={"usage": usage, "stop_reason": "end_turn"})
    [_, one] = read("claude-code", user("u", None, "go"), answer).messages
    assert one.usage is not None
    assert (one.usage.context, one.usage.cache_read) == (6_002, 6_000)
    # The next request holds what was sent last, and what was answered then.
    assert one.usage.context + (one.usage.answer or 0) == 7_002 + 70
    # It is billed as the provider adds it up.
    assert one.usage.output == 160
    assert one.usage.resent == ReportedUsage(context=7_002, cache_read=7_000)


def test_claudes_compactions_are_told_and_a_subagents_are_not() -> None:
    found = read(
        "claude-code",
        user("u", None, "go"),
        boundary("b"),
        summarized("s", "b", "all so far"),
        said("x", "s", "look", isSidechain=True),
        {**boundary("c"), "isSidechain": True},
        microcompacted("m", "s"),
    )
    assert found.compactions.lines == (1,)
    assert [each.origin.is_subagent for each in found.messages] == [False, False, True]


def test_codex_tells_what_was_cached_and_where_it_compacted() -> None:
    usage = {"input_tokens": 900, "cached_input_tokens": 800, "output_tokens": 5}
    found = read(
        "codex",
        message("user", "go"),
        message("assistant", "fine"),
        event("token_count", info={"total_token_usage": usage, "last_token_usage": usage}),
        record("compacted", message="all so far"),
    )
    assert [each.usage.cache_read for each in found.messages if each.usage] == [800]
    assert found.compactions.lines == (3,)


def test_copilots_subagents_are_aside_and_its_compactions_are_told() -> None:
    found = copilot(
        prompt("go"),
        copilot_said("look", parentToolCallId="c"),
        copilot_said("fine"),
        copilot_event("session.compaction_complete", success=True, summaryContent="all so far"),
    )
    lines = {each.line: each.origin.is_subagent for each in found.messages}
    assert sorted(lines.values()) == [False, False, False, True]
    assert len(found.compactions.lines) == 1
