"""Claims that look otherwise in a summary than in its source, and are supported all the same."""

import pytest
from builders import call, conversation, result, user

from compactctl.summaries.by_model.unsupported_claims import (
    first_unsupported,
    source_texts,
    unsupported_claims,
)

TALK = conversation(
    user("Please load @docs/ROADMAP.md first."),
    call("a", "mcp__browser__get_page_text", url="x"),
    result("a", "\x1b[33mLOAD_SERVER_PORT\x1b[0m is set"),
    call("b", "Read", file_path="D:\\work\\src\\colour\\keywords.go"),
    call("c", "Bash", command="cat notes.md", workdir="/home/kim/app"),
    call("d", "Edit", file_path="a.py", new_string="\treturn load_it(first, second)"),
    result("d", "updated src/serve/config.py"),
)


def foreign(text: str) -> list[str]:
    return [claim.text for claim in unsupported_claims(text, "\n".join(source_texts(TALK)))]


@pytest.mark.parametrize(
    "text",
    [
        "It read docs/ROADMAP.md.",
        "It called get_page_text.",
        "LOAD_SERVER_PORT is set, [33mLOAD_SERVER_PORT it said.",
        "It looked at D:/work/src/colour/keywords.go, in src/colour/keywords.go.",
        "It read /home/kim/app/notes.md.",
        "> new_string: return load_it(first, second)",
        "> \x1b[0m\nThis is said under an empty quotation.",
        r"Files:\n/home/kim/app/notes.md",
        'It turned `load("` into `load_it(first, "` all over the place.',
    ],
)
def test_it_is_supported(text: str) -> None:
    assert foreign(text) == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("It read plans/ROADMAP.md.", "plans/ROADMAP.md"),
        ("It called page_text.", "page_text"),
        ("It looked at D:/work/src/colour/words.go.", "/work/src/colour/words.go"),
        ("It read /home/kim/other/notes.md.", "/home/kim/other/notes.md"),
        (
            "> old_string: return load_it(first, second)",
            "old_string: return load_it(first, second)",
        ),
        ('He wanted "the `port` to be open".', "the `port` to be open"),
    ],
)
def test_something_else_is_not(text: str, claim: str) -> None:
    assert claim in foreign(text)


def claims(text: str, source: str, cwd: str | None = None) -> list[tuple[str, str]]:
    return [(claim.kind, claim.text) for claim in unsupported_claims(text, source, cwd)]


@pytest.mark.parametrize(
    ("text", "source", "found"),
    [
        ('He said "one two three".', "", []),
        ('He said "one two three four".', "", [("quote", "one two three four")]),
        ('He said "one two three four".', "One, two: three FOUR!", []),
        (
            'He said "one two three four".',
            "one two three fourth",
            [("quote", "one two three four")],
        ),
        ('He said "one two … three four".', "one two and three four", []),
        ('He said "one two [of them] three four".', "one two three four", []),
        ('He said "one two ... three four".', "three four", [("quote", "one two ... three four")]),
        # An odd number of marks leaves open which two belong together.
        ('a "one two three four" b "', "", []),
        ('`a "one two three four"`', "", []),
        ('`a` "one two three four"', "", [("quote", "one two three four")]),
        ("> one two three four", "", [("quote", "one two three four")]),
        ("  > one two three", "", []),
        ("\u201cone two three four\u201d", "one two three four", []),
        ("It took 9 tries.", "", []),
        ("It took 10 tries.", "", [("number", "10")]),
        ("It took 10 tries.", "ten: 10", []),
        ("It has 12,000 lines.", "12000", []),
        ("It has 12,000 lines.", "12_000", []),
        ("It has 12k lines.", "12,000", []),
        ("It has 12k lines.", "11,999", [("number", "12k")]),
        ("It has 1.5M lines.", "1500000", []),
        ("It has 2k lines.", "", [("number", "2k")]),
        ("It took 12.50 s.", "12.5", []),
        ("It took 12.5 s.", "12.50", []),
        ("It took 12.05 s.", "12.5", [("number", "12.05")]),
        ("It took 100 s.", "1", [("number", "100")]),
        ("It took 15ms.", "15", []),
        ("10. Point\n11) Point\n- 12. Point", "", []),
        ("It uses v1.22.3 now.", "version 1.22.3", []),
        ("It uses v1.22.3 now.", "version 1.22.30", [("number", "1.22.3")]),
        ("It uses v1.22.3 now.", "1.22", [("number", "1.22.3")]),
        ("It is [REDACTED:jwt] now.", "", []),
    ],
)
def test_quotes_and_numbers_are_looked_up(
    text: str, source: str, found: list[tuple[str, str]]
) -> None:
    assert claims(text, source) == found


@pytest.mark.parametrize(
    ("text", "source", "supported"),
    [
        ("load_it", "LOAD_IT", True),
        ("load_it", "a load_it.", True),
        ("load_it", "reload_it", False),
        ("load_it", "pre-load_it", False),
        ("load_it", "load_it_all", False),
        ("load_it", "load_it-all", False),
        ("load_it", "load_it-", True),
        ("load_it", "@load_it", False),
        ("load_it", "load_it@home", False),
        ("load_it", "x__load_it", True),
        ("load_it", r"\nload_it", True),
        ("load_it", "reload_it, then load_it", True),
        ("load_it", "load_it", True),
        ("src/a.py", "src/a.py", True),
        ("src/a.py", "@src/a.py", True),
        ("src/a.py", r"c:\src\a.py", True),
        ("src/a.py", "/home/src/a.py", True),
        ("src/a.py", "xsrc/a.py", False),
        ("src/a.py", "a.py", False),
        ("read/write_it/all_of_it", "read, write_it, all_of_it", True),
        ("read/write_it/all_of_it", "read, write_it", False),
        ("/read/write_it", "read write_it", False),
        ("abc1234", "abc1234def5678", True),
        ("abc1234", "fabc1234", False),
    ],
)
def test_a_name_is_a_whole_word_or_part_of_a_path(
    text: str,
    source: str,
    supported: bool,  # noqa: FBT001
) -> None:
    assert (claims(f"It is {text} here.", source) == []) is supported


def test_the_kinds_of_claims_come_in_order_and_the_first_is_described() -> None:
    text = 'See src/b.py and load_it, 4711 of them: "one two three four".'
    assert claims(text, "") == [
        ("quote", "one two three four"),
        ("path", "src/b.py"),
        ("identifier", "load_it"),
        ("number", "4711"),
    ]
    assert first_unsupported(text, "") == (
        "the quote 'one two three four' is not in what was summarized"
    )
    assert first_unsupported("fine", "") == ""
    assert claims("It is well-tested.", "") == []
    assert claims("See /home/kim/app/b.py.", "b.py", "/home/kim/app") == []
