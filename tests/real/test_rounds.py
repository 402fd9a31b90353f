"""Rounds of real sessions against a count of the raw records."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from file_commands import scan_file
from real.choice import FILES, TRIED, client_of, name_of

from compactctl.history.usage.rounds import find_rounds
from compactctl.store.files.limits import READ_LIMITS
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.meter import Meter

# Context and what of it was read from a cache, of every request that a file tells of.
Sent = list[tuple[int, int]]


def records(path: Path) -> Iterator[Mapping[str, Any]]:
    for line in path.read_text(errors="replace").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def claude_code(path: Path) -> Sent:
    """Count the first record of each response; a subagent's only where there are no others."""
    found: dict[bool, dict[str, tuple[int, int]]] = {True: {}, False: {}}
    for record in records(path):
        inner: dict[str, Any] = record.get("message") or {}
        is_answer = record.get("type") == "assistant" and inner.get("content")
        if not is_answer or inner.get("model") == "<synthetic>":
            continue
        usage = inner.get("usage") or {}
        read = usage.get("cache_read_input_tokens") or 0
        written = usage.get("cache_creation_input_tokens") or 0
        context = (usage.get("input_tokens") or 0) + read + written
        if context and not record.get("isApiErrorMessage"):
            name = str(inner.get("id") or record.get("uuid"))
            found[record.get("isSidechain") is True].setdefault(name, (context, read))
    return list((found[False] or found[True]).values())


def codex(path: Path) -> Sent:
    """Count the token counts that differ from the one before; those of no input are estimates."""
    found: Sent = []
    before = None
    for record in records(path):
        payload = record.get("payload") or {}
        info = payload.get("info") if payload.get("type") == "token_count" else None
        if info and info.get("total_token_usage") != before:
            before = info["total_token_usage"]
            last = info.get("last_token_usage") or {}
            if last.get("input_tokens"):
                found.append((last["input_tokens"], last.get("cached_input_tokens") or 0))
    return found


def pi(path: Path) -> Sent:
    answers = (record.get("message") or {} for record in records(path))
    usages = [each["usage"] for each in answers if each.get("usage") and each.get("content")]
    sums = [(u.get("input", 0) + u.get("cacheRead", 0) + u.get("cacheWrite", 0), u) for u in usages]
    return [(context, u.get("cacheRead", 0)) for context, u in sums if context]


def opencode(path: Path) -> Sent:
    """Count answers of one step; what is told of others is their last request alone."""
    found: Sent = []
    for message in json.loads(path.read_text())["messages"]:
        tokens = message["info"].get("tokens") or {}
        cache = tokens.get("cache") or {}
        context = tokens.get("input", 0) + cache.get("read", 0) + cache.get("write", 0)
        steps = [part for part in message["parts"] if part["type"] == "step-finish"]
        if context and len(steps) <= 1:
            found.append((context, cache.get("read", 0)))
    return found


COUNTED = {"claude-code": claude_code, "codex": codex, "pi": pi, "opencode": opencode}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name_of(path), marks=() if path in TRIED else pytest.mark.long)
        for path in FILES
        if client_of(path) in COUNTED
    ],
)
def test_every_request_of_the_file_is_a_round(path: Path) -> None:
    transcript = scan_file(path, format=None, limits=READ_LIMITS)
    found = find_rounds(transcript, Meter(CharsCounter(4))).rounds
    told = [(each.usage.context, each.usage.cache_read or 0) for each in found]
    assert sorted(told) == sorted(COUNTED[client_of(path)](path))
