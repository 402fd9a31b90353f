"""What a value that is read from a file may be, and what is said where it is not."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from compactctl.errors import UsageError
from compactctl.model import validators as v
from compactctl.model.message import GroupId

BIG = 2**63 - 1
OPTIONAL, LIST, OBJECTS = v.optional(v.integer), v.list_of(v.integer, 2), v.dict_of(v.integer)


@pytest.mark.parametrize(
    ("validator", "value", "accepted"),
    [
        (v.string, "", ""),
        (v.string_list, ["a", "b"], ("a", "b")),
        (v.string_list, [], ()),
        (v.boolean, False, False),
        (v.boolean, True, True),
        (v.matching(re.compile("[ab]+")), "ab", "ab"),
        (v.string_or_number, "60k", "60k"),
        (v.string_or_number, 60_000, "60000"),
        (v.string_or_number, 0.5, "0.5"),
        (v.integer, -5, -5),
        (v.non_negative_int, 0, 0),
        (v.non_negative_int, BIG, BIG),
        (v.int_up_to(5), 5, 5),
        (v.finite_number, -1.5, -1.5),
        (v.finite_number, 10**9, 10**9),
        (v.fraction, 0, 0.0),
        (v.fraction, 1, 1.0),
        (v.one_of("a", "b"), "b", "b"),
        (OPTIONAL, None, None),
        (OPTIONAL, 3, 3),
        (v.scalar, None, None),
        (v.scalar, True, True),
        (v.scalar, 1.5, 1.5),
        (v.scalar, -BIG, -BIG),
        (v.scalar, BIG, BIG),
        (LIST, [1, 2], (1, 2)),
        (v.any_list, [1, "a"], (1, "a")),
        (v.any_table, {"a": 1}, {"a": 1}),
        (v.json_object, {}, {}),
        (OBJECTS, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
    ],
)
def test_what_is_accepted(validator: Callable[[object], Any], value: object, accepted: Any) -> None:
    found = validator(value)
    assert (found, type(found)) == (accepted, type(accepted))


@pytest.mark.parametrize(
    ("validator", "value", "message"),
    [
        (v.string, 1, "is not text"),
        (v.string_list, "a", "is not a list of texts"),
        (v.string_list, ["a", 1], "is not text"),
        (v.boolean, 0, "is neither true nor false"),
        (v.matching(re.compile("[ab]+")), "abc", r"is not spelled like [ab]+"),
        (v.matching(re.compile("[ab]+")), 1, "is not text"),
        (v.string_or_number, True, "is not text"),
        (v.string_or_number, None, "is not text"),
        (v.string_or_number, [], "is not text"),
        (v.integer, True, "is not a whole number"),
        (v.integer, 1.0, "is not a whole number"),
        (v.non_negative_int, -1, "is negative or too large"),
        (v.non_negative_int, BIG + 1, "is negative or too large"),
        (v.int_up_to(5), 6, "is negative or too large"),
        (v.finite_number, True, "is not a number"),
        (v.finite_number, "1", "is not a number"),
        (v.finite_number, float("inf"), "is not a number"),
        (v.finite_number, float("nan"), "is not a number"),
        (v.finite_number, 10**400, "is too large"),
        (v.fraction, 1.01, "is not a number from 0 to 1"),
        (v.fraction, -0.01, "is not a number from 0 to 1"),
        (v.fraction, True, "is not a number from 0 to 1"),
        (v.fraction, "1", "is not a number from 0 to 1"),
        (lambda value: v.number(value, 1_000), 1_001, "is not a number from 0 to 1,000"),
        (v.one_of("a", "b"), "c", "must be one of a, b"),
        (v.one_of("a"), 1, "is not text"),
        (OPTIONAL, "a", "is not a whole number"),
        (v.scalar, [], "is not a plain value"),
        (v.scalar, BIG + 1, "is too large"),
        (v.scalar, -BIG - 1, "is too large"),
        (LIST, 1, "is not a list"),
        (LIST, [1, 2, 3], "has 3 items, more than 2"),
        (LIST, [1, "a"], "is not a whole number"),
        (v.list_of(v.integer, 1_000), [1] * 1_001, "has 1,001 items, more than 1,000"),
        (v.any_list, (1,), "is not a list"),
        (v.any_table, [], "is not a table"),
        (v.json_object, [], "is not an object"),
        (OBJECTS, {"a": "b"}, "a: is not a whole number"),
        (OBJECTS, {"x" * 41: "b"}, f"{'x' * 40}: is not a whole number"),
    ],
)
def test_what_is_refused(validator: Callable[[object], Any], value: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        validator(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kettle:
    """A record with a field of every kind that validators follow from."""

    group: GroupId
    size: int
    full: bool = False
    share: float = 0.0
    color: Literal["red", "blue"] = "red"
    colors: tuple[Literal["red", "blue"], ...] = ()
    names: tuple[str, ...] = ()
    note: str | None = None
    above: int = 0


def kettle(value: object) -> Any:
    """Read a kettle, whose size is called "n"."""
    validators = v.field_validators(Kettle, above=v.int_up_to(3))
    return v.object_of(Kettle, validators, {"size": "n"})(value)


def test_the_validators_of_a_record_follow_from_its_fields() -> None:
    document = {
        "group": "g",
        "n": 2,
        "full": True,
        "share": 0.5,
        "color": "blue",
        "colors": ["blue", "blue"],
        "names": ["a"] * 9,
        "note": None,
        "above": 3,
    }
    assert kettle(document) == Kettle(
        group=GroupId("g"),
        size=2,
        full=True,
        share=0.5,
        color="blue",
        colors=("blue", "blue"),
        names=("a",) * 9,
        above=3,
    )
    assert kettle({"group": "g", "n": 0, "note": "x"}).note == "x"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 2}, "'size' is not known"),
        ({"y" * 50: 2}, f"{'y' * 40!r} is not known"),
        ({"group": 1}, "group: is not text"),
        ({"n": -1}, "n: is negative or too large"),
        ({"share": 2}, "share: is not a number from 0 to 1"),
        ({"color": "green"}, "color: must be one of red, blue"),
        ({"colors": ["red", "blue", "red"]}, "colors: has 3 items, more than 2"),
        ({"colors": ["green"]}, "colors: must be one of red, blue"),
        ({"names": [1]}, "names: is not text"),
        ({"note": 1}, "note: is not text"),
        ({"above": 4}, "above: is negative or too large"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        kettle({"group": "g", "n": 2, **changes})


def test_a_missing_field_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a field is missing$"):
        kettle({"group": "g"})
    with pytest.raises(ValueError, match=r"^is not an object$"):
        kettle("g")


def test_a_table_of_settings_says_where_a_value_is_wrong() -> None:
    table = v.SettingsTable({"a": 1, "b": None}, "[x] ")
    assert table.get("a", v.integer, 5) == 1
    assert table.get("c", v.integer, 5) == 5
    with pytest.raises(UsageError, match=r"^\[x\] b = None is not a whole number$"):
        table.get("b", v.integer, 5)


@pytest.mark.parametrize(
    ("key", "remark", "message"),
    [
        ("windw", "", "the table has no key 'windw'; did you mean window?"),
        ("zzz", "", "the table has no key 'zzz'; there are color, window"),
        ("zzz", "quote it", "the table has no key 'zzz'; there are color, window; quote it"),
    ],
)
def test_an_unknown_key_is_refused_with_those_that_there_are(
    key: str, remark: str, message: str
) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}$"):
        v.check_keys(["color", key], ["window", "color"], "the table", remark)
    v.check_keys(["color"], ["window", "color"], "the table", remark)
