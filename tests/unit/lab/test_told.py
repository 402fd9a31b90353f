"""What texts tell: in other words, by the end of a path, by the beginning of a hash."""

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.audit.mention_index import MentionIndex
from compactctl.summaries.extract.entities import Lexicon


def told(*texts: str) -> MentionIndex:
    return MentionIndex(texts, Lexicon())


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("Never touch the migrations folder.", "The migrations folder must not be touched."),
        ("Please don't restart the live service.", "They want no restarts of the live service"),
        ("Use tabs instead of spaces.", "Uses tabs, not spaces"),
        ("Always run the linter before a commit.", "run the linter before each commit"),
        ("Do it.", "Nothing that matters."),
    ],
)
def test_a_rule_is_told_in_other_words(rule: str, text: str) -> None:
    assert told("Something else entirely stands here.", text).has_paraphrase(rule)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("Never touch the migrations folder.", "The reader of the port was renamed."),
        ("Never push to the main branch.", "The work was pushed to the main branch."),
        ("Keep the JSON field names.", "JSON. " + "Many other words stand here. " * 40 + "names"),
    ],
)
def test_what_is_not_told_or_turned_round_is_not_told(rule: str, text: str) -> None:
    assert not told(text).has_paraphrase(rule)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/app/port.py", "edited src/app/port.py"),
        ("src/app/port.py", "edited `app/port.py:12-40`, twice"),
        ("src/app/port.py", "see /home/kim/project/src/app/port.py."),
        ("src/app/port.py", r"C:\project\src\app\port.py was read"),
        ("src/app/port.py", r"<files>\n/work/src/app/other.py\n/work/src/app/port.py</files>"),
        (".github/ci.yml", "changed `.github/ci.yml`"),
        ("/work/plan.md", "the plan is in …/work/plan.md"),
        ("Makefile", "added a target to the Makefile."),
    ],
)
def test_a_path_is_told_by_its_end(path: str, text: str) -> None:
    assert told(text).has_path(path, is_only=False)


def test_a_file_name_is_enough_where_there_is_one_such_file() -> None:
    found = told("`port.py` reads the port")
    assert found.has_path("src/app/port.py", is_only=True)
    assert not found.has_path("src/app/port.py", is_only=False)
    assert not found.has_path("src/app/report.py", is_only=True)


def test_another_folder_is_another_file() -> None:
    assert not told("lib/app/port.py and src/port.py").has_path("src/app/port.py", is_only=False)


def test_a_name_may_be_the_field_of_another() -> None:
    assert told("it sets state.startedAt").has_entity("startedAt")
    assert not told("it sets state.startedAtOnce").has_entity("startedAt")


def test_the_id_of_a_commit_may_be_cut() -> None:
    found = told("committed as a1b2c3d4 by load_port")
    assert found.has_entity("a1b2c3d4e5f60718293a4b5c6d7e8f9001020304")
    assert not found.has_entity("a1b2c3e4e5f60718293a4b5c6d7e8f9001020304")
    assert found.has_entity("load_port")
    assert not found.has_entity("load_ports")


@tries()
@given(st.lists(st.text(max_size=40), max_size=6))
def test_what_is_said_is_told(texts: list[str]) -> None:
    found = told(*texts)
    lexicon = Lexicon()
    for text in texts:
        assert found.has_paraphrase(text) or len(text) > len(text.encode("ascii", "ignore"))
        assert all(map(found.has_entity, lexicon.entities(text)))
