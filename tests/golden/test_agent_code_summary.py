"""agent-code's rule of what its summary leaves as it is, and where it splits; from its own tests.

Its estimates are bytes / 4; four tokens for the frame of each message are counted apart here.
"""

from typing import Any

import pytest
from builders import assistant, call, conversation, message, result, result_part, thinking, user
from golden.trying import Deviation, compacted, tried

from compactctl.history.pairs import cut_points
from compactctl.model.message import Message, TextPart
from compactctl.model.summary import SummaryInputs
from compactctl.profiles.registry import load_profile

COUNTER = "bytes/4"
RULE: dict[str, Any] = {
    "keep_min": 0,
    "min_messages": 3,
    "keep_texts": 5,
    "keep_tokens": 10_000,
    "keep_tokens_max": 40_000,
}
TEXTS = SummaryInputs(summary="In short.")

# By the test of it.
DEVIATIONS = {
    "test_the_summary_stands_once": Deviation(
        "a system message at the boundary and a user message, both with the summary",
        "a user message",
        "one copy is enough; clients that need a boundary know it by their own record",
    ),
    "test_the_newest_message_is_never_summarized": Deviation(
        "one kept message of 40,000 tokens is enough",
        "at least that message",
        "the same, and so it is whatever the rule says",
    ),
}


def kept(messages: tuple[Message, ...], **options: int) -> int | None:
    """Return how many messages stay, None when nothing is summarized."""
    found = tried("summarize", messages, counter=COUNTER, texts=TEXTS, **(RULE | options))
    return len(messages) - len(found.hidden) if found.hidden else None


def talk(count: int, chars: int) -> tuple[Message, ...]:
    kinds = (user, assistant)
    return conversation(*(kinds[n % 2](f"{n:04}".ljust(chars, "x")) for n in range(count)))


@pytest.mark.parametrize(
    ("count", "chars", "expected"),
    [
        # Five texts are there at once, 10,000 tokens after ten messages of 1,000.
        (20, 4_000, 10),
        # The tenth message has 9,999 tokens together with the others.
        (20, 3_996, 11),
        # 10,000 tokens are there at once, five texts later.
        (20, 16_000, 5),
        # The cap comes before the fifth text.
        (20, 64_000, 3),
        (20, 160_000, 1),
        # So little that all of it stays.
        (20, 400, None),
        (3, 160_000, None),
    ],
)
def test_five_texts_and_ten_thousand_tokens_stay_up_to_forty_thousand(
    count: int, chars: int, expected: int | None
) -> None:
    assert kept(talk(count, chars)) == expected


def test_only_messages_with_text_count_as_texts() -> None:
    rest = (thinking("hm"), call("a", "Bash"), result("a", "x" * 80), assistant(" "))
    messages = conversation(*(each for _ in range(9) for each in (user("x" * 9_000), *rest)))
    # The fifth text from behind, and all that follows it.
    assert kept(messages) == 25


def test_at_least_five_of_twenty_stay() -> None:
    assert (kept(talk(20, 40_000)) or 0) == 4
    assert (kept(talk(20, 36_000)) or 0) == 5


PLAIN = conversation(
    user("u"), assistant("a"), user("u"), call("t", "Bash"), result("t", "r"), assistant("a")
)
PARALLEL = conversation(
    user("u"), assistant("a"),
    message("assistant", *call("t1", "Bash").parts, *call("t2", "Bash").parts),
    message("user", result_part("t1", "r")), message("user", result_part("t2", "r")),
    assistant("a"),
)  # fmt: skip
GHOST = conversation(user("u"), assistant("a"), result("ghost", "r"), assistant("a"))
EXCHANGE = conversation(call("t", "Bash"), result("t", "r"), user("u"), assistant("a"))


@pytest.mark.parametrize(
    ("messages", "wanted", "split"),
    [
        (PLAIN, 4, 3), (PLAIN, 3, 3), (PLAIN, 2, 2), (PLAIN, 5, 5),
        (PARALLEL, 4, 2), (PARALLEL, 3, 2),
        (GHOST, 2, 2), (GHOST, 3, 3),
        (EXCHANGE, 1, 0),
    ],
)  # fmt: skip
def test_a_split_moves_back_to_where_no_pair_is_parted(
    messages: tuple[Message, ...], wanted: int, split: int
) -> None:
    assert max(cut for cut in cut_points(messages) if cut <= wanted) == split


def test_fewer_than_two_messages_are_not_summarized() -> None:
    messages = talk(6, 8_000)
    assert kept(messages) is None
    assert kept(talk(7, 8_000)) == 5


def test_the_newest_message_is_never_summarized() -> None:
    assert kept(talk(9, 400), keep_texts=1, keep_tokens=0) == 1
    assert kept(talk(9, 400), keep_texts=1, keep_tokens=0, keep_tokens_max=1) == 1


def test_the_summary_stands_once() -> None:
    (step,) = [each for each in load_profile("agent-code").stages if each.name == "summarize"]
    prefix = str(step.options["prefix"])
    settings = {"summarize": {**RULE, "prefix": prefix}}
    found = compacted(
        talk(40, 4_000), "summarize", target=None, counter=COUNTER, texts=TEXTS, settings=settings
    )
    first, *rest = found.view.messages
    text = "[Conversation compacted. Prior context summary:]\n\nIn short."
    assert first.parts == (TextPart(text=text),)
    assert [m.id for m in rest] == [f"m{n}" for n in range(30, 40)]
    assert {name: step.options[name] for name in RULE} == RULE
