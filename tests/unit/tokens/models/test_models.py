from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.records import replace
from compactctl.tokens.models.lookup import all_models, model_suggestion, resolve_model

# The windows NeuroLink documents, with its own later corrections of gpt-5 and mistral-large.
NEUROLINK = {
    "claude-opus-4-20250514": 200_000,
    "claude-sonnet-4-20250514": 200_000,
    "claude-3-7-sonnet-20250219": 200_000,
    "claude-3-5-sonnet-20241022": 200_000,
    "claude-3-5-haiku-20241022": 200_000,
    "claude-3-opus-20240229": 200_000,
    "claude-3-sonnet-20240229": 200_000,
    "claude-3-haiku-20240307": 200_000,
    "gpt-4o": 128_000,
    "gpt-4o-mini": 128_000,
    "gpt-4-turbo": 128_000,
    "gpt-4": 8_192,
    "gpt-3.5-turbo": 16_385,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-pro": 200_000,
    "o3": 200_000,
    "o3-mini": 200_000,
    "o4-mini": 200_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.1-mini": 1_047_576,
    "gpt-4.1-nano": 1_047_576,
    "gpt-5": 400_000,
    "gemini-2.5-pro": 1_048_576,
    "gemini-2.5-flash": 1_048_576,
    "gemini-2.0-flash": 1_048_576,
    "gemini-1.5-pro": 2_097_152,
    "gemini-1.5-flash": 1_048_576,
    "gemini-3-flash-preview": 1_048_576,
    "gemini-3-pro-preview": 1_048_576,
    "anthropic.claude-3-5-sonnet-20241022-v2:0": 200_000,
    "anthropic.claude-3-5-haiku-20241022-v1:0": 200_000,
    "anthropic.claude-3-opus-20240229-v1:0": 200_000,
    "anthropic.claude-3-sonnet-20240229-v1:0": 200_000,
    "anthropic.claude-3-haiku-20240307-v1:0": 200_000,
    "amazon.nova-pro-v1:0": 300_000,
    "amazon.nova-lite-v1:0": 300_000,
    "mistral-large-latest": 256_000,
    "mistral-small-latest": 128_000,
    "codestral-latest": 256_000,
    "claude-sonnet-4-6": 200_000,
    "claude-opus-4-6": 200_000,
    "gpt-5.4": 1_050_000,
}
CODEBUDDY = {
    "claude-3-5-sonnet": 200_000,
    "claude-sonnet-4": 200_000,
    "gpt-4o-mini": 128_000,
    "o1": 200_000,
    "gemini-2.0-flash": 1_048_576,
    "gemini-1.5-pro": 2_097_152,
    "llama-3.3-70b": 128_000,
    "llama-3.1-70b": 128_000,
    "mixtral-8x7b": 32_768,
    "deepseek-coder": 64_000,
    "qwen-plus": 131_072,
    "qwen-turbo": 131_072,
    "glm-4-plus": 128_000,
}
# Where a shorter beginning of the name would give another window.
LONGEST_PREFIX = {
    "gpt-4.1-2025-04-14": 1_047_576,
    "gpt-4.5-preview": 128_000,
    "gpt-4-32k-0613": 32_768,
    "gpt-4-0613": 8_192,
    "gpt-4-1106-preview": 128_000,
    "o1-mini-2024-09-12": 128_000,
    "gpt-4o-2024-08-06": 128_000,
    "gpt-5-codex": 272_000,
    "gpt-5.1-codex-max": 272_000,
    "gpt-5.3-codex-spark": 128_000,
    "gpt-5.4-mini-2026": 400_000,
    "kimi-k2-0711-preview": 131_072,
    "kimi-k2-thinking": 262_144,
}
# As of November 2026, by the vendors' keys of the litellm registry and the table of Claude Code
# 2.1.331.
VENDORS = {
    "claude-opus-4-7": 1_000_000,
    "claude-opus-4-8": 1_000_000,
    "claude-fable-5-2": 1_000_000,
    "xai/grok-4.20": 1_000_000,
    "xai/grok-4.3-latest": 1_000_000,
    "xai/grok-4.5": 500_000,
    "xai/grok-4.6": 500_000,
    "xai/grok-4.7": 500_000,
    "xai/grok-build-latest": 500_000,
    "mistral/mistral-large-4": 1_048_576,
    "mistral/mistral-medium-latest": 262_144,
    "mistral/mistral-medium-2604": 262_144,
    "mistral/ministral-8b-2512": 262_144,
    "mistral/ministral-14b-latest": 262_144,
    "mistral/ministral-3-14b-2512": 262_144,
    "mistral/magistral-medium-latest": 262_144,
    "deepseek/deepseek-flash": 1_000_000,
    "deepseek/deepseek-chat": 131_072,
    "deepseek/deepseek-reasoner": 131_072,
    "dashscope/qwen3-coder-plus": 997_952,
    "dashscope/qwen-plus-latest": 997_952,
    "dashscope/qwen-coder": 1_000_000,
    "dashscope/qwen3.8-max": 991_808,
    "meta_llama/Llama-4-Scout-17B-16E-Instruct-FP8": 10_000_000,
    "meta.llama4-scout-17b-instruct-v1:0": 10_000_000,
    "meta_llama/Llama-4-Maverick-17B-128E-Instruct-FP8": 1_000_000,
    "gemini/gemini-robotics-er-2-preview": 131_072,
    "gemini/gemini-omni-flash-preview": 131_072,
    "gemini-2.5-computer-use-preview-10-2025": 128_000,
    "gpt-5.6-cyber": 272_000,
}


@pytest.mark.parametrize(
    ("name", "window"),
    [*NEUROLINK.items(), *CODEBUDDY.items(), *LONGEST_PREFIX.items(), *VENDORS.items()],
)
def test_documented_windows(name: str, window: int) -> None:
    model = resolve_model(name)
    assert (model.window, model.is_known, model.name) == (window, True, name)


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("grok-4.9", "grok-4"),
        ("gpt-5-large", "gpt-5"),
        ("gpt-4o-audio", "gpt-4o"),
        ("mistral:7b", "mistral"),
        ("gemini-5-pro", "gemini"),
        ("claude-opus-4-9", "claude-opus-4.8"),
        ("claude-opus-6", "claude-opus-5.5"),
        ("claude-haiku-5", "claude-haiku-4.5"),
        ("claude-2.1", "claude"),
        ("opus", "claude-opus"),
    ],
)
def test_a_model_with_a_similar_name_is_inferred_and_not_known(name: str, match: str) -> None:
    model = resolve_model(name)
    assert (model.is_known, model.is_inferred, model.matched_prefix) == (False, True, match)


def test_a_name_that_goes_on_in_words_is_never_known() -> None:
    for listed in all_models():
        if listed.is_known:
            longer = resolve_model(f"{listed.name}-oddity")
            assert (longer.is_known, longer.is_inferred, longer.matched_prefix) == (
                False,
                True,
                listed.matched_prefix,
            ) or ("claude" in listed.name)


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("gpt5", "did you mean gpt-5?"),
        ("opus4.8", "did you mean claude-opus-4.8?"),
        ("gtp-4o", "did you mean gpt-4o?"),
        ("zzzz", ""),
    ],
)
def test_a_listed_model_is_suggested_for_a_mistyped_name(name: str, guess: str) -> None:
    assert resolve_model(name).rule == "unknown"
    assert model_suggestion(name) == guess


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("anthropic/unknown-model", 200_000),
        ("openai/unknown", 128_000),
        ("google-ai/unknown", 1_048_576),
        ("huggingface/unknown", 32_000),
        ("unknown/unknown", 128_000),
        ("unknown-model", 128_000),
        ("<synthetic>", 128_000),
        ("o100", 128_000),
        ("gpt-45", 128_000),
        ("", 128_000),
        (None, 128_000),
    ],
)
def test_an_unknown_model_gets_defaults_and_an_estimate(name: str, window: int) -> None:
    model = resolve_model(name)
    assert (model.window, model.is_known, model.is_exact) == (window, False, False)
    assert (model.counter, model.max_output) == ("o200k_base", None)
    assert model.name == (name or "unknown")


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4.5",
        "Claude-Sonnet-4.5",
        "claude-4.5-sonnet",
        "claude-sonnet-4-5@20250929",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "openrouter/anthropic/claude-sonnet-4.5",
        "anthropic:claude-sonnet-4-5",
        "litellm_proxy/claude-sonnet-4-5-20250929",
        "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-sonnet-4-5-v1:0",
        "databricks-claude-sonnet-4-5",
    ],
)
def test_one_model_under_its_many_names(name: str) -> None:
    model = resolve_model(name)
    assert (model.family, model.factor) == ("Claude up to 4.6", 1.18)
    assert (model.window, model.max_output, model.is_known) == (200_000, 64_000, True)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("ft:gpt-3.5-turbo-0125:acme::x", "gpt-3.5-turbo-0125"),
        ("ft:gpt-4.1-2025-04-14:acme:triage:BxYz12:ckpt-step-64", "gpt-4.1-2025-04-14"),
        ("openai/ft:gpt-4o-mini-2024-07-18:acme::x", "gpt-4o-mini-2024-07-18"),
        ("gpt-4o-mini-2024-07-18.ft-0a1b2c", "gpt-4o-mini-2024-07-18"),
    ],
)
def test_a_fine_tuned_model_has_the_window_of_its_base(name: str, base: str) -> None:
    assert replace(resolve_model(name), name=base) == resolve_model(base)


@pytest.mark.parametrize(
    ("name", "factor", "window"),
    [
        ("claude-2.1", 1.18, 200_000),
        ("claude-3-haiku-20240307", 1.18, 200_000),
        ("claude-opus-4-1-20250805", 1.18, 200_000),
        ("claude-opus-4-5-20251101", 1.18, 200_000),
        ("claude-haiku-4-5-20251001", 1.18, 200_000),
        ("claude-opus-4-6", 1.18, 200_000),
        ("claude-sonnet-4.6", 1.18, 200_000),
        ("claude-opus-4-7", 1.52, 1_000_000),
        ("claude-opus-4.8", 1.52, 1_000_000),
        ("claude-opus-4-10", 1.52, 1_000_000),
        ("claude-sonnet-5", 1.52, 1_000_000),
        ("claude-opus-5", 1.52, 1_000_000),
        ("claude-fable-5", 1.52, 1_000_000),
        ("claude-haiku-5-5", 1.52, 1_000_000),
        ("claude-opus-12", 1.52, 1_000_000),
        ("openrouter/~anthropic/claude-fable-latest", 1.52, 1_000_000),
        ("opus", 1.52, 200_000),
    ],
)
def test_claude_by_version(name: str, factor: float, window: int) -> None:
    model = resolve_model(name)
    assert (model.factor, model.window, model.is_exact) == (factor, window, False)


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("claude-sonnet-4-5[1m]", 1.18),
        ("claude-sonnet-4-5-20250929[1m]", 1.18),
        ("claude-opus-4.5-1m", 1.18),
        ("claude-sonnet-4-1000k", 1.18),
        ("sonnet[1m]", 1.52),
        ("qwen2.5-14b-instruct-1m", 1.1),
        ("a-model-of-mine[1m]", 1.0),
    ],
)
def test_a_name_can_ask_for_the_long_window(name: str, factor: float) -> None:
    model = resolve_model(name)
    assert (model.window, model.factor) == (1_000_000, factor)


def test_the_long_window_never_shortens_a_longer_one() -> None:
    assert resolve_model("gemini-1.5-pro-1m").window == 2_097_152


@pytest.mark.parametrize(
    ("name", "counter", "vocabulary"),
    [
        ("gpt-3.5-turbo", "cl100k_base", "own"),
        ("gpt-35-turbo", "cl100k_base", "own"),
        ("gpt-4-turbo-2024-04-09", "cl100k_base", "own"),
        ("gpt-4o", "o200k_base", "own"),
        ("openai/gpt-4o-mini", "o200k_base", "own"),
        ("gpt-5.5", "o200k_base", "own"),
        ("gpt-6-sol", "o200k_base", "another's"),
        ("gpt-oss:20b", "o200k_base", "own"),
        ("o3-mini", "o200k_base", "own"),
        ("zai/glm-5.2:xhigh", "o200k_base", "another's"),
        ("deepseek-ai/DeepSeek-V3.2", "o200k_base", "another's"),
        ("deepseek.r1-v1:0", "o200k_base", "another's"),
        ("meta-llama/llama-4-maverick", "o200k_base", "another's"),
        ("meta.llama3-3-70b-instruct-v1:0", "o200k_base", "another's"),
        ("mistral:7b", "o200k_base", "another's"),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct", "o200k_base", "another's"),
        ("models/gemini-2.5-pro", "o200k_base", "another's"),
        ("MiniMax-M2.5", "o200k_base", "another's"),
    ],
)
def test_whose_tokens_a_model_counts(name: str, counter: str, vocabulary: str) -> None:
    model = resolve_model(name)
    assert (model.counter, model.is_known or model.is_inferred) == (counter, True)
    assert model.is_exact == (vocabulary == "own")


@given(st.text())
def test_every_name_resolves_to_a_usable_model(name: str) -> None:
    model = resolve_model(name)
    assert model.window > 0
    assert model.factor >= 1
    assert not (model.is_exact and model.factor != 1)


@pytest.mark.parametrize(
    "name",
    [
        "gpt-" * 300_000,
        f"gpt-4o{'-2024-01-01' * 5_000}!",
        f"gpt-4o{'-11-11b' * 5_000}!",
        f"gpt-4o@{'-1111:1' * 5_000}!",
    ],
    ids=["prefixes", "dates", "sizes", "tags"],
)
def test_a_hostile_name_resolves_too(name: str) -> None:
    assert resolve_model(name).is_known is False


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("gpt-5.4-mini-2026-03-17", "gpt-5.4-mini"),
        ("qwen3-coder-480b-a35b-instruct", "qwen3-coder"),
        ("llama-4-scout-17b-16e-instruct-fp8", "llama-4-scout"),
        ("mixtral-8x7b-instruct-v0:1", "mixtral-8x7b"),
        ("deepseek.r1-v1:0", "deepseek-r1"),
        ("zai/glm-5.2:xhigh", "glm-5.2"),
    ],
)
def test_dates_sizes_and_tags_are_of_the_same_model(name: str, match: str) -> None:
    model = resolve_model(name)
    assert (model.is_known, model.matched_prefix) == (True, match)


@pytest.mark.parametrize(
    ("name", "match", "window"),
    [
        ("gpt-4-0314", "gpt-4-0314", 8_192),
        ("gpt-3.5-turbo-0613", "gpt-3.5-turbo-0613", 4_096),
        ("ft:gpt-3.5-turbo-0613:acme::x", "gpt-3.5-turbo-0613", 4_096),
        ("azure/gpt-35-turbo-0301", "gpt-35-turbo-0301", 4_096),
        ("gpt-3.5-turbo-16k-0613", "gpt-3.5-turbo-16k-0613", 16_385),
        ("gpt-3.5-turbo-instruct", "gpt-3.5-turbo-instruct", 4_096),
        ("mistral.mistral-large-2402-v1:0", "mistral-large-2402", 32_000),
        ("vertex_ai/mistral-large@2411-001", "mistral-large-2411", 128_000),
        ("mistralai/Mistral-Large-Instruct-2407", "mistral-large-2407", 128_000),
        ("mistral-medium-2312", "mistral-medium-2312", 32_000),
        ("Mistral-Small-24B-Instruct-2501", "mistral-small-2501", 32_000),
        ("vertex_ai/codestral@2405", "codestral-2405", 32_000),
        ("magistral-medium-2506", "magistral-medium-2506", 40_000),
        ("qwen-plus-2025-07-14", "qwen-plus-2025-07-14", 131_072),
        ("qwen-plus-2025-07-28", "qwen-plus-2025-07-28", 997_952),
        ("Kimi-K2-Instruct-0711", "kimi-k2-0711", 131_072),
        ("xai/grok-4-0709", "grok-4-0709", 256_000),
    ],
)
def test_a_listed_date_names_a_model_of_its_own(name: str, match: str, window: int) -> None:
    model = resolve_model(name)
    assert (model.is_known, model.matched_prefix, model.window) == (True, match, window)


@pytest.mark.parametrize(
    ("name", "match", "window"),
    [
        ("mistral-medium-2401", "mistral-medium-2312", 32_000),
        ("mistral-medium-2701", "mistral-medium-2604", 262_144),
        ("mistral-medium-2311", "mistral-medium-2312", 32_000),
        ("codestral-2409", "codestral-2405", 32_000),
        ("qwen-plus-2025-08-01", "qwen-plus-2025-07-28", 997_952),
        ("qwen-plus-0624", "qwen-plus", 131_072),
        ("gpt-3.5-turbo-0501", "gpt-3.5-turbo-0301", 4_096),
        ("kimi-k2-1106", "kimi-k2-0711", 131_072),
        ("kimi-k2-250711", "kimi-k2-0711", 131_072),
        ("deepseek-v3-0324", "deepseek-v3", 128_000),
    ],
)
def test_of_an_unlisted_date_the_window_is_inferred(name: str, match: str, window: int) -> None:
    model = resolve_model(name)
    assert (model.is_inferred, model.matched_prefix, model.window) == (True, match, window)


LISTED = tuple(
    model.name for model in all_models() if model.is_known and "claude" not in model.name
)


@given(
    st.sampled_from(LISTED),
    st.sampled_from(["-", "@", "-instruct-", "-preview-"]),
    st.integers(23, 39),
    st.integers(1, 12),
)
def test_a_date_that_is_not_listed_is_never_known(
    name: str, joint: str, year: int, month: int
) -> None:
    dated = resolve_model(f"{name}{joint}{year}{month:02}")
    assert not dated.is_known or dated.matched_prefix.endswith(f"{year}{month:02}")


@given(st.sampled_from(LISTED), st.dates(date(2023, 1, 1), date(2039, 12, 31)))
def test_a_date_after_a_name_without_a_version_is_known_only_if_listed(
    name: str, day: date
) -> None:
    if any(map(str.isdigit, name)):
        return
    dated = resolve_model(f"{name}-{day}")
    assert not dated.is_known or dated.matched_prefix.endswith(str(day))
