import inspect
from collections import Counter

import pytest

from compactctl.errors import UsageError
from compactctl.stages.registry import ALL_STAGES, stage_named


def test_every_stage_is_found_by_its_name() -> None:
    assert [stage_named(stage.name) for stage in ALL_STAGES] == list(ALL_STAGES)
    names = Counter(stage.name for stage in ALL_STAGES)
    twice = [name for name, number in names.items() if number > 1]
    assert twice == [], "compactctl/stages: two stages have this name; rename one"


def test_every_option_has_a_default_and_a_line_of_documentation() -> None:
    for stage in ALL_STAGES:
        options = stage.options()
        missing = [
            name for name in options.__struct_fields__ if not stage.options.descriptions.get(name)
        ]
        assert missing == [], (
            f"compactctl/stages, {type(options).__name__}: declare each of these with "
            "option(DEFAULT, HELP) of support/stage.py"
        )


def test_what_a_stage_does_is_said_once() -> None:
    for stage in ALL_STAGES:
        module = inspect.getmodule(stage.propose)
        begin = f"{stage.name.capitalize()}: {stage.title}."
        assert f": {stage.title}." in (inspect.getdoc(module) or "").partition("\n")[0], (
            f'compactctl/stages: the docstring of {stage.name} has to begin with "{begin}"'
        )


def test_a_slip_of_the_pen_is_corrected() -> None:
    with pytest.raises(UsageError, match=r"named 'Dedupe'; did you mean dedup\?"):
        stage_named("Dedupe")
    with pytest.raises(UsageError, match=f"; stages: {', '.join(s.name for s in ALL_STAGES)}$"):
        stage_named("zzz")
