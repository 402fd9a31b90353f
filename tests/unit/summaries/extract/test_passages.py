"""A conversation read as passages: who says what, how long ago, and where it stands."""

import pytest
from builders import (
    assistant,
    attached,
    call,
    conversation,
    image,
    message,
    raw_call,
    result,
    result_part,
    summary,
    system,
    thinking,
    user,
)

from compactctl.history.references import NO_REF, SourceRef, parse_reference, refs_of
from compactctl.model.message import Message, TextPart
from compactctl.model.own_texts import DigestEntry, OwnDigest
from compactctl.records import replace
from compactctl.summaries.extract.passages import (
    read_passages,
    tool_pairs,
)


def kinds(*messages: Message) -> list[tuple[str, str, str]]:
    return [(p.kind, p.text, p.name) for p in read_passages(conversation(*messages))]


def test_every_part_is_a_passage_of_its_kind() -> None:
    assert kinds(
        system("be good"),
        user("go"),
        user("note", is_injected=True),
        user("expanded", is_injected=True, is_instruction=True),
        assistant("well"),
        thinking("hm"),
        thinking("sealed", opaque=True),
        call("a", "Bash", command="make", nested={"deep": ["x", {"y": "z"}], "n": 3}),
        result("a", "done", said="no"),
        result("b", "gone", cleared=True),
        attached("a.py", "text"),
        user("  "),
        summary("before"),
    ) == [
        ("instruction", "be good", ""),
        ("request", "go", ""),
        ("reminder", "note", ""),
        ("instruction", "expanded", ""),
        ("reply", "well", ""),
        ("thought", "hm", ""),
        ("call", "make\nx\nz", "Bash"),
        ("result", "done", "Bash"),
        ("answer", "no", "Bash"),
        ("file", "text", "a.py"),
        ("summary", "before", ""),
    ]


def test_what_a_user_attaches_is_part_of_the_request() -> None:
    assert kinds(
        user("go"),
        image(2_000, width=1_024, height=768),
        attached("notes of\nMay.txt", "a" * 1_200, is_injected=False),
        attached("", "b", is_injected=False),
    ) == [
        ("request", "go", ""),
        ("request", "[image/png, 1,024x768, 2,000 bytes, at L2]", "attachment"),
        ("file", "a" * 1_200, "notes of\nMay.txt"),
        ("request", "[file notes of May.txt, at L3]", "attachment"),
        ("file", "b", ""),
        ("request", "[file, at L4]", "attachment"),
    ]


@pytest.mark.parametrize(
    "other",
    [
        image(is_injected=True),
        message("assistant", *image().parts),
        message("user", result_part("a", "ok"), *image().parts),
        result("a", "ok", media=image().parts),
    ],
)
def test_what_nobody_attaches_is_not(other: Message) -> None:
    assert "request" not in [kind for kind, _, _ in kinds(other)]


def test_what_a_client_puts_around_the_users_words_is_apart() -> None:
    text = "<ide_selection>a</ide_selection>\n<ide_diagnostics>b</ide_diagnostics>\nGo on."
    assert kinds(user(text)) == [
        ("request", "Go on.", ""),
        ("reminder", "<ide_selection>a</ide_selection>\n<ide_diagnostics>b</ide_diagnostics>", ""),
    ]
    lost = message("user", TextPart(text="all of it", typed="not in it"))
    assert kinds(lost) == [("request", "not in it", ""), ("reminder", "all of it", "")]


def test_arguments_that_are_no_object_are_read_as_they_are() -> None:
    (pair,) = tool_pairs(read_passages(conversation(raw_call("a", "Bash", "[1"))))
    assert (pair.arguments, pair.text, pair.texts, pair.subject) == ({}, "[1", (("", "[1"),), "[1")
    assert pair.result is None


@pytest.mark.parametrize(
    ("tool", "arguments", "subject"),
    [
        ("Edit", {"file_path": "a.py", "old": "x"}, "a.py"),
        ("Read", {"file_path": "a.py"}, "a.py"),
        ("Bash", {"command": "make it"}, "make it"),
        ("Bash", {"command": "cat a.py"}, "a.py"),
        ("Fetch", {"url": "u", "n": 3}, "u"),
    ],
)
def test_the_subject_of_a_call(tool: str, arguments: dict[str, object], subject: str) -> None:
    (pair,) = tool_pairs(read_passages(conversation(call("a", tool, **arguments))))
    assert pair.subject == subject


def ages(*messages: Message) -> list[int]:
    return [passage.age for passage in read_passages(conversation(*messages))]


def test_an_age_counts_the_model_calls_since() -> None:
    assert ages(user("a"), assistant("b"), user("c"), assistant("d"), user("e")) == [2, 1, 1, 0, 0]
    # A run of answers is one call, and so is a response around the result of its first call.
    run = (assistant("b"), thinking("c"), call("x", "B", a="1"))
    assert ages(user("a"), *run, user("d")) == [1, 0, 0, 0, 0]
    around = (
        replace(call("x", "B", a="1"), response_id="r"),
        result("x", "y"),
        assistant("d", response_id="r"),
        assistant("e", response_id="s"),
    )
    assert ages(user("a"), *around) == [2, 1, 1, 1, 0]
    between = (
        call("x", "B", a="1"),
        result("x", "y"),
        assistant("d"),
    )
    assert ages(user("a"), *between) == [2, 1, 1, 0]


def test_references_are_lines_or_messages_of_a_document() -> None:
    talk = conversation(user("a"), assistant("b"), user("c"))
    assert refs_of(talk) == [SourceRef(1), SourceRef(2), SourceRef(3)]
    document = tuple(replace(m, line=0) for m in talk)
    assert refs_of(document) == [SourceRef(n, "M") for n in (1, 2, 3)]
    numbered = tuple(
        replace(m, parts=(replace(m.parts[0], path=("messages", 2 * n, "text")),))
        for n, m in enumerate(document)
    )
    assert refs_of(numbered) == [SourceRef(n, "M") for n in (1, 3, 5)]
    mixed = (talk[2], talk[0], talk[1])
    assert refs_of(mixed) == [SourceRef(3), SourceRef(1), SourceRef(2)]
    assert refs_of(talk[1:2]) == [SourceRef(2)]
    assert refs_of(()) == []


def test_messages_on_one_line_of_several_have_references_of_their_own() -> None:
    asked, answered, alone = conversation(user("a"), assistant("b"), user("c"))
    kept = tuple(
        replace(
            message,
            line=7,
            record_path=("history", index),
            parts=(replace(message.parts[0], path=("history", index, "text")),),
        )
        for index, message in ((2, asked), (4, answered))
    )
    refs = refs_of((*kept, alone))
    assert [str(ref) for ref in refs] == ["[L8.3]", "[L8.5]", "[L3]"]
    for ref, what in zip(refs, (*kept, alone), strict=True):
        assert parse_reference(str(ref)) == ref
        assert [m for m in (*kept, alone) if ref.names(m)] == [what]
    whole = parse_reference("L8")
    assert whole is not None
    assert [whole.names(m) for m in (*kept, alone)] == [True, True, False]
    assert parse_reference("M8.3") is None


@pytest.mark.parametrize(
    ("ref", "written", "legend"),
    [
        (SourceRef(3), "[L3]", "; [L12] is line 12 of what was compacted."),
        (SourceRef(3, "M"), "[M3]", "; [M12] is message 12 of what was compacted."),
        (SourceRef(3, item=2), "[L3.2]", "; [L12] is line 12 of what was compacted."),
        (SourceRef(3, state=1), "[L3@1]", "; [L12@1] is line 12 as compaction 1 left the file."),
    ],
)
def test_a_reference_is_written_with_its_legend(ref: SourceRef, written: str, legend: str) -> None:
    assert str(ref) == written
    digest = OwnDigest(count=1, entries=(DigestEntry("request", ("go",), ref=ref.name),))
    head, _, heading, *_ = digest.encode().split("\n")
    assert head.endswith(legend)
    assert heading == f"{written} user"


def test_where_no_line_is_known_there_is_no_reference_and_no_legend() -> None:
    assert (str(NO_REF), NO_REF.name) == ("", "")
    assert (
        "of what was compacted" not in OwnDigest(count=1, entries=(DigestEntry("reply"),)).encode()
    )


def test_a_result_has_the_pair_of_its_call() -> None:
    talk = conversation(call("a", "Bash", command="make"), message("user", result_part("a", "x")))
    one, two = read_passages(talk)
    assert one.pair is two.pair
    assert one.pair is not None
    assert one.pair.result == talk[1].results[0]
    assert (one.part_index, two.part_index) == ((0, 0), (1, 0))
