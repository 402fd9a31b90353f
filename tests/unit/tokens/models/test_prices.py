"""What models cost: a table that guesses nothing, and tables of one's own."""

import re
from pathlib import Path
from typing import Any

import pytest

from compactctl.commands.measuring.user_tables import load_prices
from compactctl.errors import NoInputError, UsageError
from compactctl.tokens.models.prices import BUILTIN_PRICES, Price, parse_user_prices


def found(model: str | None, context: int = 1_000) -> Price:
    price = BUILTIN_PRICES.price_for(model, context)
    assert price is not None
    return price


@pytest.mark.parametrize(
    ("name", "sent", "output"),
    [
        ("claude-opus-4-5-20251101", 5, 25),
        ("claude-opus-4-20250514", 15, 75),
        ("claude-sonnet-4-5-20250929[1m]", 3, 15),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3, 15),
        ("claude-sonnet-4-5@20250929", 3, 15),
        ("anthropic/claude-opus-4.8", 5, 25),
        ("claude-3-5-haiku-latest", 0.8, 4),
        ("claude-fable-5", 10, 50),
        ("gpt-5.3-codex", 1.75, 14),
        ("gpt-5-2025-08-07", 1.25, 10),
        ("gpt-4o-2024-08-06", 2.5, 10),
        ("gpt-4o-2024-05-13", 5, 15),
        ("openai/gpt-5.4-mini", 0.75, 4.5),
    ],
)
def test_a_model_is_found_behind_its_provider_and_date(
    name: str, sent: float, output: float
) -> None:
    assert (found(name).input, found(name).output) == (sent, output)


@pytest.mark.parametrize(
    "name",
    [None, "", "claude-opus-4-9", "gpt-5.3-codex-spark", "gpt-5-pro", "opus", "gpt-5.4-2026", "["],
)
def test_a_model_that_is_not_in_the_table_has_no_price(name: str | None) -> None:
    assert BUILTIN_PRICES.price_for(name, 1_000) is None


def test_larger_requests_may_cost_more() -> None:
    assert (found("gpt-5.4", 272_000).input, found("gpt-5.4", 272_001).input) == (2.5, 5)


def test_every_row_says_where_it_is_from_and_no_two_are_alike() -> None:
    for row in BUILTIN_PRICES.rows:
        assert row.source.startswith("https://")
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", row.date)
        assert 0 < row.cache_read <= row.input <= row.cache_write <= row.cache_write_1h
        assert row.input < row.output
    assert len({(row.model, row.above_tokens) for row in BUILTIN_PRICES.rows}) == len(
        BUILTIN_PRICES.rows
    )


def test_a_table_of_ones_own_says_what_differs_from_other_input() -> None:
    long = {"over": 200_000, "input": 4, "output": 20}
    rows = {
        "My-Model.1": {"input": 2, "output": 10, "cache_write": 3, "source": "here", "long": long}
    }
    small, large = parse_user_prices(rows, "prices.toml").rows
    assert (small.model, small.above_tokens, small.source) == ("my-model-1", 0, "here")
    assert (small.cache_read, small.cache_write, small.cache_write_1h) == (2, 3, 3)
    assert (large.above_tokens, large.input, large.cache_read, large.source) == (
        200_000,
        4,
        4,
        "here",
    )


ROW = {"input": 1, "output": 2}


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ({"m": 3}, "'m': is not a table"),
        ({"m": {"input": 1}}, "'m': output is missing; give a number"),
        ({"m": {**ROW, "inptu": 1}}, "'m' has no key 'inptu'; did you mean input"),
        ({"m": {**ROW, "output": "2"}}, "'m': output = '2' is not a number"),
        ({"m": {**ROW, "output": -2}}, "output = -2 is not a number"),
        ({"m": {**ROW, "output": True}}, "output = True is not a number"),
        ({"m": {**ROW, "cache_read": float("nan")}}, "cache_read = nan is not a number"),
        ({"m": {**ROW, "date": 3}}, "'m': date = 3 is not text"),
        ({"m": {**ROW, "long": ROW}}, "'m': long: over is missing"),
        ({"m": {**ROW, "long": 5}}, "'m': long: is not a table"),
        ({"a.b": ROW, "A-b": ROW}, "'A-b' names a model listed above"),
        ({" ": ROW}, "a model without a name"),
    ],
)
def test_a_row_that_means_nothing_is_named(rows: dict[str, Any], error: str) -> None:
    with pytest.raises(UsageError, match=re.escape(error)) as raised:
        parse_user_prices(rows, "prices.toml")
    assert str(raised.value).startswith("prices.toml: ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.toml", '"gpt-5.4" = {input = 9, output = 12, date = 2026-01-02}'),
        ("q.toml", '["gpt-5.4"]\ninput = 9\noutput = 12\ndate = 2026-01-02\n'),
        ("p.json", '{"gpt-5.4": {"input": 9, "output": 12, "date": "2026-01-02"}}'),
    ],
)
def test_a_table_is_read_from_toml_or_json(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    table = load_prices(str(path))
    price = table.price_for("gpt-5.4-2026-03-05", 10)
    assert price is not None
    assert (table.name, price.input, price.date) == (name, 9, "2026-01-02")


def test_builtin_is_the_table_of_the_package_and_no_file_is_an_error(tmp_path: Path) -> None:
    assert load_prices("builtin") is BUILTIN_PRICES
    with pytest.raises(NoInputError):
        load_prices(str(tmp_path / "missing.toml"))
    with pytest.raises(
        UsageError, match="--prices -: standard input is for the transcript; name a file"
    ):
        load_prices("-")
