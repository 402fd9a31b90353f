"""Models, profiles and stages are listed whole, or one by its name."""

import pytest

from compactctl.commands.reference import models, profiles, stages
from compactctl.errors import UsageError
from compactctl.profiles.registry import PROFILES
from compactctl.stages.registry import ALL_STAGES
from compactctl.tokens.models.lookup import all_models


def test_all_models_are_listed_with_sources_and_clients() -> None:
    result = models()
    assert [row.model for row in result.rows] == list(all_models())
    assert result.resolved is None
    assert result.sources
    assert result.clients


def test_one_model_is_resolved_with_what_is_free_for_input() -> None:
    result = models("gpt-4.1")
    assert (result.rows, result.clients, result.sources) == ((), (), ())
    assert result.resolved is not None
    budget = result.resolved.budget
    assert budget.window == result.resolved.model.window == 1_047_576
    assert 0 < budget.available == budget.window - budget.output_reserve
    assert result.resolved.counter.id == "o200k_base"


def test_all_profiles_are_listed_or_one() -> None:
    result = profiles()
    assert [profile.name for profile in result.profiles] == list(PROFILES)
    assert result.profiles[0].name == "default"
    assert not result.named
    one = profiles("copilot")
    assert ([profile.name for profile in one.profiles], one.named) == (["copilot"], True)
    with pytest.raises(UsageError):
        profiles("none-such")


def test_stages_have_their_options_with_defaults() -> None:
    assert [stage.name for stage in stages().stages] == [stage.name for stage in ALL_STAGES]
    names = [stage.name for stage in stages(("truncate", "dedup")).stages]
    assert names == ["truncate", "dedup"]
    [stage] = stages(("truncate",)).stages
    assert stage.title
    assert (stage.options["fraction"], stage.options["keep_first"]) == (0.5, 2)
    with pytest.raises(UsageError):
        stages(("none-such",))
