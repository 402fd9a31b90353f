"""When a record was written, in whichever way clients say that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.records.json_values import parse_time, record_time


@pytest.mark.parametrize(
    "value",
    [
        "1970-01-02T00:00:01Z",
        "1970-01-02T00:00:01.000+00:00",
        "1970-01-02T02:00:01+02:00",
        "1970-01-02T00:00:01",
        86_401,
        86_401.0,
    ],
)
def test_a_point_in_time_is_told_in_seconds(value: object) -> None:
    assert parse_time(value) == 86_401


def test_large_numbers_are_milliseconds() -> None:
    assert parse_time(1_700_000_000_500) == 1_700_000_000.5


@pytest.mark.parametrize(
    "value", ["", "noon", "0001-01-01T00:00:00+14:00", None, True, [], 0, -5, 10**400, float("nan")]
)
def test_what_is_no_time_is_none(value: object) -> None:
    assert parse_time(value) is None


@given(value=st.one_of(st.text(), st.integers(), st.floats(), st.datetimes().map(str)))
def test_any_value_is_a_time_or_none(value: object) -> None:
    found = parse_time(value)
    assert found is None or 0 < found < 253_402_300_800


def test_a_record_may_say_it_under_either_name() -> None:
    assert record_time({"ts": 5, "timestamp": "?"}) == record_time({"timestamp": 5}) == 5
    assert record_time({}) is None
