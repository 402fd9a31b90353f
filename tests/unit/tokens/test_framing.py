"""What messages add to a request, whatever they are counted with."""

import base64
from pathlib import Path

import pytest
from builders import (
    assistant,
    attached,
    call,
    conversation,
    definition,
    message,
    result,
    system,
    thinking,
    user,
)

from compactctl.model.message import MediaPart, Message, ReasoningPart
from compactctl.records import replace
from compactctl.tokens.counter_units import tokens_per_o200k
from compactctl.tokens.counters.claude import ClaudeCounter
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.counters.selection import best_counter, parse_counter
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import ModelInfo, resolve_model
from compactctl.tokens.overhead import (
    NO_SIGNATURE,
    RequestMeter,
    RequestOverhead,
    SignatureEstimate,
    overhead_for,
    overhead_tokens,
)

OPUS_OLD = resolve_model("claude-opus-4-5")
OPUS = resolve_model("claude-opus-4-7")
GPT = resolve_model("gpt-5")
GEMINI = resolve_model("gemini-2.5-pro")

CODE = """
def spread(values: list[float], shares: int) -> dict[str, float]:
    # Rounds half up; the last share takes what is left.
    total = sum(values)
    return {f"share-{n}": round(total / shares, 2) for n in range(shares)}
"""
TALK = conversation(
    user("Why does the report for March show a negative balance? Look into the totals first."),
    call("c1", "Bash", command="python report.py --month 2026-03 --verbose | tail -n 40"),
    result("c1", CODE * 20),
    assistant("The shares are rounded one by one, so their sum is a few cents off. Fixed." * 9),
)


def added(messages: tuple[Message, ...], model: ModelInfo, counter: TokenCounter) -> float:
    return sum(map(framed_by(model, counter).total, messages))


def framed_by(model: ModelInfo, counter: TokenCounter) -> RequestMeter:
    return RequestMeter(Meter(counter), overhead_for(model, counter))


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("o200k_base", 1.0),
        ("tiktoken:o200k_base", 1.0),
        ("cl100k_base", 1.0),
        ("o200k_base x1.2", 1.2),
        ("chars/4", 0.9375),
        ("chars/3.75", 1.0),
        ("chars/4 x2", 1.875),
        ("bytes/2.5", 1.5),
        # 3.75 characters / 4, times 1.15 and 1.23.
        ("neurolink", 1.078125),
        ("neurolink/anthropic", 1.32609375),
    ],
)
def test_counters_are_compared_with_o200k_whatever_the_model(name: str, unit: float) -> None:
    counter = parse_counter(name)
    for model in (OPUS, GPT, GEMINI):
        assert tokens_per_o200k(counter, model) == pytest.approx(unit, rel=1e-4)


@pytest.mark.parametrize("model", [OPUS_OLD, OPUS, GPT, GEMINI])
def test_the_default_counter_counts_in_the_models_own_tokens(model: ModelInfo) -> None:
    assert tokens_per_o200k(best_counter(replace(model, reconstruction="")), model) == model.factor


@pytest.mark.parametrize(("name", "unit"), [("claude-3", 1.18), ("claude-4.7", 1.52)])
def test_claudes_vocabularies_have_their_familys_factor(name: str, unit: float) -> None:
    assert tokens_per_o200k(ClaudeCounter(name), GPT) == unit


def test_a_users_own_vocabulary_is_taken_for_the_models(tmp_path: Path) -> None:
    ranks = b"".join(b"%s %d\n" % (base64.b64encode(bytes([n])), n) for n in range(256))
    path = tmp_path / "own.tiktoken"
    path.write_bytes(ranks)
    assert tokens_per_o200k(parse_counter(f"file:{path}"), GEMINI) == 1.16


@pytest.mark.parametrize("model", [OPUS_OLD, OPUS, GPT, GEMINI])
@pytest.mark.parametrize(
    "name", ["chars/4", "bytes/4", "bytes/2", "neurolink", "cl100k_base", "o200k_base x1.7"]
)
def test_what_is_added_does_not_depend_on_the_counter(model: ModelInfo, name: str) -> None:
    # This text has 3.9 characters per token; another text can be further off.
    expected = added(TALK, model, parse_counter("o200k_base"))
    assert added(TALK, model, parse_counter(name)) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("model", "least"), [(OPUS_OLD, 1.1), (OPUS, 1.45), (GEMINI, 1.15)])
def test_other_models_report_more_tokens_than_openais(model: ModelInfo, least: float) -> None:
    counter = parse_counter("o200k_base")
    assert added(TALK, model, counter) > least * added(TALK, GPT, counter)


@pytest.mark.parametrize(
    ("model", "name", "per_result"), [(OPUS_OLD, "claude-3", 29), (OPUS, "claude-4.7", 8)]
)
def test_reconstructed_counts_of_a_result_are_taken_as_they_are(
    model: ModelInfo, name: str, per_result: int
) -> None:
    framing = overhead_for(model, ClaudeCounter(name))
    assert (framing.result, framing.per_result) == (1.0, per_result)


def test_reconstructed_counts_are_only_those_of_their_own_family() -> None:
    counter = ClaudeCounter("claude-4.7")
    assert overhead_for(GPT, counter).result == pytest.approx(1 / 1.52)
    assert overhead_for(OPUS_OLD, counter).result == pytest.approx(1.26 / 1.52)


@pytest.mark.parametrize(
    ("shown", "ratio"),
    [
        ("     1→import os\n     2→import sys", 1.13),
        ("12\tdef main() -> None:", 1.13),
        ("import os\n1→2", 1.26),
        ("12 files changed", 1.26),
        ("", 1.26),
    ],
)
def test_results_with_line_numbers_have_a_ratio_of_their_own(shown: str, ratio: float) -> None:
    counter = parse_counter("o200k_base")
    [tokens] = counter.count_many([shown])
    found = added(conversation(result("c1", shown)), OPUS_OLD, counter)
    assert found == pytest.approx(tokens * ratio + 29)


@pytest.mark.parametrize(("model", "sealed"), [(OPUS, 290 - 92), (OPUS_OLD, 210 - 49)])
def test_thinking_that_is_only_signed_is_guessed_by_its_signature(
    model: ModelInfo, sealed: int
) -> None:
    framed = framed_by(model, parse_counter("o200k_base"))
    (bare,) = conversation(thinking("", opaque=True))
    signed = replace(bare, parts=(ReasoningPart(text="", opaque=True, sealed=1_000),))
    assert framed.total(signed) == pytest.approx(sealed)
    assert framed.visible(signed) == 0
    # A signature has a length without any thinking.
    short = replace(bare, parts=(ReasoningPart(text="", opaque=True, sealed=100),))
    assert framed.total(short) == 0


@pytest.mark.parametrize(("model", "sealed"), [(OPUS, 270 - 96), (OPUS_OLD, 200 - 39)])
def test_thinking_that_is_told_in_short_is_as_long_as_its_signature_says(
    model: ModelInfo, sealed: int
) -> None:
    framed = framed_by(model, parse_counter("o200k_base"))
    (bare,) = conversation(thinking("", opaque=True))

    def whole(text: str) -> float:
        return framed.total(replace(bare, parts=(ReasoningPart(text=text, sealed=1_000),)))

    # What is told is part of it, and can be all of it.
    assert whole("a plan " * 20) == pytest.approx(sealed)
    assert whole("a plan " * 200) > 2 * sealed


def test_reasoning_that_is_only_encrypted_is_guessed_as_codex_guesses_it() -> None:
    (bare,) = conversation(thinking("", opaque=True))
    sealed = replace(bare, parts=(ReasoningPart(text="", opaque=True, sealed=9_784),))
    counter = parse_counter("chars/4")

    def guessed(message: Message, model: str) -> float:
        framed = framed_by(resolve_model(model), counter)
        return framed.total(message) - framed.visible(message)

    assert guessed(sealed, "gpt-5.1-codex") == pytest.approx((9_784 * 3 / 4 - 650) / 4)
    # What is stored as text beside it is a summary of the same.
    told = replace(bare, parts=(ReasoningPart(text="plan" * 100), *sealed.parts))
    unit = tokens_per_o200k(counter, resolve_model("gpt-5.1-codex"))
    less = guessed(sealed, "gpt-5.1-codex") - 100 / unit
    assert guessed(told, "gpt-5.1-codex") == pytest.approx(less)
    # An empty envelope holds nothing; what other models sign is not known.
    empty = replace(bare, parts=(ReasoningPart(text="", opaque=True, sealed=800),))
    assert guessed(empty, "gpt-5.1-codex") == 0
    assert guessed(sealed, "gemini-2.5-pro") == 0


def test_pictures_have_the_same_size_in_every_unit() -> None:
    picture = MediaPart(media_type="image/png", n_bytes=90_000)
    bare, shown = result("c1", ""), result("c1", "", media=(picture,))
    sizes = {
        round(
            added((shown,), OPUS, parse_counter(name)) - added((bare,), OPUS, parse_counter(name))
        )
        for name in ("chars/4", "o200k_base", "o200k_base x3")
    }
    assert sizes == {1_024}


OVERHEAD = RequestOverhead(
    result=2,
    numbered=3,
    call=5,
    assistant_text=7,
    user_text=11,
    injected=13,
    per_call=1_000,
    per_result=2_000,
    per_injected=4_000,
    per_prompt=8_000,
    per_text=16_000,
)
PICTURE = MediaPart(media_type="text/plain", n_bytes=400)


@pytest.mark.parametrize(
    ("record", "tokens"),
    [
        (user("a" * 10), 10 * 11 + 8_000),
        (user("a" * 10, is_injected=True), 10 * 13 + 4_000),
        (system("a" * 10), 10 * 11 + 16_000),
        (system("a" * 10, is_injected=True), 10 * 13 + 16_000),
        (assistant("a" * 10), 10 * 7 + 16_000),
        (assistant("a" * 10, is_injected=True), 10 * 7 + 16_000),
        (thinking("a" * 10), 10 * 7),
        (result("c", "a" * 10), 10 * 2 + 2_000),
        (result("c", "1\t" + "a" * 8), 10 * 3 + 2_000),
        (result("c", "a" * 10, media=(PICTURE,)), 10 * 2 + 100 + 2_000),
        (call("c", "Bash"), (4 + 2) * 5 + 1_000),
        (attached("a.py", "a" * 10), 10 * 13 + 4_000),
        (definition("Read", "a" * 6), 10 * 13),
        (message("user", PICTURE), 100),
        (
            message("assistant", replace(call("c", "Bash").calls[0], added="a" * 4)),
            (4 + 2 + 4) * 5 + 1_000 + 2_000,
        ),
        (
            message("assistant", *assistant("a").parts, *call("c", "B").parts),
            7 + 3 * 5 + 1_000 + 16_000,
        ),
    ],
)
def test_what_every_kind_of_message_adds(record: Message, tokens: int) -> None:
    framed = RequestMeter(Meter(CharsCounter(1)), OVERHEAD)
    assert framed.total(record) == framed.visible(record) == framed.total(record) == tokens
    constants = overhead_tokens(record, OVERHEAD)
    assert constants == tokens // 1_000 * 1_000


def test_hidden_reasoning_comes_on_top_of_what_is_visible() -> None:
    signature = SignatureEstimate(per_character=0.5, envelope=20)
    overhead = replace(OVERHEAD, hidden_reasoning=signature, summarized_reasoning=NO_SIGNATURE)
    framed = RequestMeter(Meter(CharsCounter(1)), overhead)

    def sealed(*parts: ReasoningPart) -> float:
        record = message("assistant", *parts)
        return framed.total(record) - framed.visible(record)

    assert sealed(ReasoningPart(text="", opaque=True, sealed=41)) == 0.5
    assert sealed(ReasoningPart(text="", opaque=True, sealed=40)) == 0
    assert sealed(ReasoningPart(text="", opaque=True, sealed=0)) == 0
    # Seven tokens of text a character are part of it.
    both = (ReasoningPart(text="ab"), ReasoningPart(text="", opaque=True, sealed=100))
    assert sealed(*both) == 30 - 14
    assert sealed(ReasoningPart(text="a" * 9), both[1]) == 0
    told = replace(overhead, summarized_reasoning=signature)
    summed = RequestMeter(Meter(CharsCounter(1)), told)
    record = message("assistant", ReasoningPart(text="ab", sealed=100))
    assert summed.total(record) == 2 * 7 + 30 - 14
    assert framed.total(record) == 2 * 7


def test_an_overhead_is_scaled_but_for_its_constants() -> None:
    scaled = OVERHEAD.scaled(2)
    assert (scaled.result, scaled.numbered, scaled.call) == (4, 6, 10)
    assert (scaled.assistant_text, scaled.user_text, scaled.injected) == (14, 22, 26)
    assert replace(OVERHEAD, per_call=0) == replace(OVERHEAD.scaled(1), per_call=0)
    assert (scaled.per_call, scaled.per_text) == (1_000, 16_000)
