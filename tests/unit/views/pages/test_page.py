"""What is said of a page, which names are on it, and how much of the texts."""

import pytest
from builders import assistant, conversation, result, user
from unit.views.measurements import measured

from compactctl.commands.page_choice import PageChoice
from compactctl.views.pages.page import (
    PageNames,
    page_contents,
    page_contents_of_many,
    shown_texts,
)

CHOICE = PageChoice(path="p.html")
REDACTED = PageChoice(path="p.html", redact=True)


@pytest.mark.parametrize(
    ("choice", "cut", "unlisted", "lines"),
    [
        (CHOICE, None, 0, ["This page contains transcript text", "Text that looks like a key"]),
        (PageChoice(path="p", mask=False), None, 0, ["This page contains transcript text"]),
        (
            CHOICE,
            1_200,
            1_300,
            [
                "This page contains transcript text",
                "Text that looks like a key",
                "Texts are cut to 1,200 characters.",
                "The 1,300 smallest messages are not listed.",
            ],
        ),
        (
            CHOICE,
            0,
            0,
            [
                "This page contains transcript text",
                "Text that looks like a key",
                "There is no space for texts.",
            ],
        ),
        (REDACTED, 5, 5, ["This page contains figures only"]),
    ],
)
def test_a_page_says_what_it_holds(
    choice: PageChoice, cut: int | None, unlisted: int, lines: list[str]
) -> None:
    found = list(page_contents(choice, cut, unlisted))
    assert len(found) == len(lines)
    assert all(one.startswith(other) for one, other in zip(found, lines, strict=True))


def test_a_page_of_many_says_whether_it_has_names() -> None:
    assert [len(list(page_contents_of_many(choice))) for choice in (CHOICE, REDACTED)] == [1, 1]
    assert "no names of files" in next(page_contents_of_many(REDACTED))
    assert "names of files and projects, no transcript text" in next(page_contents_of_many(CHOICE))


def test_names_are_shown_or_numbered() -> None:
    shown, hidden = PageNames(CHOICE), PageNames(REDACTED)
    assert [shown.file("a/b.py"), shown.project("shop"), shown.profile("p.toml")] == [
        "a/b.py", "shop", "p.toml",
    ]  # fmt: skip
    assert [shown.tool("mine"), shown.tool(""), shown.model("gpt-9")] == [
        "mine", "(unnamed)", "gpt-9",
    ]  # fmt: skip
    assert [hidden.file("a/b.py"), hidden.file("c"), hidden.file("a/b.py")] == [
        "file 1 (.py)", "file 2", "file 1 (.py)",
    ]  # fmt: skip
    assert [hidden.project("shop"), hidden.profile("p.toml")] == ["project 1", "profile 1"]
    assert [hidden.tool("mine"), hidden.tool("other"), hidden.model("gpt-9")] == [
        "tool 1", "tool 2", "another model",
    ]  # fmt: skip
    assert hidden.tool("Read") == shown.tool("read")


@pytest.mark.parametrize(
    ("choice", "model", "lines"),
    [
        (CHOICE, "gpt-4.1", ["counted with o200k_base (exact)", "model gpt-4.1"]),
        (REDACTED, "gpt-4.1", ["counted with o200k_base (exact)", "model gpt-4.1"]),
        (
            REDACTED,
            "mystery",
            [
                (
                    "counted with o200k_base (exact for this vocabulary, which is not known to be "
                    "the model's)"
                ),
                "another model",
            ],
        ),
    ],
)
def test_a_model_is_named_where_it_says_nothing_else(
    choice: PageChoice, model: str, lines: list[str]
) -> None:
    assert list(PageNames(choice).measured(measured(model))) == lines


def test_texts_are_shown_unless_they_are_redacted() -> None:
    talk = conversation(user("go"), assistant("done\x1b"), result("c", "ok"))
    assert shown_texts(talk, CHOICE) == (["go", "done\\x1b", "← result: ok"], None)
    assert shown_texts(talk, REDACTED) == (["", "", ""], None)
    assert shown_texts((), CHOICE) == ([], None)


@pytest.mark.parametrize(("mask", "is_shown"), [(True, False), (False, True)])
def test_secrets_in_texts_are_masked(*, mask: bool, is_shown: bool) -> None:
    secret = "sk-ant-" + "api03-" + "a1B2c3D4e5F6" * 5
    [text] = shown_texts(conversation(user(f"key {secret}")), PageChoice(path="p", mask=mask))[0]
    assert (secret in text) is is_shown


@pytest.mark.parametrize(
    ("count", "size", "cut"),
    [
        (100, 20_000, None),
        (90, 20_001, 20_000),
        # What says how much is missing takes room as well.
        (100, 20_001, 8_000),
        (101, 20_000, 8_000),
    ],
)
def test_texts_that_are_too_much_together_are_cut(count: int, size: int, cut: int | None) -> None:
    talk = conversation(*(user("x" * size) for _ in range(count)))
    texts, found = shown_texts(talk, PageChoice(path="p", mask=False))
    assert found == cut
    missing = "" if cut is None else f"\n[… {size - cut:,} more characters]"
    assert texts[0] == "x" * (cut or size) + missing
