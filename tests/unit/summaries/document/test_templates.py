import re

import pytest
from builders import assistant, call, conversation, result, summary, user

from compactctl.errors import UsageError
from compactctl.model.summary import SummaryRequest
from compactctl.summaries.document import offline
from compactctl.summaries.document.templates import (
    TEMPLATES,
    Template,
    resolve_template,
    template_from,
)
from compactctl.summaries.extract.items import DECISIONS, OPERATIONS, RULES

HEADINGS = {
    "nine": [
        "Primary Request and Intent", "Key Technical Concepts", "Files and Code Sections",
        "Problem Solving", "Pending Tasks", "Task Evolution", "Current Work", "Next Step",
        "Required Files",
    ],
    "eight": [
        "Conversation Overview", "Technical Foundation", "Codebase Status", "Problem Resolution",
        "Progress Tracking", "Active Work State", "Recent Operations", "Continuation Plan",
    ],
    "six": ["Goal", "Constraints", "Progress", "Decisions", "Next steps", "Files"],
}  # fmt: skip
HEADINGS["ten"] = [*HEADINGS["nine"], "Constraints and Established Rules"]

TALK = conversation(
    user("Make the parser strict, please, in the whole of the reader module."),
    user("Never touch generated_code.py."),
    assistant("The root cause is in parse_item, because it ignores errors."),
    call("r", "Read", file_path="src/reader.py"),
    result("r", "def parse_item(text):\n    return load_value(text)"),
    call("t", "Bash", command="pytest tests/test_reader.py"),
    result("t", "AssertionError: bad_value\n1 failed", is_error=True),
    user("Now do the writer module."),
)


def count(text: str) -> int:
    return len(text) // 4 + 1


def written(template: str = "nine", template_text: str = "") -> dict[str, str]:
    """Summarize and return the sections' texts by heading, in order."""
    request = SummaryRequest(
        messages=TALK, budget=2_000, template=template, template_text=template_text
    )
    pieces = re.split(
        r"^### \d+\. (.+)$", offline.write_offline_summary(request, count).text, flags=re.MULTILINE
    )
    return dict(zip(pieces[1::2], (piece.strip() for piece in pieces[2::2]), strict=True))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_summary_has_the_sections_of_its_template_in_order(name: str) -> None:
    assert list(written(name)) == HEADINGS[name]


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=lambda each: each.name)
def test_everything_has_a_home_among_the_sections(template: Template) -> None:
    homes = [template.section_for(section, topic) for section in range(1, 10) for topic in _TOPICS]
    assert set(homes) <= set(range(1, len(template.sections) + 1))


_TOPICS = ("", RULES, DECISIONS, OPERATIONS)


def test_rules_have_a_section_of_their_own_where_there_is_one() -> None:
    rule = "Never touch generated_code.py."
    assert rule in written("nine")["Primary Request and Intent"]
    assert rule in written("ten")["Constraints and Established Rules"]
    assert rule in written("six")["Constraints"]
    assert rule not in written("six")["Goal"]


def test_the_six_sections_take_what_belongs_to_them() -> None:
    found = written("six")
    assert "Now do the writer module." in found["Goal"]
    assert "AssertionError: bad_value" in found["Progress"]
    assert "parse_item, because it ignores errors" in found["Decisions"]
    assert "has no reply yet" in found["Next steps"]
    assert "src/reader.py - read" in found["Files"]


def test_the_newest_calls_are_recent_operations_in_eight() -> None:
    assert "pytest tests/test_reader.py" in written("eight")["Recent Operations"]


@pytest.mark.parametrize(("name", "empty"), [("nine", "N/A"), ("six", "(none)")])
def test_an_empty_section_says_so_in_the_words_of_its_system(name: str, empty: str) -> None:
    request = SummaryRequest(messages=(), budget=1_000, template=name)
    text = offline.write_offline_summary(request, count).text
    assert re.findall(r"^### .+\n(.+)$", text, re.MULTILINE) == [empty] * len(HEADINGS[name])


def test_rules_in_an_earlier_summary_are_rules() -> None:
    talk = conversation(summary("## Constraints\n- Keep port 8080 free."), *TALK[-1:])
    request = SummaryRequest(messages=talk, budget=2_000, template="ten")
    last = offline.write_offline_summary(request, count).text.split("### 10.")[1]
    assert "Keep port 8080 free." in last


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("Goal\nState\n\nWhat is left\n", ["Goal", "State", "What is left"]),
        ("1. Goal\n2) State:\n- Rules", ["Goal", "State", "Rules"]),
        ("# Mine\nWhat for.\n## Yours ##\ntext\nmore", ["Mine", "Yours"]),
        ("preface\n# Only this", ["Only this"]),
    ],
)
def test_a_users_template_is_headings(text: str, headings: list[str]) -> None:
    assert [section.heading for section in template_from(text).sections] == headings
    assert list(written(template_text=text)) == headings


def test_text_below_a_markdown_heading_is_a_hint() -> None:
    template = template_from("# Goal\nWhat for,\nand for whom.\n# Rest")
    assert [section.hint for section in template.sections] == ["What for, and for whom.", ""]


def test_items_go_where_the_words_of_the_headings_fit() -> None:
    found = written(template_text="# Aim\nthe request\n# House rules\n# Files\n# Errors\n# Notes")
    assert "Now do the writer module." in found["Aim"]
    assert "Never touch generated_code.py." in found["House rules"]
    assert "src/reader.py" in found["Files"]
    assert "AssertionError: bad_value" in found["Errors"]
    assert "has no reply yet" in found["Notes"]


def test_what_fits_nowhere_goes_into_the_last_section() -> None:
    found = written(template_text="Alpha\nOmega")
    assert found["Alpha"] == "N/A"
    assert "Now do the writer module." in found["Omega"]


@pytest.mark.parametrize(
    ("text", "words"), [("\n \n#\n", "no heading"), ("Goal\ngoal", "'goal' twice")]
)
def test_a_template_without_meaning_is_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        template_from(text)


def test_an_unknown_template_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'seven'; templates: nine, ten, eight, six"):
        resolve_template("seven", "")
