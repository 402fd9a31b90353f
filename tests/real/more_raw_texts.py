"""What further clients send of a session, read a second time from the raw JSON, text by text.

As in ``raw_texts``, nothing is shared with the program's readers.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from real.raw_texts import Record, Text, compact, lines


def pi(path: Path) -> Iterator[Text]:
    """Yield the newest compaction's summary, what it kept, and what follows it."""
    entries = lines(path)
    is_tree = any("id" in entry for entry in entries[1:])
    way = _way_to_the_root(entries[1:]) if is_tree else entries[1:]
    marks = [n for n, entry in enumerate(way) if entry["type"] == "compaction"]
    if marks:
        newest = way[marks[-1]]
        # The header is the first of all entries.
        first = next(
            n
            for n, entry in enumerate(way)
            if newest.get("firstKeptEntryId") == entry.get("id")
            if is_tree or n + 1 == newest["firstKeptEntryIndex"]
        )
        way = [newest, *(e for e in way[first:] if e["type"] != "compaction")]
    for entry in way:
        yield from _pi_entry(entry)


def _way_to_the_root(entries: list[Record]) -> list[Record]:
    by_id = {entry["id"]: entry for entry in entries}
    way: list[Record] = []
    at = entries[-1]["id"]
    while at in by_id:
        way.append(by_id[at])
        at = by_id[at].get("parentId")
    return way[::-1]


def _pi_entry(entry: Record) -> Iterator[Text]:
    message = entry.get("message") or {}
    if entry["type"] in ("compaction", "branch_summary"):
        yield "said", entry["summary"]
    elif message.get("role") == "bashExecution" and not message.get("excludeFromContext"):
        yield "said", f"Ran `{message['command']}`"
        yield "said", message["output"]
    elif message.get("role") == "toolResult":
        texts = [block["text"] for block in message["content"] if block["type"] == "text"]
        yield "tool results", "\n".join(texts)
    elif message.get("stopReason") not in ("aborted", "error"):
        said = "assistant" if message.get("role") == "assistant" else "said"
        content = message.get("content") or []
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield from _block(block, said)


def _block(block: Record, said: str) -> Iterator[Text]:
    match block["type"]:
        case "text":
            yield said, block["text"]
        case "thinking":
            yield "reasoning", block["thinking"]
        case "toolCall" | "tool_use":
            yield "tool calls", block["name"]
            yield "tool calls", compact(block.get("arguments", block.get("input")))
        case "tool_result":
            yield "tool results", compact(block["content"])
        case _:
            pass


def gemini_cli(path: Path) -> Iterator[Text]:
    """Yield the messages that are left once all lines of a log have been carried out."""
    text = path.read_text()
    records = [json.loads(text)] if path.suffix == ".json" else lines(path)
    messages: dict[str, Record] = {}
    for record in records:
        if "$rewindTo" in record:
            names = list(messages)
            for name in names[names.index(record["$rewindTo"]) :]:
                del messages[name]
        elif "id" in record:
            messages[record["id"]] = record
        listed = record.get("messages") or (record.get("$set") or {}).get("messages")
        if listed:
            messages = {message["id"]: message for message in listed}
    for message in messages.values():
        yield from _gemini_message(message)


def _gemini_message(message: Record) -> Iterator[Text]:
    content = message["content"]
    parts = [{"text": content}] if isinstance(content, str) else content
    said = {"user": "said", "gemini": "assistant"}.get(message["type"])
    if said:
        yield from ((said, part["text"]) for part in parts if "text" in part)
    for call in message.get("toolCalls") or []:
        yield "tool calls", call["name"]
        yield "tool calls", compact(call["args"])
        for part in call["result"]:
            response = part["functionResponse"]["response"]
            yield "tool results", response.get("output", response.get("error"))


def qwen_code(path: Path) -> Iterator[Text]:
    """Yield what the newest record follows, since the newest compaction."""
    records = lines(path)
    by_id = {record["uuid"]: record for record in records}
    contents: list[Record] = []
    at = records[-1]["uuid"]
    while at is not None:
        record = by_id[at]
        at = record["parentUuid"]
        listed = record.get("systemPayload", {}).get("compressedHistory")
        if listed:
            contents = [*listed, *contents]
            break
        if "message" in record:
            contents = [record["message"], *contents]
    for content in contents:
        said = "assistant" if content["role"] == "model" else "said"
        for part in content["parts"]:
            if "functionCall" in part:
                yield "tool calls", part["functionCall"]["name"]
                yield "tool calls", compact(part["functionCall"]["args"])
            elif "functionResponse" in part:
                response = part["functionResponse"]["response"]
                yield "tool results", response.get("output", response.get("error"))
            elif "text" in part:
                yield "reasoning" if part.get("thought") else said, part["text"]


def spring_ai(path: Path) -> Iterator[Text]:
    """Yield the events that were neither archived nor a subagent's."""
    for record in lines(path):
        message = record.get("message") or {}
        kind = message.get("messageType") or record.get("message_type")
        text = message.get("text") or record.get("message_content")
        listed = json.loads(record.get("message_data") or "[]")
        is_summary = record.get("synthetic") or record["metadata"] not in ({}, "{}")
        if record["archived"] or record["branch"]:
            continue
        if text:
            yield "said" if kind != "ASSISTANT" or is_summary else "assistant", text
        for item in message.get("toolCalls") or message.get("responses") or listed:
            if kind == "TOOL":
                yield "tool results", item["responseData"]
            else:
                yield "tool calls", item["name"]
                yield "tool calls", item["arguments"]


def neurolink(path: Path) -> Iterator[Text]:
    """Yield the messages that no group hides."""
    for record in lines(path):
        if "condenseParent" in record or "truncationParent" in record:
            continue
        match record["role"]:
            case "tool_call":
                yield "tool calls", record["tool"]
                yield "tool calls", compact(record["args"])
            case "tool_result":
                yield "tool results", record["content"]
            case role:
                yield "assistant" if role == "assistant" else "said", record["content"]


def agent_code(path: Path) -> Iterator[Text]:
    """Yield the messages; what a compaction replaced is no longer in the file."""
    for message in json.loads(path.read_text())["messages"]:
        if message["type"] != "system":
            said = "assistant" if message["type"] == "assistant" else "said"
            for block in message["content"]:
                yield from _block(block, said)


def vscode_chat(path: Path) -> Iterator[Text]:
    """Yield what a chat holds from the newest summary on."""
    sent: list[Text] = []
    text = path.read_text()
    chat = json.loads(text) if path.suffix == ".json" else _replayed(lines(path))
    for request in chat["requests"]:
        metadata = request["result"]["metadata"]
        for name in ("renderedGlobalContext", "renderedUserMessage"):
            sent += [("said", node["text"]) for node in metadata.get(name, ()) if "text" in node]
        for record in metadata["toolCallRounds"]:
            sent += [("reasoning", (record.get("thinking") or {}).get("text") or "")]
            sent += [("assistant", record["response"])]
            for call in record["toolCalls"]:
                sent += [("tool calls", call["name"]), ("tool calls", call["arguments"])]
                sent += [("tool results", _value(metadata["toolCallResults"][call["id"]]))]
            if (metadata.get("summary") or {}).get("toolCallRoundId") == record["id"]:
                sent = [("said", metadata["summary"]["text"])]
    yield from sent


def _replayed(changes: list[Record]) -> Record:
    """Carry out the changes of a chat that the editor wrote one after the other."""
    chat: Record = changes[0]["v"]
    for change in changes[1:]:
        *way, last = change["k"]
        at: Any = chat
        for step in way:
            at = at[step]
        if change["kind"] == 1:
            at[last] = change["v"]
        elif change["kind"] == 2:
            at[last][change.get("i", len(at[last])) :] = change["v"]
        else:
            del at[last]
    return chat


def _value(result: Record) -> str:
    (item,) = result["content"]
    if isinstance(item["value"], str):
        return item["value"]
    return "\n".join(node["text"] for node in item["value"]["node"]["children"])


def tasks(path: Path) -> Iterator[Text]:
    """Yield what users and tools say in a task of Cline or Roo Code."""
    document = json.loads(path.read_text())
    records = document["messages"] if isinstance(document, dict) else document
    summaries = [n for n, record in enumerate(records) if record.get("isSummary")]
    start = summaries[-1] if summaries else 0
    first = records[:1] if start and records[start]["role"] == "assistant" else []
    shown = [*first, *records[start:]]
    markers = {record.get("truncationId") for record in shown} - {None}
    for record in shown:
        if record.get("truncationParent") not in markers and (
            record["role"] == "user" or record.get("isSummary")
        ):
            yield from _task_blocks(record["content"])


def _task_blocks(content: str | list[Record]) -> Iterator[Text]:
    blocks: Iterable[Record] = [{"text": content}] if isinstance(content, str) else content
    is_result = False
    for block in blocks:
        heading, mark, text = block.get("text", "").partition("] Result:")
        if not (mark and heading.startswith("[")):
            yield "tool results" if is_result else "said", block.get("text", "")
            is_result = False
            continue
        yield "said", f"{heading}{mark}" + ("\n" if text else "")
        if text:
            yield "tool results", text.removeprefix("\n")
        # What answers a completion is the next request.
        is_result = not text and "attempt_completion" not in heading


FURTHER_READERS = {
    "pi": pi,
    "gemini-cli": gemini_cli,
    "qwen-code": qwen_code,
    "spring-ai": spring_ai,
    "neurolink": neurolink,
    "agent-code": agent_code,
    "vscode-copilot-chat": vscode_chat,
    "cline": tasks,
    "roo": tasks,
}
