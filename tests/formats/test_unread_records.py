"""Records that no reader knows are counted as unread; those known not to be sent are not."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from formats.claude_code.sessions import answered, attached, called, record, said, user
from formats.codex import rollouts as codex
from formats.copilot_cli import sessions as copilot
from formats.jsonl import read, texts
from formats.opencode import sessions as opencode
from formats.vscode_chat import chats

from compactctl.model.transcript import Transcript

PROSE = "the tide gauge at the north quay was read at dawn; " * 20
Record = dict[str, Any]


def claude(extra: Record) -> Transcript:
    talk = [user("u1", None, "Hi"), called("u2", "u1", "c"), answered("u3", "u2", "c")]
    return read("claude-code", *talk, extra, user("u5", extra.get("uuid", "u3"), "go"))


def rollout(extra: Record) -> Transcript:
    header = codex.record("session_meta", id="s", cwd="/w", cli_version="0.150.0")
    talk = [codex.message("user", "Hi"), codex.message("assistant", "Hello.")]
    return read("codex", header, *talk, extra, codex.message("user", "go"))


def events(extra: Record) -> Transcript:
    talk = [copilot.prompt("Hi"), copilot.said("Hello."), extra, copilot.prompt("go")]
    return read("copilot-cli", *copilot.session(*talk))


def export(extra: Any) -> Transcript:
    answer = opencode.assistant("m2", opencode.text("Hello."), *([extra] if extra else []))
    return opencode.opencode(opencode.user("m1", opencode.text("Hi")), answer)


def chat(change: Callable[[list[Record]], object]) -> Transcript:
    talk = deepcopy(chats.TALK)
    change(talk)
    return read("vscode-copilot-chat", chats.export(*talk))


def metadata(requests: list[Record]) -> Record:
    found: Record = requests[0]["result"]["metadata"]
    return found


def system(subtype: str, **fields: object) -> Record:
    return record("system", "u4", "u3", subtype=subtype, **fields)


def compacted(**payload: object) -> Record:
    return codex.record("compacted", **payload)


ITEM = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": PROSE}]}


@pytest.mark.parametrize(
    "extra",
    [
        attached("u4", "u3", "zq_reminder", content=PROSE),
        attached("u4", "u3", "zq_reminder", body={"text": PROSE}),
        attached("u4", "u3", "hook_additional_context", zq_content=[PROSE]),
        attached("u4", "u3", "invoked_skills", zq_skills=[{"content": PROSE}]),
        record("zq_turn", "u4", "u3", body=PROSE),
        record("zq_turn", "u4", "u3", payload={"entries": [{"words": PROSE}]}),
        {"type": "zq-state", "sessionId": "s", "replacements": [{"replacement": PROSE}]},
        system("zq_reminder", content=PROSE),
        system("local_command", level="info", zq_content=PROSE),
    ],
)
def test_records_of_claude_code(extra: Record) -> None:
    assert claude(extra).unread.lost == len(PROSE)


@pytest.mark.parametrize(
    "extra",
    [
        *(
            attached("u4", "u3", kind, command=PROSE)
            for kind in ("hook_cancelled", "dynamic_skill")
        ),
        attached("u4", "u3", "hook_success", content="", stdout=PROSE),
        attached("u4", "u3", "command_permissions", allowedTools=["Bash(git status)", "Read"]),
        attached("u4", "u3", "auto_mode", reminderType="full"),
        system("turn_duration", durationMs=3),
        system("stop_hook_summary", level="suggestion", hookErrors=[PROSE]),
        system("zq_shown", isMeta=False, content=PROSE),
        {"type": "task-summary", "sessionId": "s", "summary": PROSE},
        {"type": "zq-title", "sessionId": "s", "title": PROSE},
        {**answered("u4", "u2", "c"), "mcpMeta": {"structuredContent": {"words": PROSE}}},
        said("u4", "u3", "Ok", inner={"stop_details": {"explanation": PROSE}}),
    ],
)
def test_what_claude_code_does_not_send(extra: Record) -> None:
    assert claude(extra).unread.fields == {}


@pytest.mark.parametrize(
    ("kind", "fields", "shown"),
    [
        ("critical_system_reminder", {"content": PROSE}, PROSE),
        (
            "hook_blocking_error",
            {"blockingError": {"blockingError": PROSE, "command": "x"}},
            f"x | {PROSE}",
        ),
        (
            "plan_file_reference",
            {"planFilePath": "/a b/plan.md", "planContent": PROSE},
            f"/a b/plan.md | {PROSE}",
        ),
        ("selected_lines_in_ide", {"filename": "a.py", "content": PROSE}, PROSE),
        (
            "invoked_skills",
            {"skills": [{"name": "a", "path": "/a", "content": PROSE}, {"content": "more"}]},
            f"{PROSE} | more",
        ),
        (
            "mcp_resource",
            {"content": {"contents": [{"text": PROSE}, {"uri": "u", "blob": "QUJD" * 200}]}},
            PROSE,
        ),
    ],
)
def test_attachments_that_claude_code_sends(kind: str, fields: Record, shown: str) -> None:
    found = claude(attached("u4", "u3", kind, **fields))
    assert shown in texts(found.effective)
    assert found.unread.fields == {}


@pytest.mark.parametrize(
    "extra",
    [
        compacted(message="", history=[ITEM]),
        compacted(message="", replacement_history={"items": [ITEM]}),
        compacted(message=[{"type": "text", "text": PROSE}]),
        compacted(message="", replacement_history=[], zq_history=[ITEM]),
        {**compacted(message="", replacement_history=[]), "zq_history": [ITEM]},
        compacted(message="In short.", replacement_history={"items": [ITEM]}),
        codex.record("session_meta", id="s", system_prompt=PROSE),
        codex.record("zq_entry", type="turn", body=PROSE),
        codex.record("zq_entry", body={"words": PROSE}),
        {"record_type": "state", "words": PROSE},
    ],
)
def test_records_of_codex(extra: Record) -> None:
    assert rollout(extra).unread.lost == len(PROSE)


def test_the_message_of_a_compaction_stands_in_its_history() -> None:
    extra = compacted(message=PROSE, replacement_history=[ITEM], window_number=1)
    assert rollout(extra).unread.fields == {}


@pytest.mark.parametrize(
    "extra",
    [
        *(
            copilot.event(f"{domain}.zq", content=PROSE)
            for domain in ("user", "assistant", "tool", "session", "system", "skill", "hook", "zq")
        ),
        copilot.event("session.compaction_complete", success=True, summaryText=PROSE),
        copilot.event("system.notification", content=PROSE),
        copilot.event("session.handoff", context=PROSE),
        copilot.event("session.fusion_handoff", message={"content": PROSE}),
    ],
)
def test_events_of_copilot_cli(extra: Record) -> None:
    assert events(extra).unread.lost == len(PROSE)


@pytest.mark.parametrize(
    "extra",
    [
        copilot.event("session.compaction_complete", success=False, error=PROSE),
        copilot.event("session.info", message=PROSE),
        copilot.event("model.call_failure", errorMessage=PROSE),
        copilot.event("hook.end", output={"words": PROSE}),
        copilot.event("permission.requested", permissionRequest={"intention": PROSE}),
        copilot.event("skill.invoked", name="pdf", path="/a", content=PROSE),
        copilot.event("system.message", role="developer", content=PROSE),
    ],
)
def test_what_copilot_cli_does_not_send(extra: Record) -> None:
    assert events(extra).unread.fields == {}


def test_a_skill_that_is_sent_as_a_message_is_read() -> None:
    skill = copilot.event("skill.invoked", name="pdf", content=PROSE)
    sent = copilot.prompt(f"<skill>\n{PROSE}\n</skill>", source="skill-pdf")
    for talk in ([skill, sent], [sent, skill]):
        found = read("copilot-cli", *copilot.session(copilot.prompt("Hi"), *talk))
        assert found.unread.fields == {}


@pytest.mark.parametrize(
    "extra",
    [
        {"type": "zq", "text": PROSE},
        {"type": "zq", "metadata": {"text": PROSE}},
        {"type": "zq", "title": PROSE},
        {"type": "zq", "files": [PROSE]},
        {"name": "x", "data": {"text": PROSE}},
        PROSE,
        [{"type": "text", "text": PROSE}],
    ],
)
def test_parts_of_opencode(extra: object) -> None:
    assert export(extra).unread.lost == len(PROSE)


@pytest.mark.parametrize("value", [PROSE, [opencode.user("m", opencode.text(PROSE))]])
def test_what_stands_between_messages_of_opencode(value: Any) -> None:
    found = read("opencode", {"info": opencode.SESSION, "messages": [opencode.user("m1"), value]})
    assert found.unread.lost == len(PROSE)


@pytest.mark.parametrize(
    "extra",
    [
        {"type": "patch", "hash": "a", "files": ["/a folder with a name of several words/a.py"]},
        {"type": "retry", "error": {"name": "APIError", "data": {"message": PROSE}}},
        {"type": "file", "mime": "text/plain", "url": "data:text/plain;base64," + "QUJD" * 200},
        opencode.text(PROSE, ignored=True),
        opencode.tool("c", "read", {}, output="ok", title=PROSE, metadata={"preview": PROSE}),
    ],
)
def test_what_opencode_does_not_send(extra: Record) -> None:
    assert export(extra).unread.fields == {}


def move(holder: Record, old: str, new: str) -> Record:
    holder[new] = holder.pop(old)
    return holder


@pytest.mark.parametrize(
    "change",
    [
        lambda r: metadata(r)["toolCallResults"]["c1"]["content"].append({"data": {"text": PROSE}}),
        lambda r: metadata(r)["toolCallResults"].update(zq={"content": [{"value": PROSE}]}),
        lambda r: metadata(r)["toolCallRounds"][0].update(zq_response=PROSE),
        lambda r: (
            metadata(r)["toolCallRounds"][1].update(response=PROSE),
            move(metadata(r), "toolCallRounds", "rounds"),
        ),
        lambda r: (
            metadata(r)["toolCallResults"]["c1"]["content"][0].update(value=PROSE),
            move(metadata(r), "toolCallResults", "results"),
        ),
        lambda r: (
            metadata(r)["toolCallRounds"][1].update(response=PROSE),
            move(r[0], "result", "turnMetadata"),
        ),
        lambda r: r[1].update(message={"zq_text": PROSE}),
        lambda r: r[1].update(message={"text": "", "parts": [{"kind": "text", "text": PROSE}]}),
        lambda r: r.append({"requestId": "q3", "prompt": {"text": PROSE}}),
        lambda r: r.append([{"words": PROSE}]),
    ],
)
def test_requests_of_a_chat(change: Callable[[list[Record]], object]) -> None:
    assert chat(change).unread.lost >= len(PROSE)


@pytest.mark.parametrize(
    "change",
    [
        lambda _: None,
        lambda r: r[0].update(response=[{"value": PROSE}], agent={"description": PROSE}),
        lambda r: r[0].update(variableData={"variables": [{"value": PROSE}]}),
        lambda r: r[1]["message"].update(parts=[{"kind": "agent", "agent": {"words": PROSE}}]),
        lambda r: r[0]["result"].update(details="GPT-4.1 • 1x", errorDetails={"message": PROSE}),
        lambda r: r.append({"requestId": "q3", "zq": PROSE, "shouldBeRemovedOnSend": True}),
    ],
)
def test_what_a_chat_only_shows(change: Callable[[list[Record]], object]) -> None:
    assert chat(change).unread.fields == {}


def test_messages_of_a_log_of_requests() -> None:
    def log(**message: object) -> Transcript:
        system = {"role": 0, "content": [{"type": 1, "text": "You help."}]}
        return read("vscode-copilot-chat", chats.replay(system, {"role": 1, **message}))

    assert log(content=[{"type": 1, "text": PROSE}]).unread.fields == {}
    assert log(content=[{"type": 1, "zq_text": PROSE}]).unread.lost == len(PROSE)
    assert log(zq_content=[{"type": 1, "text": PROSE}]).unread.lost == len(PROSE)


@pytest.mark.parametrize("fields", [{"body": PROSE}, {"payload": {"items": [PROSE]}}])
def test_records_of_pi(fields: Record) -> None:
    header = {"type": "session", "version": 3, "id": "s", "cwd": "/w"}
    talk = {"type": "message", "id": "a", "message": {"role": "user", "content": "Hi"}}
    found = read("pi", header, talk, {"type": "zq", "id": "b", "parentId": "a", **fields})
    assert found.unread.lost == len(PROSE)


@pytest.mark.parametrize(
    ("fields", "n_lost"),
    [({"summary": PROSE}, 0), ({"messages": {"a": PROSE}}, 1), ({"history": [{"a": PROSE}]}, 1)],
)
def test_updates_of_gemini_cli(fields: Record, n_lost: int) -> None:
    session = {"sessionId": "s", "projectHash": "h"}
    talk = {"id": "a", "type": "user", "content": "Hi"}
    for records in ([session, {"$set": fields}], [{**session, **fields}]):
        assert read("gemini-cli", *records, talk).unread.lost == n_lost * len(PROSE)


@pytest.mark.parametrize("name", ["cline", "opencode"])
def test_what_stands_beside_the_messages_of_a_document(name: str) -> None:
    message: Record = {"role": "user", "content": "Hi"}
    message |= {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Hi"}]}
    assert read(name, {"messages": [message], "history": [PROSE]}).unread.is_significant
    assert not read(name, {"messages": [message], "sessionId": "s"}).unread.is_significant
