"""What four clients send of a session, read a second time from the raw JSON, text by text.

It shares nothing with the program's readers, so that where both count alike both read alike. It
tells kinds of text, not who wrote them: which of a client's tags make a text a reminder, or which
call reads a file, both sides could only take from one list.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]
# A kind and a text of it.
Text = tuple[str, str]
# Categories of ``stats`` that are one kind here.
KINDS = {
    "said": ("system prompt", "user", "other", "summaries"),
    "assistant": ("assistant",),
    "reasoning": ("reasoning",),
    "tool calls": ("tool calls",),
    "tool results": ("tool results", "file reads"),
    "attachments": ("attachments",),
    "tool definitions": ("tool definitions",),
}
# What Claude Code attaches: its kind, and where its text is.
_ATTACHED = {
    "file": ("attachments", "content.file.content"),
    "edited_text_file": ("attachments", "snippet"),
    "nested_memory": ("attachments", "content.content"),
    "deferred_tools_delta": ("tool definitions", "addedLines"),
    "mcp_instructions_delta": ("tool definitions", "addedBlocks"),
    "agent_listing_delta": ("tool definitions", "addedLines"),
    "skill_listing": ("tool definitions", "content"),
    "queued_command": ("said", "prompt"),
    "hook_additional_context": ("said", "content"),
    "plan_mode": ("said", "content"),
    "auto_mode": ("said", "content"),
    "date_change": ("said", "newDate"),
    "compact_file_reference": ("said", "filename"),
}


def lines(path: Path) -> list[Record]:
    found = []
    for line in path.read_text(errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            found.append(record)
    return found


def compact(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def claude_code(path: Path) -> Iterator[Text]:
    """Yield what follows the newest boundary, without branches that a person left."""
    records = lines(path)
    marks = [n for n, each in enumerate(records) if each.get("subtype") == "compact_boundary"]
    start = marks[-1] if marks else 0
    kept = (records[start].get("compactMetadata") or {}).get("preservedMessages") or {}
    sent = [each for each in records[start:] if each.get("uuid")]
    main = [each for each in sent if each.get("isSidechain") is not True]
    before = [each for each in records[:start] if each.get("uuid") in kept.get("uuids", [])]
    # What was kept follows the summary, so that the way to the newest record may not lead there.
    before += [each for each in main if each.get("isCompactSummary") is True]
    whole = {each["uuid"]: each for each in (*before, *_on_the_way(main or sent))}
    for record in whole.values():
        yield from _claude_texts(record)


def _on_the_way(records: list[Record]) -> Iterator[Record]:
    """Yield the records that lead to the newest one, and what hangs beside the way."""
    by_id = {each["uuid"]: each for each in records}
    way: set[str] = set()
    at: str | None = next((r["uuid"] for r in reversed(records) if r["type"] != "progress"), None)
    while at is not None and at in by_id and at not in way:
        way.add(at)
        at = by_id[at].get("parentUuid")
    turns = {each["uuid"] for each in records if _is_prompt(each)}
    children: dict[str | None, list[str]] = defaultdict(list)
    for each in records:
        children[each.get("parentUuid")].append(each["uuid"])

    def left(uuid: str) -> bool:
        """Tell whether a person left the branch that begins here."""
        below = [uuid]
        for name in below:
            below += children[name]
        return not turns.isdisjoint(below)

    kept = set(way)
    for each in records:
        beside = each.get("parentUuid") in kept and each["uuid"] not in kept
        if beside and not left(each["uuid"]):
            kept.add(each["uuid"])
    return (each for each in records if each["uuid"] in kept)


def _is_prompt(record: Record) -> bool:
    content = (record.get("message") or {}).get("content")
    blocks = content if isinstance(content, list) else []
    is_result = any(block.get("type") == "tool_result" for block in blocks)
    return record["type"] == "user" and not record.get("isMeta") and not is_result


def _claude_texts(record: Record) -> Iterator[Text]:
    if record["type"] == "attachment":
        yield from _attachment(record["attachment"])
    elif record.get("subtype") == "local_command":
        yield "said", record["content"]
    elif record["type"] in ("user", "assistant"):
        message = record["message"]
        if not record.get("isApiErrorMessage"):
            said = "assistant" if record["type"] == "assistant" else "said"
            yield from _blocks(message["content"], said)


def _attachment(attachment: Record) -> Iterator[Text]:
    if attachment["type"] == "task_reminder":
        # The words are the client's own: their number is what is known of them.
        tasks = attachment["content"] or []
        yield "said", "\n".join(f"#{t['id']}. [{t['status']}] {t['subject']}" for t in tasks)
    elif attachment["type"] in _ATTACHED:
        kind, place = _ATTACHED[attachment["type"]]
        value: Any = attachment
        for step in place.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        texts = value if isinstance(value, list) else [value or ""]
        yield kind, "\n".join(map(compact, texts))


def _blocks(content: Any, said: str) -> Iterator[Text]:
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        match block["type"]:
            case "text":
                yield said, block["text"]
            case "thinking":
                yield "reasoning", block["thinking"]
            case "tool_use":
                yield "tool calls", block["name"]
                yield "tool calls", compact(block["input"])
            case "tool_result":
                yield "tool results", _result_text(block.get("content"))
            case _:
                pass


def _result_text(content: Any) -> str:
    if not isinstance(content, list):
        return compact(content or "")
    return "\n".join(
        block["text"] if block["type"] == "text" else compact(block)
        for block in content
        if block["type"] not in ("image", "document")
    )


def codex(path: Path) -> Iterator[Text]:
    """Yield the instructions, the newest compaction's history and what follows it."""
    items: list[Record] = []
    header = None
    for record in map(_enveloped, lines(path)):
        payload = record.get("payload") or {}
        if payload.get("type") == "thread_rolled_back":
            for _ in range(payload["num_turns"]):
                items = items[: max(n for n, item in enumerate(items) if _is_typed(item))]
        elif record.get("type") == "session_meta":
            header = header or payload
        elif record.get("type") == "response_item":
            items.append(payload)
        elif record.get("type") == "compacted" and "replacement_history" in payload:
            items = list(payload["replacement_history"])
    base = (header or {}).get("base_instructions") or (header or {}).get("instructions") or ""
    yield "said", base["text"] if isinstance(base, dict) else base
    for tool in (header or {}).get("dynamic_tools") or []:
        if not tool.get("deferLoading"):
            yield "tool definitions", tool["name"]
            yield "tool definitions", compact({k: v for k, v in tool.items() if k != "name"})
    answered = {item.get("call_id") for item in items if item["type"].endswith("_output")}
    for item in items:
        yield from _item(item, answered)


def _enveloped(record: Record) -> Record:
    """Return an item of the oldest rollouts, which has no envelope, in one."""
    is_bare = "type" in record and "payload" not in record
    return {"type": "response_item", "payload": record} if is_bare else record


def _is_typed(item: Record) -> bool:
    texts = [part.get("text", "") for part in item.get("content") or []]
    is_told = any(text.startswith(("<", "# AGENTS.md")) for text in texts)
    return item["type"] == "message" and item["role"] == "user" and not is_told


def _item(item: Record, answered: set[str | None]) -> Iterator[Text]:
    match item["type"]:
        case "message":
            said = "assistant" if item["role"] == "assistant" else "said"
            yield from ((said, part["text"]) for part in item["content"] if "text" in part)
        case "reasoning":
            yield from (("reasoning", part["text"]) for part in item.get("summary") or [])
        case "function_call" | "custom_tool_call":
            yield "tool calls", item["name"]
            yield "tool calls", compact(item.get("arguments", item.get("input")))
            if item["call_id"] not in answered:
                yield "tool results", "aborted"
        case "web_search_call":
            yield "tool calls", "web_search"
            yield "tool calls", compact(item.get("action") or "")
        case "function_call_output" | "custom_tool_call_output":
            output = item["output"]
            parts = output if isinstance(output, list) else [{"text": compact(output)}]
            yield "tool results", "\n".join(part["text"] for part in parts if "text" in part)
        case _:
            pass


def opencode(path: Path) -> Iterator[Text]:
    """Yield what the messages say from the newest compaction on, without failed requests."""
    document = json.loads(path.read_text())
    messages = document["messages"]
    ids = [message["info"]["id"] for message in messages]
    reverted = (document["info"].get("revert") or {}).get("messageID")
    end = ids.index(reverted) if reverted else len(ids)
    kinds = [{part["type"] for part in message["parts"]} for message in messages[:end]]
    start = max((n for n, found in enumerate(kinds) if "compaction" in found), default=0)
    for message in messages[start:end]:
        is_answer = message["info"]["role"] == "assistant" and not message["info"].get("summary")
        if not message["info"].get("error"):
            for part in message["parts"]:
                yield from _opencode_part(part, "assistant" if is_answer else "said")


def _opencode_part(part: Record, said: str) -> Iterator[Text]:
    match part["type"]:
        case "text" if not part.get("ignored"):
            yield said, part["text"]
        case "reasoning":
            yield "reasoning", part["text"]
        case "compaction":
            yield said, "What did we do so far?"
        case "subtask":
            yield said, "The following tool was executed by the user"
        case "tool":
            state = part["state"]
            yield "tool calls", part["tool"]
            yield "tool calls", compact(state.get("input", {}))
            cleared = (state.get("time") or {}).get("compacted")
            output = state.get("error" if state["status"] == "error" else "output", "")
            yield "tool results", "[Old tool result content cleared]" if cleared else output
        case _:
            pass


def copilot_cli(path: Path) -> Iterator[Text]:
    """Yield the newest system prompt, and the messages from the newest compaction on.

    Subagents have a context of their own; of prompts, a compaction keeps what was typed.
    """
    records = [each for each in lines(path) if isinstance(each.get("data"), dict)]
    records = [each for each in records if not each["data"].get("parentToolCallId")]
    prompts = [each["data"]["content"] for each in records if each["type"] == "system.message"]
    yield from (("said", prompt) for prompt in prompts[-1:])
    sent: list[Text] = []
    typed: list[Text] = []
    for record in records:
        data = record["data"]
        if record["type"] == "session.compaction_complete":
            sent = [*typed, ("said", data["summaryContent"])]
        elif record["type"] == "user.message":
            typed.append(("said", data["content"]))
        sent += _event_texts(record["type"], data)
    yield from sent


def _event_texts(kind: str, data: Record) -> Iterator[Text]:
    match kind:
        case "user.message":
            yield "said", data.get("transformedContent") or data["content"]
        case "assistant.message":
            yield "reasoning", (data.get("reasoningBlocks") and data["reasoningText"]) or ""
            yield "assistant", data["content"]
            for call in data.get("toolRequests") or []:
                yield "tool calls", call["name"]
                yield "tool calls", compact(call["arguments"])
        case "tool.execution_complete":
            told = data.get("result") or {"content": (data.get("error") or {}).get("message")}
            yield "tool results", compact(told.get("content") or "")
        case _:
            pass


READERS = {
    "claude-code": claude_code,
    "codex": codex,
    "opencode": opencode,
    "copilot-cli": copilot_cli,
}


def kinds(texts: Iterable[Text]) -> dict[str, list[str]]:
    """Return the texts of each kind."""
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for kind, text in texts:
        found[kind].append(text)
    return found
