import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.errors import UsageError
from compactctl.tokens.models.token_sizes import parse_window


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4k", 4_000),
        ("128k", 128_000),
        ("16K", 16_000),
        ("32768", 32_768),
        ("131072", 131_072),
        ("1m", 1_000_000),
        ("1.05M", 1_050_000),
        ("1.5k", 1_500),
        (" 200k ", 200_000),
    ],
)
def test_windows_as_people_write_them(text: str, expected: int) -> None:
    assert parse_window(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "banana",
        "0",
        "0k",
        "-5",
        "128 k",
        "1e5",
        "1.0005k",
        "k",
        "inf",
        "nan",
        "1_000",
        "٣k",
        "128kb",
        "0x10",
        "1.k",
        "9" * 40,
    ],
)
def test_garbage_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="write it as 128k, 1m or 131072"):
        parse_window(text)


@given(st.integers(1, 10**12))
def test_every_number_of_tokens_is_read_back(tokens: int) -> None:
    assert parse_window(str(tokens)) == tokens
