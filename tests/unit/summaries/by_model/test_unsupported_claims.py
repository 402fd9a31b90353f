"""Claims that look otherwise in a summary than in its source, and are supported all the same."""

import pytest
from builders import call, conversation, result, user

from compactctl.summaries.by_model.unsupported_claims import source_texts, unsupported_claims

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
