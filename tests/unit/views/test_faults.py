"""Where a fault is, and what was repaired where."""

import pytest

from compactctl.history.faults import Fault
from compactctl.model.message import JsonPath
from compactctl.profiles.refusals import load_refusals
from compactctl.views.faults import place_text, repaired_lines

EMPTY = load_refusals()["text-empty"]
IN_ROW: JsonPath = ("messages", 3, "content", 0)


@pytest.mark.parametrize(
    ("path", "is_in_document", "place"),
    [
        ((), False, "line 1,204"),
        (("message", "content", 0), False, "line 1,204"),
        (IN_ROW, False, "line 1,204, messages.3.content.0"),
        (IN_ROW, True, "messages.3.content.0"),
        ((3, "content", 0), True, "3.content.0"),
        (("messages",), True, "line 1,204"),
    ],
)
def test_a_place_is_the_line_and_what_the_line_does_not_tell(
    path: JsonPath, *, is_in_document: bool, place: str
) -> None:
    fault = Fault(rule=EMPTY, line=1_203, path=path, is_in_document=is_in_document)
    assert place_text(fault) == place


@pytest.mark.parametrize(
    ("lines", "places"),
    [
        ((7,), "line 8"),
        ((7, 7), "line 8"),
        ((7, 1_203), "lines 8, 1,204"),
        (range(10), "lines 1, 2, 3, 4, 5, 6, 7, 8 and 2 more"),
    ],
)
def test_the_places_of_a_repair_are_lines(lines: tuple[int, ...], places: str) -> None:
    faults = [Fault(rule=EMPTY, line=line) for line in lines]
    assert list(repaired_lines(faults, ())) == [(places, "empty text left out")]


def test_places_in_one_line_are_counted() -> None:
    paths = [("messages", index, "content", 0) for index in range(3)]
    faults = [Fault(rule=EMPTY, line=0, path=path, is_in_document=True) for path in paths]
    places = "messages.0.content.0 and 2 more"
    assert list(repaired_lines(faults, ())) == [(places, "empty text left out")]
