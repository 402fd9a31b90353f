"""What the counters of Claude's families say of texts that Anthropic's API counted."""

import importlib
import json
from functools import cache
from pathlib import Path

import pytest

from compactctl.tokens.counters.bpe import BpeCounter
from compactctl.tokens.counters.claude import VERSIONS, ClaudeCounter, claude_is_installed
from compactctl.tokens.counters.estimates import RatioCounter
from compactctl.tokens.counters.selection import best_counter
from compactctl.tokens.models.lookup import resolve_model

ROWS = Path(__file__).with_name("recorded") / "rights.jsonl"
# Tokens of a message around its text.
FRAMES = {"claude-opus-4-5": 7, "claude-opus-4-7": 11}
LANGUAGES = ("English", "French", "Spanish", "Russian", "Chinese", "Arabic")
# Estimated over recorded tokens: what one factor per family costs outside of code and English.
ESTIMATES = {
    "claude-opus-4-5": (1.10, 0.88, 0.88, 0.77, 0.87, 0.56),
    "claude-opus-4-7": (0.97, 0.89, 0.82, 1.00, 1.12, 0.72),
}
WITNESSES = 400
needs_ctok = pytest.mark.skipif(not claude_is_installed(), reason="ctok is not installed")


@cache
def recorded() -> dict[str, tuple[str, dict[str, int]]]:
    """Return text and answers without the frame, by language."""
    rows = map(json.loads, ROWS.read_text(encoding="utf-8").splitlines())
    return {
        row["language"]: (
            row["text"],
            {model: tokens - FRAMES[model] for model, tokens in row["recorded"].items()},
        )
        for row in rows
    }


def test_every_language_has_an_answer_for_both_families() -> None:
    assert tuple(recorded()) == LANGUAGES
    assert all(tuple(answers) == tuple(FRAMES) for _, answers in recorded().values())


@pytest.mark.parametrize("model", list(FRAMES))
def test_the_factor_of_a_family_is_as_far_off_as_stated(model: str) -> None:
    info = resolve_model(model)
    counter = RatioCounter(BpeCounter(info.counter), info.factor, info.family)
    texts, answers = zip(*recorded().values(), strict=True)
    shares = [
        count / answer[model]
        for count, answer in zip(counter.count_many(texts), answers, strict=True)
    ]
    assert shares == pytest.approx(ESTIMATES[model], abs=0.01)


@needs_ctok
@pytest.mark.parametrize("model", list(FRAMES))
@pytest.mark.parametrize("language", LANGUAGES)
def test_reconstructed_counts_are_the_recorded_ones(model: str, language: str) -> None:
    text, answers = recorded()[language]
    assert best_counter(resolve_model(model)).count_many([text]) == [answers[model]]


@needs_ctok
@pytest.mark.parametrize("name", sorted(VERSIONS))
def test_the_probes_that_ctok_recorded_are_counted_like_the_answers(name: str) -> None:
    ctok = importlib.import_module("ctok")
    pieces = sorted(ctok.pieces(VERSIONS[name]))
    found = (ctok.witness(piece, VERSIONS[name]) for piece in pieces[:: len(pieces) // WITNESSES])
    probes = [(each["probe"], each["raw"]) for each in found if each]
    assert len(probes) > WITNESSES // 2
    frame = ctok.token_count("a", VERSIONS[name]) - 1
    counts = ClaudeCounter(name).count_many([text for text, _ in probes])
    assert [count + frame for count in counts] == [answer for _, answer in probes]
