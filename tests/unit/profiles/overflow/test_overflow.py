"""Errors of providers: which are overflows, whose they are, and which figures they give."""

import json
from itertools import pairwise

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.profiles.error_texts import MAX_TEXT, error_texts
from compactctl.profiles.overflow import Overflow, classify_error
from compactctl.profiles.refusals import load_patterns

# T35 and T36 of NeuroLink's tests, and what its code answered where that is right.
OVERFLOWS = {
    "stop_reason: model_context_window_exceeded": "anthropic",
    '{"stop_reason": "model_context_window_exceeded"}': "anthropic",
    "prompt has 270000 tokens, but the configured context size is 256000 tokens": None,
    "The response was truncated because it exceeded the token limit": "google",
    "prompt is too long": "anthropic",
    "prompt is too long: 205000 tokens > 200000 maximum": "anthropic",
    "This model's maximum context length is 128000": "openai",
    "Please reduce the length of the messages or completion.": "openai",
    "8192 tokens. However, your messages resulted in 9000 tokens": "openai",
    "RESOURCE_EXHAUSTED": "google",
    "the input exceeds the maximum number of tokens": "google",
    "content is too long": "google",
    "Request payload size exceeds the limit: 20971520 bytes.": "google",
    "content_length_exceeded": "azure",
    "ValidationException: 1 validation error: too many input tokens": "bedrock",
    "exceeds the model's maximum": "bedrock",
    "Input is too long for requested model.": "bedrock",
    "context length exceeded": "mistral",
    "maximum context length exceeded": "mistral",
    "maximum number of tokens": "mistral",
    "context_length_exceeded": "openrouter",
    "too many tokens": "anthropic",
    "maximum context length": "anthropic",
    "prompt_too_long": "anthropic",
    # Providers that NeuroLink does not know, in their own words.
    "Invalid request: Your request exceeded model token limit: 262144": "kimi",
    "invalid params, context window exceeds limit (2013)": "minimax",
    "Trying to keep the first 9000 tokens when context the overflows.": "lmstudio",
    "The number of tokens to keep is greater than the context length": "lmstudio",
    "prompt too long; exceeded max context length by 70 tokens": "ollama",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081": "cohere",
    "too many tokens: size limit exceeded by 500 tokens.": "cohere",
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).": "together",
    "InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]": "qwen",
    '{"error": {"code": "1261", "message": "Prompt exceeds max length"}}': "zhipu",
    '{"error": {"code": "1261", "message": "Prompt超长"}}': "zhipu",
    "Input Tokens Exceeded: Number of input tokens exceeds maximum length.": "bedrock",
    "The prompt is too long: 140000, model maximum context length: 131072": "fireworks",
    "length of the messages or completion. Current length is 9 while limit is 8": "cerebras",
    (
        '{"error": {"message": "Please reduce the length of the messages or completion.", '
        '"param": "messages", "code": "context_length_exceeded"}}'
    ): "groq",
    "groq: This model's maximum context length is 8192": "groq",
    "api.deepseek.com: This model's maximum context length is 65536": "deepseek",
    "This model's maximum context length is 8 tokens. However, you requested 0 output tokens and "
    "your prompt contains at least 9 input tokens": "vllm",
    # What OpenAI said of its older models, others say today.
    "you requested 70000 tokens (66000 in the messages, 4000 in the completion).": None,
    "Request too large for gpt-4o on tokens per min (TPM)": "openai",
    "Request too large for model `x`, service tier `on_demand` on tokens per minute": "groq",
}
# Not overflows. NeuroLink takes the quotas for some.
OTHER_ERRORS = {
    "You've hit your usage limit. Upgrade to Pro or try again in 3 hours.": True,
    "Claude usage limit reached. Your limit will reset at 3pm.": True,
    "You've hit your limit, it resets at 3pm": True,
    "Overloaded": True,
    '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}': True,
    "The model is overloaded. Please try again later.": True,
    "rate limit exceeded": True,
    "429 too many requests": True,
    "RESOURCE_EXHAUSTED: Quota exceeded for requests per minute": True,
    "Quota exceeded for online_prediction_input_tokens_per_minute_per_base_model": True,
    "ThrottlingException: Too many tokens, please wait before trying again.": True,
    "Error code: 429 - insufficient_quota": False,
    "authentication failed": None,
    "network error": None,
    "null": None,
    "undefined": None,
    "max_tokens: 90000 > 64000, the maximum allowed number of output tokens": False,
    "error 1413: no such request": None,
}
# The tokens reserved for the answer are too many, however short the conversation is.
ANSWERS = [
    (
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum "
            "context length is 16384 tokens and your request has 8000 "
            "input tokens (9000 > 16384 - 8000)."
        ),
        8_000,
        16_384,
    ),
    (
        (
            "This model's maximum context length is 131072 tokens. However, you requested 140000 "
            "tokens (40000 in the messages, 100000 in the completion). Please reduce the length."
        ),
        40_000,
        131_072,
    ),
    (
        (
            "This endpoint's maximum context length is 1000 tokens. However, you requested about "
            "1200 tokens (100 of text input, 50 of tool input, 1050 in the output)."
        ),
        150,
        1_000,
    ),
    (
        (
            "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 600 `inputs` tokens and "
            "4000 `max_new_tokens`"
        ),
        600,
        4_096,
    ),
    ("max_tokens is too large: 90000. This model supports at most 16384", None, None),
    ("`max_tokens` must be less than or equal to `8192`", None, None),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", None, None),
    ("Range of max_tokens should be [1, 8192]", None, None),
    (
        "ValidationException: The maximum tokens you requested exceeds the model limit of 4096.",
        None,
        None,
    ),
    ("it has a maxOutputTokens value of 90000 but the supported range is from 1", None, None),
    ("too many tokens: max tokens must be less than or equal to 4096, received 8192", None, None),
]
FIGURES = [
    ("prompt is too long: 137500 tokens > 135000 maximum", 137_500, 135_000, 2_500),
    ("prompt is too long: 205,000 tokens > 200,000 maximum", 205_000, 200_000, 5_000),
    ("prompt is too long: 205_000 tokens > 200_000 maximum", 205_000, 200_000, 5_000),
    ("prompt is too long: 135000 tokens > 135000 maximum", 135_000, 135_000, None),
    ("prompt is too long: 205000 tokens: 200000", 205_000, 200_000, 5_000),
    (
        (
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in "
            "300000 tokens. Please reduce the length of the messages."
        ),
        300_000,
        272_000,
        28_000,
    ),
    (
        (
            "Requested token count exceeds the model's maximum context length of 131072 tokens. "
            "You requested a total of 140000 tokens"
        ),
        140_000,
        131_072,
        8_928,
    ),
    (
        "This model's maximum context length is 8192 tokens, but 10000 tokens were requested",
        10_000,
        8_192,
        1_808,
    ),
    ("prompt is too long: 205000 exceeds 200000", 205_000, 200_000, 5_000),
    ("prompt is too long", None, None, None),
    (
        "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000, decrease it",
        206_000,
        200_000,
        6_000,
    ),
    ("exceeds the maximum number of tokens (180000 > 100000)", 180_000, 100_000, 80_000),
    (
        "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).",
        1_300_000,
        1_048_576,
        251_424,
    ),
    (
        "maximum context length is 4097 tokens. However, your messages resulted in 5000 tokens.",
        5_000,
        4_097,
        903,
    ),
    (
        "maximum context length is 128000 tokens. However, you requested 130000 (129000 + 1000)",
        130_000,
        128_000,
        2_000,
    ),
    (
        "prompt has 270000 tokens, but the configured context size is 256000 tokens",
        270_000,
        256_000,
        14_000,
    ),
    ("This model's maximum context length is 128000", None, 128_000, None),
    ("prompt token count of 93854 exceeds the limit of 90000", 93_854, 90_000, 3_854),
    ("Requested tokens (3000) exceed context window of 2048", 3_000, 2_048, 952),
    ("request (8708 tokens) exceeds the available context size (8192 tokens)", 8_708, 8_192, 516),
    (
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum",
        65_673,
        32_768,
        32_905,
    ),
    (
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 900. This model's maximum "
            "context length is 16384 tokens and your request has 16000 "
            "input tokens (900 > 16384 - 16000)."
        ),
        16_900,
        16_384,
        516,
    ),
    (
        (
            "This model's maximum context length is 8192 tokens. However, you requested 4096 "
            "output tokens and your prompt contains at least 4097 input tokens, for a total of at "
            "least 8193 tokens."
        ),
        8_193,
        8_192,
        1,
    ),
    ("exceeded model token limit: 262144 (requested: 262200)", 262_200, 262_144, 56),
    ("context length of only 8192 tokens, which is not enough", None, 8_192, None),
    (
        "is greater than the context length (n_keep: 9000 >= n_ctx: 8192)",
        None,
        8_192,
        None,
    ),
    (
        "too many tokens: total number of tokens cannot exceed 4081 - received 4292",
        4_292,
        4_081,
        211,
    ),
    (
        "too many tokens: size limit exceeded by 500 tokens. The limit for this model is 8000",
        8_500,
        8_000,
        500,
    ),
    (
        "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
        9_000,
        8_192,
        808,
    ),
    ("Range of input length should be [1, 30720]", None, 30_720, None),
    ("`inputs` must have less than 4096 tokens. Given: 4100", 4_100, 4_096, 4),
    ("The prompt is too long: 9000, model maximum context length: 8192", 9_000, 8_192, 808),
    (
        "Too many input tokens. Max input tokens: 8192, request input token count: 9000",
        9_000,
        8_192,
        808,
    ),
    (
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000.",
        45_000,
        30_000,
        15_000,
    ),
]


@pytest.mark.parametrize(("text", "provider"), OVERFLOWS.items())
def test_every_documented_text_is_an_overflow_of_its_provider(
    text: str, provider: str | None
) -> None:
    found = classify_error(text)
    assert (found.overflow, found.provider, found.retryable) == (True, provider, False)


@pytest.mark.parametrize(("text", "retryable"), OTHER_ERRORS.items())
def test_other_errors_are_none(text: str, retryable: bool | None) -> None:  # noqa: FBT001
    found = classify_error(text)
    assert (found.overflow, found.provider, found.gap) == (False, None, None)
    assert found.retryable is retryable


@pytest.mark.parametrize(("text", "actual", "limit", "gap"), FIGURES)
def test_figures(text: str, actual: int | None, limit: int | None, gap: int | None) -> None:
    found = classify_error(text)
    assert (found.overflow, found.actual, found.limit, found.gap) == (True, actual, limit, gap)


@pytest.mark.parametrize(("text", "actual", "limit"), ANSWERS)
def test_too_many_tokens_for_the_answer_are_no_overflow(
    text: str, actual: int | None, limit: int | None
) -> None:
    found = classify_error(text)
    assert (found.overflow, found.provider, found.gap) == (False, None, None)
    assert (found.actual, found.limit, found.retryable) == (actual, limit, False)
    assert "lower max_tokens" in found.note


def test_waiting_does_not_help_a_request_above_the_limit_per_minute() -> None:
    limit = (
        "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used {}, Requested {}."
    )
    never, later = (
        classify_error(limit.format(*used)) for used in ((100, 45_000), (20_000, 15_000))
    )
    assert (never.retryable, never.actual, never.limit) == (False, 45_000, 30_000)
    assert "waiting does not help" in never.note
    assert (later.overflow, later.retryable) == (False, True)


def test_figures_alone_are_enough() -> None:
    found = classify_error("137500 tokens > 135000")
    assert (found.overflow, found.provider, found.gap) == (True, None, 2_500)
    assert found.retryable is False


@pytest.mark.parametrize(
    ("text", "provider"),
    [
        ("AnthropicException - Input is too long", "anthropic"),
        ("ValidationException: Input is too long for claude", "bedrock"),
        ("litellm: AzureException - This model's maximum context length is 8", "azure"),
        ("openrouter: openai/gpt-4o: context_length_exceeded", "openrouter"),
        ("openai.BadRequestError: context_length_exceeded", "openai"),
        ("vertex: prompt is too long", "google"),
    ],
)
def test_further_hints_tell_who_says_what_several_say(text: str, provider: str) -> None:
    found = classify_error(text)
    assert (found.provider, found.note) == (provider, "")


@pytest.mark.parametrize("text", ["You've hit your usage limit.", "hit your limit", "Overloaded"])
def test_what_only_time_helps_with_says_wait(text: str) -> None:
    assert ": wait " in classify_error(text).note


def test_what_stays_open_is_noted() -> None:
    assert "Anthropic" in classify_error("input is too long").note
    assert "quota" in classify_error("google: RESOURCE_EXHAUSTED").note


@pytest.mark.parametrize(
    "text",
    [
        "413 Request Entity Too Large",
        "HTTP 413",
        "Request failed with status code 413",
        "Error code: 413 - {'error': {'message': 'no'}}",
        '{"status": 413}',
        '{"response": {"statusCode": 413, "data": null}}',
        '413 {"type":"error","error":{"type":"request_too_large","message":"over 32 > 30 MB"}}',
    ],
)
def test_a_limit_of_bytes_has_no_figures_in_tokens(text: str) -> None:
    found = classify_error(text)
    assert (found.overflow, found.retryable) == (True, False)
    assert (found.actual, found.limit, found.gap) == (None, None, None)


MESSAGE = "prompt is too long: 205000 tokens > 200000 maximum"


@pytest.mark.parametrize(
    "error",
    [
        MESSAGE,
        {"message": MESSAGE},
        {"error": MESSAGE},
        {"error": {"message": MESSAGE}},
        {"message": "failed", "cause": {"cause": {"message": MESSAGE}}},
        {"response": {"status": 400, "data": {"error": {"message": MESSAGE}}}},
        {"errors": [{"message": "first"}, {"message": MESSAGE}]},
        {"error": {"message": json.dumps({"error": {"message": MESSAGE}})}},
        [{"error": {"code": 400, "message": MESSAGE}}],
    ],
)
def test_an_error_is_found_wherever_it_is_in_json(error: object) -> None:
    whole = json.dumps(error)
    escaped = whole.replace(">", "\\u003e")
    for text in (whole, escaped, f"Error 400: {escaped} at line 1", f"[ERROR] {escaped}"):
        found = classify_error(text)
        assert (found.provider, found.gap) == ("anthropic", 5_000), text


def test_figures_in_fields_are_read() -> None:
    fields = {"type": "exceed_context_size_error", "n_prompt_tokens": 1_407, "n_ctx": 256}
    found = classify_error(json.dumps({"error": {"message": "too large", **fields}}))
    assert (found.provider, found.actual, found.limit) == ("llama.cpp", 1_407, 256)


def test_the_echo_of_a_request_is_no_error() -> None:
    request = {"config": {"data": "why is it said that the prompt is too long?"}}
    assert not classify_error(json.dumps({"message": "timeout", **request})).overflow


@pytest.mark.parametrize(
    ("fields", "retryable"),
    [({"statusCode": 400}, False), ({"isRetryable": False}, False), ({"statusCode": 500}, None)],
)
def test_what_is_not_to_be_tried_again(fields: dict[str, object], retryable: bool | None) -> None:  # noqa: FBT001
    found = classify_error(json.dumps({"message": "no such tool", **fields}))
    assert found == Overflow(retryable=retryable)


def test_line_breaks_and_case_do_not_matter() -> None:
    assert classify_error("PROMPT IS\n   TOO LONG").provider == "anthropic"


@pytest.mark.parametrize("place", ["{}" + "x " * 500_000, "x " * 500_000 + "{}"])
def test_both_ends_of_a_huge_text_are_read(place: str) -> None:
    assert classify_error(place.format(MESSAGE)).gap == 5_000


@pytest.mark.parametrize(
    "text",
    [
        "1" * 300_000,
        "1," * 150_000,
        "1 + " * 100_000,
        "maximum context length is 1 " * 20_000,
        "ValidationException" * 20_000,
        "[" * 300_000,
        '{"error":' * 50_000,
        '{"error":' * 900 + '"x"' + "}" * 900,
        json.dumps(json.dumps(json.dumps(["\\"] * 999))),
        '{"code": ' + "9" * 9_999 + "}",
        json.dumps({"errors": [{"message": "x" * 9}] * 9_999}),
        "\ud800 \x00 prompt is too long",
    ],
)
def test_hostile_texts_are_judged_too(text: str) -> None:
    assert sum(map(len, error_texts(text))) <= MAX_TEXT + 1
    classify_error(text)


TEXTS = st.lists(
    st.sampled_from(
        ["{", "}", '"', ":", "error", "message", ",", "1", ">", "tokens", " ", "+", "["]
    )
    | st.text(max_size=8),
    max_size=40,
).map("".join)


@tries(40)
@given(TEXTS, st.integers(1, 2_000))
def test_any_text_is_judged_and_only_so_much_of_it_read(text: str, times: int) -> None:
    found = classify_error(text * times)
    assert not found.overflow or (found.pattern is not None and found.retryable is False)
    assert found.gap is None or (found.overflow and found.gap > 0)
    assert sum(map(len, error_texts(text * times))) <= MAX_TEXT + 1


def test_every_pattern_has_a_source_and_finds_itself() -> None:
    known = load_patterns()
    for pattern in known.overflow:
        assert pattern.source
        found = classify_error(pattern.text.replace("…", "of 9"))
        assert found.overflow, pattern.text
    for pattern in known.answers:
        assert pattern.source
        assert classify_error(pattern.text).pattern == pattern.text
    for pattern in known.rate_limits:
        assert pattern.source
        assert classify_error(pattern.text).pattern is not None


def test_a_pattern_that_another_holds_comes_after_it() -> None:
    texts = [each.text.lower() for each in load_patterns().overflow]
    for at, (earlier, _) in enumerate(pairwise(texts)):
        assert [text for text in texts[at + 1 :] if earlier in text] == [], earlier


def test_every_provider_has_hints() -> None:
    known = load_patterns()
    assert {name for each in known.overflow for name in each.providers} <= set(known.hints)


def test_the_prompt_is_what_was_sent_without_the_room_for_an_answer() -> None:
    found = classify_error("exceed context limit: 190000 + 16000 > 200000")
    assert (found.actual, found.prompt, found.answer) == (206_000, 190_000, 16_000)
    assert Overflow(kind="overflow").prompt is None
