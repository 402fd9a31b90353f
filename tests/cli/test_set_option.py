"""``--set STAGE.OPTION=VALUE`` is another spelling of a stage's option."""

from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.cli.group import Commands
from compactctl.cli.set_option import expand_set
from compactctl.errors import UsageError


def expanded(*words: str) -> list[str]:
    return expand_set(Commands()["compact"], words)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["--set", "prune.min-savings=0"], ["--prune-min-savings=0"]),
        (["--set=prune.min_savings=0"], ["--prune-min-savings=0"]),
        (["run.jsonl", "--set", "prune.keep-errors=on"], ["run.jsonl", "--prune-keep-errors"]),
        (["--set", "prune.keep-errors=FALSE", "-n"], ["--no-prune-keep-errors", "-n"]),
        (["--set", "prune.placeholder=a=b"], ["--prune-placeholder=a=b"]),
        (["--", "--set", "prune.unit=x"], ["--", "--set", "prune.unit=x"]),
    ],
)
def test_it_becomes_the_option_of_the_stage(typed: list[str], meant: list[str]) -> None:
    assert expanded(*typed) == meant


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("prune.min-savings", "write it as KEY=VALUE, e.g. prune.min-savings=0"),
        ("prun.unit=x", "no stage named 'prun' has options; did you mean prune?"),
        ("prune.min-saving=0", "prune has no option 'min-saving'; did you mean min-savings?"),
        ("prune=0", "prune has no option ''; see compactctl show stages prune"),
        ("prune.keep-errors=maybe", "the value is true or false"),
    ],
)
def test_what_is_wrong_with_it_is_said(setting: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        expanded("--set", setting)
    assert why in str(refused.value)


def test_it_does_what_the_option_does(ask: Ask, desk: Path) -> None:
    compact = ("compact", desk, "-n", "--json", "--stages", "truncate")
    by_set = ask(*compact, "--set", "truncate.fraction=0.3").json
    by_option = ask(*compact, "--truncate-fraction", "0.3").json
    assert by_set == by_option != ask(*compact).json


def test_a_typed_value_counts_more_than_a_setting(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACTCTL_TRUNCATE_FRACTION", "0.9")
    compact = ("compact", desk, "-n", "--json", "--stages", "truncate")
    by_set = ask(*compact, "--set", "truncate.fraction=0.3").json
    assert by_set == ask(*compact, "--truncate-fraction", "0.3").json
