"""Lists on the page of a session: kinds, largest messages, files read again."""

from collections.abc import Mapping
from typing import Any, cast

import pytest
from builders import user

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.timeline import Timeline, TimelineFile, TimelineMessage
from compactctl.commands.page_choice import PageChoice
from compactctl.model.message import MessageId
from compactctl.records import replace
from compactctl.views.pages.page import PageNames
from compactctl.views.pages.session_lists import (
    anchor_of,
    category_bars,
    disagreement_text,
    file_bars,
    listed_messages,
    message_bars,
    message_rows,
    read_rows,
    request_rows,
    request_segments,
)

NAMES = PageNames(PageChoice(path="p.html"))


class Requests:
    """Four requests."""

    rounds = (None,) * 4


def message(index: int, tokens: int, **changes: Any) -> TimelineMessage:
    base = TimelineMessage(
        message=replace(user(f"text {index}"), id=MessageId(f"m{index}"), line=index),
        tokens=tokens,
        category="tool results",
        tools=("Read",),
        first_round=index + 1,
        is_sent=True,
    )
    return replace(base, **changes)


def timeline(*messages: TimelineMessage, files: tuple[TimelineFile, ...] = ()) -> Timeline:
    class Drawn:
        """What a timeline has of it."""

        rounds = Requests

    drawn = Drawn()
    drawn.messages, drawn.files = messages, files  # type: ignore[attr-defined]
    return cast("Timeline", drawn)


def test_kinds_are_bars_of_the_largest_one() -> None:
    bars = category_bars({"user": 50, "message overhead": 50, "media": 25, "unexplained": -10}).rows
    assert [(bar.label, bar.figure, bar.note, bar.width, bar.name) for bar in bars] == [
        ("user", "50", "40.0%", 100.0, "c-user"),
        ("message overhead", "50", "40.0%", 100.0, "c-message-overhead"),
        ("media", "25", "20.0%", 50.0, "c-media"),
        ("unexplained", "-10", "", 0.0, "c-unexplained"),
    ]
    assert category_bars({}).rows == ()


def test_parts_that_do_not_add_up_are_explained() -> None:
    assert disagreement_text({}) == ""
    assert disagreement_text({"user": 1_100, "unexplained": -100}) == ""
    assert disagreement_text({"user": 900, "unexplained": 100}) == ""
    more = disagreement_text({"user": 1_625, "unexplained": -1_525})
    assert more.startswith("The parts count 1,625 tokens, more than the 100 of the request: ")
    less = disagreement_text({"user": 100, "unexplained": 1_525})
    assert less.startswith("No part explains 1,525 tokens: ")


def test_segments_lie_side_by_side_and_fill_what_is_used() -> None:
    found = request_segments({"user": 60, "media": 20, "unexplained": -20}, 60, 120)
    assert found == [
        {"name": "user", "at": 0.0, "width": 37.5, "tokens": 60},
        {"name": "media", "at": 37.5, "width": 12.5, "tokens": 20},
    ]
    assert request_segments({}, 0, 0) == []


def test_the_largest_messages_that_are_sent_are_bars() -> None:
    found = message_bars(
        timeline(message(0, 40), message(1, 99, is_sent=False), message(2, 80), message(3, 40)),
        NAMES,
    )
    assert [(bar.label, bar.figure, bar.width, bar.target) for bar in found.rows] == [
        ("line 3 · user, Read", "80", 100.0, "m3"),
        ("line 1 · user, Read", "40", 50.0, "m1"),
        ("line 4 · user, Read", "40", 50.0, "m4"),
    ]
    assert found.rest == ""


@pytest.mark.parametrize(
    ("count", "rest"),
    [(10, ""), (11, "1 other message: 5 tokens"), (12, "2 other messages: 10 tokens")],
)
def test_of_many_messages_the_rest_is_summed_up(count: int, rest: str) -> None:
    found = message_bars(timeline(*(message(n, 5) for n in range(count))), NAMES)
    assert (len(found.rows), found.rest) == (10, rest)


def test_in_a_document_of_one_line_messages_are_numbered() -> None:
    one_line = [replace(message(n, 5), message=replace(user("x"), line=0)) for n in range(2)]
    bars = message_bars(timeline(*one_line), NAMES).rows
    assert [bar.label for bar in bars] == ["message 1 · user, Read", "message 2 · user, Read"]


def file(path: str, *reads: int, tokens: int = 10, covered: tuple[int, ...] = ()) -> TimelineFile:
    return TimelineFile(path=path, reads=reads, covered=frozenset(covered), tokens=tokens)


def test_files_are_bars_that_lead_to_their_last_read() -> None:
    files = (file("a.py", 0, 2, tokens=20), file("b.py", 1), file("c.py", 3, tokens=0))
    found = file_bars(timeline(files=files), NAMES)
    assert [(bar.figure, bar.note, bar.width, bar.target) for bar in found.rows] == [
        ("20", "2 reads", 100.0, "m3"), ("10", "1 read", 50.0, "m2"),
    ]  # fmt: skip
    many = file_bars(timeline(files=tuple(file(f"{n}", n) for n in range(12))), NAMES)
    assert many.rest == "2 other files: 20 tokens"


def test_files_that_were_read_again_have_their_reads_in_place() -> None:
    messages = [message(n, 5) for n in range(4)]
    messages[3] = message(3, 5, first_round=None)
    files = (file("once", 0), file("a", 0, 1, covered=(0,)), file("b", 0, 2, 3))
    rows, more = read_rows(timeline(*messages, files=files), NAMES)
    assert [row["note"] for row in rows] == ["3 reads", "2 reads, 1 repeated later"]
    assert rows[0]["reads"] == ((0.0, False, "m1"), (50.0, False, "m3"), (75.0, False, "m4"))
    assert rows[1]["reads"] == ((0.0, True, "m1"), (25.0, False, "m2"))
    assert more == 0
    many = timeline(*messages, files=tuple(file(f"{n}", 0, 1) for n in range(12)))
    assert (len(read_rows(many, NAMES)[0]), read_rows(many, NAMES)[1]) == (10, 2)


def test_messages_are_rows_with_the_beginning_of_their_text() -> None:
    found = timeline(message(0, 40), message(1, 80, is_sent=False))
    first, second = message_rows(found, [0, 1], ["a\nb" + "x" * 200, ""], NAMES)
    assert (first["anchor"], first["place"], first["role"]) == (anchor_of(0), "line 1", "user")
    assert (len(str(first["says"])), str(first["says"])[:4]) == (90, "a bx")
    assert (first["width"], first["is_sent"], first["name"]) == (50.0, True, "c-tool-results")
    assert (second["says"], second["width"], second["is_sent"]) == ("Read", 100.0, False)


def test_a_row_has_what_it_is_sorted_and_filtered_by() -> None:
    files = (file("a.py", 0, 1), file("b.py", 1, 1))
    found = timeline(message(0, 40, tools=()), message(1, 80, tools=("Read", "Cat")), files=files)
    data = [row["data"] for row in message_rows(found, [0, 1], ["", ""], NAMES)]
    assert data == [
        {"data-tokens": "40", "data-category": "tool results", "data-file": "a.py"},
        {"data-tokens": "80", "data-category": "tool results", "data-tool": "Read\nCat",
         "data-file": "a.py\nb.py"},
    ]  # fmt: skip


def test_all_messages_are_listed_unless_there_are_too_many() -> None:
    few = timeline(*(message(n, 5) for n in range(3)))
    assert listed_messages(few) == [0, 1, 2]
    many = timeline(*[message(0, 0), *[message(1, 5)] * 4_000])
    assert listed_messages(many) == list(range(1, 4_001))


def test_what_is_not_explained_is_the_last_kind_however_much_it_is() -> None:
    class Measured:
        """What a result has of the next request."""

        categories: Mapping[str, int] = {"user": 50, "media": 0, "assistant": 70}
        size = ContextSize(counted=120, overhead=60, unexplained=900, frames=5)

    rows = request_rows(cast("StatsResult", Measured()))
    assert list(rows.items()) == [
        ("assistant", 70), ("system prompt and tools", 60), ("user", 50), ("message overhead", 5),
        ("unexplained", 900),
    ]  # fmt: skip
