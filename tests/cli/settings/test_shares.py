"""Options that take a share take it with a per cent sign as well."""

from collections.abc import Iterator

import click
import pytest
from cli.asking import Ask

from compactctl.cli.group import Commands
from compactctl.cli.opt import StageOption
from compactctl.cli.settings import validator_of


def share_options() -> Iterator[tuple[str, click.Option]]:
    for name, command in Commands().items():
        for option in command.params:
            if isinstance(option, click.Option) and option.metavar == "SHARE":
                yield f"{name} {option.opts[-1]}", option


OPTIONS = dict(share_options())


def test_there_are_shares() -> None:
    assert {"stats --fail-over", "batch --fail-over", "compact --keep"} <= OPTIONS.keys()


@pytest.mark.parametrize("name", OPTIONS)
def test_per_cent_is_a_share(name: str) -> None:
    option = OPTIONS[name]
    for text in ("50%", "50%", "0.5"):
        assert option.type.convert(text, option, None) == 0.5
    for text in ("%", "x%", "nan", "nan%", "-5%", "50", "80"):
        with pytest.raises(click.BadParameter):
            option.type.convert(text, option, None)


@pytest.mark.parametrize(
    "name", [name for name, option in OPTIONS.items() if not isinstance(option, StageOption)]
)
def test_settings_files_take_the_shares_that_are_typed(name: str) -> None:
    option = OPTIONS[name]
    for value in ("50%", "0.5", 0.5):
        assert option.type.convert(validator_of(option)(value), option, None) == 0.5


def test_more_than_all_is_written_with_its_sign(ask: Ask, desk: object) -> None:
    assert ask("stats", str(desk), "--fail-over", "150%").code == 0
    assert ask("stats", str(desk), "--fail-over", "10%").code == 1
    outcome = ask("stats", str(desk), "--fail-over", "80")
    assert outcome.code == 2
    assert "80 would be 8000%; write 80% or 0.8" in outcome.err
