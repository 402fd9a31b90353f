"""agent-code's figures and tests, case by case.

A case that the safe rule answers differently stands in a table of deviations with its reason, and
what compactctl does is asserted.
"""

import pytest
from builders import assistant, call, conversation, message, result, result_part, system, user
from golden.trying import Deviation, chat, outputs, tried

from compactctl.history.pairs import cut_points
from compactctl.model.message import MediaPart, Message, ToolCallPart
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.meter import Meter

COUNTER = "bytes/4"


@pytest.mark.parametrize(
    ("n_bytes", "tokens"), [(0, 0), (1, 0), (2, 1), (3, 1), (5, 1), (6, 2), (10, 3), (100, 25)]
)
def test_tokens_of_bytes(n_bytes: int, tokens: int) -> None:
    assert parse_counter(COUNTER).count_many(["x" * n_bytes]) == [tokens]


def test_tokens_of_parts() -> None:
    meter = Meter(parse_counter(COUNTER))
    assert meter.text("😀😀😀") == 3
    assert meter.message(system("x" * 40)) == 10
    asked = ToolCallPart(call_id="c", tool="Bash", arguments='{"command":"ls -la"}')  # type: ignore[arg-type]
    assert meter.part(asked) == 1 + 5


COUNT_DEVIATIONS = {
    "system of 40 characters": Deviation(14, 10, "frames are told by the request, not guessed"),
    "an image": Deviation(2_000, 1_024, "an image of unknown size counts as NeuroLink counts one"),
}


def test_count_deviations() -> None:
    meter = Meter(parse_counter(COUNTER))
    shot = MediaPart(media_type="image/png", n_bytes=9)
    ours = [meter.message(system("x" * 40)), meter.part(shot)]
    assert ours == [case.ours for case in COUNT_DEVIATIONS.values()]


def test_microcompact_of_little() -> None:
    assert not tried("microcompact", (), counter=COUNTER).rewritten
    one = tried("microcompact", outputs(4_000), counter=COUNTER, keep_recent=5)
    assert not one.rewritten


def test_microcompact_of_five_keeping_two() -> None:
    found = tried("microcompact", outputs(*[400] * 5), counter=COUNTER, keep_recent=2)
    assert found.rewritten == dict.fromkeys(("m1", "m3", "m5"), "[Old tool result cleared]")
    assert found.saved == 3 * (100 - 6)


def test_microcompact_keeps_at_least_one_and_unknown_tools() -> None:
    assert tried("microcompact", outputs(400, 400), counter=COUNTER, keep_recent=0).places == [1]
    unknown = outputs(400, 400, tool="ask_user")
    assert not tried("microcompact", unknown, counter=COUNTER, keep_recent=1).rewritten


@pytest.mark.parametrize("tool", ["FileRead", "bash", "GREP", "Glob", "FileEdit", "FileWrite"])
def test_microcompact_knows_the_six_tools(tool: str) -> None:
    found = tried("microcompact", outputs(400, 400, tool=tool), counter=COUNTER, keep_recent=1)
    assert found.places == [1]


def test_cleared_results_occupy_their_places() -> None:
    first = tried("microcompact", outputs(*[400] * 4), counter=COUNTER, keep_recent=2)
    assert not tried("microcompact", first.after, counter=COUNTER, keep_recent=2).rewritten


def talk(*kinds: str) -> tuple[Message, ...]:
    """Build messages from letters: u, a, use N, result N."""
    built = []
    for kind in kinds:
        name, _, number = kind.partition(" ")
        makers = {"u": lambda: user("x"), "a": lambda: assistant("x")}
        pairs = {"use": lambda n: call(n, "Bash"), "result": lambda n: result(n, "x")}
        built.append(pairs[name](number) if number else makers[name]())
    return conversation(*built)


@pytest.mark.parametrize(
    ("kinds", "wanted", "cut"),
    [
        (("u", "a", "u", "use 1", "result 1", "a"), 4, 3),
        (("u", "a", "u", "use 1", "result 1", "a"), 3, 3),
        (("u", "a", "use 1", "use 2", "result 1", "result 2", "a"), 5, 2),
        (("u", "a", "u", "a", "u", "a"), 4, 4),
        (("u", "a", "u", "result 9", "a"), 4, 4),
        (("use 1", "u", "result 1", "a"), 2, 0),
    ],
)
def test_a_cut_never_parts_a_result_from_its_call(
    kinds: tuple[str, ...], wanted: int, cut: int
) -> None:
    assert max(point for point in cut_points(talk(*kinds)) if point <= wanted) == cut


def test_calls_and_results_of_one_message_are_cut_together() -> None:
    messages = conversation(
        user("x"), call("1", "Bash"), call("2", "Bash"),
        message("user", result_part("1", "x"), result_part("2", "x")), assistant("x"),
    )  # fmt: skip
    assert max(point for point in cut_points(messages) if point <= 3) == 1


def groups(*sizes: int) -> tuple[Message, ...]:
    """Build a person's messages of so many tokens."""
    return conversation(*(user("x" * 4 * size) for size in sizes))


@pytest.mark.parametrize(
    ("sizes", "budget", "removed"),
    [
        ([100] * 10, 950, [1]),
        ([100] * 10, 50, [*range(1, 9)]),
        ([1_000, 10, 10, 1_000], 500, [1, 2]),
        ([100] * 10, 1_000, []),
        ([], 10, []),
        ([100, 100], 50, []),
    ],
)
def test_collapse(sizes: list[int], budget: int, removed: list[int]) -> None:
    found = tried("collapse", groups(*sizes), counter=COUNTER, target=budget)
    assert found.places == removed


COLLAPSE_DEVIATIONS = {
    "ten groups of 100 within 500": Deviation(5, 6, "the marker counts, so that it fits with it"),
}


def test_collapse_deviations() -> None:
    found = tried("collapse", groups(*[100] * 10), counter=COUNTER, target=500)
    assert len(found.hidden) == COLLAPSE_DEVIATIONS["ten groups of 100 within 500"].ours
    assert found.left <= 500


def test_collapse_of_ten_pairs() -> None:
    found = tried("collapse", chat(20, 400), counter=COUNTER, target=50)
    assert found.hidden
    assert len(found.after) < 20
    marker = next(m for m in found.after if m.origin.is_synthetic)
    assert marker.role == "user"
    assert Meter(parse_counter(COUNTER)).message(marker) == 13
