from builders import call, conversation, result, thinking, user
from hypothesis import given
from hypothesis import strategies as st

from compactctl.model.message import Message
from compactctl.summaries.document.sections import cost
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.key_lines import key_line_items
from compactctl.summaries.extract.passages import passages
from compactctl.summaries.extract.vocabulary import vocabulary


def chosen(
    messages: tuple[Message, ...], room: int, covered: frozenset[str] = frozenset()
) -> list[str]:
    found = passages(messages)
    words = vocabulary(found, Lexicon())
    return [item.text for item in key_line_items(words, found, room, set(covered))]


def reading(*lines: str) -> tuple[Message, ...]:
    return conversation(call("1", "Read", file_path="a.py"), result("1", "\n".join(lines)))


def test_lines_of_one_passage_stand_together_in_order_under_its_title() -> None:
    found = chosen(reading("1\tuse first_name", "2\tplain text here", "3\tuse other_name"), 200)
    assert found == ["[L2] Read a.py\nuse first_name\nuse other_name"]


def test_a_line_that_names_nothing_new_is_not_chosen() -> None:
    lines = ("see first_name, other_name", "first_name again", "other_name again")
    assert chosen(reading(*lines), 500) == ["[L2] Read a.py\nsee first_name, other_name"]
    covered = frozenset({"first_name", "other_name"})
    assert chosen(reading(*lines), 500, covered) == []


def test_of_equal_lines_the_newest_is_quoted() -> None:
    found = chosen(conversation(user("use some_name"), user("use some_name")), 100)
    assert found == ["[L2] request\nuse some_name"]


def test_what_the_model_uses_itself_is_preferred_to_what_it_was_shown() -> None:
    messages = conversation(
        call("1", "Bash", command="make own_target"),
        result("1", "shown_target"),
    )
    assert chosen(messages, 45) == ["[L1] Bash make own_target"]


def test_reasoning_and_escaped_data_are_not_quoted() -> None:
    messages = conversation(
        thinking("think of secret_plan"), result("x", r"{\"a\":\"escaped_name\",\"b\":1}")
    )
    assert chosen(messages, 500) == []


@given(st.lists(st.text("ab_c /.", max_size=60), max_size=40), st.integers(0, 600))
def test_key_lines_keep_within_their_room(lines: list[str], room: int) -> None:
    found = passages(reading(*lines))
    words = vocabulary(found, Lexicon())
    covered: set[str] = set()
    items = list(key_line_items(words, found, room, covered))
    assert sum(cost(item) for item in items) <= room + 3 * len(items)
    text = "\n".join(item.text for item in items)
    assert set(Lexicon().entities(text)) >= covered
