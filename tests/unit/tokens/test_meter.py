"""Sizes of parts, media and messages."""

import pytest
from builders import (
    assistant,
    attached,
    call,
    call_part,
    conversation,
    definition,
    image,
    message,
    result,
    thinking,
    user,
)
from unit.tokens.words import Words

from compactctl.model.message import MediaPart, Part, TextPart, ToolCallPart
from compactctl.tokens.counters.estimates import NeuroLinkCodeCounter, NeuroLinkCounter
from compactctl.tokens.media import GOOGLE_RATES, RATES, is_unsized, media_tokens, rates_for
from compactctl.tokens.meter import Meter, client_added_text, part_texts
from compactctl.tokens.models.lookup import resolve_model


def medium(kind: str, n_bytes: int = 0, **fields: float) -> MediaPart:
    return MediaPart(media_type=kind, n_bytes=n_bytes, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (0, 0, 1_024),
        (100, 0, 1_024),
        (0, 100, 1_024),
        (-1, 100, 1_024),
        (1, 1, 1),
        (750, 1, 1),
        (750, 2, 2),
        (1_000, 750, 1_000),
        (1_568, 750, 1_568),
        # Scaled down to an edge of 1,568.
        (3_136, 1_500, 1_568),
        (3_136, 750, 784),
        (750, 3_136, 784),
        (1_568, 1_568, 1_600),
    ],
)
def test_an_image_is_sized_by_its_pixels(width: int, height: int, tokens: int) -> None:
    picture = medium("image/png", 9, width=width, height=height)
    assert media_tokens(picture) == tokens
    assert media_tokens(picture, image_tokens=7) == 7


@pytest.mark.parametrize(
    ("part", "tokens", "of_google"),
    [
        (medium("audio/wav", 99, seconds=2.46), 25, 79),
        (medium("video/mp4", 99, seconds=2), 526, 526),
        (medium("application/pdf", 99, pages=3), 6_750, 1_680),
        (medium("application/pdf", 99, pages=1, seconds=1), 2_260, 592),
        (medium("Text/Plain", 9), 2, 2),
        (medium("application/json", 8), 2, 2),
        (medium("application/zip", 9), 0, 0),
    ],
)
def test_other_media_are_sized_by_length_pages_or_text(
    part: MediaPart, tokens: int, of_google: int
) -> None:
    assert media_tokens(part) == tokens
    assert media_tokens(part, 7, GOOGLE_RATES) == of_google


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        (medium("application/pdf", 300, pages=9), 75),
        (medium("application/pdf", 302), 76),
        (medium("text/plain", 301), 75),
        (medium("audio/wav", 300), 0),
    ],
)
def test_documents_can_count_by_their_bytes(part: MediaPart, tokens: int) -> None:
    rates = rates_for(resolve_model("gpt-5"), document_bytes=4)
    assert media_tokens(part, 7, rates) == tokens
    assert is_unsized(part, rates) == (not tokens)


def test_google_has_rates_of_its_own() -> None:
    assert rates_for(resolve_model("gemini-2.5-pro")) is GOOGLE_RATES
    assert rates_for(resolve_model("gpt-5")) is RATES


@pytest.mark.parametrize(
    ("part", "unsized"),
    [
        (medium("image/png"), False),
        (medium("text/plain", 9), False),
        (medium("text/plain"), True),
        (medium("application/pdf", 9), True),
        (medium("application/pdf", 9, pages=1), False),
        (medium("audio/wav", 9), True),
        (medium("audio/wav", 9, seconds=0.1), False),
    ],
)
def test_a_medium_without_a_known_size_is_told(part: MediaPart, unsized: bool) -> None:  # noqa: FBT001
    assert is_unsized(part) is unsized


@pytest.mark.parametrize(
    ("part", "texts"),
    [
        (TextPart(text="a"), ("a",)),
        (TextPart(text="", added="b"), ("", "b")),
        (call_part("c", "Bash", command="x"), ("Bash", '{"command": "x"}')),
        (
            ToolCallPart(call_id=call_part("c", "").call_id, tool="T", arguments="", added="b"),
            ("T", "", "b"),
        ),
        (definition("Read", "reads").parts[0], ("Read", "reads")),
        (result("c", "x").parts[0], ("x",)),
        (attached("a.py", "x").parts[0], ("x",)),
        (thinking("hm").parts[0], ("hm",)),
        (thinking("hm", opaque=True).parts[0], ()),
        (medium("image/png"), ()),
    ],
)
def test_the_texts_that_a_model_reads(part: Part, texts: tuple[str, ...]) -> None:
    assert part_texts(part) == texts
    assert client_added_text(part) == ("b" if "b" in texts else "")


def test_parts_messages_and_conversations_add_up() -> None:
    meter = Meter(Words(), image_tokens=100)
    picture = medium("image/png")
    shown = result("c", "one two", media=(picture, picture))
    both = message("user", *user("one").parts, *image().parts)
    assert meter.part(shown.parts[0]) == 202
    assert meter.part(picture) == 100
    assert meter.message(both) == 101
    messages = conversation(shown, both, assistant("one two three"))
    assert meter.total(messages) == meter.total(list(messages)) == meter.total(messages) == 306
    assert meter.text("") == 0


def test_a_text_is_counted_once() -> None:
    counter = Words()
    meter = Meter(counter)
    messages = conversation(user("a b"), assistant("c"), user("a b"), user(""))
    meter.prime(messages)
    assert counter.batches == [["a b", "c"]]
    meter.prime(messages)
    assert [meter.text("a b"), meter.message(messages[0]), meter.total(messages)] == [2, 2, 5]
    assert counter.batches == [["a b", "c"]]
    assert [meter.text("d"), meter.text("d"), meter.text_uncached("d")] == [1, 1, 1]
    assert counter.batches[1:] == [["d"], ["d"]]
    assert [meter.text_retried("e f"), meter.text_retried("e f")] == [2, 2]
    assert counter.batches[3:] == [["e f"]]


def test_definitions_count_by_neurolinks_rule_only_for_neurolink() -> None:
    (part,) = definition("Read", "x" * 39).parts
    assert Meter(NeuroLinkCounter("anthropic")).part(part) == 1 + 10
    assert Meter(NeuroLinkCounter()).text("x" * 39) == 12
    assert Meter(Words()).part(part) == 2


def test_neurolinks_code_counts_definitions_like_texts_and_no_arguments() -> None:
    meter = Meter(NeuroLinkCodeCounter("anthropic"))
    (part,) = definition("Read", "x" * 39).parts
    assert meter.part(part) == 2 + 13
    assert meter.message(call("c1", "Bash", command="x" * 400)) == 0
