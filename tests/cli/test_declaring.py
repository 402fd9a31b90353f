"""Commands are declared by the fields that their options set."""

import click
import pytest
from click.testing import CliRunner

from compactctl.asks import MAY, MEASURED
from compactctl.cli.command import shown_command
from compactctl.cli.group import Commands
from compactctl.cli.help import Help
from compactctl.cli.opt import OptGroup, beside, build, check_places, flag, opt
from compactctl.records import Record, field


class Inner(Record):
    """What is measured with."""

    model: str = "o3"
    window: int | None = None
    base: str = "client"


class Outer(Record):
    """What is asked for."""

    path: str
    inner: Inner = field(default_factory=Inner)
    strict: bool = False


def test_values_get_to_their_places_and_none_keeps_the_default() -> None:
    values = {"path": "a", "inner.model": "gpt-4.1", "inner.window": None, "strict": None}
    assert build(Outer, values) == Outer(path="a", inner=Inner(model="gpt-4.1"))


def test_a_field_counts_more_than_the_record_it_is_in() -> None:
    values = {"path": "a", "inner": Inner(model="x", window=5), "inner.base": "window"}
    assert build(Outer, values).inner == Inner(model="x", window=5, base="window")


def test_a_place_that_is_not_there_is_named() -> None:
    option = opt("modle", MEASURED, MAY, "The model.")
    with pytest.raises(TypeError, match=r"Inner has no field 'modle' \(modle\)"):
        check_places(Outer, [OptGroup("inner", option)])
    with pytest.raises(TypeError, match="Outer has no field 'outer'"):
        check_places(Outer, [OptGroup("outer.inner", option)])
    check_places(Outer, [beside(option)])


def test_a_command_is_not_declared_with_a_place_that_is_not_there() -> None:
    option = opt("inner.modle", MEASURED, MAY, "The model.")
    with pytest.raises(TypeError, match="Inner has no field 'modle'"):
        shown_command(Outer, opt("path", MEASURED, MAY, "The file."), option, help=Help("Echo."))


def test_a_command_gets_its_record_and_what_is_beside_it() -> None:
    def doubled(window: int, *, twice: bool) -> int:
        return window * 2 if twice else window

    @shown_command(
        Outer,
        opt("path", MEASURED, MAY, "The file."),
        OptGroup(
            "inner",
            OptGroup(
                "window",
                opt("window", MEASURED, MAY, "Tokens.", type=int),
                flag("twice", MEASURED, MAY, "Double them."),
                make=doubled,
            ),
        ),
        beside(flag("loud", MEASURED, MAY, "Shout.")),
        help=Help("Echo."),
    )
    def command(options: Outer, *, loud: bool) -> None:
        click.echo(f"{options.path} {options.inner.window} {loud}")

    shown = CliRunner().invoke(command, ["--path", "a", "--window", "4", "--twice", "--loud"])
    assert shown.output == "a 8 True\n"


def test_no_two_parameters_of_a_command_have_one_name_but_for_choices() -> None:
    for name, command in Commands().items():
        flags: dict[str, object] = {}
        for parameter in command.params:
            other = flags.setdefault(str(parameter.name), parameter)
            is_choice = isinstance(parameter, click.Option) and _is_choice(parameter)
            assert other is parameter or is_choice, (
                f"compactctl/cli: {name} declares {parameter.name} twice; give one another name"
            )


def _is_choice(option: click.Option) -> bool:
    return option.is_flag and not option.is_bool_flag
