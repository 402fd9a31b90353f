"""What a value that is read from a file may be, and what is said where it is not."""

import re
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, UnsetType, ValidationError, convert

from compactctl.errors import UsageError
from compactctl.model.bounds import MAX_INT64, Count, Number, Positive, Scalar, Share
from compactctl.model.message import GroupId
from compactctl.model.validation import (
    WrongValueError,
    check_keys,
    read_table,
    setting,
    validated,
)
from compactctl.records import Record

WORD = Annotated[str, Meta(pattern=r"\A[ab]+\Z")]
PAIR = Annotated[tuple[int, ...], Meta(max_length=2)]


@pytest.mark.parametrize(
    ("kind", "value", "accepted"),
    [
        (str, "", ""),
        (tuple[str, ...], ["a", "b"], ("a", "b")),
        (tuple[str, ...], [], ()),
        (bool, False, False),
        (bool, True, True),
        (WORD, "ab", "ab"),
        (int, -5, -5),
        (Count, 0, 0),
        (Count, MAX_INT64, MAX_INT64),
        (Positive, 1, 1),
        (Number, -1.5, -1.5),
        (Number, 10**9, 10**9),
        (Share, 0, 0.0),
        (Share, 1, 1.0),
        (Literal["a", "b"], "b", "b"),
        (int | None, None, None),
        (int | None, 3, 3),
        (Scalar, None, None),
        (Scalar, True, True),
        (Scalar, 1.5, 1.5),
        (Scalar, -MAX_INT64, -MAX_INT64),
        (Scalar, MAX_INT64, MAX_INT64),
        (PAIR, [1, 2], (1, 2)),
        (dict[str, int], {"a": 1, "b": 2}, {"a": 1, "b": 2}),
    ],
)
def test_what_is_accepted(kind: Any, value: object, accepted: Any) -> None:
    found = validated(value, kind)
    assert (found, type(found)) == (accepted, type(accepted))


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (str, 1, "is not text"),
        (tuple[str, ...], "a", "is not a list of texts"),
        (tuple[str, ...], ["a", 1], "entry 2: is not text"),
        (bool, 0, "is neither true nor false"),
        (WORD, "abc", "is not spelled like [ab]+"),
        (WORD, "ab\n", "is not spelled like [ab]+"),
        (WORD, 1, "is not text"),
        (int, True, "is not a whole number"),
        (int, 1.0, "is not a whole number"),
        (Count, -1, "is negative or too large"),
        (Count, MAX_INT64 + 1, "is negative or too large"),
        (Positive, 0, "is not at least 1"),
        (Positive | None, "x", "is not a whole number"),
        (Number, True, "is not a number"),
        (Number, "1", "is not a number"),
        (Number, float("inf"), "is not a number"),
        (Number, float("nan"), "is not a number"),
        (Number, 10**400, "is too large"),
        (Share, 1.01, "is not a number from 0 to 1"),
        (Share, -0.01, "is not a number from 0 to 1"),
        (Share, float("nan"), "is not a number from 0 to 1"),
        (Share, True, "is not a number from 0 to 1"),
        (Share | None, "1", "is not a number from 0 to 1"),
        (Annotated[float, Meta(ge=0, le=1000)], 1_001, "is not a number from 0 to 1,000"),
        (Literal["a", "b"], "c", "must be one of a, b"),
        (Literal["a", "b"] | None, "c", "must be one of a, b"),
        (Literal["a"], 1, "is not text"),
        (int | None, "a", "is not a whole number"),
        (Scalar, [], "is not a plain value"),
        (Scalar, MAX_INT64 + 1, "is too large"),
        (Scalar | PAIR, [1, 2, 3], "has 3 items, more than 2"),
        (Share, 10**400, "is not a number from 0 to 1"),
        (Literal["a", "b"], "\ud800", "must be one of a, b"),
        (PAIR, 1, "is not a list"),
        (PAIR, [1, 2, 3], "has 3 items, more than 2"),
        (PAIR, [1, "a"], "entry 2: is not a whole number"),
        (dict[str, int], [], "is not an object"),
        (dict[str, int], {"a": "b"}, "a: is not a whole number"),
        (dict[str, int], {"x" * 41: "b"}, f"{'x' * 40}: is not a whole number"),
        (
            dict[str, tuple[int, ...]],
            {"a": [1], "b": [0, "c"]},
            "b: entry 2: is not a whole number",
        ),
    ],
)
def test_what_is_refused(kind: Any, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        validated(value, kind)


class Kettle(Record, rename={"size": "n"}):
    """A record with a field of every kind."""

    group: GroupId
    size: Count
    full: bool = False
    share: Share = 0.0
    color: Literal["red", "blue"] = "red"
    colors: tuple[Literal["red", "blue"], ...] = ()
    names: tuple[str, ...] = ()
    note: str | None = None
    inner: "Kettle | None" = None


def test_a_record_is_read_by_the_types_of_its_fields() -> None:
    document = {
        "group": "g",
        "n": 2,
        "full": True,
        "share": 0.5,
        "color": "blue",
        "colors": ["blue", "blue"],
        "names": ["a"] * 9,
        "note": None,
    }
    assert validated(document, Kettle) == Kettle(
        group=GroupId("g"),
        size=2,
        full=True,
        share=0.5,
        color="blue",
        colors=("blue", "blue"),
        names=("a",) * 9,
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 2}, "'size' is not known"),
        ({"y" * 50: 2}, f"{'y' * 40!r} is not known"),
        ({"a - at `$.b": 2}, "'a - at `$.b' is not known"),
        ({"a\nb": 2}, r"'a\nb' is not known"),
        ({"\ud800": 2}, r"'\ud800' is not known"),
        ({"color": "x - at `$[5]"}, "color: must be one of red, blue"),
        ({"group": 1}, "group: is not text"),
        ({"n": -1}, "n: is negative or too large"),
        ({"share": 2}, "share: is not a number from 0 to 1"),
        ({"color": "green"}, "color: must be one of red, blue"),
        ({"colors": ["red", "green"]}, "colors: entry 2: must be one of red, blue"),
        ({"names": [1]}, "names: entry 1: is not text"),
        ({"note": 1}, "note: is not text"),
        ({"inner": {"group": "h", "n": -1}}, "inner: n: is negative or too large"),
        ({"inner": {"group": "h"}}, "inner: n is missing"),
        ({"inner": {"group": "h", "n": 1, "z": 1}}, "inner: 'z' is not known"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        validated({"group": "g", "n": 2, **changes}, Kettle)


def test_a_missing_field_is_named() -> None:
    with pytest.raises(ValueError, match=r"^n is missing$"):
        validated({"group": "g"}, Kettle)
    with pytest.raises(ValueError, match=r"^is not an object$"):
        validated("g", Kettle)


class Cup(Record, tag_field="is", tag="cup"):
    """What may be beside a kettle."""

    milk: bool | UnsetType = UNSET
    sugar: Scalar = None


class Plate(Record, tag_field="is", tag="plate"):
    """What may be beside it as well."""

    cakes: tuple[Positive, ...]
    names: dict[str, Share]


TABLE = list[Cup | Plate] | None
WORDS = st.sampled_from(
    ["is", "cup", "plate", "milk", "sugar", "cakes", "names", "a - at `$.b", "\ud800", "a\nb", "x"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2**65) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(
    value=st.lists(
        st.builds(
            lambda tag, others: {**others, "is": tag},
            st.sampled_from(["cup", "plate"]) | JSON,
            st.dictionaries(WORDS, JSON, max_size=4),
        )
        | JSON,
        max_size=3,
    )
    | JSON
)
def test_a_value_is_wrong_where_it_cannot_be_converted(value: object) -> None:
    try:
        expected = convert(value, TABLE)
    except (ValidationError, UnicodeEncodeError):
        with pytest.raises(WrongValueError) as raised:
            validated(value, TABLE)
        assert raised.value.why != "has a name that is not Unicode"
    else:
        assert repr(validated(value, TABLE)) == repr(expected)


class Shelf(Record):
    """A table of a settings file."""

    width: Count
    color: str = "red"


def test_a_table_of_settings_says_where_a_value_is_wrong() -> None:
    assert read_table({"width": 2}, Shelf, "the shelf") == Shelf(width=2)
    with pytest.raises(UsageError, match=r"^\[x\] width = \[1\] is not a whole number$"):
        read_table({"color": "blue", "width": [1]}, Shelf, "the shelf", "[x] ")
    with pytest.raises(UsageError, match=r"^the shelf has no width; give width$"):
        read_table({"color": "blue"}, Shelf, "the shelf")
    with pytest.raises(UsageError, match=r"^the shelf has no key 'colr'; did you mean color\?$"):
        read_table({"colr": "blue"}, Shelf, "the shelf")


def test_a_single_setting_has_a_default() -> None:
    assert setting({"a": 1}, "a", int, 5) == 1
    assert setting({}, "a", int, 5) == 5
    with pytest.raises(UsageError, match=r"^\[x\] a = 'b' is not a table$"):
        setting({"a": "b"}, "a", dict[str, int], 5, "[x] ")


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
        check_keys(["color", key], ["window", "color"], "the table", remark)
    check_keys(["color"], ["window", "color"], "the table", remark)
