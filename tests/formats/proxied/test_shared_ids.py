"""Answers to which a proxy gives one id are answers of their own."""

from collections.abc import Callable
from typing import Any

import pytest
from formats.claude_code import sessions as claude
from formats.jsonl import read, texts

from compactctl.history.pairs import find_orphans
from compactctl.model.transcript import Transcript

Record = dict[str, Any]
Usage = Callable[[int], Record]

USAGES: dict[str, Usage] = {
    "reported": lambda n: {"input_tokens": 1_000 * n, "output_tokens": 5},
    "not reported": lambda _: {"input_tokens": 0, "output_tokens": 0},
}


def turns(names: str, usage: Usage, parent: str | None = None) -> list[Record]:
    """Return a turn for each name: two calls at once, and an answer; all under one id."""
    found = []
    for n, name in enumerate(names, 1):
        asked = {"inner": {"usage": usage(2 * n)}}
        said = {"inner": {"usage": usage(2 * n + 1)}}
        found += [
            claude.user(f"u{name}", parent, f"Question {name}"),
            claude.called(f"a{name}", f"u{name}", f"1{name}", "same", **asked),
            claude.called(f"b{name}", f"a{name}", f"2{name}", "same", **asked),
            claude.answered(f"r{name}", f"a{name}", f"1{name}", f"first {name}"),
            claude.answered(f"s{name}", f"b{name}", f"2{name}", f"second {name}"),
            claude.said(f"c{name}", f"s{name}", f"Answer {name}", "same", **said),
        ]
        parent = f"c{name}"
    return found


def responses(transcript: Transcript) -> int:
    return len({m.response_id for m in transcript.effective if m.response_id})


@pytest.mark.parametrize("usage", USAGES.values(), ids=USAGES)
def test_each_has_its_own_request(usage: Usage) -> None:
    found = read("claude-code", *turns("abcd", usage))
    assert responses(found) == 8
    assert not find_orphans(found.effective)


@pytest.mark.parametrize("usage", USAGES.values(), ids=USAGES)
def test_the_client_sends_what_another_branch_answered_under_the_same_id(usage: Usage) -> None:
    records = [*turns("abcd", usage), *turns("xy", usage, "ca")]
    found = read("claude-code", *records)
    said = " ".join(texts(found.effective))
    assert [name for name in "abcdxy" if f"Answer {name}" in said] == [*"abcdxy"]
    assert [name for name in "abcdxy" if f"Question {name}" in said] == ["a", "x", "y"]


def test_a_file_that_was_appended_to_itself_is_one_session() -> None:
    records = turns("abcd", USAGES["reported"])
    once, twice = (read("claude-code", *records * times) for times in (1, 2))
    assert texts(twice.effective) == texts(once.effective)
    assert responses(twice) == responses(once) == 8


def test_another_request_is_another_response() -> None:
    records = [
        claude.user("u", None, "Go."),
        claude.called("a", "u", "1", "same", requestId="req_1"),
        claude.called("b", "a", "2", "same", requestId="req_1"),
        claude.answered("r", "b", "1"),
        claude.answered("s", "r", "2"),
        claude.said("c", "s", "Done.", "same", requestId="req_2"),
    ]
    assert responses(read("claude-code", *records)) == 2
