"""What a transcript is measured with."""

import math

import pytest

from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.errors import UsageError
from compactctl.model.message import CallId, MediaPart, ToolResultPart
from compactctl.model.transcript import Transcript
from compactctl.profiles.registry import builtin_profile

EMPTY = Transcript(format="test", n_lines=0, n_bytes=0, messages=(), effective=())


@pytest.mark.parametrize(
    ("per_token", "name", "count"),
    [(4, "chars/4", 3), (3.5, "chars/3.5", 3), (0.5, "chars/0.5", 20), (100, "chars/100", 1)],
)
def test_tokens_can_be_so_many_characters(per_token: float, name: str, count: int) -> None:
    counter = measure(EMPTY, MeasureOptions(chars_per_token=per_token)).counter
    assert (counter.id, counter.exactness) == (name, "estimate")
    assert counter.count_many(["x" * 10, ""]) == [count, 0]


@pytest.mark.parametrize("per_token", [0, -1, math.inf, math.nan])
def test_a_token_has_a_length(per_token: float) -> None:
    with pytest.raises(UsageError, match="--chars-per-token"):
        measure(EMPTY, MeasureOptions(chars_per_token=per_token))


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        (MeasureOptions(), 133),
        (MeasureOptions(image_tokens=50), 50),
        (MeasureOptions(profile=builtin_profile("agent-code")), 2_000),
        (MeasureOptions(profile=builtin_profile("neurolink")), 1_024),
        (MeasureOptions(profile=builtin_profile("agent-code"), image_tokens=7), 7),
    ],
)
def test_images_have_a_size_or_a_price(options: MeasureOptions, tokens: int) -> None:
    image = MediaPart(media_type="image/png", n_bytes=10, width=1_000, height=100)
    result = ToolResultPart(call_id=CallId("c"), tool="shot", text="", media=(image,))
    measured = measure(EMPTY, options)
    for meter in (measured.meter, measured.without_cached_texts().meter):
        assert [meter.part(image), meter.part(result)] == [tokens, tokens]
