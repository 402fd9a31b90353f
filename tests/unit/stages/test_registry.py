import inspect
from dataclasses import fields, is_dataclass

import pytest

from compactctl.errors import UsageError
from compactctl.stages.registry import ALL_STAGES, stage_named
from compactctl.stages.support.stage import option_help


def test_every_stage_is_found_by_its_name() -> None:
    assert [stage_named(stage.name) for stage in ALL_STAGES] == list(ALL_STAGES)
    assert len({stage.name for stage in ALL_STAGES}) == len(ALL_STAGES)


def test_every_option_has_a_default_and_a_line_of_documentation() -> None:
    for stage in ALL_STAGES:
        options = stage.options()
        assert is_dataclass(options)
        for field in fields(options):
            assert option_help(field)


def test_what_a_stage_does_is_said_once() -> None:
    for stage in ALL_STAGES:
        module = inspect.getmodule(stage.propose)
        assert f": {stage.title}." in (inspect.getdoc(module) or "").partition("\n")[0]


def test_a_slip_of_the_pen_is_corrected() -> None:
    with pytest.raises(UsageError, match=r"no stage 'Dedupe'; did you mean dedup or deduplicate\?"):
        stage_named("Dedupe")
    with pytest.raises(UsageError, match="stages: repair, unsent, drop, dedup"):
        stage_named("zzz")
