"""The windows, reserves and budgets that NeuroLink, Codebuddy and agent-code document."""

import pytest

from compactctl.errors import UsageError
from compactctl.tokens.budget import Budget, output_reserve
from compactctl.tokens.models.lookup import all_models, resolve_model
from compactctl.tokens.models.token_sizes import parse_window

# Where a documented answer is not ours, and why. Each is asserted below with our answer.
#
# | system     | input                        | documented | why not                              |
# | ---------- | ---------------------------- | ---------- | ------------------------------------ |
# | NeuroLink  | gpt-4.1-2025-04-14           | 8,192      | first prefix in its table, gpt-4     |
# | NeuroLink  | gpt-4.5-preview, gpt-4-32k   | 8,192      | the same                             |
# | NeuroLink  | o1-mini-2024-09-12           | 200,000    | the same, o1                         |
# | NeuroLink  | gpt-5.4-mini-2026            | 1,050,000  | the same, gpt-5.4                    |
# | NeuroLink  | vertex claude-sonnet-4@…     | 1,048,576  | no prefix match behind a provider    |
# | NeuroLink  | GoogleAI/unknown             | 128,000    | its key has a dash, the name has not |
# | NeuroLink  | gpt-5                        | 1,047,576  | corrected later by itself            |
# | NeuroLink  | mistral-large-latest         | 128,000    | corrected later by itself            |
# | NeuroLink  | mistral-medium, magistral    | 128,000    | what the vendor offers now is longer |
# | NeuroLink  | deepseek-reasoner            | 64,000     | the same                             |
# | NeuroLink  | claude-opus-4-6              | 1,000,000  | clients run it with 200,000          |
# | NeuroLink  | gpt-5-codex and its like     | 400,000    | its client uses 272,000              |
# | NeuroLink  | gpt-4 with 10,000 for output | -1,808     | nothing is available, not less       |
# | Codebuddy  | an unknown model             | 16,000     | NeuroLink's and agent-code's 128,000 |
# | Codebuddy  | gpt-4o-2024-08-06            | 16,000     | only exact names are in its table    |
# | Codebuddy  | deepseek-chat                | 64,000     | what the vendor offers now is longer |
# | Codebuddy  | window "1.5k"                | 1          | reads digits up to the first other   |
# | Codebuddy  | window "128 k", "-5"         | 128, -5    | refused: it would mislead            |
# | Codebuddy  | window "banana", ""          | 16,000     | refused: it would mislead            |
# | agent-code | gpt-4 and all that begin so  | 128,000    | one rule for 8,192 to 1,047,576      |
# | agent-code | gpt-3.5-turbo                | 16,384     | NeuroLink names the model: 16,385    |
OURS_INSTEAD = {
    "gpt-4.1-2025-04-14": 1_047_576,
    "gpt-4.5-preview": 128_000,
    "gpt-4-32k": 32_768,
    "o1-mini-2024-09-12": 128_000,
    "gpt-5.4-mini-2026": 400_000,
    "vertex/claude-sonnet-4@20250514": 200_000,
    "GoogleAI/unknown": 1_048_576,
    "gpt-5": 400_000,
    "mistral-large-latest": 256_000,
    "mistral-medium-latest": 262_144,
    "magistral-medium-latest": 262_144,
    "deepseek-reasoner": 131_072,
    "deepseek-chat": 131_072,
    "claude-opus-4-6": 200_000,
    "gpt-5-codex": 272_000,
    "": 128_000,
    "gpt-4o-2024-08-06": 128_000,
    "gpt-4": 8_192,
    "gpt-3.5-turbo": 16_385,
}
NEUROLINK_AVAILABLE = {
    "gpt-4o": 83_200,
    "gpt-4": 5_324,
    "claude-sonnet-4-20250514": 136_000,
    "gpt-3.5-turbo": 10_650,
    "gemini-2.5-flash": 984_576,
    "gemini-1.5-pro": 2_033_152,
    "gpt-4.1": 983_576,
    "amazon.nova-pro-v1:0": 236_000,
    "huggingface/any": 20_800,
    "unknown/unknown": 83_200,
}
NEUROLINK_LATER = {
    "gemini-2.5-flash-image": 32_768,
    "gemini-3-pro-image-preview": 65_536,
    "gpt-5.2-chat-latest": 128_000,
    "gpt-5.4-pro": 1_050_000,
    "gpt-oss-120b": 128_000,
    "mistral-small-2603": 256_000,
    "mistral-large-2512": 256_000,
    "devstral-2512": 256_000,
    "devstral-small-2512": 256_000,
    "amazon.nova-2-lite-v1:0": 1_000_000,
    "writer.palmyra-x5-v1:0": 1_000_000,
    "writer.palmyra-x4-v1:0": 128_000,
    "nvidia.nemotron-nano-3-30b": 256_000,
    "nvidia-nemotron-3-nano-30b": 1_000_000,
    "qwen3-vl-8b-instruct": 32_768,
    "microsoft/phi-4": 16_384,
}
PROVIDERS = {
    "anthropic": 200_000,
    "openai": 128_000,
    "google-ai": 1_048_576,
    "vertex": 1_048_576,
    "bedrock": 200_000,
    "azure": 128_000,
    "mistral": 128_000,
    "ollama": 128_000,
    "litellm": 128_000,
    "huggingface": 32_000,
    "sagemaker": 128_000,
    "deepseek": 64_000,
    "xai": 131_072,
    "perplexity": 127_000,
    "cloudflare": 8_192,
    "lm-studio": 8_192,
    "llamacpp": 8_192,
    "nvidia-nim": 128_000,
}
AGENT_CODE = {
    "claude-opus-4": 200_000,
    "claude-sonnet-4": 200_000,
    "claude-haiku-4-5": 200_000,
    "sonnet-1m": 1_000_000,
    "sonnet-1000k": 1_000_000,
    "gpt-4o": 128_000,
    "gpt-3.5": 16_384,
    "some-unknown-model": 128_000,
}


@pytest.mark.parametrize(
    ("name", "window"),
    [*OURS_INSTEAD.items(), *NEUROLINK_LATER.items(), *AGENT_CODE.items()],
)
def test_windows(name: str, window: int) -> None:
    assert resolve_model(name).window == window


@pytest.mark.parametrize(("provider", "window"), PROVIDERS.items())
def test_a_provider_has_a_default(provider: str, window: int) -> None:
    model = resolve_model(f"{provider}/unknown-model")
    assert (model.window, model.is_known) == (window, False)
    assert (model.rule, model.matched_prefix) == ("provider default", f"{provider}/")


@pytest.mark.parametrize(("name", "available"), NEUROLINK_AVAILABLE.items())
def test_available_input(name: str, available: int) -> None:
    window = resolve_model(name).window
    assert _available(window) == available


@pytest.mark.parametrize(
    ("window", "max_tokens", "reserve"),
    [
        (200_000, None, 64_000),
        (200_000, 8_192, 8_192),
        (1_000_000, None, 64_000),
        (8_192, None, 2_868),
        (200_000, 0, 64_000),
        (200_000, -1, 64_000),
    ],
)
def test_output_reserve(window: int, max_tokens: int | None, reserve: int) -> None:
    assert output_reserve(window, max_tokens) == reserve


def test_a_reserve_of_ones_own() -> None:
    assert _available(200_000, 8_192) == 191_808
    assert _available(8_192, 10_000) == 0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("4k", 4_000), ("128k", 128_000), ("16K", 16_000), ("32768", 32_768), ("1.5k", 1_500)],
)
def test_windows_as_codebuddy_writes_them(text: str, tokens: int) -> None:
    assert parse_window(text) == tokens


@pytest.mark.parametrize("text", ["banana", "", "128 k", "-5"])
def test_what_codebuddy_guesses_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_window(text)


@pytest.mark.parametrize(
    ("name", "rule", "match"),
    [
        ("gpt-4.1-2025-04-14", "name", "gpt-4.1"),
        ("gpt-4.1-large", "longest prefix", "gpt-4.1"),
        ("claude-opus-4-8", "name", "claude-opus-4.8"),
        ("claude-opus-4-9", "Claude version", "claude-opus-4.8"),
        ("claude-opus", "Claude line", "claude-opus"),
        ("claude-2.1", "Claude line", "claude"),
        ("openai/none-such", "provider default", "openai/"),
        ("none-such", "unknown", ""),
    ],
)
def test_how_a_name_was_found_is_told(name: str, rule: str, match: str) -> None:
    model = resolve_model(name)
    assert (model.rule, model.matched_prefix) == (rule, match)


def test_every_row_is_found_by_its_own_name() -> None:
    listed = list(all_models())
    hidden = [model.name for model in listed if model.matched_prefix != model.name]
    assert hidden == [], "compactctl/tokens/models: an earlier row of the table matches these names"
    assert len({model.matched_prefix for model in listed}) == len(listed) > 100


def _available(window: int, max_tokens: int | None = None) -> int:
    reserve = output_reserve(window, max_tokens)
    return Budget(window=window, output_reserve=reserve, source="table").available
