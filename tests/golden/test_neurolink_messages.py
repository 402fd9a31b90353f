"""Which messages NeuroLink's summaries and truncation hide, figure by figure.

T numbers are those of NeuroLink's own tests. A case that encodes a defect of NeuroLink, or that
the safe rule answers differently, stands in a table of deviations with its reason, and what
compactctl does is asserted.
"""

import pytest
from builders import call, conversation, message, result, system
from golden.trying import Deviation, Tried, chat, tried

from compactctl.model.message import Message
from compactctl.model.summary import SummaryInputs

IN_SHORT = SummaryInputs(summary="In short.")


@pytest.mark.parametrize(
    ("count", "split"),
    [(4, 0), (6, 2), (10, 6), (13, 9), (14, 9), (15, 10), (20, 14), (50, 35), (100, 70)],
)
def test_where_a_summary_splits(count: int, split: int) -> None:
    found = tried("summarize", chat(count, 400), texts=IN_SHORT)
    assert len(found.hidden) == split
    assert found.places == list(range(split))


SUMMARY_DEVIATIONS = {
    "5 messages": Deviation(1, 0, "a single message is its own best summary"),
    "a system prompt first": Deviation("hidden", "kept", "the system prompt always stays"),
    "a pair across the split": Deviation("parted", "kept", "tool pairs are never parted"),
}


def test_summary_deviations() -> None:
    assert len(tried("summarize", chat(5, 400), texts=IN_SHORT).hidden) == 0
    first = conversation(system("You help. " * 9), *(m for m in _anew(chat(10, 400))))
    assert "m0" not in tried("summarize", first, texts=IN_SHORT).hidden
    parted = conversation(
        *_anew(chat(5, 400)), call("a", "Bash"), result("a", "x" * 400), *_anew(chat(3, 400))
    )
    assert tried("summarize", parted, texts=IN_SHORT).hidden == tuple(f"m{n}" for n in range(5))


def _anew(messages: tuple[Message, ...]) -> list[Message]:
    return [message(m.role, *m.parts) for m in messages]


@pytest.mark.parametrize(
    ("count", "fraction", "removed"),
    [
        (4, 0.5, 0), (5, 0.5, 0), (6, 0.5, 2), (7, 0.5, 2), (8, 0.5, 2), (9, 0.5, 2),
        (10, 0.5, 4), (11, 0.5, 4), (20, 0.5, 8), (100, 0.5, 48), (20, 0.75, 12),
        (20, 0.9, 16), (20, 0.05, 0), (20, 0.0, 0),
    ],
)  # fmt: skip
def test_t28_how_many_are_removed(count: int, fraction: float, removed: int) -> None:
    found = tried("truncate", chat(count, 400), fraction=fraction)
    assert found.places == list(range(2, 2 + removed))


def test_t28_twenty_messages_become_thirteen() -> None:
    found = tried("truncate", chat(20, 400), marker_role="system")
    assert [m.id for m in found.after[:2]] == ["m0", "m1"]
    assert found.after[2].id.startswith("truncation-")
    assert (found.after[2].role, len(found.after)) == ("system", 13)


TRUNCATE_DEVIATIONS = {
    "all of 20": Deviation(18, 17, "the newest message always stays"),
    "fraction 0 in later versions": Deviation(16, 0, "0 hides nothing"),
    "100 x 500 down to 10,000": Deviation(40, 38, "messages are counted without their frame"),
    "400 x 1,000 down to 5,324": Deviation("5,922 left", "fits", "hides on until it fits"),
}


def _adaptive(count: int, chars: int, target: int) -> Tried:
    # The later versions add 0.05 to a factor of 1.
    return tried(
        "truncate", chat(count, chars), counter="chars/4 x1.05", target=target, margin=0.15
    )


def test_a_margin_hides_more_than_the_target_needs() -> None:
    assert len(_adaptive(20, 500, 2_000).hidden) == 6


def test_truncate_deviations() -> None:
    ours = {name: case.ours for name, case in TRUNCATE_DEVIATIONS.items()}
    assert len(tried("truncate", chat(20, 400), fraction=1.0).hidden) == ours["all of 20"]
    nothing = tried("truncate", chat(20, 400), fraction=0.0)
    assert len(nothing.hidden) == ours["fraction 0 in later versions"]
    assert len(_adaptive(6, 50_000, 10_000).hidden) == 2
    assert len(_adaptive(20, 500, 1_000).hidden) == 14
    assert len(_adaptive(100, 500, 10_000).hidden) == ours["100 x 500 down to 10,000"]
    assert _adaptive(400, 1_000, 5_324).left <= 5_324
