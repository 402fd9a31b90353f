"""What of an error is read: the texts in its JSON, a bounded part of it, and the figures."""

import json

import pytest

from compactctl.profiles.error_texts import error_texts
from compactctl.profiles.refusals import (
    TokenFigures,
    _compile_words,
    compile_form,
    read_figures,
)


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("failed", ("failed",)),
        (" two\n  lines ", ("two lines", "twolines")),
        ("a \\u003e b &gt; c", ("a > b > c",)),
        ('"only"', ("only",)),
        ('{"message": "a", "other": "b"}', ("a",)),
        ('{"Message": "a"}', ("a",)),
        ('{"other": "b"}', ('{"other": "b"}',)),
        ("{}", ("{}",)),
        ('{"error": {"message": "in"}, "message": "out"}', ("out", "in")),
        ('["a", {"message": "b"}, ["c"]]', ("a", "b", "c")),
        (json.dumps({"message": json.dumps({"detail": "deep"})}), ("deep",)),
        ('{"message": "{not json"}', ("{not json",)),
        # Objects within a text come before the text itself.
        ('{"message":"a"} at 1', ("a", '{"message":"a"} at 1')),
        ('at [1] {"message":"a"} ["b"]', ("a", "b", 'at [1] {"message":"a"} ["b"]')),
        ('{{"message":"a"}', ("a", '{{"message":"a"}')),
        ('x ["a"', ('x ["a"',)),
    ],
)
def test_the_texts_of_an_error(text: str, texts: tuple[str, ...]) -> None:
    assert error_texts(text) == texts


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({"status": 413}, ("status 413",)),
        ({"statusCode": "413"}, ("status 413",)),
        ({"code": 400}, ("status 400",)),
        ({"code": "bad"}, ("status bad", "bad")),
        ({"status": None, "message": "x"}, ("x",)),
        ({"n_ctx": 256, "n_prompt_tokens": 1_407}, ("n_prompt_tokens 1407 n_ctx 256",)),
        ({"n_ctx": 256}, ("n_ctx 256",)),
        ({"isRetryable": False}, ("not retryable",)),
        ({"retryable": False, "message": "x"}, ("not retryable", "x")),
        ({"isRetryable": True, "message": "x"}, ("x",)),
        ({"retryable": 0, "message": "x"}, ("x",)),
    ],
)
def test_fields_that_decide_become_texts(fields: dict[str, object], texts: tuple[str, ...]) -> None:
    assert error_texts(json.dumps(fields)) == texts


@pytest.mark.parametrize(("depth", "found"), [(12, "deep"), (13, None)])
def test_twelve_levels_are_read(depth: int, found: str | None) -> None:
    error: object = "deep"
    for _ in range(depth):
        error = {"error": error}
    text = json.dumps(error)
    assert error_texts(text) == (found or text,)


@pytest.mark.parametrize(("count", "read"), [(499, 499), (500, 499), (600, 499)])
def test_five_hundred_values_are_read(count: int, read: int) -> None:
    assert len(error_texts(json.dumps([str(n) for n in range(count)]))) == read


@pytest.mark.parametrize(("broken", "found"), [(7, ("a",)), (8, ())])
def test_eight_places_are_tried_for_an_object_in_a_text(
    broken: int, found: tuple[str, ...]
) -> None:
    text = "x" + "{" * broken + '["a"]'
    assert error_texts(text) == (*found, text)


def test_no_more_than_a_million_characters_are_parsed() -> None:
    text = json.dumps({"message": "a", "other": "x" * (1_000_000 - 29)})
    assert (len(text), error_texts(text)) == (1_000_000, ("a",))
    assert len(error_texts(f"{text} ")) == 1
    assert error_texts(f"{text} ") != ("a",)
    quoted = "x" + text.replace("x", "", 1)
    assert (len(quoted), error_texts(quoted)[0]) == (1_000_000, "a")
    assert len(error_texts(f"{quoted} ")) == 1


def test_texts_lose_their_middle_beyond_32768_characters() -> None:
    whole = "a" * 16_384 + "b" * 16_384
    assert error_texts(whole) == (whole,)
    assert error_texts(f"{whole[:16_384]}x{whole[16_384:]}") == (f"{'a' * 16_384} {'b' * 16_384}",)
    odd = "a" * 16_384 + "xyz" + "b" * 16_384
    assert error_texts(odd) == (f"{'a' * 16_384} {'b' * 16_384}",)


@pytest.mark.parametrize(
    ("first", "rest"), [(32_764, ("abcd",)), (32_765, ("a d",)), (32_767, ("", "")), (32_768, ())]
)
def test_what_the_first_text_leaves_is_for_the_others(first: int, rest: tuple[str, ...]) -> None:
    texts = error_texts(json.dumps(["x" * first, "abcd"]))
    assert texts[0] == "x" * first
    assert texts[1:] == rest[:1]


@pytest.mark.parametrize(
    ("form", "text", "figures"),
    [
        ("{actual} tokens > {limit}", "213,462 tokens > 200000", (213_462, 200_000, 0)),
        ("{actual} tokens > {limit}", "213,462  tokens>200000", (213_462, 200_000, 0)),
        ("{actual} tokens > {limit}", "213462 TOKENS: > '200_000", (213_462, 200_000, 0)),
        ("{actual} tokens > {limit}", "213462 tokens, > 200000", None),
        ("{actual} + {answer} > {limit}", "190000 + 16000 > 200000", (206_000, 200_000, 16_000)),
        ("limit {limit} … {actual}", "limit 5, but you sent (7)", (7, 5, 0)),
        ("limit {limit} … {actual}", "limit 5, or 6 then 7", (6, 5, 0)),
        ("limit {limit}…{actual}", "limit 5\n7", None),
        ("limit {limit}…{actual}", "limit 5" + "x" * 100 + "7", (7, 5, 0)),
        ("limit {limit}…{actual}", "limit 5" + "x" * 101 + "7", None),
        ("is {limit}", "is 8192,10", (None, 8_192, 0)),
        ("is {limit}", "is 1,234,567.", (None, 1_234_567, 0)),
        ("is {limit}", "is 1234,567", (None, 1_234, 0)),
        ("is {limit}", "is 12,", (None, 12, 0)),
        ("at {limit}", "not 12", None),
        ("is {limit}", "is 1.5", (None, 1, 0)),
        ("{limit} it is", "1.5 it is", None),
        ("{limit}.", "see 1_5.", (None, 1, 0)),
        ("{other} of {limit}", "3 of 4", (None, 4, 0)),
        ("{actual} and {actual} of {limit}", "3 and 4 of 5", (7, 5, 0)),
        ("{actual} (all)", "9 (all)", (9, None, 0)),
        ("{actual} (all)", "9 all", None),
    ],
)
def test_a_form_finds_its_figures(
    form: str, text: str, figures: tuple[int | None, int | None, int] | None
) -> None:
    found = read_figures(text, [compile_form(form)])
    assert (found.actual, found.limit, found.answer) == (figures or (None, None, 0))


def test_a_form_knows_its_text_and_roles() -> None:
    form = compile_form("{actual} of {limit} … {other}", proves_overflow=True)
    assert (form.text, form.roles) == (
        "{actual} of {limit} … {other}",
        ("actual", "limit", "other"),
    )
    assert form.proves_overflow
    assert not compile_form("{actual}").proves_overflow


@pytest.mark.parametrize(
    ("actual", "limit", "gap"),
    [(6, 5, 1), (5, 5, None), (4, 5, None), (None, 5, None), (6, None, None)],
)
def test_a_gap_is_what_exceeds_a_limit(
    actual: int | None, limit: int | None, gap: int | None
) -> None:
    assert TokenFigures(actual=actual, limit=limit).gap == gap


def test_figures_that_exceed_their_limit_come_before_others() -> None:
    small, large = compile_form("sent {actual} of {limit}"), compile_form("or {actual} of {limit}")
    text = "sent 3 of 5 or 7 of 5"
    assert read_figures(text, [small, large]) == TokenFigures(actual=7, limit=5)
    assert read_figures(text, [small]) == TokenFigures(actual=3, limit=5)
    assert read_figures("sent 3 of 5 or 4 of 5", [large, small]).actual == 4
    assert read_figures("nothing", [small, large]) == TokenFigures()


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ("too long", "is TOO LONG.", True),
        ("413 … large", "413 is too\nlarge", True),
        ("413", "1413", False),
        ("413", "4130", False),
        ("413", "a413b", True),
        ("status 413", "status 4131", False),
        ("413 status", "1413 status", False),
        ("4 states", "14 states", False),
        ("status 4", "status 41", False),
        ("a … b", "a" + "x" * 200 + "b", True),
        ("a … b", "a" + "x" * 201 + "b", False),
        ("a.b", "axb", False),
    ],
)
def test_a_number_at_the_edge_of_words_is_a_whole_one(
    words: str,
    text: str,
    found: bool,  # noqa: FBT001
) -> None:
    assert (_compile_words(words).search(text) is not None) is found
