"""Fields that are read from records and written to them."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from compactctl.model.conversation_fields import conversation_id, placement_fields
from compactctl.model.json_paths import json_in, value_at
from compactctl.model.message import JsonPath, Tags
from compactctl.model.numbers import exact, fraction_of
from compactctl.model.tags import (
    appended_by,
    is_appended,
    read_metadata,
    read_tags,
    tag_fields,
    without_marker,
    without_metadata,
)
from compactctl.model.usage_fields import UsageFields, with_reported_usage

ALL_TAGS = Tags(
    condense_id="c",
    condense_parent="cp",
    truncation_id="t",
    truncation_parent="tp",
    is_truncation_marker=True,
    edit_id="e",
    edit_parent="ep",
    operation="op",
    through="m1",
    occurrence=2,
    overhead_tokens=300,
    model="m",
    largest_answered=5,
    is_final=True,
)


def test_tags_are_read_as_they_are_written() -> None:
    fields = tag_fields(ALL_TAGS)
    assert list(fields) == [
        "condenseId", "condenseParent", "truncationId", "truncationParent", "isTruncationMarker",
        "editId", "editParent", "compactctl",
    ]  # fmt: skip
    assert list(fields["compactctl"]) == [
        "op", "through", "occurrence", "unseen", "model", "answered", "final",
    ]  # fmt: skip
    assert read_tags(fields) == ALL_TAGS
    assert tag_fields(Tags()) == {}
    assert tag_fields(Tags(condense_id="c", occurrence=0)) == {"condenseId": "c"}


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"condenseId": 1, "isTruncationMarker": "yes"},
        {"compactctl": {"op": 1, "through": None, "occurrence": "2", "final": 1}},
        {"compactctl": "damaged"},
        {"compactctl": [1]},
    ],
)
def test_values_of_a_wrong_type_are_absent(record: dict[str, Any]) -> None:
    assert read_tags(record) == Tags()


def test_metadata_is_removed_with_its_last_key() -> None:
    record = {"a": 1, "compactctl": {"op": "x", "through": "y"}}
    assert without_metadata(record, "op") == {"a": 1, "compactctl": {"through": "y"}}
    assert without_metadata({"compactctl": {"op": "x"}, "a": 1}, "op") == {"a": 1}
    assert read_metadata(record) == record["compactctl"]
    assert read_metadata({"compactctl": 1}) == {}


@pytest.mark.parametrize(
    ("record", "operation"),
    [
        ({"compactctl": {"appended": "op1"}}, "op1"),
        ({"compactctl": {"appended": 1}}, None),
        ({"compactctl": {"op": "x"}}, None),
        ({"compactctl": 1}, None),
        ({}, None),
    ],
)
def test_a_record_says_by_which_operation_it_was_appended(
    record: dict[str, Any], operation: str | None
) -> None:
    assert appended_by(record) == operation
    assert is_appended(record) is (operation is not None)
    assert without_marker(record) == ({} if operation else record)


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"a": {"b": 1}}, ("a", "b"), 1),
        ({"a": [1, 2]}, ("a", 1), 2),
        ({"a": [1, 2]}, ("a", 2), None),
        ({"a": [1, 2]}, ("a", "0"), None),
        ({"a": 1}, ("a", "b"), None),
        ({"a": 1}, (), {"a": 1}),
        ({"a": '{"b": "[3]"}'}, ("a", "b", 0), 3),
        ({"a": '{"b": 3}'}, ("a",), '{"b": 3}'),
        ({"a": "{"}, ("a", "b"), None),
        (None, ("a",), None),
    ],
)
def test_a_path_leads_through_json_in_strings(value: Any, path: JsonPath, found: Any) -> None:
    assert value_at(value, path) == found


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"\\"5\\""', 5),
        ('"x"', "x"),
        ("[" * 100_000, "[" * 100_000),
        ('"a\nb"', "a\nb"),
        (7, 7),
    ],
)
def test_strings_are_decoded_as_long_as_they_hold_json(text: Any, value: Any) -> None:
    assert json_in(text) == value


@pytest.mark.parametrize(
    ("value", "name"), [("x", "x"), (0, 0), ("", None), (True, None), (["x"], None), (None, None)]
)
def test_texts_and_integers_name_a_conversation(value: Any, name: str | int | None) -> None:
    assert conversation_id({"thread_id": value}, "thread_id") == name
    assert conversation_id({"id": value}, "thread_id") is None


def test_ids_and_times_are_repeated_beside_a_record() -> None:
    record = {"ts": 1, "role": "user", "session_id": "s", "created": None, "traceId": True}
    assert placement_fields(record) == {
        "session_id": "s",
        "traceId": True,
        "ts": 1,
        "created": None,
    }
    assert list(placement_fields(record)) == ["session_id", "traceId", "ts", "created"]


@pytest.mark.parametrize(
    ("value", "fraction"),
    [
        (3, Fraction(3)),
        (0.29, Fraction(29, 100)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("NaN"), None),
        (Decimal("1e999"), None),
        (10**400, Fraction(10**400)),
        (float("inf"), None),
        (False, None),
        ("1", None),
        (1j, None),
        (None, None),
    ],
)
def test_numbers_become_the_fraction_they_stand_for(
    value: object, fraction: Fraction | None
) -> None:
    assert fraction_of(value) == fraction


def test_fractions_have_a_denominator_of_at_most_a_billion() -> None:
    assert exact(1e-9) == Fraction(1, 10**9)
    assert exact(1e-10) == 0


FIELDS = UsageFields(
    path=("message", "usage"),
    input=("in",),
    cached_inputs=(("read",), ("write",)),
    output=("out", "tokens"),
)


@pytest.mark.parametrize(
    ("out", "tokens", "values"),
    [(700, 20_000, (19_300, 700)), (700, 600, (0, 600)), ("x", 600, (600, 0)), (0, 5, (5, 0))],
)
def test_counts_are_restated_so_that_they_add_up(
    out: Any, tokens: int, values: tuple[int, int]
) -> None:
    counts = {"in": 90_000, "read": 5_000, "out": {"tokens": out}}
    restated = FIELDS.values_for(counts, tokens)
    assert restated == {
        ("in",): values[0], ("out", "tokens"): values[1], ("read",): 0, ("write",): 0,
    }  # fmt: skip
    with_total = UsageFields(
        path=(), input=("in",), cached_inputs=(), output=("out", "tokens"), total=("all",)
    )
    assert with_total.values_for(counts, tokens)[("all",)] == tokens
    assert FIELDS.values_for({}, 7)[("in",)] == 7


def test_a_record_is_restored_as_the_provider_reported_it() -> None:
    reported = {"in": 9}
    restated = {"message": {"usage": {"in": 1}, "id": "a"}, "compactctl": {"reported": reported}}
    assert with_reported_usage(restated, FIELDS) == {"message": {"usage": reported, "id": "a"}}
    more = {**restated, "compactctl": {"reported": reported, "op": "x"}}
    assert with_reported_usage(more, FIELDS) == {
        "message": {"usage": reported, "id": "a"}, "compactctl": {"op": "x"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "record",
    [
        {"message": {"usage": {"in": 1}}},
        {"message": {"usage": {"in": 1}}, "compactctl": {"reported": 5}},
        {"message": {"usage": {"in": 1}}, "compactctl": {"op": "x"}},
    ],
)
def test_a_record_that_was_not_restated_stays(record: dict[str, Any]) -> None:
    assert with_reported_usage(record, FIELDS) is record


def test_a_path_that_leads_nowhere_changes_only_the_mark() -> None:
    lost = {"message": "text", "compactctl": {"reported": {"in": 9}}}
    assert with_reported_usage(lost, FIELDS) == {"message": "text"}
    flat = UsageFields(path=("usage",), input=("in",), cached_inputs=(), output=("out",))
    assert with_reported_usage({"compactctl": {"reported": {"in": 9}}}, flat) == {
        "usage": {"in": 9}
    }
