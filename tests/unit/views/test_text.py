"""Small figures, names and commands as users read them."""

import pytest

from compactctl.views.terminal.text import (
    age_text,
    change_text,
    is_on_runner,
    limit_text,
    line_text,
    one_line,
    path_name,
    percent_text,
    plural,
    project_text,
    safe_text,
    share_beyond,
    share_text,
    shell_path,
    shell_words,
    size_text,
    typed_command,
)


@pytest.mark.parametrize(
    ("n_bytes", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (999_999, "1000.0 kB"),
        (1_000_000, "1.0 MB"),
        (3_940_000, "3.9 MB"),
        (10**9, "1.0 GB"),
        (25 * 10**9, "25.0 GB"),
    ],
)
def test_a_size_has_the_largest_unit_that_it_reaches(n_bytes: int, shown: str) -> None:
    assert size_text(n_bytes) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (59.9, "just now"),
        (60, "1 minute ago"),
        (3_599, "59 minutes ago"),
        (3_600, "1 hour ago"),
        (86_399, "23 hours ago"),
        (86_400, "1 day ago"),
        (1_000_000, "11 days ago"),
    ],
)
def test_an_age_has_the_largest_unit_that_it_reaches(seconds: float, shown: str) -> None:
    assert age_text(seconds) == shown


def test_a_share_has_one_decimal_and_a_limit_those_that_were_named() -> None:
    assert [share_text(share) for share in (0, 0.12549, 1, 1.5)] == [
        "0.0%", "12.5%", "100.0%", "150.0%",
    ]  # fmt: skip
    assert [limit_text(share) for share in (0.9, 0.1725, 0.80001)] == [
        "90%", "17.25%", "80.001%",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("share", "limit", "shown"),
    [
        (0.91, 0.9, ("91.0%", "90.0%")),
        (0.9004, 0.9, ("90.04%", "90.00%")),
        (0.900_000_1, 0.9, ("90.00001%", "90.00000%")),
        (0.5, 0.5, ("50.000000%", "50.000000%")),
    ],
)
def test_a_share_beyond_its_limit_never_looks_equal_to_it(
    share: float, limit: float, shown: tuple[str, str]
) -> None:
    assert share_beyond(share, limit) == shown


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 lines"), (1, "1 line"), (2, "2 lines"), (1_204, "1,204 lines")]
)
def test_a_noun_goes_with_its_count(count: int, shown: str) -> None:
    assert plural(count, "line") == shown


@pytest.mark.parametrize(
    ("project", "home", "shown"),
    [
        ("/home/dev/shop", "/home/dev", "~/shop"),
        ("/home/dev", "/home/dev", "~"),
        ("/home/developer/shop", "/home/dev", "/home/developer/shop"),
        ("/srv/shop", "/", "/srv/shop"),
        ("/srv/shop", "", "/srv/shop"),
    ],
)
def test_the_home_folder_is_a_tilde(project: str, home: str, shown: str) -> None:
    assert project_text(project, home) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a\\x00b"),
        ("a\x7f\x9fb", "a\\x7f\\x9fb"),
        ("a\u200eb\u202e", "a\\u200eb\\u202e"),
        ("a\udc80", "a\\udc80"),
        ("a\tb\r\nc", "a\tb\nc"),
        ("é日", "é日"),
    ],
)
def test_control_characters_are_escapes(text: str, shown: str) -> None:
    assert safe_text(text) == shown


def test_one_line_has_no_line_break() -> None:
    assert line_text("a\nb") == "a\\nb"
    assert one_line("  a\n\tb  ") == "a b"


@pytest.mark.parametrize(
    ("width", "shown"), [(5, "abcde"), (4, "abc…"), (2, "a…"), (1, "…"), (0, "")]
)
def test_what_is_too_long_ends_with_an_ellipsis(width: int, shown: str) -> None:
    assert one_line("abcde", width) == shown


def test_only_the_beginning_of_a_very_long_text_is_looked_at() -> None:
    assert one_line(" " * 16 + "z", 2) == ""
    assert one_line(" " * 15 + "z", 2) == "z"
    assert len(one_line("x" * 1_000)) == 200


@pytest.mark.parametrize(
    ("path", "typed"),
    [
        ("a.jsonl", "a.jsonl"),
        ("-", "-"),
        ("-x", "./-x"),
        ("a b", "'a b'"),
        ("a\nb", "'a'$'\\x0a''b'"),
        ("a\x7fb", "'a'$'\\x7f''b'"),
        ("a\x80b", "'a'$'\\u0080''b'"),
        ("a\udcffb", "'a'$'\\xff''b'"),
        ("a\udc80b", "'a'$'\\x80''b'"),
        ("a\ud800b", "'a'$'\\ud800''b'"),
    ],
)
def test_a_path_can_be_pasted_into_a_shell(path: str, typed: str) -> None:
    assert shell_path(path) == typed


def test_a_command_is_typed_with_its_path_and_options() -> None:
    typed = typed_command("compactctl view", "a b", ["--grep", "it's\n"])
    assert typed == "compactctl view 'a b' --grep 'it'\"'\"'s'$'\\x0a'''"
    assert path_name("-") == "standard input"
    assert path_name("a\nb") == "a\\nb"


@pytest.mark.parametrize(
    ("variables", "is_on_one"),
    [({}, False), ({"CI": ""}, False), ({"CI": "1"}, True), ({"BUILDKITE": "true"}, True)],
)
def test_a_runner_is_known_by_its_variables(variables: dict[str, str], *, is_on_one: bool) -> None:
    assert is_on_runner(variables) is is_on_one


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0%"),
        (0.001, "<1%"),
        (0.005, "<1%"),
        (0.114, "11%"),
        (0.996, "99%"),
        (1, "100%"),
        (1.15, "115%"),
    ],
)
def test_a_whole_percentage_hides_neither_a_little_nor_a_rest(share: float, shown: str) -> None:
    assert percent_text(share) == shown


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (100, 41, "59% saved"),
        (15, 25, "67% more"),
        (100, 100, "0% saved"),
        (10_000, 9_999, "<1% saved"),
    ],
)
def test_a_change_of_size_is_saved_or_more(before: int, after: int, shown: str) -> None:
    assert change_text(before, after) == shown


def test_words_can_be_typed_again() -> None:
    assert shell_words(["run.jsonl", "--pin", "it's", "--target", "60k"]) == (
        """run.jsonl --pin 'it'"'"'s' --target 60k"""
    )
