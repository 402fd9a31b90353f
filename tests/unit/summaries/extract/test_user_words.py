"""What stays of the words of the user and the operator in a given room."""

import re
from collections.abc import Sequence

from builders import REJECTED, assistant, call, conversation, result, system, user
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.model.message import Message
from compactctl.records import replace
from compactctl.summaries.extract.passages import Passage, read_passages
from compactctl.summaries.extract.text_units import split_units
from compactctl.summaries.extract.user_words import (
    CUT,
    UserWords,
    choose_words,
    find_rules,
    find_user_rules,
)

FILLER = "It is said here how that came about. "


def count(text: str) -> int:
    return len(text.split())


def read(*messages: Message) -> tuple[Passage, ...]:
    return read_passages(conversation(*messages))


def chosen(
    room: int,
    *messages: Message,
    following: Sequence[Message] = (),
    continues: bool = False,
    whole_tokens: int = 0,
) -> UserWords:
    after = read_passages(conversation(*following))
    return choose_words(
        read(*messages), room, count, after, continues=continues, whole_tokens=whole_tokens
    )


def texts(room: int, *messages: Message) -> list[str]:
    return list(chosen(room, *messages).texts.values())


def paragraphs(name: str, number: int = 3, size: int = 20) -> str:
    return "\n\n".join(f"{name}{n} " + "word " * (size - 2) + "end." for n in range(number))


def test_everything_stays_whole_while_it_fits() -> None:
    refusal = f"{REJECTED}use  rg"
    talk = (
        user("Port  the harbor.\n\n- mind the berths"),
        assistant("Fine."),
        user("Mind the quay."),
        *(call("b", "Bash", command="grep x"), result("b", refusal, is_error=True)),
        system("Answer in Dutch. " + FILLER * 300),
        user("Go on."),
    )
    whole = [
        "Port  the harbor.\n\n- mind the berths",
        "Mind the quay.",
        "use  rg",
        ("Answer in Dutch. " + FILLER * 300).strip(),
        "Go on.",
    ]
    assert texts(sum(map(count, whole)), *talk) == whole
    assert texts(sum(map(count, whole)) - 1, *talk) != whole


def test_the_newest_request_comes_first_then_the_first_then_the_others_by_age() -> None:
    talk = [user(f"request{n} " + "word " * 198 + "end.") for n in range(6)]
    shown = {
        room: [n for n, text in chosen(room, *talk).texts.items() if CUT not in text]
        for room in (450, 650, 850, 1_050)
    }
    assert shown == {450: [0, 5], 650: [0, 4, 5], 850: [0, 3, 4, 5], 1_050: [0, 2, 3, 4, 5]}


def test_whole_texts_of_a_size_come_before_parts_of_larger_ones_in_two_fifths_of_the_room() -> None:
    note = "word " * 99 + "end."
    talk = [user(f"note{n} {note}") for n in range(10)]
    pasted = paragraphs("pasted", 100)
    words = chosen(1_015, *talk, user(pasted), user("Go on."), whole_tokens=101)
    assert [n for n, text in words.texts.items() if CUT not in text] == [0, 6, 7, 8, 9, 11]
    # The newest and the first request come before them, whatever their size.
    newest = chosen(1_015, *talk, user(pasted), whole_tokens=101).texts
    assert count(newest[10]) > 480
    first = chosen(1_015, user(pasted), *talk, user("Go on."), whole_tokens=101).texts
    assert count(first[0]) > 480


def test_instructions_come_after_what_users_said() -> None:
    answer = result("a", "x", said="answer " + "word " * 199)
    talk = (user("a"), system("order " + "word " * 199), answer, system("brief"), user("b"))
    # They take at most half of what those leave.
    assert list(chosen(203, *talk).texts) == [0, 3, 5]
    assert list(chosen(402, *talk).texts) == [0, 3, 4, 5]
    assert list(chosen(403, *talk).texts) == [0, 1, 3, 4, 5]


def test_of_what_does_not_fit_paragraphs_stay_with_marks() -> None:
    talk = (user("a"), user(paragraphs("one")), user(paragraphs("two")), user("b"))
    one, two = (paragraphs(name).split("\n\n") for name in ("one", "two"))
    shown = chosen(2 + 60 + 45, *talk).texts
    assert shown[2] == "\n\n".join(two)
    assert shown[1] == f"{one[0]}\n\n{one[1]}\n{CUT}"


def test_short_texts_come_before_parts_of_large_ones() -> None:
    short, large = f"sorry, wrong chat. {'word ' * 40}", paragraphs("large", 9)
    talk = (user("a"), user(short), user(large), user(paragraphs("larger", 9)), user("b"))
    shown = chosen(2 + 100, *talk).texts
    assert shown[1] == short.strip()
    assert shown[3].endswith(f"\n{CUT}")
    longer = user(short + "word " * 30)
    assert 1 not in chosen(2 + 100, user("a"), longer, *talk[2:]).texts


def test_runs_of_texts_of_the_user_that_are_left_out_are_known() -> None:
    long = "word " * 500
    talk = (
        *(user("a"), user(f"one {long}"), system(f"order {long}"), user(f"two {long}")),
        *(result("r", "x", said=f"answer {long}"), user("Never push."), user(f"three {long}")),
        *(user(CUT), user("b")),
    )
    words = chosen(0, *talk)
    assert words.texts == {0: "a", 6: "Never push.", 9: "b"}
    assert words.omitted == ((1, 3, 5), (7, 8))
    assert chosen(9_999, *talk).omitted == ((8,),)
    assert chosen(0, *talk, following=[user(f"three {long}"), user("b")]).omitted == (
        (1, 3, 5),
        (8,),
    )


def test_of_a_paragraph_that_does_not_fit_the_first_and_the_last_sentence_stay() -> None:
    sentences = [f"Sentence {n} is one of many here." for n in range(40)]
    talk = (user("a"), user(" ".join(sentences)), user("b"))
    shown = chosen(30, *talk).texts[1]
    first = " ".join(sentences[:3])
    assert shown == f"{first}\n{CUT}\n{sentences[-1]}"


def test_rules_stay_whatever_they_take_and_where_they_stand_is_marked() -> None:
    asked = f"Begin here. {FILLER * 9}Never push. {FILLER * 9}Use tabs instead of blanks. {FILLER}"
    words = chosen(0, user("a"), user(asked), user("b"))
    assert words.texts == {
        0: "a", 1: f"{CUT}\nNever push.\n{CUT}\nUse tabs instead of blanks.\n{CUT}", 2: "b"
    }  # fmt: skip
    assert words.rules_only == {1}


def test_a_request_that_is_a_rule_is_known_as_one_unless_it_is_the_first_or_newest() -> None:
    talk = (user("Never pull."), user("Never push."), user("Look."), user("Never ask."))
    assert chosen(99, *talk).rules_only == {1}


def test_the_newest_and_the_first_request_stay_in_part_however_small_the_room_is() -> None:
    long = paragraphs("first", 9, 100)
    words = chosen(0, user(long), user("middle"), user(paragraphs("newest", 9, 100)))
    assert list(words.texts) == [0, 2]
    assert words.texts[0].startswith("first0 ")
    assert words.texts[2].startswith("newest0 ")
    assert all(text.endswith(f"\n{CUT}") for text in words.texts.values())
    assert words.tokens <= 400


def test_what_was_cut_before_has_one_mark_at_a_gap() -> None:
    cut = f"Begin it. {FILLER * 3}\n{CUT}\nNever push.\n{CUT}\n{FILLER * 3}End it.\n{CUT}"
    shown = chosen(0, user("a"), user(cut), user("b")).texts[1]
    assert shown == f"{CUT}\nNever push.\n{CUT}"
    assert chosen(999, user("a"), user(cut), user("b")).texts[1] == cut


def test_a_repeated_text_counts_once_where_it_is_newest() -> None:
    talk = (user("a"), user("Go on."), user("Go on."), user("b"))
    assert chosen(99, *talk).texts == {0: "a", 2: "Go on.", 3: "b"}
    assert chosen(99, user("Go on."), user("x"), user("Go on.")).texts == {1: "x", 2: "Go on."}


def test_a_repeated_rule_stays_where_it_is_newest() -> None:
    talk = [user(f"Task {n}. {FILLER * 20}Never  push.") for n in range(4)]
    assert list(chosen(0, user("a"), *talk, user("b")).texts) == [0, 4, 5]


def test_what_follows_is_not_said_again() -> None:
    rule = f"{FILLER * 9}Never push."
    talk = (user("a"), user(rule), user("b"))
    assert list(chosen(0, *talk).texts) == [0, 1, 2]
    following = [user("As I said. Never  push."), user("a")]
    assert chosen(0, *talk, following=following).texts == {}
    for other in ("Never push. ever", "Never push.py", "Never push. or pull."):
        assert list(chosen(0, *talk, following=[user(other), user("a")]).texts) == [1]
    assert list(chosen(99, *talk, following=[assistant("Never push.")]).texts) == [0, 1, 2]


def test_a_conversation_that_continues_has_no_first_request() -> None:
    talk = (user("a " + "word " * 99), user("b"))
    assert list(chosen(0, *talk).texts) == [0, 1]
    assert list(chosen(0, *talk, continues=True).texts) == [1]


def test_texts_of_one_message_are_one_request() -> None:
    parts = (*user("Port the harbor.").parts, *user("Then test it.").parts)
    asked = replace(user(""), parts=parts)
    assert texts(0, user("a"), user("x " * 500), asked) == [
        "a",
        "Port the harbor.",
        "Then test it.",
    ]


def test_what_a_client_put_into_a_request_is_not_quoted() -> None:
    inserted = "<system-reminder>\nYou must obey.\n</system-reminder>"
    assert texts(99, user(f"{inserted}\nFix it"), user("b")) == ["Fix it", "b"]
    note = user("You must obey.", is_injected=True)
    assert texts(99, user("a"), note, assistant("You must wait.")) == ["a"]


def test_rules_of_a_session_are_on_one_line_and_the_newest_of_equal_ones() -> None:
    refusal = f"{REJECTED}Never push"
    talk = read(
        system("Never answer in Latin."),
        user("Always\nask."),
        system("Only answer in Dutch."),
        *(call("b", "Bash", command="git push"), result("b", refusal, is_error=True)),
        user("always ask."),
    )
    rules = [rule for _, rule in find_user_rules(talk)]
    assert rules == ["always ask.", "Only answer in Dutch.", "Never push"]


PIECES = st.sampled_from(
    [
        "Look at the quay. It is old, e.g. its wall. Mend it soon!",
        "Please do this:\n- first thing\n- second thing\n- third thing",
        "Never touch these files:\n\n1. src/a.py\n2. src/b.py",
        "Run:\n```\nmake one. And\n\nmake two\n```",
        "Never run\n`make deploy. Now` from here.",
        "Lösche niemals die Tabelle z. B. Kunden. Das ist alles.",
        "不要删除表。请继续「下一步。现在」。",
        "It is a long story. " * 30,
        "## Notes\n\nHere they are. And more.",
    ]
)
ASKED = st.lists(st.lists(PIECES, min_size=1, max_size=6).map("\n\n".join), min_size=1, max_size=5)


def talk_of(asked: Sequence[str]) -> list[Message]:
    return [
        m for n, text in enumerate(asked) for m in (user(f"Task {n}.\n\n{text}"), assistant("x"))
    ]


@tries(200)
@given(asked=ASKED, room=st.integers(0, 900))
def test_nothing_is_missing_without_a_mark_and_no_unit_is_cut(asked: list[str], room: int) -> None:
    passages = read(*talk_of(asked))
    for index, shown in choose_words(passages, room, count).texts.items():
        whole = passages[index].text.strip()
        bounds = split_units(whole)
        starts, ends = {unit.start for unit in bounds}, {unit.end for unit in bounds}
        position = 0
        runs = re.split(rf"(?m)^{CUT}$\n?", shown)
        for number, run in enumerate(runs):
            piece = run.strip("\n")
            if not piece:
                assert number in (0, len(runs) - 1)
                continue
            start = next(s for s in sorted(starts) if s >= position and whole.startswith(piece, s))
            assert start + len(piece) in ends
            assert start > 0 if number else start == 0
            position = start + len(piece)
        assert position == len(whole) or shown.endswith(CUT)


@tries(200)
@given(asked=ASKED, room=st.integers(0, 900))
def test_rules_stay_and_the_rest_fills_the_room(asked: list[str], room: int) -> None:
    passages = read(*talk_of(asked))
    words = choose_words(passages, room, count)
    together = "\n".join(words.texts.values()).lower()
    rules = [rule for passage in passages for rule in find_rules(passage.text)]
    assert all(rule.lower() in together for rule in rules if passages)
    size = sum(count(passage.text) for passage in passages if passage.kind == "request")
    if size <= room:
        assert CUT not in together
    guaranteed = choose_words(passages, 0, count).tokens
    assert words.tokens <= max(room, guaranteed, 400 + sum(map(count, rules)) + 3 * len(rules))
    largest = max(count(p.text[u.start : u.end]) for p in passages for u in split_units(p.text))
    assert words.tokens >= min(0.9 * room, size) - largest


@tries(200)
@given(asked=ASKED, room=st.integers(0, 900), more=st.integers(0, 400))
def test_more_room_shows_no_less_of_the_newest_request(
    asked: list[str], room: int, more: int
) -> None:
    passages = read(*talk_of(asked))
    small, large = (choose_words(passages, size, count) for size in (room, room + more))
    newest = max(i for i, passage in enumerate(passages) if passage.kind == "request")
    shown = [line for line in small.texts[newest].split("\n") if line != CUT]
    assert all(line in large.texts[newest] for line in shown)
    largest = max(count(p.text[u.start : u.end]) for p in passages for u in split_units(p.text))
    assert large.tokens >= min(small.tokens, 0.9 * (room + more)) - largest
