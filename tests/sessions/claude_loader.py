"""What Claude Code sends of a session file, by its own rules, which were observed in its requests.

It shares nothing with the reader of the package, so that a mistake in one shows in the other.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]
Records = Mapping[str, Record]
# In a larger file, it reads nothing beside the chain.
LARGE = 5 * 2**20
_CHAINED = ("user", "assistant", "attachment", "system")


def sent_by_claude(data: bytes, large: int = LARGE) -> list[tuple[str, str]]:
    """Return the ids of the messages that are sent, each with its content as JSON, in order.

    Tool calls without results are left out, as the client does.
    """
    records, tip = _load(data)
    chain = _chain(records, tip)
    if len(data) <= large:
        chain = _with_siblings(chain, records)
    said = [records[name] for name in chain if records[name]["type"] in ("user", "assistant")]
    answered = {block["tool_use_id"] for each in said for block in _blocks(each, "tool_result")}
    return [
        (each["uuid"], json.dumps(each["message"]["content"]))
        for each in said
        if all(block["id"] in answered for block in _blocks(each, "tool_use"))
    ]


def _load(data: bytes) -> tuple[Records, str]:
    """Return the records by id, the last of each, and the one on the newest line.

    A progress record is passed over: what follows it later in the file follows its parent.
    """
    records: dict[str, Record] = {}
    passed_over: dict[str, str | None] = {}
    tip = pointer = ""
    for record in map(json.loads, data.splitlines()):
        if record["type"] == "last-prompt":
            pointer = record["leafUuid"]
        if "uuid" not in record or record.get("isSidechain"):
            continue
        parent = record.get("parentUuid")
        parent = passed_over.get(parent, parent)
        if record["type"] == "progress":
            passed_over[record["uuid"]] = parent
        elif record["type"] in _CHAINED:
            records[record["uuid"]] = {**record, "parentUuid": parent}
            tip = record["uuid"]
    has_follower = {record["parentUuid"] for record in records.values()}
    return records, pointer if pointer in records and pointer not in has_follower else tip


def _chain(records: Records, tip: str) -> list[str]:
    chain: list[str] = []
    name: str | None = tip
    while name is not None and name in records and name not in chain:
        chain.insert(0, name)
        is_boundary = records[name].get("subtype") == "compact_boundary"
        name = None if is_boundary else records[name]["parentUuid"]
    return chain


def _with_siblings(chain: Sequence[str], records: Records) -> list[str]:
    """Add what parallel calls left beside the chain, behind the last record of their response."""
    of_response: dict[str, list[Record]] = defaultdict(list)
    results: dict[str, list[Record]] = defaultdict(list)
    for record in records.values():
        if record["type"] == "assistant":
            of_response[record["message"]["id"]].append(record)
        elif record["parentUuid"] and _blocks(record, "tool_result"):
            results[record["parentUuid"]].append(record)
    last = {
        records[name]["message"]["id"]: name
        for name in chain
        if records[name]["type"] == "assistant"
    }
    aside: dict[str, list[str]] = {}
    for response, name in last.items():
        calls = of_response[response]
        answers = [answer for call in calls for answer in results[call["uuid"]]]
        aside[name] = [
            each["uuid"]
            for each in (*_by_time(calls), *_by_time(answers))
            if each["uuid"] not in chain
        ]
    return [each for name in chain for each in (name, *aside.get(name, ()))]


def _by_time(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: record.get("timestamp", ""))


def _blocks(record: Record, kind: str) -> list[Any]:
    content = record.get("message", {}).get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if block.get("type") == kind]
