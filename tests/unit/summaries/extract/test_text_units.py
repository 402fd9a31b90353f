"""Where a text may be cut: between sentences, lists and code blocks, never inside one."""

# ruff: noqa: RUF001 - letters and marks of many languages

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.summaries.extract.text_units import split_units


def units(text: str) -> list[str]:
    return [text[unit.start : unit.end] for unit in split_units(text)]


@pytest.mark.parametrize(
    "unit",
    [
        "Never run\n`make deploy-prod` from here.",
        "Never use Mr. Smith's key for it.",
        "You must keep these names, e.g. Cart and Basket, as they are.",
        "Behalte die Namen, z. B. Korb, d.h. alles bzw. Nr. 5 und ca. 7.",
        "Garde les noms, p.ex. Panier, et ceux de M. Blanc.",
        "Usa los de la Sra. García, p. ej. Cesta.",
        "Use o nome da Sra. Silva, p. ex. Cesta.",
        "Usa i nomi, ad es. Cesto, del Sig. Rossi.",
        "Оставь имена, т.е. Корзину и т.п. Вещи.",
        'Use "kg. And" and "lb" as units.',
        "Run `a. B` and ``c`. D`` first.",
        "Mind the list (see there. And here) of it.",
        "请看「这里。那里！」的内容。",
        "Wait... Then go on.",
        "Edit a.py and v1.2 now.",
        "Take approx. five of them.",
        "Never use the ! operator in Kotlin.",
        "Do not use ?? or !! in Kotlin code.",
        "Why? or why not? tell me.",
        f"Never change these rooms: {'the blue parlor; the green hall. and ' * 30}no more.",
    ],
)
def test_a_sentence_is_whole(unit: str) -> None:
    assert units(f"It begins. {unit} It ends.") in (
        ["It begins.", unit, "It ends."],
        [f"It begins. {unit}", "It ends."],
        [f"It begins. {unit} It ends."],
    )


LOG = "\n".join(f"2026-05-01 10:00:{n} served {'page ' * 9}{n}" for n in range(10, 30))
DATA = f"{'data ' * 400}\nNever push."


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("不要删。好！行？是", ["不要删。", "好！", "行？", "是"]),
        ("触らないで。「はい。」と言う。", ["触らないで。", "「はい。」と言う。"]),
        ("Lösche nichts. Überspring es.", ["Lösche nichts.", "Überspring es."]),
        ("Не трогай. Иди дальше.", ["Не трогай.", "Иди дальше."]),
        ("삭제하지 마세요. 계속하세요.", ["삭제하지 마세요.", "계속하세요."]),
        ('He said "Stop." Then go.', ['He said "Stop."', "Then go."]),
        ("¿Qué? ¡No lo toques! Sigue.", ["¿Qué?", "¡No lo toques!", "Sigue."]),
        ("always tabs\nnever push", ["always tabs\nnever push"]),
        ("", []),
        (" \n\n ", []),
        # Only where a sentence is too long to be one, lower case may begin another.
        ("it is so. " * 170 + "never push.", [*["it is so."] * 170, "never push."]),
        (LOG, LOG.split("\n")),
        (DATA, [f"{'data ' * 319}data", f"{'data ' * 79}data", "Never push."]),
    ],
)  # fmt: skip
def test_a_text_has_sentences(text: str, parts: list[str]) -> None:
    assert units(text) == parts


PATHS = "\n".join(f"src/legacy/billing_{n}.py" for n in range(20))
LIST = "- src/billing.py\n- src/tax.py"


@pytest.mark.parametrize(
    "text",
    [
        f"Do not touch these:\n{LIST}",
        f"Do not touch these:\n\n{LIST}",
        f"**Do not touch these:**\n{LIST}",
        f"Do not touch\n{LIST}",
        f"## Keep\n\n{LIST}",
        f"{LIST}\n\n- src/third.py",
        f"{LIST}\n  of the shop",
        "1. one\n2. two\n\n   still two\n3. three",
        "规则：\n1、不要删\n2、保留",
        "Do not run:\n```\nmake x\n\nmake y\n```",
        "Note this:\n\nIt is so.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "> Never.\n> Always.",
        "You must do the following:\nTabs are four wide.\nTests live below tests/.",
        f"Do not touch these:\n{PATHS}",
        f"Do not touch these:\n{PATHS}\n{LIST}",
        "必ず守ること：\nタブは四つ。\nテストを書く。",
        "Mind all of this:\n\nTabs are four wide. Tests live below tests/.",
        "- Ändere niemals die\nTabelle kunden und ihre Zeilen.\n- Zweitens",
        "- Never run\n`make deploy` before\n3 tests.\n- foo",
        "- このファイルを絶対に\n変更しないでください。\n- 次",
        "- the header:\n  ```\n- x = 1\n\n  ```\n- the footer. Of page 2",
        "- run:\n```\nx = 1\n\ny = 2\n```\n- stop",
        "You must:\n\n1. **Naming**\nNames are short.\n\n2. **Logs**\n\nThey go to logs/.",
        "规则：\n1.不要修改表A。\n2.表名用小写。",
        "规则：\n（1）不要修改表A。\n（2）表名用小写。",
        "规则：\n①不要修改表A。\n②表名用小写。",
        "ルール：\n・表Aを変更しない。\n・小文字。",
        "# Rules\n\nTables are lower case. So are columns.\n\nLogs go to logs/.\n\n- no tabs",
        "## Regeln:\n\nKlein schreiben.\n\n### Mehr\n\nKeine Tabs.",
    ],
)
def test_what_introduces_something_is_one_unit_with_it(text: str) -> None:
    behind = "# Other\n\nLast." if text.startswith("#") else "Last."
    assert units(f"First.\n\n{text}\n\n{behind}") == ["First.", text, behind]


def test_a_list_ends_where_prose_goes_on() -> None:
    assert units(f"{LIST}\n\nAfter it.") == [LIST, "After it."]


def test_of_a_long_list_each_item_is_a_unit_and_the_first_has_the_introduction() -> None:
    items = [f"- item {n} {'word ' * 20}end\n  and more" for n in range(40)]
    text = "Keep all of these:\n" + "\n".join(items)
    found = split_units(text)
    assert units(text) == [f"Keep all of these:\n{items[0]}", *items[1:]]
    assert [unit.head for unit in found] == [None, *[0] * 39]


def test_of_a_long_list_without_an_introduction_no_item_introduces_the_others() -> None:
    items = [f"- item {n} {'word ' * 20}end" for n in range(40)]
    assert {unit.head for unit in split_units("\n".join(items))} == {None}


def test_a_section_is_split_unless_it_is_small_and_has_rules() -> None:
    small = "Names are short.\n\nLogs go to logs/."
    assert units(f"# History\n\n{small}") == ["# History\n\nNames are short.", "Logs go to logs/."]
    long = "\n\n".join(f"Paragraph {n} {'word ' * 20}end." for n in range(40))
    assert len(units(f"# Rules\n\n{long}")) == 40
    assert units(f"# Rules\n\n{long}\n\n## Rules\n\n{small}")[-1] == f"## Rules\n\n{small}"


def test_what_is_long_does_not_belong_to_the_line_or_item_before() -> None:
    lines = [f"Line {n} {'word ' * 20}end." for n in range(40)]
    for first in ("Look:", "- item"):
        assert max(map(len, units("\n".join([first, *lines])))) <= 1_700


def test_code_without_an_end_is_prose() -> None:
    assert units("```\nOne. Two.") == ["```\nOne.", "Two."]


def test_long_code_is_a_unit_without_its_introduction() -> None:
    code = "```\n" + "x = 1\n" * 300 + "```"
    assert units(f"Fix this:\n{code}") == ["Fix this:", code]


LINES = st.sampled_from(
    [
        "", "- item one", "  - inner", "1. first", "Do this:", "A word. Another e.g. Word! End",
        "# Title", "```", "    code. Here", "「引用。」文。次", "lower case",
        '`a. B` and "c. D" so.',
        "| a | b |", "> said. So", "x" * 900, "so it is. " * 90,
    ]
)  # fmt: skip


@tries(300)
@given(st.lists(LINES, max_size=30).map("\n".join))
def test_units_follow_one_another_and_only_blanks_are_between(text: str) -> None:
    end = 0
    for unit in split_units(text):
        assert unit.start < unit.end
        assert unit.start < unit.sentence_end <= unit.end
        assert text[end : unit.start].strip() == ""
        end = unit.end
    assert text[end:].strip() == ""
    numbers = [unit.block for unit in split_units(text)]
    assert numbers == sorted(numbers)


@tries(300)
@given(st.lists(LINES, max_size=30).map("\n".join))
def test_no_unit_ends_in_a_code_block_or_behind_a_colon_before_a_list(text: str) -> None:
    found = split_units(text)
    for unit in found[:-1]:
        shown = text[unit.start : unit.end]
        after = text[unit.end :].lstrip()
        if shown.endswith(":") and not after.startswith("```"):
            assert unit.block != found[-1].block or not after.startswith(("- ", "1. "))
