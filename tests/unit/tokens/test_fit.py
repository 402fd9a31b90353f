"""What the size of a context means: window, the client's own compaction, the answer."""

import pytest

from compactctl.clients.sizes import client_sizes
from compactctl.tokens.budget import Budget, output_reserve
from compactctl.tokens.fit import LimitBase, Limits, fit_of, limits_of, size_limit


def limits(
    window: int = 200_000,
    max_output: int | None = 64_000,
    format_name: str = "claude-code",
    base: LimitBase = "client",
    *,
    for_input: bool = False,
) -> Limits:
    budget = Budget(
        window=window,
        output_reserve=output_reserve(window),
        source="",
        max_output=max_output,
        is_recorded=for_input,
        is_input_only=for_input,
    )
    return limits_of(budget, client_sizes(format_name).rule(), base)


@pytest.mark.parametrize(
    ("base", "tokens"), [("client", 167_000), ("window", 200_000), ("available", 136_000)]
)
def test_levels_and_gates_refer_to_the_base_that_is_wanted(base: LimitBase, tokens: int) -> None:
    found = limits(base=base)
    assert (found.base, found.base_tokens) == (base, tokens)
    assert found.compacts_at == 167_000


def test_without_a_client_they_refer_to_what_is_available() -> None:
    found = limits(format_name="openai-chat")
    assert (found.base, found.base_tokens) == ("available", 136_000)
    assert (found.client, found.compacts_at) == (None, None)
    assert limits(format_name="openai-chat", base="window").base_tokens == 200_000


def test_a_window_too_small_for_the_clients_rule_is_judged_without_it() -> None:
    found = limits(window=32_000)
    assert (found.base, found.base_tokens, found.client) == ("available", 20_800, None)


def test_three_figures() -> None:
    found = fit_of(82_000, limits())
    assert (found.window_left, found.until_compaction, found.max_answer) == (
        118_000,
        85_000,
        64_000,
    )
    assert found.fits


def test_little_room_leaves_a_short_answer() -> None:
    assert fit_of(190_000, limits()).max_answer == 10_000
    assert fit_of(190_000, limits(max_output=None)).max_answer == 10_000


def test_where_the_client_is_at_its_limit_it_compacts_now_and_all_still_fits() -> None:
    found = fit_of(170_000, limits())
    assert (found.until_compaction, found.fits) == (0, True)


@pytest.mark.parametrize(("tokens", "fits"), [(200_000, True), (200_001, False)])
def test_only_above_the_window_it_does_not_fit(tokens: int, fits: bool) -> None:  # noqa: FBT001
    found = fit_of(tokens, limits())
    assert found.fits == fits
    assert found.max_answer == 0


def test_beside_a_window_for_input_alone_the_answer_has_room_of_its_own() -> None:
    codex = limits(window=258_400, max_output=128_000, format_name="codex", for_input=True)
    assert fit_of(250_000, codex).max_answer == 128_000
    assert fit_of(260_000, codex).max_answer == 0
    unknown = limits(window=258_400, max_output=None, format_name="codex", for_input=True)
    assert fit_of(250_000, unknown).max_answer is None


def test_a_client_that_assumes_a_larger_window_compacts_too_late() -> None:
    budget = Budget(window=100_000, output_reserve=10_000, source="", max_output=64_000)
    rule = client_sizes("claude-code").rule("2.1.331")
    found = limits_of(budget, rule, assumed_window=1_000_000)
    assert (found.compacts_at, found.assumed_window) == (967_000, 1_000_000)
    assert (found.compaction_due_at, found.base_tokens) == (67_000, 67_000)
    small = limits_of(budget, rule, assumed_window=90_000)
    assert (small.compacts_at, small.compaction_due_at) == (57_000, 57_000)
    tiny = Budget(window=30_000, output_reserve=10_000, source="")
    assert limits_of(tiny, rule, assumed_window=1_000_000).compaction_due_at == 20_000
    assert limits_of(tiny, None).compaction_due_at is None


@pytest.mark.parametrize(("target", "limit"), [(None, 167_000), (5, 5), (300_000, 200_000)])
def test_a_target_is_no_larger_than_the_window(target: int | None, limit: int) -> None:
    assert size_limit(target, limits()) == limit


def test_at_the_window_there_is_no_room_for_an_answer() -> None:
    codex = limits(window=258_400, max_output=128_000, format_name="codex", for_input=True)
    assert fit_of(258_400, codex).max_answer == 128_000
    assert fit_of(200_000, limits(format_name="openai-chat")).until_compaction is None
    assert fit_of(167_000, limits()).until_compaction == 0
    assert fit_of(166_999, limits()).until_compaction == 1
