"""Options that the fields of records ask for."""

from typing import Literal

import click
import pytest

from compactctl.asks import MAY, MEASURED, ask, flag
from compactctl.cli.options.asked import asked
from compactctl.records import Record

Unit = Literal["byte", "line"]


class Sizes(Record):
    """What may be asked for."""

    limit: int = ask(2_048, "A limit.", MEASURED, MAY, flag="--max", parse=int, typed="2048")
    unit: Unit | Literal["none"] = ask("line", "A unit.", MEASURED, MAY)
    count: int = ask(1, "A number. [default: 1]", MEASURED, MAY)
    marks: bool = flag("Marks.", MEASURED, MAY, default=True, flag="--marks/--no-marks")
    kind: str = ask("a", "A kind.", MEASURED, MAY, varies=True)
    own: int = 0


def shown(option: click.Option) -> str:
    return str((option.get_help_record(click.Context(click.Command("c"))) or ("", ""))[1])


def test_a_default_is_shown_as_it_is_typed_or_as_the_help_says() -> None:
    assert [shown(option) for option in asked(Sizes)] == [
        "A limit.  [default: 2048]",
        "A unit.  [default: line]",
        "A number. [default: 1]  [x>=0]",
        "Marks.",
        "A kind.",
    ]
    assert [option.default for option in asked(Sizes, "count", "marks")] == [1, True]


def test_users_choose_from_the_first_of_several_types() -> None:
    [unit] = asked(Sizes, "unit")
    assert isinstance(unit.type, click.Choice)
    assert tuple(unit.type.choices) == ("byte", "line")


def test_an_option_is_named_like_its_flag_since_fields_of_records_may_share_a_name() -> None:
    assert [option.name for option in asked(Sizes)] == ["max", "unit", "count", "marks", "kind"]


def test_a_command_may_ask_for_some_and_with_another_help() -> None:
    assert [o.name for o in asked(Sizes, without=("unit", "kind"))] == ["max", "count", "marks"]
    some = asked(Sizes, "unit", limit="Another limit.")
    assert [option.help for option in some] == ["A unit.", "Another limit."]


def test_a_field_that_users_are_not_asked_for_is_an_error() -> None:
    with pytest.raises(TypeError, match="Sizes does not ask for unitt"):
        asked(Sizes, "unitt")
    with pytest.raises(TypeError, match="Sizes does not ask for own"):
        asked(Sizes, without=("own",))
    with pytest.raises(TypeError, match="Sizes does not ask for knd"):
        asked(Sizes, knd="Another kind.")
