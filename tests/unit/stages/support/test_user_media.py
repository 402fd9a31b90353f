"""Which messages stay for the sake of what their user attached."""

from typing import Any

import pytest
from builders import assistant, conversation, image, message, result_part, system, user
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from unit.stages.support.trials import meter, view, words

from compactctl.history.conversation_view import ConversationView
from compactctl.model.message import MediaPart, Message, TextPart
from compactctl.pipeline.run import StageStep, run
from compactctl.stages.registry import stage_named
from compactctl.stages.support.user_media import REASON, with_user_media
from compactctl.summaries.extract.budget import MIN_USEFUL

# A picture of so many pixels has a token for every 750 of them.
SIDE = 750


def picture(tokens: int, text: str = "") -> Message:
    part = MediaPart(media_type="image/png", n_bytes=tokens, width=SIDE, height=tokens)
    return message("user", *([TextPart(text=text)] if text else []), part)


def staying(before: ConversationView) -> list[str]:
    """Return the messages that stay for what is attached."""
    after = with_user_media(before, meter())
    return [name for name, reason in after.protection.reasons.items() if reason == REASON]


def talk(*pictures: Message, text: int = 1_000) -> tuple[Message, ...]:
    return conversation(user("Hi."), *pictures, assistant(words(text)), user("Go on."))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (None, ["m1", "m3"]),
        (4_000, ["m1", "m2", "m3"]),
        (1_100, ["m1", "m3"]),
        (900, ["m3"]),
        (650, []),
    ],
)
def test_the_newest_stays_before_the_first_and_that_before_others(
    target: int | None, expected: list[str]
) -> None:
    messages = talk(picture(150), picture(200), picture(240), text=4_500)
    assert sorted(staying(view(messages, target=target))) == expected


def test_words_of_the_user_come_before_media() -> None:
    for spoken, stays in ((100, ["m1"]), (1_400, [])):
        messages = talk(picture(400), user(words(spoken)))
        assert staying(view(messages, target=3_000)) == stays


def test_what_stays_anyway_counts() -> None:
    messages = talk(picture(500), picture(500))
    assert staying(view(messages, target=2_000)) == ["m2"]
    assert staying(view(messages, target=2_000, protected=["m2"])) == []


def test_media_of_tools_and_clients_do_not_stay() -> None:
    media = MediaPart(media_type="image/png", n_bytes=9, width=9, height=9)
    messages = conversation(
        user("Hi."),
        image(is_injected=True),
        message("user", result_part("c", "ok", media=(media,))),
        message("user", result_part("d", "ok"), media),
        message("assistant", media),
        user("Go on."),
    )
    assert staying(view(messages, target=5_000)) == []


MESSAGES = st.lists(
    st.tuples(st.sampled_from(["picture", "user", "assistant"]), st.integers(1, 900)), max_size=12
)


def built(plan: list[tuple[str, int]]) -> tuple[Message, ...]:
    kinds: dict[str, Any] = {
        "picture": picture,
        "user": lambda n: user(words(n)),
        "assistant": lambda n: assistant(words(n)),
    }
    return conversation(system("Be brief."), *(kinds[kind](n) for kind, n in plan))


@tries(200)
@given(plan=MESSAGES, target=st.integers(0, 5_000))
def test_what_stays_fits_and_a_second_look_adds_nothing(
    plan: list[tuple[str, int]], target: int
) -> None:
    messages = built(plan)
    before = view(messages, target=target)
    names = staying(before)
    sizes = {m.id: meter().message(m) for m in messages}
    spoken = sum(n for kind, n in plan if kind == "user")
    taken = sum(sizes[m.id] for m in messages if m.id in names)
    assert not names or taken + spoken <= (target - sizes[messages[0].id]) // 2
    assert not names or taken + spoken + MIN_USEFUL <= target
    after = with_user_media(before, meter())
    assert with_user_media(after, meter()) == after


def test_in_place_a_medium_without_room_is_described_where_it_was() -> None:
    messages = talk(picture(1_500, "Like this."), text=3_000)
    step = StageStep(
        stage=stage_named("distill"), options=stage_named("distill").options(form="in-place")
    )
    after = run(view(messages, target=1_200), [step], meter()).view.messages
    described = next(m for m in after if m.id == "m1")
    texts = [part.text for part in described.parts if isinstance(part, TextPart)]
    assert texts == ["Like this.", "[image/png, 750x1,500, 1,500 bytes, at L2]"]
