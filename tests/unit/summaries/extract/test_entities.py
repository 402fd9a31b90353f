import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.summaries.extract.entities import MAX_CHARS, Lexicon


@pytest.mark.parametrize(
    ("text", "kind", "entity"),
    [
        ("see https://example.org/a_b?q=1#top.", "url", "https://example.org/a_b?q=1"),
        ("commit 4f9d2c1 is fine", "id", "4f9d2c1"),
        ("id 3f2504e0-4f89-41d3-9a0c-0305e82c3301", "id", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
        ("host 10.0.0.12:8080", "id", "10.0.0.12"),
        ("fixes ABC-123", "id", "ABC-123"),
        ("model gpt-oss-20b", "id", "gpt-oss-20b"),
        ("open src/app/core.py:12", "path", "src/app/core.py"),
        ("in /etc/nginx/nginx.conf,", "path", "/etc/nginx/nginx.conf"),
        ("./run_all.sh now", "path", "run_all.sh"),
        ("raise ParseError", "error", "ParseError"),
        ("ruff says PLR2004", "error", "PLR2004"),
        ("call load_config(path)", "symbol", "load_config"),
        ("self.readerFactory.open()", "symbol", "self.readerFactory.open"),
        ("class HandOver:", "symbol", "HandOver"),
        ("the content-type header", "name", "content-type"),
        ("\x1b[33mloaded_key\x1b[0m", "symbol", "loaded_key"),
        ("[33mloaded_key", "symbol", "loaded_key"),
        ("at https://example.org/a_b\x1b[0m", "url", "https://example.org/a_b"),
        ('{"a":1,\\n\\t\\tshadowTree}', "symbol", "shadowTree"),
        ('{"files":"a\\nVerbosity.tsx\\n"}', "path", "Verbosity.tsx"),
        ("C:\\work\\notes.md", "path", "notes.md"),
    ],
)
def test_an_entity_is_found_with_its_kind(text: str, kind: str, entity: str) -> None:
    lexicon = Lexicon()
    assert lexicon.entities(text) == (entity,)
    assert lexicon.kind(entity) == kind


@pytest.mark.parametrize(
    "text",
    [
        "plain words and numbers 12345 and dates 2024/05/06",
        "and/or either/or </span> /export --verbose",
        "package.json and os.path and in_progress",
        "A" * 300 + "/" + "b" * 300,
    ],
)
def test_what_any_session_says_is_no_entity(text: str) -> None:
    assert Lexicon().entities(text) == ()


def test_paths_are_relative_to_the_working_folder() -> None:
    lexicon = Lexicon("/home/me/project")
    assert lexicon.entities("/home/me/project/src/a.py and src/a.py") == ("src/a.py",)


@given(st.text(), st.text())
def test_answers_do_not_depend_on_earlier_questions(before: str, text: str) -> None:
    lexicon = Lexicon("/home")
    lexicon.entities(before)
    found = lexicon.entities(text)
    assert found == Lexicon("/home").entities(text)
    assert all(len(entity) <= MAX_CHARS for entity in found)
