"""What is hidden, shortened and quoted of a small conversation, within a budget."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from builders import assistant, call, conversation, message, result, user
from unit.stages.support.trials import meter

from compactctl.history.pairs import PartIndex
from compactctl.model.message import FilePart, Message, TextPart, ToolCallPart
from compactctl.stages.support.replacement import reword_long_texts
from compactctl.summaries.digest.digest import DigestRequest
from compactctl.summaries.digest.in_place import InPlaceRequest, InPlaceResult, distill_in_place

# Lines too short to be chosen: they come only with the whole message.
SHORT = "\n".join(f"k{n % 10} {n % 10}" for n in range(30))
TALK = (
    user("Fix the port in settings.py."),
    call("a", "Read", file_path="settings.py"),
    result("a", f"port = 80\nhost = 1\n{SHORT}"),
    assistant("The port is read before the settings, because main.py imports it."),
    call("b", "Bash", command="python main.py --port 8443 --host quay\nls xxxxxxxxxx\necho done"),
    result("b", f"Traceback: port 80 is in use\n{SHORT}", is_error=True),
    user("Use port 8443 and nothing else."),
)
UNITS = ((0,), (1, 2), (3,), (4, 5), (6,))
# The words of the first and the last line and of both requests, which always stay.
LEAST = 70


def reword(part: ToolCallPart, change: Callable[[int, str], str]) -> str:
    return reword_long_texts(part, 20, change)


def distilled(
    budget: int, *, talk: Sequence[Message] = TALK, units: Any = UNITS, **fields: Any
) -> InPlaceResult:
    request = InPlaceRequest(
        digest=DigestRequest(messages=conversation(*talk), budget=budget),
        units=units,
        immutable=fields.pop("immutable", frozenset()),
        reword=reword,
        **fields,
    )
    return distill_in_place(request, meter())


def quoted(found: InPlaceResult) -> list[str]:
    """Return the digest without its first line."""
    return found.text.split("\n")[1:]


def end(following: int) -> str:
    return f"[end, {following} messages follow]"


COMMAND = '{"command": "python main.py --port 8443 --host quay\\n…"}'
OUTPUT = "Traceback: port 80 is in use\n…\nk9 9"
FILES = ["## Files", "> settings.py"]
READ = ["## Course", "[L2] Read settings.py", "> port = 80", "> host = 1"]
REQUESTS = [
    "## Course",
    "[L1] user",
    "| Fix the port in settings.py.",
    "[L7] user",
    "| Use port 8443 and nothing else.",
]


def changed(found: InPlaceResult) -> dict[tuple[int, int], str]:
    return {(index.message, index.part): text for index, text in found.changed.items()}


@pytest.mark.parametrize(
    ("budget", "tokens", "hidden", "texts", "lines"),
    [
        (LEAST - 20, LEAST, (1, 2, 3, 4, 5), {}, [end(1)]),
        (LEAST, LEAST, (1, 2, 3, 4, 5), {}, [end(1)]),
        (LEAST + 11, LEAST + 11, (1, 2, 4, 5), {}, [end(2)]),
        (LEAST + 30, LEAST + 21, (1, 2, 3), {(4, 0): COMMAND, (5, 0): OUTPUT}, [*FILES, end(3)]),
        (LEAST + 32, LEAST + 32, (1, 2), {(4, 0): COMMAND, (5, 0): OUTPUT}, [*FILES, end(4)]),
        # The oldest ones stay hidden: there is always a digest.
        (
            LEAST + 95,
            LEAST + 53,
            (1, 2),
            {(4, 0): COMMAND, (5, 0): OUTPUT},
            [*FILES, *READ, end(4)],
        ),
        (LEAST + 399, LEAST + 112, (1, 2), {}, [*FILES, *READ, end(4)]),
    ],
)
def test_with_more_room_messages_come_shortened_and_then_whole(
    budget: int,
    tokens: int,
    hidden: tuple[int, ...],
    texts: dict[tuple[int, int], str],
    lines: list[str],
) -> None:
    found = distilled(budget)
    assert (found.tokens, found.hidden, changed(found)) == (tokens, hidden, texts)
    assert quoted(found) == lines


@pytest.mark.parametrize(
    ("budget", "tokens", "hidden", "files", "following"),
    [
        (LEAST + 19, LEAST + 16, (1, 2, 3, 4, 5), [], 0),
        (LEAST + 29, LEAST + 27, (1, 2, 4, 5), [], 1),
        (LEAST + 89, LEAST + 58, (), FILES, 5),
    ],
)
def test_requests_that_are_hidden_already_are_quoted(
    budget: int, tokens: int, hidden: tuple[int, ...], files: list[str], following: int
) -> None:
    found = distilled(budget, units=((1, 2), (3,), (4, 5)))
    assert (found.tokens, found.hidden) == (tokens, hidden)
    assert quoted(found) == [*files, *REQUESTS, end(following)]


def test_what_must_not_change_comes_whole_or_not_at_all() -> None:
    fixed = {(4, 0), (5, 0)}
    hidden = set()
    for budget in range(LEAST + 9, LEAST + 149, 10):
        found = distilled(budget, immutable=frozenset(PartIndex(*index) for index in fixed))
        assert not fixed & changed(found).keys()
        hidden.add({4, 5} <= set(found.hidden))
    assert hidden == {True, False}


def test_what_is_never_hidden_is_shortened() -> None:
    found = distilled(LEAST + 19, never_hidden=frozenset({1, 2}), never_hidden_tokens=10)
    assert (found.tokens, found.hidden, changed(found)) == (LEAST + 4, (3, 4, 5), {(2, 0): "…"})


@pytest.mark.parametrize(
    ("budget", "tokens", "texts"),
    [(LEAST, LEAST + 3, {(6, 0): "<system-reminder>\n…\n</system-reminder>"}), (450, 220, {})],
)
def test_beside_a_request_what_the_client_adds_is_cut_to_its_mark(
    budget: int, tokens: int, texts: dict[tuple[int, int], str]
) -> None:
    notes = "\n".join(f"Open the quay of pier {pier}." for pier in range(6))
    reminder = f"<system-reminder>\n{notes}\n</system-reminder>"
    parts = (TextPart(text=reminder), TextPart(text="Use port 8443 and nothing else."))
    found = distilled(budget, talk=(*TALK[:6], message("user", *parts)))
    assert (found.tokens, changed(found)) == (tokens, texts)


def test_a_file_that_the_user_attached_is_shortened_where_it_is() -> None:
    text = "\n".join(f"The rule {number} of the harbor is long." for number in range(200))
    file = FilePart(file_path="rules.txt", text=text)
    parts = (TextPart(text="Use port 8443 and nothing else."), file)
    found = distilled(200, talk=(*TALK[:6], message("user", *parts)))
    assert found.tokens <= 200
    assert len(changed(found)[6, 1]) < len(text)


def test_what_must_stay_in_its_place_is_shortened_like_the_rest() -> None:
    found = distilled(LEAST, unmovable=frozenset({1, 2}))
    assert found.hidden == (3, 4, 5)
    assert changed(found)[2, 0] == "…"
    roomy = distilled(300, unmovable=frozenset({1, 2}))
    assert (roomy.hidden, changed(roomy)) == ((3,), {})


def test_a_result_of_which_no_line_stays_is_not_a_mark_alone() -> None:
    """Of the call only a name is worth its tokens, and of its result nothing."""
    listing = "\n".join(f"{n} nothing else" for n in range(40))
    talk = (
        user("Fix the port in settings.py."),
        call("a", "Bash", command="make harbour_gate"),
        result("a", listing),
        assistant("harbour_gate is the one. harbour_gate again."),
        user("Use port 8443 and nothing else."),
    )
    for budget in range(LEAST + 9, LEAST + 89, 4):
        found = distilled(budget, talk=talk, units=((0,), (1, 2), (3,), (4,)))
        assert "…" not in changed(found).values()
        assert found.tokens <= max(budget, LEAST)


def test_a_hidden_request_that_is_left_out_has_a_mark_in_the_digest() -> None:
    long = [user(f"request{n} " + "word " * 300) for n in range(2)]
    talk = (TALK[0], *long, *TALK[1:])
    units = ((0,), (1,), (2,), (3, 4), (5,), (6, 7), (8,))
    found = distilled(LEAST, talk=talk, units=units)
    assert {1, 2} <= set(found.hidden)
    assert quoted(found) == ["## Course", "[L2] user", "…", end(1)]
