"""What may stand for a choice: numbers of any type, a text for a list of one, None for nothing."""

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from library.loops import loop

import compactctl
from compactctl.errors import UsageError
from compactctl.library.choices import (
    CompactKwargs,
    Size,
    parse_count,
    parse_keyword,
    parse_recipe,
    parse_texts,
)

HINTS = get_type_hints(CompactKwargs)
SIZES = [name for name, hint in HINTS.items() if hint == Size]
COUNTS = [name for name, hint in HINTS.items() if hint is int]
LISTS = [
    name
    for name, hint in HINTS.items()
    if any(get_origin(each) is Iterable for each in (hint, *get_args(hint)))
]
ITEMS = {"stages": "dedup"}
MESSAGES = loop(20)


def meant(**choices: Any) -> Any:
    """Return all that the choices come to."""
    return parse_recipe(choices)  # type: ignore[arg-type]


def compacted(**choices: Any) -> list[dict[str, Any]]:
    return compactctl.compact_messages(MESSAGES, **choices)


def test_every_choice_is_of_a_kind_that_is_tested() -> None:
    rest = set(HINTS) - {*SIZES, *COUNTS, *LISTS}
    assert rest == {"model", "counter", "profile", "stage_options"}, (
        f"{Path(__file__).name}: a keyword of a type that no test here tries; add one that does"
    )
    assert (len(SIZES), len(COUNTS), len(LISTS)) == (3, 2, 3)


@pytest.mark.parametrize("name", LISTS)
def test_a_text_is_a_list_of_one(name: str) -> None:
    item = ITEMS.get(name, "read_log")
    expected = meant(**{name: [item]})
    assert meant(**{name: item}) == expected
    assert meant(**{name: (each for each in [item])}) == expected
    assert meant(**{name: Path(item)}) == expected
    assert expected != meant()


@pytest.mark.parametrize("name", [*SIZES, *COUNTS])
def test_a_number_means_the_same_in_any_type(name: str) -> None:
    value = 4_000
    if name == "keep":
        assert meant(keep=0.5) == meant(keep="50%") == meant(keep=Decimal("0.5"))
        return
    expected = meant(**{name: str(value)})
    for number in (value, float(value), Fraction(value), Decimal(value)):
        assert meant(**{name: number}) == expected
    assert expected != meant()


@pytest.mark.parametrize("name", ["keep", "target"])
@pytest.mark.parametrize(
    ("number", "share"), [(1 / 3, Fraction(1, 3)), (0.1 + 0.2, 0.3), (2 / 3, 2 / 3), (0.29, "29%")]
)
def test_floats_as_people_compute_them(name: str, number: float, share: Any) -> None:
    assert meant(**{name: number}) == meant(**{name: share})
    assert compacted(**{name: number}) == compacted(**{name: share})


@pytest.mark.parametrize("name", [*SIZES, *COUNTS])
@pytest.mark.parametrize(
    "wrong",
    [True, False, math.nan, math.inf, -math.inf, -1, -0.3, Decimal("NaN"), 1e300, 1j, b"1", [1]],
)
def test_what_is_no_such_number_is_refused_by_name(name: str, wrong: Any) -> None:
    with pytest.raises(UsageError, match=f"^{name}: .*; "):
        meant(**{name: wrong})


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("wrong", [5, b"Read", [5], {"Read": 1}, True])
def test_what_is_no_list_of_texts_is_refused_by_name(name: str, wrong: Any) -> None:
    with pytest.raises(UsageError, match=f"^{name}: .*; "):
        meant(**{name: wrong})


@pytest.mark.parametrize("name", HINTS)
def test_none_is_as_if_it_was_left_out(name: str) -> None:
    assert meant(**{name: None}) == meant()


@pytest.mark.parametrize("name", ["model", "counter", "profile"])
def test_a_name_is_text(name: str) -> None:
    with pytest.raises(UsageError, match=f"^{name}: 5 is not text; "):
        meant(**{name: 5})


def test_one_text_leaves_alone_what_a_list_does() -> None:
    for name, item in (("pins", "part_3_step_3"), ("protect_tools", "read_log")):
        for choices in ({name: item}, {name: [item]}):
            left = compacted(keep=0.3, **choices)
            assert left == compacted(keep=0.3, **{name: (item,)})
            assert left != MESSAGES or name == "protect_tools"


def test_stages_may_be_written_as_on_the_command_line() -> None:
    assert meant(stages="prune,dedup") == meant(stages=["prune", "dedup"])
    with pytest.raises(UsageError, match=r"^stages: no stage is named; "):
        meant(stages=[])


def test_target_and_keep_contradict_each_other() -> None:
    with pytest.raises(UsageError, match=r"^target and keep cannot be used together$"):
        meant(target=4_000, keep=0.3)


def test_one_client_is_a_list_of_one() -> None:
    assert parse_keyword({"clients": "codex"}, "clients", parse_texts) == ("codex",)
    with pytest.raises(UsageError, match="'no-such'"):
        compactctl.list_sessions(clients="no-such")
    with pytest.raises(UsageError, match=r"^most: "):
        compactctl.list_sessions(most=-1)
    assert parse_count(3.0) == 3


def test_a_count_has_at_most_64_bits() -> None:
    assert parse_count(2**63 - 1) == 2**63 - 1
    with pytest.raises(UsageError, match=r"^9223372036854775808 is not a non-negative integer"):
        parse_count(2**63)
