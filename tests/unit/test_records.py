"""Records are frozen, compare field by field, and are made the same way everywhere."""

import ast
import copy
import gc
import inspect
import pickle
from pathlib import Path
from typing import Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import modules_of

from compactctl import records
from compactctl.records import Record, asdict, described, field, replace

Value = TypeVar("Value")


class Point(Record):
    """A record at the top of a module, so that it can be pickled."""

    x: int
    y: int = described(0, "how far up")
    tags: list[str] = field(default_factory=list)


class Pair(Record, Generic[Value], kw_only=False):
    """A record by position, equal whatever its case."""

    text: str
    value: Value

    def __post_init__(self) -> None:
        """Refuse an empty text."""
        if not self.text:
            raise ValueError("empty")

    def __eq__(self, other: object) -> bool:
        return str(self).lower() == str(other).lower()

    def __hash__(self) -> int:
        return 7

    def __str__(self) -> str:
        return self.text


@given(x=st.integers(), y=st.integers(), other=st.integers())
def test_records_compare_and_show_field_by_field(x: int, y: int, other: int) -> None:
    point = Point(x=x, y=y)
    assert point == Point(x=x, y=y, tags=[])
    assert (point == Point(x=x, y=other)) == (y == other)
    assert repr(point) == f"Point(x={x}, y={y}, tags=[])"
    assert replace(point, y=other) == Point(x=x, y=other)
    assert asdict(point) == {"x": x, "y": y, "tags": []}
    with pytest.raises(TypeError, match="unhashable"):
        hash(point)


def test_arguments_are_named_and_checked() -> None:
    assert Point(x=1).tags is not Point(x=1).tags
    with pytest.raises(TypeError, match="Missing required argument 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Unexpected keyword argument 'other'"):
        Point(x=1, other=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Extra positional arguments"):
        Point(1)  # type: ignore[call-arg]
    parameters = inspect.signature(Point).parameters
    assert [*parameters] == ["x", "y", "tags"]
    assert parameters["y"].default == 0


def test_records_are_frozen_and_have_no_other_attributes() -> None:
    point = Point(x=1)
    with pytest.raises(AttributeError, match="immutable type: 'Point'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable type: 'Point'"):
        del point.x
    assert not hasattr(point, "__dict__")
    assert not gc.is_tracked(point)


def test_a_class_keeps_the_methods_it_defines() -> None:
    assert Pair("A", 1) == Pair("a", 2)
    assert hash(Pair("A", 1)) == 7
    assert Pair.__match_args__ == ("text", "value")
    with pytest.raises(ValueError, match="empty"):
        Pair("", 1)


def test_descriptions_belong_to_the_class() -> None:
    assert Point.descriptions == {"y": "how far up"}
    assert Pair.descriptions == {}


def test_a_record_can_be_pickled_and_copied() -> None:
    point = Point(x=1, tags=["a"])
    for copied in (pickle.loads(pickle.dumps(point)), copy.deepcopy(point), copy.copy(point)):  # noqa: S301
        assert copied == point


def test_the_package_has_no_dataclass() -> None:
    package = Path(records.__file__).parent
    slow = [
        str(path.relative_to(package))
        for path, module in modules_of(package).items()
        if path.name != "records.py"
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
    ]
    assert slow == [], "make it a Record of compactctl.records"
