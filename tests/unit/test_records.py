"""Records behave as dataclasses that are frozen and have slots."""

import ast
import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import modules_of

from compactctl import records

Kind = Callable[..., Callable[[type], Any]]
Value = TypeVar("Value")
BOTH = pytest.mark.parametrize("kind", [dataclasses.dataclass, records.dataclass])


@records.dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A record at the top of a module, so that it can be pickled."""

    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list, repr=False)
    seen: int = field(default=0, compare=False)


def made(kind: Kind) -> Any:
    @kind(frozen=True, slots=True, kw_only=True)
    class Named:
        """A record."""

        name: str
        sizes: dict[str, int] = field(default_factory=dict)
        hidden: int = field(default=1, repr=False)
        loose: int = field(default=2, compare=False)

    return Named


@BOTH
@given(name=st.text(), size=st.integers(), loose=st.integers())
def test_both_kinds_compare_hash_and_show_alike(
    kind: Kind, name: str, size: int, loose: int
) -> None:
    cls = made(kind)
    record = cls(name=name, sizes={"a": size}, loose=loose)
    assert record == cls(name=name, sizes={"a": size})
    assert record != cls(name=name, sizes={"a": size + 1})
    assert record != (name, {"a": size}, 1)
    shown = f"Named(name={name!r}, sizes={{'a': {size}}}, loose={loose})"
    assert repr(record).endswith(shown)
    assert replace(record, hidden=3).hidden == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(record)
    assert dataclasses.asdict(record) == {
        "name": name, "sizes": {"a": size}, "hidden": 1, "loose": loose,
    }  # fmt: skip


@BOTH
def test_both_kinds_take_the_same_arguments(kind: Kind) -> None:
    cls = made(kind)
    assert cls(name="a").sizes is not cls(name="a").sizes
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'name'"):
        cls()
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        cls(name="a", other=1)
    with pytest.raises(TypeError, match="positional argument"):
        cls("a")
    parameters = inspect.signature(cls).parameters
    assert [*parameters] == ["name", "sizes", "hidden", "loose"]
    assert parameters["name"].annotation is str


@BOTH
def test_both_kinds_are_frozen_and_have_no_other_attributes(kind: Kind) -> None:
    record = made(kind)(name="a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        record.name = "b"
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del record.name
    assert not hasattr(record, "__dict__")
    assert record.__dataclass_params__.frozen


@BOTH
def test_a_class_keeps_the_methods_it_defines(kind: Kind) -> None:
    @kind(frozen=True, slots=True)
    class Defined(Generic[Value]):
        """A record by position, equal whatever its case."""

        text: str
        value: Value

        def __post_init__(self) -> None:
            if not self.text:
                raise ValueError("empty")

        def __eq__(self, other: object) -> bool:
            return self.text.lower() == str(other).lower()

        def __hash__(self) -> int:
            return 7

        def __str__(self) -> str:
            return self.text

    caseless: Any = Defined
    assert caseless("A", 1) == caseless("a", 2)
    assert hash(caseless("A", 1)) == 7
    assert caseless.__match_args__ == ("text", "value")
    with pytest.raises(ValueError, match="empty"):
        caseless("", 1)


def test_a_record_can_be_pickled_copied_and_hashed() -> None:
    point = Point(x=1, tags=["a"])
    for copied in (pickle.loads(pickle.dumps(point)), copy.deepcopy(point), copy.copy(point)):  # noqa: S301
        assert copied == point
        assert copied.tags == ["a"]
    assert repr(point) == "Point(x=1, y=0, seen=0)"

    @records.dataclass(frozen=True, slots=True)
    class Pair:
        """A record that can be hashed."""

        a: int
        b: int = field(default=0, compare=False)

    assert {Pair(1, 2), Pair(1, 3), Pair(2)} == {Pair(1), Pair(2)}


def test_a_record_without_fields_equals_another_of_its_class() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Nothing:
        """No fields."""

    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(Nothing())


def test_every_record_of_the_package_is_made_the_fast_way() -> None:
    package = Path(records.__file__).parent
    slow = [
        str(path.relative_to(package))
        for path, module in modules_of(package).items()
        if path.name != "records.py"
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if any(alias.name == "dataclass" for alias in node.names)
    ]
    assert slow == [], "import dataclass from compactctl.records"
