"""Which sentences set a rule, by the words of each language."""

# ruff: noqa: RUF001 - letters and marks of many languages

import re
import tomllib
from importlib.resources import files

import pytest

from compactctl.summaries.extract.rule_words import MAX_TYPED, is_abbreviation, is_rule
from compactctl.summaries.extract.user_words import find_rules

RULES = {
    "en": [
        "Never delete the table t_1.", "Hands off t_1.", "Leave the table t_1 alone.",
        "No changes to t_1.", "Skip the docs of t_1.", "You must not touch t_1.",
        "Leave t_1 as it is.", "Make sure that t_1 stays.", "Don't write to t_1.",
        "You may not edit t_1.", "You cannot push t_1.", "You can’t touch t_1.",
        "Nobody may push t_1.", "No mocks of t_1!", "Pushing t_1 is banned.",
        "You are not permitted to push t_1.", "t_1 is not to be touched.",
        "The table t_1 is never to be dropped.", "Not a single mock of t_1.",
        "Never delete t_1, understood?", "Never delete t_1, ok?", "Never delete t_1! can you?",
        'Never change "port": 8080 of t_1.', "Never use {'t_1': 1} as a default argument.",
        "Migrations of t_1 are only run by me.",
    ],
    "de": [
        "Lösche niemals die Tabelle t_1.", "Finger weg von t_1.", "Lass t_1 in Ruhe.",
        "Keine Änderungen an t_1.", "Überspring die Doku von t_1.", "Die Tabelle t_1 darf nie weg.",
        "Lass t_1 so, wie es ist.", "Achte darauf, dass t_1 bleibt.",
        "Bitte nichts an t_1 löschen.", "Niemand darf t_1 pushen.", "t_1 ist tabu.",
        "Achtung: t_1 ist das, was nicht gelöscht werden darf.", "Lösche nie t_1, verstanden?",
        "Die Tabelle t_1 wird nicht gelöscht.",
    ],
    "fr": [
        "Ne supprime jamais la table t_1.", "Ne touche pas à t_1.", "Laisse t_1 tranquille.",
        "Aucune modification de t_1.", "Saute la doc de t_1.", "N'efface pas la table t_1.",
        "Il faut garder t_1.", "Bas les pattes de t_1.", "Aucun mock de t_1.",
        "Il est hors de question de pousser t_1.", "Pas de mocks de t_1.",
        "Ne supprime jamais t_1, d'accord ?", "Arrête, ne touche pas à t_1 !",
        "La table t_1 ne se supprime pas.",
    ],
    "es": [
        "Nunca borres la tabla t_1.", "No toques t_1.", "Deja t_1 en paz.", "Sin cambios en t_1.",
        "Omite la documentación de t_1.", "No borres la tabla t_1.", "Debes conservar t_1.",
        "Ningún cambio en t_1.", "No tocar t_1.", "Nadie puede tocar t_1.", "Ningún mock de t_1.",
        "No se puede borrar t_1.", "Nunca borres t_1, ¿entendido?",
    ],
    "pt": [
        "Nunca apague a tabela t_1.", "Não mexa em t_1.", "Deixe t_1 em paz.",
        "Nenhuma alteração em t_1.", "Pule a documentação de t_1.", "Não apague a tabela t_1.",
        "Evite mudar t_1.", "A tabela t_1 deve ficar.", "Ninguém pode mexer em t_1.",
        "Nenhum mock de t_1.", "Nunca apague t_1, entendeu?",
    ],
    "it": [
        "Non cancellare mai la tabella t_1.", "Giù le mani da t_1.", "Lascia stare t_1.",
        "Lascia t_1 in pace.", "Nessuna modifica a t_1.", "Salta la documentazione di t_1.",
        "Non toccare t_1.", "La tabella t_1 deve restare.", "Nessuno può toccare t_1.",
        "Non si tocca t_1.", "Niente mock di t_1.", "Non cancellare mai t_1, capito?",
    ],
    "ru": [
        "Никогда не удаляй таблицу t_1.", "Не трогай t_1.", "Руки прочь от t_1.",
        "Оставь t_1 в покое.", "Никаких изменений в t_1.", "Пропусти документацию t_1.",
        "Таблицу t_1 нельзя удалять.", "Обязательно сохрани t_1.",
        "Запрещаю пушить t_1.", "Таблицу t_1 не трогать.",
        "Никто не трогает t_1.", "Не удаляй t_1, понял?",
    ],
    "zh": [
        "绝对不要删除表 t_1。", "别动 t_1。", "禁止修改 t_1。", "跳过 t_1 的文档。",
        "表 t_1 必须保留。", "请勿修改 t_1。", "只能读 t_1。", "不得写入 t_1。",
        "t_1 碰都不能碰。", "不要删除 t_1，明白吗？",
    ],
    "ja": [
        "テーブル t_1 は絶対に削除しないでください。", "t_1 には触らないで。",
        "t_1 の変更は禁止です。", "t_1 を消すな。", "t_1 を変更してはいけません。",
        "t_1 はそのままにしてください。",
        "t_1 は必ず残すこと。", "t_1 の文書はスキップ。",
        "t_1 を消さないで。", "t_1 を変更しないように。", "t_1 を消したらだめ。",
        "t_1 のモックは使わない。", "t_1 のプッシュは不可。",
    ],
    "ko": [
        "t_1 테이블을 절대 삭제하지 마세요.", "t_1 은 건드리지 마.", "t_1 을 변경하면 안 됩니다.",
        "t_1 은 반드시 유지해야 합니다.", "t_1 문서는 건너뛰세요.", "t_1 은 그대로 두세요.",
        "t_1 수정 금지.", "t_1 을 쓰지 말 것.",
        "t_1 은 수정 불가.", "t_1 을 푸시하면 안됨.", "t_1 을 지우면 안돼요.",
    ],
}  # fmt: skip
PASTED = "It is said here how that came about in the end. " * 40


@pytest.mark.parametrize("language", RULES)
def test_rules_are_found_by_the_words_of_their_language(language: str) -> None:
    for rule in RULES[language]:
        assert find_rules(rule) == [rule]
        assert find_rules(f"{PASTED}\n\n{rule}\n\n{PASTED}") == [rule]


def test_only_a_long_paragraph_and_what_looks_like_code_or_a_log_is_pasted() -> None:
    rule = "The table is only changed by me."
    assert find_rules(f"{PASTED}\n\n{rule}") == [rule]
    assert find_rules(f"{PASTED} {rule}") == []
    log = "\n".join(f"2026-05-01 10:00:0{n} INFO Only {n} of them." for n in range(6))
    code = "\n".join(f"    return {n} if only else 0;" for n in range(6))
    assert find_rules(f"{log}\n\n{code}") == []
    assert find_rules(f"{PASTED}\n\n- one without tabs\n- another") == []
    assert find_rules("- one without tabs\n- another") == ["- one without tabs\n- another"]


def test_every_language_has_rules_here() -> None:
    text = files("compactctl.summaries.extract").joinpath("rule_words.toml").read_text("utf-8")
    languages = tomllib.loads(text)
    assert set(languages) == set(RULES)
    for words in languages.values():
        for name in ("demands", "hints", "orders", "openers", "questions", "titles", "tags"):
            for word in words.get(name, ()):
                re.compile(word)


@pytest.mark.parametrize(
    ("sentence", "typed", "pasted"),
    [
        ("It never ends well.", True, False),
        ("It only ends well.", True, False),
        ("Never end it.", True, True),
        ("So it is, never end it.", True, True),
        ("Then please use tabs.", True, True),
        ("They use tabs.", False, False),
        ("Should I never push?", False, False),
        ("(must we always push?)", False, False),
        ("should we always push", False, False),
        ("Also, do we have to push. is it required", False, False),
        ("how does it push.  must it be forced?  ok.", False, False),
        ("how does it push.  never force it.", True, True),
        ("Do not push.", True, True),
        ("do this, never that", True, True),
        ("Should the build fail, never push.", True, True),
        ("What you must not do is push.", True, True),
        ("Must I push, or not?", False, False),
        ("We must push. Should I?", True, True),
        ("Is it so? Should I never push?", False, False),
        ('Never change "port": 8080 in it.', True, True),
        ('{"a": "You must not do it", "b": "Never."}', False, False),
        ("We must push.", True, True),
        ("The door is green.", False, False),
        ('Use "kg", "cm", "ml", "l", "g" and "pcs", never "lb".', True, True),
        ('Error: {"text": "ids must be unique"}', False, False),
        ("Rules:", True, True),
        ("Never " + "x" * 794, True, True),
        ("Never " + "x" * 795, True, False),
        ("Never " + "x" * (MAX_TYPED - 5), False, False),
    ],
)
def test_in_a_pasted_text_a_rule_must_demand_something(
    sentence: str,
    typed: bool,  # noqa: FBT001
    pasted: bool,  # noqa: FBT001
) -> None:
    assert is_rule(sentence, is_typed=True) is typed
    assert is_rule(sentence, is_typed=False) is pasted


@pytest.mark.parametrize(
    "text",
    [
        "should we group runs:\n- by day\n- by hour",
        "should we group runs by day? or should we keep them\nas they are",
        "how does it count the runs.  do we have to pay for each?",
        "Also, should we group runs as we do there. do we need to set a default",
        "why must it be grouped (should it be at all?)",
    ],
)
def test_what_only_asks_is_not_a_rule(text: str) -> None:
    assert find_rules(text) == []
    assert find_rules(f"{text}\n\nNever group them.") == ["Never group them."]


def test_a_list_is_a_rule_with_its_introduction_or_an_item() -> None:
    listed = "Do not touch these files:\n- a.py\n- b.py"
    assert find_rules(f"Hello there.\n\n{listed}\n\nGood.") == [listed]
    assert find_rules("Good:\n- a.py\n- never b.py") == ["Good:\n- a.py\n- never b.py"]
    assert find_rules("Good:\n- a.py\n- b.py") == []
    many = "\n".join(f"- src/file_{n}.py {'x' * 40}" for n in range(40))
    assert "\n".join(find_rules(f"Do not touch these:\n{many}")).endswith("39.py " + "x" * 40)
    assert find_rules(f"Some files:\n{many}\n- never z.py") == ["- never z.py"]
    assert find_rules(f"- Never push.\n{many}") == ["- Never push."]


def test_code_is_data_unless_a_rule_introduces_it() -> None:
    code = "```\n# never call it\n```"
    assert find_rules(f"Fix this:\n{code}") == []
    assert find_rules(f"- fix this:\n  {code}\n- then that") == []
    assert find_rules(f"# Fix\n\nThis is how:\n\n{code}") == []
    assert find_rules(f"Never run:\n{code}") == [f"Never run:\n{code}"]


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        ("Mr", True), ("z.B", True), ("(e.g", True), ("p.ex", True), ("J", True), ("bzw", True),
        ("т.е", True), ("word", False), ("main.py", False), ("1.2", False), ("etc", False),
    ],
)  # fmt: skip
def test_abbreviations(word: str, is_one: bool) -> None:  # noqa: FBT001
    assert is_abbreviation(word) is is_one
