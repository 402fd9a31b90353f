"""The protocol behind the accuracy figures hides what was not known yet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.estimates.fit import shipped
from benchmarks.estimates.recorded_session import (
    OTHERS,
    OURS,
    Session,
    find_recorded_requests,
    hide_reports_after,
    opencode_before,
    pick_evenly,
)
from benchmarks.estimates.strict_protocol import run_trials
from formats.claude_code.sessions import boundary, said, summarized, user
from formats.jsonl import raw_lines, read
from formats.opencode.sessions import assistant, text, tool
from formats.opencode.sessions import user as opencode_user

from compactctl.records import replace


def answer(
    name: str, parent: str, context: int, model: Mapping[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    usage = {"input_tokens": context, "output_tokens": 7}
    inner = {"id": f"response-{name}", "stop_reason": "end_turn", "usage": usage, **(model or {})}
    return said(name, parent, "fine", inner=inner, **more)


TALK = [
    user("u1", None, "go"),
    answer("a1", "u1", 100),
    user("u2", "a1", "on"),
    answer("a2", "u2", 120),
    user("u3", "a2", "and"),
    answer("a3", "u3", 140),
]


def test_reports_after_the_anchor_are_hidden() -> None:
    whole = read("claude-code", *TALK)
    requests = find_recorded_requests(whole)

    seen = hide_reports_after(whole, requests[1])

    assert [m.usage.context for m in seen.messages if m.usage] == [100, 120]
    assert [m.usage.context for m in seen.effective if m.usage] == [100, 120]


def test_empty_and_repeated_reports_are_left_out() -> None:
    talk = [*TALK, answer("a4", "a3", 140), answer("a5", "a4", 0), answer("a6", "a5", 90)]

    requests = find_recorded_requests(read("claude-code", *talk))

    assert [request.context for request in requests] == [100, 120, 140, 90]


def test_subagents_have_a_context_of_their_own() -> None:
    aside = answer("a4", "a3", 30, isSidechain=True)

    assert len(find_recorded_requests(read("claude-code", *TALK, aside))) == 3


def test_a_session_is_cut_before_the_answer(tmp_path: Path) -> None:
    talk = [*TALK, boundary("b"), summarized("s", "b", "all so far"), answer("a4", "s", 60)]
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(raw_lines(*talk)))
    session = Session(path)

    assert [session.before(each).n_lines for each in session.requests] == [1, 3, 5, 8]
    assert (session.turns, session.boundaries) == (frozenset({1, 2}), frozenset({3}))
    assert session.crosses(session.requests[0], session.requests[3])
    assert not session.crosses(session.requests[0], session.requests[2])


def test_what_opencode_cleared_later_is_there_again() -> None:
    cleared = {"start": 1, "end": 2, "compacted": 1_700_000_003_000}
    records = [
        opencode_user("msg_1", text("go")),
        assistant("msg_2", tool("c1", "read", {}, output="all of it", time=cleared)),
        assistant("msg_3", text("then"), time={"created": 1_700_000_001_000}),
        assistant("msg_4", text("later"), time={"created": 1_700_000_005_000}),
    ]
    document = {"info": {"revert": {}}, "messages": records}

    def results(count: int) -> list[str]:
        found = read("opencode", opencode_before(document, count))
        return [result.text for message in found.effective for result in message.results]

    assert results(2) == ["all of it"]
    assert results(3) == ["[Old tool result content cleared]"]


def test_places_are_spread_evenly() -> None:
    assert pick_evenly(range(100), 4) == {12, 37, 62, 87}
    assert pick_evenly(range(3), 4) == {0, 1, 2}


def test_a_family_without_constants_is_estimated_by_others_alone(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    model = {"model": "claude-opus-4-5"}
    path.write_bytes(
        b"".join(
            raw_lines(
                user("u1", None, "go"),
                answer("a1", "u1", 100, model=model),
                user("u2", "a1", "on"),
                answer("a2", "u2", 120, model=model),
            )
        )
    )
    session = Session(path)

    ours = {t.horizon: t for t in run_trials(session, 5, shipped()) if t.estimator == OURS}
    others = {t.estimator for t in run_trials(session, 5, replace(shipped(), framings={}))}

    # A word is two tokens by the factor of the family, and a prompt takes one for itself.
    one = ours["last request"]
    assert (one.truth, one.guess) == (120, 100 + 7 + 2 + 1)
    assert others == set(OTHERS)
