"""Messages that compactctl wrote in place of others, and the point at which it wrote them."""

from pathlib import Path
from typing import Any

import pytest
from builders import assistant, conversation, summary, user
from unit.history.written import PROVEN, read_back

from compactctl.commands.compact.draft import archive_hint
from compactctl.history.stand_ins import (
    base_id,
    edit_points,
    hidden_group,
    is_marker,
    is_own_marker,
    is_proven,
    is_stand_in,
    is_unchanged,
    message_count,
    newest_id,
    occurrence,
    own_texts,
    same_name_indices,
)
from compactctl.model.message import Message, MessageId, Tags, TextPart
from compactctl.model.own_texts import (
    DigestEntry,
    HandOver,
    HandOverItem,
    HandOverSection,
    OwnDigest,
    OwnMarker,
    decode,
    find_own_texts,
)
from compactctl.records import replace


def marker(*, ours: bool = True, **tags: Any) -> Message:
    return user("cut", is_synthetic=ours, tags=Tags(is_truncation_marker=True, **tags))


def named(*names: str) -> tuple[Message, ...]:
    messages = (replace(user(f"said {n}"), id=MessageId(name)) for n, name in enumerate(names))
    return conversation(*messages)


@pytest.mark.parametrize(
    ("message", "group", "stands_in"),
    [
        (user("hi"), None, False),
        (summary("theirs"), None, False),
        (summary("ours", is_synthetic=True, tags=Tags(condense_id="c")), "c", True),
        (summary("theirs", tags=Tags(condense_id="c")), "c", False),
        (marker(truncation_id="t"), "t", True),
        (marker(truncation_id="t", is_final=True), None, True),
        (marker(truncation_id="t", ours=False), None, False),
        (user("edited", is_synthetic=True, tags=Tags(truncation_id="t")), None, False),
    ],
)
def test_a_stand_in_represents_the_group_that_may_come_back(
    message: Message,
    group: str | None,
    stands_in: bool,  # noqa: FBT001
) -> None:
    assert (hidden_group(message), is_stand_in(message)) == (group, stands_in)


def test_messages_of_equal_content_have_the_name_before_their_number() -> None:
    assert [base_id(name) for name in ("x", "x#2", "x#2#3", "")] == ["x", "x", "x", ""]
    messages = named("x", "y", "x#2", "x#3")
    assert same_name_indices(messages, "x#2") == [0, 2]
    assert same_name_indices(messages, "x") == [0]
    assert same_name_indices(messages, "x#9") == [0, 2, 3]


@pytest.mark.parametrize(
    ("start", "count"), [(0, 3), (1, 3), (2, 2), (4, 2), (5, None), (7, None), (8, None)]
)
def test_an_occurrence_counts_from_a_place_on(start: int, count: int | None) -> None:
    assert occurrence([1, 4, 7], start) == count


@pytest.mark.parametrize(
    ("through", "nth", "point"),
    [
        ("x", None, 2),
        ("x#2", None, 2),
        ("x", 1, 2),
        ("x", 2, 3),
        ("x", 3, 5),
        # Some were hidden since: the last of them.
        ("x", 4, 5),
        ("x", 0, 2),
        ("y", None, 4),
        # Only before it: the last one there.
        ("w", None, 0),
        ("z", None, None),
    ],
)
def test_the_newest_message_at_the_time_is_counted_from_the_stand_in(
    through: str, nth: int | None, point: int | None
) -> None:
    written = summary("ours", is_synthetic=True, tags=Tags(through=through, occurrence=nth))
    w, x, x2, y, x3 = named("w", "x", "x#2", "y", "x#3")
    assert edit_points((w, written, x, x2, y, x3)) == {1: point}


def test_a_hidden_message_is_not_the_newest() -> None:
    written = summary("ours", is_synthetic=True, tags=Tags(through="x"))
    hidden, shown = named("x", "x#2")
    hidden = replace(hidden, tags=Tags(condense_parent="c"))
    assert edit_points((written, hidden, shown)) == {0: 2}
    assert edit_points((hidden, shown)) == {}


def test_nothing_was_added_where_the_newest_message_is_still_the_newest() -> None:
    first, second = named("x", "y")
    ours = summary("ours", is_synthetic=True, tags=Tags(through="x"), id=MessageId("s"))
    assert newest_id((first, ours)) == "x"
    assert newest_id((ours,)) is None
    assert is_unchanged((ours, first), ours)
    assert not is_unchanged((ours, first, second), ours)
    assert not is_unchanged((ours, second), ours)
    unmarked = replace(ours, tags=Tags())
    assert not is_unchanged((unmarked, first), unmarked)


@pytest.mark.parametrize("own", [OwnDigest(count=9, following=2), HandOver(count=9, following=2)])
def test_without_tags_the_last_line_tells_whether_something_was_added(
    own: OwnDigest | HandOver,
) -> None:
    first, second, third = named("x", "y", "z")
    ours = read_back(own.encode())
    assert is_unchanged((ours, first, second), ours)
    assert not is_unchanged((ours, first, second, third), ours)
    # With fewer, it may be those that follow another copy of it. Another stand-in is nothing new.
    assert not is_unchanged((ours, first), ours)
    assert is_unchanged((third, ours, first, read_back(own.encode()), second), ours)
    cut = user("cut", is_injected=True, is_synthetic=True)
    cut = replace(cut, parts=(TextPart(text="cut", typed="", own_texts=(OwnMarker(3),)),))
    assert not is_unchanged((cut, first), cut)


COURSE = (DigestEntry("request", ("Go on.", None, "Use blanks."), ref="L12"),)
DIGEST = OwnDigest(count=1, following=3, files=("a.py",), entries=COURSE).encode()
IN_PLACE = OwnDigest(count=9, is_in_place=True).encode()
ITEMS = (HandOverItem("Go on.\nUse blanks.", "Requests of the user:", "L2"),)
DOCUMENT = HandOver(
    count=1_204, span="L2 to L9", sections=(HandOverSection("Goal", ITEMS),)
).encode()
CONDENSED = HandOver(count=4, is_short=True, sections=(HandOverSection("", ITEMS),)).encode()
TALLY = HandOver(count=4, sections=(HandOverSection("", ITEMS),), tally=(1, 2, 3)).encode()
HINT = archive_hint(Path("a.jsonl"), is_archived=True, lines=3)
EACH = (DIGEST, IN_PLACE, DOCUMENT, CONDENSED, TALLY)


@pytest.mark.parametrize("own", EACH)
@pytest.mark.parametrize(
    ("before", "behind", "rest"),
    [
        ("", "", ""),
        ("[Earlier conversation]:\n\n", "", ""),
        # Only labels that a stage writes are nobody's words, and only where they stand whole.
        ("[Earlier conversation]\n", "", "[Earlier conversation]"),
        ("[Summary of the conversation so far]:\n\n", "", ""),
        ("Said before.\n", "", "Said before."),
        ("Said before.\n\n[Earlier conversation]:\n\n", "\n\nUse tabs.",
         "Said before.\n\nUse tabs."),
        ("", "\n\nUse tabs.", "Use tabs."),
        ("", "\n\nUse tabs.\n\nAnd spaces.\n", "Use tabs.\n\nAnd spaces."),
        ("", "\n\nUse tabs.\n\n- done", "Use tabs.\n\n- done"),
        ("", "\n\nSaid\n[L12] user", "Said\n[L12] user"),
        ("", "\n| as I said\n- Use tabs.", "| as I said\n- Use tabs."),
        ("<conversation-summary>\n", "\n</conversation-summary>\n\nUse tabs.", "Use tabs."),
        ("<summary>\n", "\n</summary>\n\nUse tabs.", "<summary>\n\n</summary>\n\nUse tabs."),
        ("", f"\n\n{HINT}", ""),
        ("", f"\n\n{HINT}\n\nUse tabs.", "Use tabs."),
        ("", f"\n\n{HINT.partition(chr(10))[0]}", HINT.partition("\n")[0]),
    ],
)  # fmt: skip
def test_what_stands_around_a_summary_of_ours_is_not_its_own(
    own: str, before: str, behind: str, rest: str
) -> None:
    found = find_own_texts(f"{before}{own}{behind}")
    assert [each.encode() for each in found.texts] == [own]  # type: ignore[union-attr]
    assert found.rest == rest


@pytest.mark.parametrize("own", EACH)
def test_two_summaries_in_a_text_are_both_found(own: str) -> None:
    found = find_own_texts(f"{own}\n\nUse tabs.\n\n{DIGEST}")
    assert found.texts == (decode(own), decode(DIGEST))
    assert found.rest == "Use tabs."


@pytest.mark.parametrize(
    "text",
    [
        *(f"Said before. {own}" for own in (DIGEST, DOCUMENT, CONDENSED)),
        # A part of the line may be what somebody asks about.
        "Digest of 1 earlier messages made without a model: is that a bug?",
        f"{DIGEST.partition(':')[0]}: is that a bug?",
        f"{IN_PLACE.partition(chr(10))[0]} Is that a bug?",
        f"{DOCUMENT.partition(chr(10))[0]} Is that a bug?",
        "9 earlier messages, by a model",
        "Only this",
        "",
    ],
)
def test_what_only_speaks_of_a_summary_is_none(text: str) -> None:
    assert find_own_texts(text) == ((), text)
    assert decode(text) is None


@pytest.mark.parametrize("text", [f"{DIGEST}\n\nUse tabs.", f"So:\n{DIGEST}"])
def test_a_summary_with_anything_besides_is_not_decoded_alone(text: str) -> None:
    assert decode(DIGEST) is not None
    assert decode(text) is None


def test_messages_count_for_those_they_stand_for() -> None:
    asked, answered = user("go"), assistant("fine")
    assert message_count(()) == 0
    assert message_count((asked, answered)) == 2
    assert message_count((read_back(DOCUMENT), asked)) == 1_205
    assert message_count((read_back(f"{DOCUMENT}\n\n{TALLY}"),)) == 1_208
    assert message_count((read_back(f"{IN_PLACE}\n\nUse tabs."),)) == 10
    hidden = read_back("[Earlier messages truncated: 1,200 messages hidden to reduce context]")
    assert message_count((hidden, asked)) == 1_201
    # A summary that is not ours, or a marker that does not say, is one message.
    assert message_count((summary("theirs"), marker(truncation_id="t"))) == 2
    collapsed = read_back("[Earlier messages collapsed to fit context window]")
    assert message_count((collapsed,)) == 1


def test_who_wrote_a_message_is_proven_by_its_record_only() -> None:
    assert is_proven(read_back(DIGEST, tags=PROVEN))
    assert not is_proven(read_back(DIGEST))


def test_a_marker_is_known_by_its_text_where_its_tags_are_lost() -> None:
    text = "[12 earlier messages are outside of the window]"
    ours = read_back(text)
    assert own_texts(ours) == (OwnMarker(12),)
    assert (is_marker(ours), is_own_marker(ours), is_stand_in(ours)) == (True, True, True)
    theirs = user(text, tags=Tags(is_truncation_marker=True))
    assert (is_marker(theirs), is_own_marker(theirs), is_stand_in(theirs)) == (True, False, False)
    assert not is_marker(user(text))


def test_an_answer_may_be_the_newest() -> None:
    assert newest_id(conversation(user("a"), assistant("b"))) == "m1"
