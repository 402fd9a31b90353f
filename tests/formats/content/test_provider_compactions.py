"""Summaries that a provider wrote itself: everything before them is no longer read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, load_file, rewind_file, stats_of_file
from formats.claude_code import sessions as claude
from formats.jsonl import read, write_lines
from formats.logs import response_items as items

from compactctl import compact_messages
from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.pairs import find_orphans
from compactctl.history.protection import ProtectOptions
from compactctl.model.message import Message, is_compaction
from compactctl.stages.registry import ALL_STAGES

Record = dict[str, Any]
SUMMARY = "Summary: part 1 is done, and module_7 was at fault."
SEALED = "gAAAAAB" + "x" * 400


def log(name: str) -> str:
    return "\n".join(f"{name} line {n}: the quick brown fox {n * 7} jumps" for n in range(90))


def step(name: str) -> list[Record]:
    """Return a call and its result as Anthropic's API takes them."""
    call = {"type": "tool_use", "id": f"toolu_{name}", "name": "run", "input": {"name": name}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": log(name)}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def turn(name: str) -> list[Record]:
    done = {"role": "assistant", "content": [{"type": "text", "text": f"{name} is done."}]}
    return [{"role": "user", "content": f"Now {name}."}, *step(name), done]


def compaction(content: str | None = SUMMARY) -> Record:
    blocks = [
        {"type": "text", "text": "old words before the summary"},
        {"type": "compaction", "content": content},
        {"type": "text", "text": "Part 2 has begun."},
    ]
    return {"role": "assistant", "content": blocks}


def said_last() -> Record:
    return {"role": "assistant", "content": [{"type": "text", "text": "Part 9 has begun."}]}


def messages(content: str | None = SUMMARY) -> list[Record]:
    old, new = [
        [record for n in range(4) for record in turn(f"{age}{n}")] for age in ("old", "new")
    ]
    return [*old, compaction(content), *new, {"role": "user", "content": "And part 9?"}]


def session() -> list[Record]:
    records: list[Record] = []
    for message in messages():
        name, parent = f"u{len(records)}", records[-1]["uuid"] if records else None
        if message["role"] == "user":
            records.append(claude.user(name, parent, message["content"]))
        else:
            fields = {"inner": {"content": message["content"]}}
            records.append(claude.response_line(name, parent, {}, "", **fields))
    return records


def response_items() -> list[Record]:
    def turns(age: str) -> list[Record]:
        return [
            item
            for n in range(4)
            for item in (
                items.said("user", f"Now {age}{n}."),
                items.call(f"{age}{n}"),
                items.output(f"{age}{n}", log(f"{age}{n}")),
                items.said("assistant", f"{age}{n} is done."),
            )
        ]

    summary = {"type": "compaction", "id": "cmp_1", "encrypted_content": SEALED}
    return [*turns("old"), summary, *turns("new"), items.said("user", "And part 9?")]


REQUEST: Record = {"model": "claude-opus-4-6", "max_tokens": 9, "system": "Be kind."}
CONTAINERS: dict[str, Callable[[], list[Any]]] = {
    "messages": messages,
    "a document": lambda: [{**REQUEST, "messages": messages()}],
    "a log": lambda: [{"request": {**REQUEST, "messages": messages()}, "response": said_last()}],
    "a session": session,
    "items": response_items,
    "a request of items": lambda: [{"model": "gpt-5.1", "input": response_items()}],
}


def said(history: tuple[Message, ...]) -> str:
    parts = [part for message in history for part in message.parts]
    return "\n".join(getattr(part, "text", "") for part in parts)


def summaries(history: tuple[Message, ...]) -> list[tuple[int, Any]]:
    """Return the provider's summaries, each with the number of messages before it."""
    dialog = [message for message in history if message.role != "system"]
    return [
        (index, without_path(part))
        for index, message in enumerate(dialog)
        for part in message.parts
        if is_compaction(part)
    ]


def without_path(part: Any) -> tuple[str, str, int]:
    return type(part).__name__, part.text, getattr(part, "sealed", 0)


@pytest.mark.parametrize("container", CONTAINERS)
def test_nothing_before_the_summary_is_read(container: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "talk.jsonl", *CONTAINERS[container]())
    history = load_file(path).transcript.effective
    assert [index for index, _ in summaries(history)] == [0]
    assert "old" not in said(history)
    assert "Be kind." in said(history) or "system" not in str(CONTAINERS[container]())
    assert all(f"new{n} line 89" in said(history) for n in range(4))


@pytest.mark.parametrize("stage", [stage.name for stage in ALL_STAGES])
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_stage_keeps_the_summary_first(container: str, stage: str, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "talk.jsonl", *CONTAINERS[container]())
    before = load_file(path).transcript.effective
    for keep in (0.6, 0.2):
        output = tmp_path / f"{keep}.jsonl"
        compact_file(
            path,
            output=output,
            plan=PlanOptions(stages=(stage,), keep=keep),
            protect=ProtectOptions(keep_steps=1),
        )
        after = load_file(output).transcript.effective
        assert summaries(after) == summaries(before)
        assert not any(f"old{n} line 89" in said(after) for n in range(4))
        assert "And part 9?" in said(after)
        assert find_orphans(after) == frozenset()


@pytest.mark.parametrize("content", [None, ""])
def test_without_a_text_the_compaction_failed_and_everything_is_read(content: str | None) -> None:
    history = read("anthropic-messages", *messages(content)).effective
    assert all(f"{age}{n} line 89" in said(history) for age in ("old", "new") for n in range(4))


def test_messages_that_a_program_gives_are_compacted_behind_the_summary() -> None:
    given = messages()
    new = compact_messages(given, format="anthropic-messages", keep=0.4)
    assert compaction() in new
    sent = str(new[new.index(compaction()) :])
    assert "And part 9?" in sent
    assert not any(f"old{n} line 89" in sent for n in range(4))


def test_a_window_that_openai_returned_is_read_whole() -> None:
    window = [items.said("user", "first request"), items.said("user", "second request")]
    summary = {"type": "compaction", "id": "cmp_1", "encrypted_content": SEALED}
    history = read("openai-responses", *window, summary, items.said("user", "And now?")).effective
    assert "first request" in said(history)


@pytest.mark.parametrize("reply", ["", "Part 2 has begun."])
def test_the_report_of_a_request_that_compacted_is_about_what_was_left(
    reply: str, tmp_path: Path
) -> None:
    old = [record for n in range(20) for record in turn(f"old{n}")]
    blocks: list[Record] = [{"type": "compaction", "content": SUMMARY * 20}]
    path = tmp_path / "log.jsonl"
    n_old = stats_of_file(write_lines(path, {**REQUEST, "messages": old})).size.total
    usage = {"input_tokens": n_old, "output_tokens": 300}
    if reply:
        blocks.append({"type": "text", "text": reply})
        usage = {"input_tokens": 400, "output_tokens": 6}
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": blocks,
        "stop_reason": "end_turn" if reply else "compaction",
        "usage": usage,
    }
    write_lines(path, {"request": {**REQUEST, "messages": old}, "response": answer})
    stats = stats_of_file(path)
    assert stats.size.doubt == ""
    assert 250 <= stats.size.total <= 500


RULE = {"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 3}}
APPLIED = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 5}


def cleared_log(*rules: Record, n_cleared: int = 5) -> Record:
    """Return a request of eight results, of which the API cleared the oldest, by default five."""
    answer = {
        **said_last(),
        "id": "msg_9",
        "stop_reason": "end_turn",
        "context_management": {"applied_edits": [{**APPLIED, "cleared_tool_uses": n_cleared}]},
        "usage": {"input_tokens": 4_800, "output_tokens": 6},
    }
    prompt = {"role": "user", "content": "Read all logs."}
    request = {"messages": [prompt, *(message for n in range(8) for message in step(f"log{n}"))]}
    edits = {"context_management": {"edits": [*rules]}}
    return {"request": {**REQUEST, **edits, **request}, "response": answer}


def test_results_that_the_api_cleared_are_not_in_the_context(tmp_path: Path) -> None:
    for rule in (RULE, {"type": RULE["type"]}):
        path = write_lines(tmp_path / "log.jsonl", cleared_log(rule))
        history = load_file(path).transcript.effective
        assert [n for n in range(8) if f"log{n} line 89" in said(history)] == [5, 6, 7]
        size = stats_of_file(path).size
        assert size.doubt == ""
        assert 4_806 <= size.total <= 4_850


@pytest.mark.parametrize("n_cleared", [2, 5])
@pytest.mark.parametrize("stage", [stage.name for stage in ALL_STAGES])
def test_what_the_api_cleared_stays_cleared_after_a_compaction(
    stage: str, n_cleared: int, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "log.jsonl", cleared_log(RULE, n_cleared=n_cleared))
    output, again = tmp_path / "out.jsonl", tmp_path / "again.jsonl"
    protect = ProtectOptions(keep_steps=1)
    for keep in (0.7, 0.4):
        plan = PlanOptions(stages=(stage,), keep=keep)
        compact_file(path, output=output, plan=plan, protect=protect)
        after = load_file(output).transcript.effective
        assert not any(f"log{n} line 89" in said(after) for n in range(n_cleared))
        if output.read_bytes() != path.read_bytes():
            assert not any(f"log{n} line 89" in output.read_text() for n in range(n_cleared))
            compact_file(output, output=again, plan=plan, protect=protect)
            for compacted in (output, again):
                rewind_file(compacted, output=tmp_path / "back.jsonl", all=True)
                assert (tmp_path / "back.jsonl").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("fields", [{"tags": False}, {"layout": "inline"}])
@pytest.mark.parametrize("keep", [0.3, 0.5, 0.8])
def test_what_the_api_never_cleared_is_read_after_a_compaction(
    keep: float, fields: Record, tmp_path: Path
) -> None:
    path, output = tmp_path / "log.jsonl", tmp_path / "out.jsonl"
    write_lines(path, cleared_log(RULE, n_cleared=2))
    for stage in ("window", "prioritize", "truncate", "distill", "plain"):
        plan = PlanOptions(stages=(stage,), keep=keep)
        protect = ProtectOptions(keep_steps=1)
        compact_file(path, output=output, plan=plan, protect=protect, force=True, **fields)
        assert "log7 line 89" in said(load_file(output).transcript.effective)


def test_without_the_rule_only_the_reported_size_is_known(tmp_path: Path) -> None:
    size = stats_of_file(write_lines(tmp_path / "log.jsonl", cleared_log())).size
    assert size.doubt == ""
    assert 4_806 <= size.total <= 4_850


def test_a_client_session_states_that_the_api_cleared_results(tmp_path: Path) -> None:
    records = [claude.user("u0", None, "Read all logs.")]
    for n in range(8):
        records.append(claude.called(f"c{n}", records[-1]["uuid"], f"t{n}"))
        records.append(claude.answered(f"r{n}", f"c{n}", f"t{n}", log(f"log{n}")))
    answer = cleared_log()["response"]
    records.append(claude.said("z", "r7", "All are fine.", inner=answer))
    size = stats_of_file(write_lines(tmp_path / "session.jsonl", *records)).size
    assert size.doubt == ""
    assert 4_806 <= size.total <= 4_850


@pytest.mark.parametrize("setting", ["request", "response"])
def test_a_report_of_a_request_that_the_provider_trimmed_is_believed(
    setting: str, tmp_path: Path
) -> None:
    answer = {
        "id": "resp_1",
        "object": "response",
        "output": [items.said("assistant", "Done.")],
        "usage": {"input_tokens": 4_000, "output_tokens": 5},
    }
    row: Record = {"request": {"model": "gpt-5.1", "input": items.talk(60)}, "response": answer}
    doubted = stats_of_file(write_lines(tmp_path / "whole.jsonl", row))
    row[setting]["truncation"] = "auto"
    believed = stats_of_file(write_lines(tmp_path / "trimmed.jsonl", row))
    assert "is less than" in doubted.size.doubt
    assert believed.size.doubt == ""
    assert 4_005 <= believed.size.total <= 4_030
