"""The lines, names and paths in texts; probes for them; and contexts for comparison."""

import pytest
from builders import (
    assistant,
    attached,
    call,
    conversation,
    image,
    result,
    summary,
    system,
    thinking,
    user,
)

from compactctl.audit.rereads import SeenLines, find_read_calls, find_rereads
from compactctl.lab.controls import (
    MASK_TEXT,
    keep_all,
    keep_newest,
    keep_random_lines,
    mask_oldest_results,
)
from compactctl.lab.probes import ProbeAnswers, make_probes, rules_in
from compactctl.lab.questions import make_questions
from compactctl.lab.score import collect_mentions, find_supported_names
from compactctl.lab.tally import Tally
from compactctl.lab.text_content import (
    PathIndex,
    TextReader,
    collapse_whitespace,
    strip_line_marks,
    unique_names,
)
from compactctl.model.message import Message
from compactctl.summaries.extract.passages import Passage, ToolPair, read_passages
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.meter import Meter

METER = Meter(CharsCounter(1))


def passages(*messages: Message) -> tuple[Passage, ...]:
    return read_passages(conversation(*messages))


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("  12→ a  b", "a b"),
        ("12| a", "a"),
        ("12: a", "a"),
        ("12\ta", "a"),
        ("> 12 | a", "a"),
        (" > a", "a"),
        (">a", ">a"),
        ("12 a", "12 a"),
    ],
)
def test_marks_before_a_line_are_removed(line: str, bare: str) -> None:
    assert strip_line_marks(line) == bare
    assert collapse_whitespace(" a \n\t b ") == "a b"


def test_what_passages_hold_together() -> None:
    entities = TextReader().read_all(
        passages(
            user("Mind the soil_sensor in the garden."),
            thinking("I doubt the rain_gauge."),
            assistant("See src/beds.py."),
        )
    )
    assert entities == {"soil_sensor", "src/beds.py"}


def test_a_name_is_unique_if_one_path_with_a_folder_has_it() -> None:
    assert unique_names(["src/a.py", "src/b.py", "old/b.py", "c.py", "src/a.py"]) == {"a.py"}


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("src/app/a.py", True),
        ("app/a.py", True),
        ("/home/src/app/a.py", True),
        ("a.py", True),
        ("pp/a.py", False),
        ("src/app", False),
        ("b.py", True),
        ("x/b.py", False),
        ("/b.py", False),
        ("/src/app/a.py/", True),
    ],
)
def test_paths_are_equal_by_their_ends(path: str, known: bool) -> None:  # noqa: FBT001
    assert (path in PathIndex(["src/app/a.py", "b.py"], frozenset({"a.py"}))) is known


WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()  # noqa: SIM905


def answers(*texts: str) -> ProbeAnswers:
    return ProbeAnswers(passages(*map(assistant, texts)), PathIndex([], frozenset()))


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([" ".join(WORDS)], True),
        ([" ".join(reversed(WORDS))], True),
        # Seven of ten words in two lines that follow one another.
        ([" ".join(WORDS[:7])], True),
        ([" ".join(WORDS[:6])], False),
        ([" ".join(WORDS[:3]) + "\n" + " ".join(WORDS[3:7])], True),
        ([" ".join(WORDS[:3]) + "\n\n" + " ".join(WORDS[3:7])], True),
        ([" ".join(WORDS[:3]) + "\nother\n" + " ".join(WORDS[3:7])], False),
        ([" ".join(WORDS[:3]), " ".join(WORDS[3:7])], True),
        (["beta gamma delta\nother\nalpha epsilon zeta eta"], False),
        (["other", " ".join(WORDS).upper()], True),
        (["x" * 900 + " " + " ".join(reversed(WORDS))], False),
        (["x" * 800 + " " + " ".join(reversed(WORDS))], True),
    ],
)
def test_a_fact_is_there_if_most_of_its_words_are_close_together(
    texts: list[str],
    found: bool,  # noqa: FBT001
) -> None:
    assert answers(*texts).fact(" ".join(WORDS)) is found


def test_a_sentence_is_there_word_for_word() -> None:
    found = answers("> 1→ One  two\n> 2→ three. Four", "five")
    assert found.quote("One two three. Four five")
    assert not found.quote("one two")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("You must run it.", ("You must run it.",)),
        ("- **never** run it", ("never** run it",)),
        ("Run it. Never stop.\nAlways go", ("Never stop.", "Always go")),
        ("Must go", ()),
        ("Must go!", ("Must go!",)),
        ("must " + "x" * 395, ("must " + "x" * 395,)),
        ("must " + "x" * 396, ()),
        ("Run it all now.", ()),
        ("Never stop. Never stop.", ("Never stop.",)),
    ],
)
def test_rules_are_sentences_that_demand(text: str, rules: tuple[str, ...]) -> None:
    assert rules_in(passages(user(text))) == rules


def test_the_newest_three_hundred_rules_count() -> None:
    text = "\n".join(f"Never use {n}." for n in range(301))
    found = rules_in(passages(user(text)))
    assert (len(found), found[0]) == (300, "Never use 1.")
    assert rules_in(passages(system("Never use it."), user("Hello there."))) == ()


def failing(number: int, command: str, output: str) -> tuple[Message, Message]:
    return call(f"f{number}", "Bash", command=command), result(f"f{number}", output, is_error=True)


def test_probes_are_what_a_successor_must_know() -> None:
    tasks = [{"content": "Open", "status": "pending"}, {"content": "Shut", "status": "completed"}]
    runs = [
        m for n in range(5) for m in failing(n, f"make test{n} check", f"error number {n} here")
    ]
    found = make_probes(
        passages(
            user("First thing.\n> 1→ Second  line"),
            call("r", "Read", file_path="a.py"),
            result("r", "x"),
            call("e", "Edit", file_path="b.py"),
            result("e", "ok"),
            *runs,
            call("c", "Bash", command="mkdir x"),
            result("c", "TypeError: passed by\nmade x\nmade y\nmade z"),
            call("t", "TodoWrite", todos=tasks),
            user("Last: " + "x" * 600),
        ),
        None,
    )
    assert found.files == {"changed": ("b.py",), "read": ("a.py",)}
    assert found.quotes == {
        "rules": (),
        "first": ("First thing.", "Second line"),
        "last": ("Last: " + "x" * 594,),
    }
    assert found.facts == {
        "errors": tuple(f"error number {n} here" for n in (0, 2, 3, 4)),
        "commands": tuple(f"make test{n} check" for n in (4, 3, 2, 1)),
        "tasks": ("Open",),
    }


def test_questions_are_about_the_newest_checks_files_and_rules() -> None:
    runs = [
        m
        for n in (0, 1, 2, 3, 4, 0)
        for m in (
            call(f"c{n}", "Bash", command=f"make test -k {n}"),
            result(f"c{n}", f"`{n}  passed`"),
        )
    ]
    talk = conversation(
        user("Never touch any of the four old beds. Never do it. Always keep these six words."),
        *runs,
        call("s", "Bash", command="make test -k 9"),
        result("s", ""),
        call("l", "Bash", command="make test " + "x" * 291),
        result("l", "no"),
        call("m", "Bash", command="make test\nmake"),
        result("m", "no"),
        call("e", "Edit", file_path="src/a.py"),
        result("e", "ok"),
        call("f", "Edit", file_path="src/b.py"),
        result("f", "Error: no", is_error=True),
    )
    questions = make_questions(talk, None)
    assert [(question.answer, question.is_path) for question in questions] == [
        ("3 passed", False),
        ("4 passed", False),
        ("0 passed", False),
        ("src/a.py", True),
        ("Never touch any of the four old beds.", False),
    ]
    assert '"Never touch any of"' in questions[4].text


TALK = conversation(
    user("a" * 10),
    call("c", "B"),
    result("c", "b" * 40),
    call("d", "B"),
    result("d", "c" * 30),
    assistant("d" * 5),
)


@pytest.mark.parametrize(
    ("room", "kept"), [(0, 0), (4, 0), (5, 1), (37, 1), (38, 3), (80, 3), (81, 5), (91, 6), (99, 6)]
)
def test_the_newest_messages_that_fit(room: int, kept: int) -> None:
    assert keep_newest(TALK, room, METER, 0) == TALK[len(TALK) - kept :]
    assert keep_all(TALK, room, METER, 0) == TALK


def masked(room: int) -> list[str]:
    return [m.results[0].text for m in mask_oldest_results(TALK, room, METER, 0) if m.results]


def test_the_oldest_results_are_masked_until_the_rest_fits() -> None:
    total, stub = METER.total(TALK), len(MASK_TEXT)
    whole, other = "b" * 40, "c" * 30
    assert masked(total) == [whole, other]
    assert masked(total - 1) == [MASK_TEXT, other]
    assert masked(total - (40 - stub)) == [MASK_TEXT, other]
    assert masked(total - (40 - stub) - 1) == [MASK_TEXT, MASK_TEXT]
    small = conversation(call("c", "B"), result("c", "b" * stub), image())
    assert mask_oldest_results(small, 0, METER, 0) == small


def test_random_lines_fit_and_keep_their_order() -> None:
    talk = conversation(user("one\n--\ntwo"), thinking("no"), assistant("three\nfour\nfive"))
    found = keep_random_lines(talk, 100, METER, 0)
    assert [m.parts[0].text for m in found] == ["one\ntwo", "three\nfour\nfive"]  # type: ignore[union-attr]
    assert [m.line for m in found] == [0, 1]
    assert keep_random_lines(talk, 3, METER, 0) == ()
    (only,) = keep_random_lines(conversation(user("one")), 4, METER, 0)
    assert only.parts == user("one").parts
    # A line and its end take four of eight; two lines need a little more.
    pair = conversation(user("one\ntwo"))
    sizes = [len(keep_random_lines(pair, room, METER, 7)[0].parts[0].text) for room in (4, 7, 8)]  # type: ignore[union-attr]
    assert sizes == [3, 3, 7]
    drawn = {
        m.parts[0].text  # type: ignore[union-attr]
        for seed in range(9)
        for m in keep_random_lines(pair, 4, METER, seed)
    }
    assert drawn == {"one", "two"}


def rereads(before: list[Message], after: list[Message], later: list[Message]) -> list[str]:
    def size(pair: ToolPair) -> int:
        return len(pair.text)

    seen = SeenLines(passages(*before), None), SeenLines(passages(*after), None)
    return [
        found.what for found in find_rereads(list(find_read_calls(passages(*later))), *seen, size)
    ]


def read(name: str, *lines: str) -> list[Message]:
    return [call(name, "Read", file_path="a.py"), result(name, "\n".join(lines))]


@pytest.mark.parametrize(
    ("before", "after", "later", "again"),
    [
        (["aaaa", "bbbb"], [], ["aaaa", "bbbb"], 1),
        (["aaaa", "bbbb"], [], ["aaaa", "cccc"], 1),
        (["aaaa", "bbbb"], [], ["aaaa", "cccc", "dddd"], 0),
        (["aaaa"], ["aaaa"], ["aaaa"], 0),
        (["aaaa", "bbbb"], ["aaaa"], ["aaaa", "bbbb"], 0),
        (["aaaa", "bbbb", "cccc"], ["aaaa"], ["aaaa", "bbbb", "cccc"], 1),
        (["1\taaaa"], [], ["7\taaaa"], 1),
        # Lines of three characters are braces and the like.
        (["aaa"], [], ["aaa"], 0),
        ([], [], ["aaaa"], 0),
    ],
)
def test_a_reread_shows_half_of_what_was_seen_and_gone(
    before: list[str], after: list[str], later: list[str], again: int
) -> None:
    shown = read("x", *before) if before else []
    left = read("y", *after) if after else []
    assert len(rereads(shown, left, read("z", *later))) == again


def test_what_was_written_attached_or_searched_was_seen() -> None:
    written = [call("w", "Write", file_path="a.py", content="aaaa"), result("w", "ok")]
    assert rereads(written, [], read("z", "aaaa")) == ["a.py"]
    assert rereads([attached("a.py", "aaaa")], [], read("z", "aaaa")) == ["a.py"]
    search = [call("s", "Grep", pattern="x"), result("s", "aaaa")]
    assert rereads(search, [], search) == ["Grep x"]
    look = [call("s", "Bash", command=" ls "), result("s", "aaaa")]
    assert rereads(look, [], look) == ["ls"]
    run = [call("s", "Bash", command="make"), result("s", "aaaa")]
    fetch = [call("s", "Fetch", url="x"), result("s", "aaaa")]
    assert rereads(run, [], run) == rereads(fetch, [], fetch) == []
    failed = [call("s", "Grep", pattern="x"), result("s", "aaaa", is_error=True)]
    assert rereads(search, [], failed) == []
    twice = [*read("y", "aaaa"), *read("z", "aaaa")]
    assert rereads(read("x", "aaaa"), [], twice) == ["a.py"]


@pytest.mark.parametrize(("hits", "asked", "share"), [(1, 4, 0.25), (0, 4, 0.0), (0, 0, None)])
def test_a_share_of_nothing_is_unknown(hits: int, asked: int, share: float | None) -> None:
    assert Tally(hits, asked).share == share


def test_mentions_are_compared_by_the_words_around_them() -> None:
    reader = TextReader()
    talk = passages(
        user("the soil_sensor reads one two three four"),
        assistant("soil_sensor ok"),
        summary("soil_sensor five six seven eight"),
    )
    mentions = collect_mentions(["soil_sensor"], talk, reader)
    assert mentions == {
        "soil_sensor": [
            frozenset({"five", "six", "seven", "eight"}),
            frozenset({"the", "reads", "one", "two", "three", "four"}),
        ]
    }
    assert len(collect_mentions(["soil_sensor"], talk, reader, 1)["soil_sensor"]) == 1

    def supported(text: str) -> set[str]:
        found = passages(assistant(text))
        return find_supported_names(["soil_sensor", "rain_gauge"], mentions, found, reader)

    assert supported("soil_sensor: one two three") == {"soil_sensor"}
    assert supported("soil_sensor: one two") == set()
    assert supported("soil_sensor: five six") == {"soil_sensor"}
    assert supported("soil_sensor: five") == set()
    assert supported("the rain_gauge") == {"rain_gauge"}
