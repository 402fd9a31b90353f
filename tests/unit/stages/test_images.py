import pytest
from builders import assistant, call, conversation, image, message, result, user
from unit.stages.support.trials import carried_out, propose, rewritten, skipped, skips, view

from compactctl.model.message import MediaPart, Message, TextPart
from compactctl.stages.images import STAGE

MIB = 1024 * 1024


def shots(*sizes: int) -> tuple[Message, ...]:
    return conversation(*(image(size) for size in sizes))


def decoded(base64_size: int) -> int:
    return base64_size // 4 * 3


def screenshot(*sizes: int, media_type: str = "image/jpeg") -> tuple[MediaPart, ...]:
    return tuple(MediaPart(media_type=media_type, n_bytes=size) for size in sizes)


# agent-code's table for images, whose sizes are those of base64.
@pytest.mark.parametrize(
    ("sizes", "options", "dropped"),
    [
        ((600, 600, 600), {"max_bytes": 1_000}, 2),
        ((4, 8, 8), {"max_bytes": 12}, 2),
        ((12,) * 10, {"max_images": 4}, 6),
        ((2_000,), {"max_bytes": 1_000}, 1),
        ((6 * MIB, 6 * MIB, 6 * MIB), {}, 1),
        ((4,) * 40, {}, 8),
    ],
)
def test_the_newest_are_kept_up_to_the_first_that_does_not_fit(
    sizes: tuple[int, ...], options: dict[str, int], dropped: int
) -> None:
    of = view(shots(*map(decoded, sizes)))
    proposal = propose(STAGE, of, **options)
    assert list(rewritten(proposal)) == [f"m{n}" for n in range(dropped)]
    if dropped < len(sizes):
        assert skips(STAGE, carried_out(of, proposal), **options)


@pytest.mark.parametrize("sizes", [(6 * MIB, 6 * MIB), (4,) * 32])
def test_limits_that_are_just_reached_are_not_over(sizes: tuple[int, ...]) -> None:
    assert (
        "no image that can be dropped" in skipped(STAGE, view(shots(*map(decoded, sizes)))).reason
    )


def test_the_note_names_the_image() -> None:
    proposal = propose(STAGE, view(shots(2_345_678, 0)), max_images=0)
    assert list(rewritten(proposal).values()) == [
        "[image dropped from context — image/png, 2.3 MB]",
        "[image dropped from context — image/png, size unknown]",
    ]
    assert proposal.notes == ("images dropped: 2",)


@pytest.mark.parametrize(
    ("n_bytes", "size"),
    [(1, "1 B"), (999, "999 B"), (3_000, "3.0 kB"), (49_999, "50.0 kB"), (50_000, "0.1 MB")],
)
def test_no_image_has_a_size_of_nothing(n_bytes: int, size: str) -> None:
    proposal = propose(STAGE, view(shots(n_bytes)), max_images=0, placeholder="{size} " + "x" * 9)
    assert next(iter(rewritten(proposal).values())).startswith(f"{size} x")


def test_images_of_one_result_go_together_and_its_text_stays() -> None:
    messages = conversation(
        call("a", "Shot"), result("a", "two windows", media=screenshot(1_000_000, 500_000)),
        call("b", "Shot"), result("b", "", media=screenshot(10)),
    )  # fmt: skip
    of = view(messages)
    proposal = propose(STAGE, of, max_images=2)
    assert rewritten(proposal) == {
        "m1": "two windows\n[image dropped from context — image/jpeg, 1.0 MB]\n"
        "[image dropped from context — image/jpeg, 0.5 MB]"
    }
    assert proposal.notes == ("images dropped: 2",)
    after = carried_out(of, proposal)
    assert not after.messages[1].results[0].media
    assert skips(STAGE, after, max_images=2)


def test_an_image_among_text_is_replaced_alone() -> None:
    part = MediaPart(media_type="image/png", n_bytes=9)
    messages = conversation(message("user", TextPart(text="see"), part), image(9))
    of = view(messages)
    after = carried_out(of, propose(STAGE, of, max_images=1)).messages
    first, note = after[0].parts
    assert first == TextPart(text="see")
    assert isinstance(note, TextPart)


def test_what_is_protected_drawn_by_the_model_or_held_with_other_media_stays() -> None:
    drawn = MediaPart(media_type="image/png", n_bytes=9)
    mixed = (*screenshot(9), *screenshot(9, media_type="application/pdf"))
    messages = conversation(
        image(9),
        image(9, immutable_reason="signed"),
        message("assistant", drawn),
        call("a", "Shot"), result("a", "", media=mixed),
        image(9),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages, protected=["m0"]), max_images=0)
    assert list(rewritten(proposal)) == ["m5"]


def test_an_image_smaller_than_its_note_stays() -> None:
    icon = image(90, width=40, height=40)
    assert skips(STAGE, view(conversation(icon)), max_images=0)


def test_other_media_are_no_images() -> None:
    paper = MediaPart(media_type="application/pdf", n_bytes=99 * MIB)
    of = view(conversation(message("user", paper), user("and?"), assistant("no")))
    assert skipped(STAGE, of).reason == "no images"


@pytest.mark.parametrize(
    ("n_bytes", "size"),
    [
        (0, "size unknown"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (49_999, "50.0 kB"),
        (50_000, "0.1 MB"),
        (2_500_000, "2.5 MB"),
    ],
)
def test_a_note_tells_the_size(n_bytes: int, size: str) -> None:
    of = view(conversation(image(n_bytes), user("x")))
    texts = rewritten(propose(STAGE, of, max_images=0, placeholder="{media}, {size}"))
    assert list(texts.values()) == [f"image/png, {size}"]
