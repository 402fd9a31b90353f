"""Where clients compact by themselves."""

import re
from typing import Any

import pytest

from compactctl.clients.registry import ALL_FORMATS
from compactctl.clients.sizes import CLIENT_SIZES, client_sizes
from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import NOTHING, UNKNOWN_SIZES
from compactctl.tokens.models.lookup import resolve_model

RULES = [rule for sizes in CLIENT_SIZES.values() for rule in sizes.rules]


def at(format_name: str, window: int, version: str | None = None, **fields: Any) -> int | None:
    client = client_sizes(format_name).rule(version)
    assert client is not None
    budget = Budget(window=window, output_reserve=0, source="", **fields)
    return client.threshold_tokens(budget)


@pytest.mark.parametrize(
    ("version", "window", "max_output", "size"),
    [
        ("2.0.76", 200_000, 64_000, 155_000),
        ("2.1.20", 200_000, 64_000, 155_000),
        ("2.1.20", 200_000, 8_192, 178_808),
        ("2.1.21", 200_000, 64_000, 167_000),
        ("2.1.217", 200_000, None, 167_000),
        ("2.1.37", 200_000, 4_096, 182_904),
        ("2.1.37", 1_000_000, 128_000, 967_000),
        (None, 200_000, 64_000, 167_000),
        ("who knows", 200_000, 64_000, 167_000),
    ],
)
def test_claude_code_by_version(
    version: str | None, window: int, max_output: int | None, size: int
) -> None:
    assert at("claude-code", window, version, max_output=max_output) == size


@pytest.mark.parametrize(
    ("name", "size"),
    [
        # As 2.1.331 did.
        ("claude-opus-4-8", 967_000),
        ("claude-opus-4-6", 167_000),
        # By the same rule.
        ("claude-opus-4-7", 967_000),
        ("claude-sonnet-5-5", 967_000),
        ("claude-opus-4-6[1m]", 967_000),
        ("claude-haiku-4-5", 167_000),
    ],
)
def test_claude_code_by_model(name: str, size: int) -> None:
    model = resolve_model(name)
    assert at("claude-code", model.window, "2.1.331", max_output=model.max_output) == size


def test_codex_fills_nine_tenths_of_what_it_records_19_twentieths_of() -> None:
    assert at("codex", 258_400, is_recorded=True) == 244_800
    assert at("codex", 121_600, is_recorded=True) == 115_200
    assert at("codex", 272_000, is_input_only=True) == 244_800


@pytest.mark.parametrize(
    ("window", "max_output", "for_input", "size"),
    [
        (200_000, 64_000, False, 168_000),
        (200_000, 8_192, False, 191_808),
        (272_000, 128_000, True, 252_000),
        (272_000, 8_192, True, 263_808),
    ],
)
def test_opencode_keeps_less_of_a_window_for_input_alone(
    window: int,
    max_output: int,
    for_input: bool,  # noqa: FBT001 - a case
    size: int,
) -> None:
    assert at("opencode", window, max_output=max_output, is_input_only=for_input) == size


@pytest.mark.parametrize(
    ("format_name", "window", "size"),
    [
        ("copilot-cli", 128_000, 102_400),
        ("cline", 64_000, 57_600),
        ("cline", 128_000, 115_200),
        ("cline", 200_000, 180_000),
        ("cline", 1_000_000, 900_000),
        ("cline", 32_000, 28_800),
        ("roo", 200_000, 171_808),
        ("pi", 200_000, 183_616),
    ],
)
def test_the_others(format_name: str, window: int, size: int) -> None:
    assert at(format_name, window) == size


def test_roo_code_keeps_at_most_a_fifth_for_the_answer() -> None:
    assert at("roo", 200_000, max_output=64_000) == 140_000
    assert at("roo", 200_000, max_output=16_384) == 163_616


@pytest.mark.parametrize(("format_name", "window"), [("claude-code", 33_000), ("pi", 8_192)])
def test_a_window_that_leaves_nothing_has_no_such_size(format_name: str, window: int) -> None:
    assert at(format_name, window) is None


@pytest.mark.parametrize("format_name", ["openai-chat", "anthropic-messages", "neurolink", "none"])
def test_a_format_of_no_client_has_none(format_name: str) -> None:
    assert client_sizes(format_name) == UNKNOWN_SIZES
    assert client_sizes(format_name).rule() is None


def test_every_row_is_of_a_format_and_says_where_it_is_from() -> None:
    where = "compactctl/clients/*/sizes.py: "
    unknown = CLIENT_SIZES.keys() - {each.name for each in ALL_FORMATS}
    assert unknown == set(), "compactctl/clients/sizes.py: these are not formats"
    for name, sizes in CLIENT_SIZES.items():
        assert {row.format for row in sizes.rules} <= {name}, f"{where}one of {name} names another"
    for row in RULES:
        assert all((row.name, row.formula, row.source)), (
            f"{where}give the row of {row.format} its name, formula and source"
        )
        assert re.fullmatch(r"20\d\d-\d\d", row.date), f"{where}the date of {row.name} is YYYY-MM"


def test_the_newest_rule_of_a_client_has_no_end() -> None:
    for name, sizes in CLIENT_SIZES.items():
        *earlier, newest = (rule.below_version for rule in sizes.rules)
        assert not newest, f"compactctl/clients: the last rule of {name} has no below_version"
        assert all(earlier), f"compactctl/clients: name the versions of the rules of {name}"
        assert [rule.since_version for rule in sizes.rules] == [(), *earlier]


def test_versions_are_told_in_words() -> None:
    told = [row.versions for row in RULES if row.format == "claude-code"]
    assert told == ["before 2.1.21", "2.1.21 and later"]
    assert {row.versions for row in RULES if row.format != "claude-code"} == {""}


@pytest.mark.parametrize(
    ("format_name", "window", "size"),
    [("gemini-cli", 1_048_576, 524_288), ("cline", 201_000, 180_900), ("cline", 199_999, 179_999)],
)
def test_half_of_a_window_and_the_larger_of_two(format_name: str, window: int, size: int) -> None:
    assert at(format_name, window) == size


def test_roo_rounds_a_fifth_up() -> None:
    assert at("roo", 10_001, max_output=64_000) == 9_000 - 2_001


@pytest.mark.parametrize(("window", "size"), [(33_001, 1), (33_000, None)])
def test_a_threshold_is_above_nothing(window: int, size: int | None) -> None:
    assert at("claude-code", window) == size


@pytest.mark.parametrize(
    ("version", "window"),
    [
        ("2.1.322", 200_000),
        ("2.1.323", 1_000_000),
        ("2.2", 1_000_000),
        ("2.1", 200_000),
        ("1.9.999", 200_000),
        (None, 1_000_000),
        ("beta", 1_000_000),
        ("2.1.322-beta.400", 200_000),
    ],
)
def test_the_window_that_claude_code_assumes(version: str | None, window: int) -> None:
    assert client_sizes("claude-code").assumed_window(version) == window
    assert client_sizes("codex").assumed_window(version) is None


@pytest.mark.parametrize(
    ("format_name", "overhead", "first", "missing"),
    [
        ("claude-code", 115_100, None, 0),
        ("claude-code", 115_101, None, 115_101 - 35_500),
        ("claude-code", 200_000, 20_000, 180_000),
        ("claude-code", 200_000, 115_100, 84_900),
        ("claude-code", 200_000, 115_101, 164_500),
        ("codex", 91_300, 5_000, 0),
        ("codex", 91_301, 5_000, 86_301),
        ("pi", 900_000, 5_000, 0),
    ],
)
def test_what_no_overhead_explains_is_missing_history(
    format_name: str, overhead: int, first: int | None, missing: int
) -> None:
    assert client_sizes(format_name).missing_history(overhead, first) == missing


def test_what_clients_restore_and_send_is_known_for_some() -> None:
    assert client_sizes("claude-code").restored.usual == 10_000
    assert client_sizes("pi").restored is NOTHING
    assert client_sizes("pi").overhead is None
    for name in ("claude-code", "codex", "opencode"):
        usual = client_sizes(name).overhead
        assert usual is not None
        assert usual.least <= usual.usual <= usual.most
