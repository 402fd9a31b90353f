"""Plans of conversations for generated runs, and the conversations they make."""

from collections.abc import Callable

from builders import (
    assistant,
    call_part,
    conversation,
    image,
    message,
    result,
    result_part,
    system,
    user,
)
from hypothesis import strategies as st
from unit.stages.support.trials import words

from compactctl.model.message import MediaPart, Message, TextPart
from compactctl.records import replace

_PICTURE = MediaPart(media_type="image/png", n_bytes=9, embedded=True)


def made(kind: str, number: int, size: int) -> Message:
    """Make one message; results may be far from their calls, or have none."""
    name, text = f"c{number}", words(size, f"w{number % 2}")
    path = f"file{number % 2}.py"
    response = f"r{number}" if size % 5 == 0 else None
    makers: dict[str, Callable[[], Message]] = {
        "system": lambda: system(text),
        "user": lambda: user(text),
        "reminder": lambda: user(text, is_injected=True),
        "assistant": lambda: assistant(text, response_id=response),
        "call": lambda: message(
            "assistant", call_part(name, "Read", file_path=path), response_id=response
        ),
        "result": lambda: result(name, text),
        "pair": lambda: message("user", result_part(name, text), result_part("c0", text)),
        "image": image,
        "provider": lambda: message(
            "assistant",
            replace(call_part(f"s{number}", "web_search", query=text), embedded=True),
            result_part(f"s{number}", text, embedded=True, media=(_PICTURE,)),
            TextPart(text=text, embedded=True),
            _PICTURE,
        ),
        "fixed": lambda: assistant(text, immutable_reason="signed"),
        "anchored": lambda: user(text, unmovable_reason="held by the client"),
    }
    return makers[kind]()


def build(plan: list[tuple[str, int, int]]) -> tuple[Message, ...]:
    """Make a conversation, orphans included."""
    return conversation(
        *(each for place, step in enumerate(plan) for each in _messages(place, *step))
    )


def _messages(place: int, kind: str, number: int, size: int) -> tuple[Message, ...]:
    if kind != "read":
        return (made(kind, number, size),)
    # Two files that do not change, read now and again, and longer than what points to another read.
    path, text = f"file{number % 2}.py", words(30, f"w{number % 2}")
    call = call_part(f"p{place}", "Read", file_path=path)
    return message("assistant", call), result(f"p{place}", text)


KINDS = [
    "system", "user", "user", "reminder", "assistant", "assistant", "call", "call", "result",
    "result", "pair", "read", "read", "read", "image", "provider", "fixed", "anchored",
]  # fmt: skip
PLANS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, 4), st.integers(0, 40)), max_size=30
)
