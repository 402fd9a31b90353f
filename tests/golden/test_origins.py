"""Where the rules come from: OpenCode, Cline, Roo Code and Anthropic's API, case by case."""

from typing import Any

import pytest
from builders import assistant, call, conversation, result, summary, user
from golden.trying import Deviation, chat, tried

from compactctl.model.message import Message, MessageId
from compactctl.records import replace

OPENCODE: dict[str, Any] = {
    "crossing": "clear",
    "protect": 2,
    "unit": "turns",
    "min_savings": 20_001,
    "placeholder": "[Old tool result content cleared]",
}


def in_turns(*chars: int, tool: str = "bash") -> tuple[Message, ...]:
    """Build turns of a prompt and one call with a result of so many characters."""
    messages: list[Message] = []
    for n, size in enumerate(chars):
        messages += [user("go"), call(f"c{n}", tool), result(f"c{n}", "x" * size)]
    return conversation(*messages)


@pytest.mark.parametrize(
    ("sizes", "cleared"),
    [
        # Two newest turns free, then 40,000 tokens; the one that crosses the line goes as well.
        ([100_000, 100_000, 80_000, 80_000, 400_000, 400_000], [2, 5]),
        ([100_000, 100_000, 80_000, 80_004, 400_000, 400_000], [2, 5, 8]),
        ([400_000, 400_000], []),
        ([80_000, 160_000, 4, 4], []),
    ],
)
def test_opencode_prunes_what_crosses_the_line(sizes: list[int], cleared: list[int]) -> None:
    found = tried("prune", in_turns(*sizes), counter="chars/4", **OPENCODE)
    assert found.places == cleared


def test_opencode_spares_skills_and_stops_at_a_summary() -> None:
    assert not tried(
        "prune", in_turns(*[400_000] * 4, tool="skill"), counter="chars/4", **OPENCODE
    ).rewritten
    anew = [replace(m, id=MessageId("")) for m in in_turns(*[400_000] * 4)]
    messages = conversation(*anew[:3], summary("before"), *anew[3:])
    found = tried("prune", messages, counter="chars/4", **OPENCODE, stop_at_summary=True)
    assert found.places == [6]


OPENCODE_DEVIATIONS = {
    "exactly 20,001 tokens cleared": Deviation(
        1, 0, "the placeholder's own tokens are taken off what is saved"
    ),
}


def test_opencode_deviations() -> None:
    messages = in_turns(80_004, 160_000, 4, 4)
    found = tried("prune", messages, counter="chars/4", **OPENCODE)
    assert len(found.rewritten) == OPENCODE_DEVIATIONS["exactly 20,001 tokens cleared"].ours


@pytest.mark.parametrize("count", [*range(6, 30)])
@pytest.mark.parametrize(("fraction", "quarters"), [(0.5, 2), (0.75, 3)])
def test_cline_removes_half_or_three_quarters_behind_the_first_pair(
    count: int, fraction: float, quarters: int
) -> None:
    wanted = (count - 2) * quarters // 4 // 2 * 2
    found = tried("truncate", chat(count, 400), fraction=fraction)
    assert found.places == list(range(2, 2 + wanted))


def reads(size: int, other: int) -> tuple[Message, ...]:
    """Build two equal reads of a file beside prose; sizes are in characters."""
    return conversation(
        user("u" * other),
        call("a", "read_file", path="a.ts"), result("a", "x" * size),
        call("b", "read_file", path="a.ts"), result("b", "x" * size),
        assistant("done"),
    )  # fmt: skip


@pytest.mark.parametrize(("other", "replaced"), [(0, True), (2_900, True), (3_300, False)])
def test_cline_measures_thirty_percent_of_the_whole_conversation(
    other: int,
    replaced: bool,  # noqa: FBT001
) -> None:
    found = tried("dedup", reads(2_000, other), base="visible", threshold=0.28)
    assert bool(found.rewritten) == replaced


CLINE_DEVIATIONS = {
    "less than thirty percent": Deviation(
        "stubs stay and truncation follows", 0, "a share asked for is a condition of the stubs"
    ),
    "every mention of a file": Deviation("replaced", 0, "only what a call asked for is a read"),
}


def test_cline_deviations() -> None:
    below = tried("dedup", reads(2_000, 90_000), base="visible", threshold=0.3)
    assert len(below.rewritten) == CLINE_DEVIATIONS["less than thirty percent"].ours
    mentions = conversation(*[user('<file_content path="a.ts">' + "x" * 900)] * 2)
    found = tried("dedup", mentions)
    assert len(found.rewritten) == CLINE_DEVIATIONS["every mention of a file"].ours


ROO: dict[str, Any] = {
    "keep_first": 1,
    "marker": "[Sliding window truncation: {count} messages hidden to reduce context]",
}


@pytest.mark.parametrize(
    ("count", "fraction", "removed"), [(11, 0.5, 4), (2, 0.5, 0), (11, 0.0, 0), (21, 0.25, 4)]
)
def test_roo_keeps_the_first_message(count: int, fraction: float, removed: int) -> None:
    found = tried("truncate", chat(count, 400), fraction=fraction, **ROO)
    assert found.places == list(range(1, 1 + removed))


def test_roos_marker_stands_before_the_first_kept() -> None:
    found = tried("truncate", chat(11, 400), fraction=0.5, **ROO)
    marker = found.after[1]
    assert (marker.role, found.after[2].id) == ("user", "m5")
    assert marker.parts[0].text == (  # type: ignore[union-attr]
        "[Sliding window truncation: 4 messages hidden to reduce context]"
    )


ROO_DEVIATIONS = {
    "all of 3": Deviation(2, 1, "the newest message always stays"),
}


def test_roo_deviations() -> None:
    found = tried("truncate", chat(3, 400), fraction=1.0, **ROO)
    assert len(found.hidden) == ROO_DEVIATIONS["all of 3"].ours


def test_hidden_messages_are_not_truncated_again_and_one_marker_counts_them_all() -> None:
    first = tried("truncate", chat(41, 400), fraction=0.5, **ROO)
    again = tried("truncate", (*first.after, user("next", id="n1")), fraction=0.5, **ROO)
    marker = next(m.id for m in first.after if m.origin.is_synthetic)
    # Half of the 22 behind the first, the marker being one. Roo leaves it; here the new one
    # takes its place and counts its messages.
    assert again.hidden == (marker, *(f"m{n}" for n in range(21, 30)))
    [text] = [m.parts[0].text for m in again.after if m.origin.is_synthetic]  # type: ignore[union-attr]
    assert text == "[Sliding window truncation: 29 messages hidden to reduce context]"


def test_the_api_clears_all_tools_but_some_when_it_is_worth_it() -> None:
    messages = conversation(
        *(m for n in range(3) for m in (call(f"w{n}", "web_search"), result(f"w{n}", "x" * 4_000))),
        *(m for n in range(4) for m in (call(f"t{n}", "memory"), result(f"t{n}", "x" * 4_000))),
        *(m for n in range(2) for m in (call(f"c{n}", "query"), result(f"c{n}", "x" * 4_000))),
    )
    options: dict[str, Any] = {"keep_recent": 3, "tools": ("*",), "exclude_tools": ("memory",)}
    found = tried("microcompact", messages, counter="chars/4", **options)
    assert found.places == [1, 3]
    least = {**options, "min_savings": found.saved}
    assert tried("microcompact", messages, counter="chars/4", **least).places == [1, 3]
    more = {**options, "min_savings": found.saved + 1}
    assert not tried("microcompact", messages, counter="chars/4", **more).rewritten
