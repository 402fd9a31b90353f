import math
from collections import Counter

import pytest
from builders import assistant, call, conversation, result, thinking, user
from hypothesis import given
from hypothesis import strategies as st

from compactctl.summaries.extract import entities
from compactctl.summaries.extract.entities import (
    EntityDemand,
    EntityUses,
    Lexicon,
    shared_lexicon,
)
from compactctl.summaries.extract.passages import read_passages
from compactctl.summaries.extract.words import MAX_CHARS


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


@pytest.mark.parametrize(
    ("text", "cwd", "found"),
    [
        ("see src/app/main_loop.py.", None, ("src/app/main_loop.py",)),
        ("see /w/src/a.py and ./src/a.py", "/w/", ("src/a.py",)),
        ("see /w/src/a.py", None, ("/w/src/a.py",)),
        ("https://example.org/a#part!", None, ("https://example.org/a",)),
        ("#1234 and ENG-4012", None, ("#1234", "ENG-4012")),
        ("abc", None, ()),
        ("a_bc", None, ()),
        ("a_bcd", None, ("a_bcd",)),
        ("ValueError and SoilError", None, ("SoilError",)),
        ("a_" + "b" * 198, None, ("a_" + "b" * 198,)),
        ("a_" + "b" * 199, None, ()),
        (r'"\tsoil_sensor\nrain_gauge"', None, ("soil_sensor", "rain_gauge")),
        ("soil_sensor soil_sensor", None, ("soil_sensor",)),
    ],
)
def test_entities_are_paths_names_and_ids(
    text: str, cwd: str | None, found: tuple[str, ...]
) -> None:
    assert Lexicon(cwd).entities(text) == found


def test_demand_is_for_what_was_used_lately_often_and_by_the_model() -> None:
    passages = read_passages(
        conversation(
            user("soil_sensor"),
            assistant("soil_sensor"),
            call("a", "Bash", command="rain_gauge"),
            result("a", "rain_gauge leaf_count"),
            thinking("pond_size"),
            user("x"),
            assistant("done"),
        )
    )
    uses = EntityUses()
    lexicon = Lexicon()
    for passage in passages:
        uses.add(lexicon.entities(passage.text), passage)
    log = math.log1p
    assert uses.demand("soil_sensor") == pytest.approx(3.4 / (1 + 2 / 20) + 2.5 * log(2))
    assert uses.demand("leaf_count") == pytest.approx(
        3.4 / (1 + 2 / 20) + 2.5 * log(1) - 1.65 * log(1)
    )
    found = EntityDemand.of(passages, lexicon)
    assert set(found.demand) == {"soil_sensor", "rain_gauge", "leaf_count"}
    assert found.demand["soil_sensor"] == pytest.approx(uses.demand("soil_sensor") ** 1.75)
    assert found.mean_top_demand == pytest.approx(sum(found.demand.values()) / 3)
    assert EntityDemand.of((), lexicon).mean_top_demand == 1.0


def test_the_unit_of_demand_is_the_mean_of_the_sixty_most_wanted() -> None:
    demand = EntityDemand(demand={str(n): float(n) for n in range(100)}, lexicon=Lexicon())
    assert demand.mean_top_demand == sum(range(40, 100)) / 60


def test_old_input_is_wanted_by_nobody() -> None:
    uses = EntityUses(
        passage_counts=Counter({"a": 1}), not_by_model=Counter({"a": 99}), age={"a": 10_000}
    )
    assert uses.demand("a") == 0.0


def test_the_lexicon_of_a_folder_is_shared_until_it_is_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "see /srv/quay/moor.py and berth_1"
    lexicon = shared_lexicon("/srv/quay")
    assert lexicon.entities(text) == ("moor.py", "berth_1")
    assert shared_lexicon("/srv/quay") is lexicon
    assert shared_lexicon("/srv").entities(text) == ("quay/moor.py", "berth_1")
    monkeypatch.setattr(entities, "_MAX_REMEMBERED_WORDS", 0)
    assert shared_lexicon("/srv").entities(text) == ("quay/moor.py", "berth_1")
    monkeypatch.setattr(entities, "_MAX_REMEMBERED_CHARS", 9)
    lexicon = shared_lexicon("/srv")
    assert [lexicon.entities(text), lexicon.entities("berth_2"), lexicon.entities(text)] == [
        ("quay/moor.py", "berth_1"),
        ("berth_2",),
        ("quay/moor.py", "berth_1"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\\n\\nname_1 \\tname_2 C:\\new\\name_3 [31mname_4 #12 #1234567 a-b-c 0abcdef deadbeef",
        "moor.py lowercase words2 UpperCase CONST_A x/y.z run-2 E123 v1.2.3.4 __init__ ~/a/b",
    ],
)
def test_a_text_with_an_address_or_beyond_ascii_has_the_same_entities(text: str) -> None:
    found = Lexicon().entities(text)
    assert len(found) > 3
    assert Lexicon().entities(f"{text} é") == found
    assert Lexicon().entities(f"{text} ://") == found
