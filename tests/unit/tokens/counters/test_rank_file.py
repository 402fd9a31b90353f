import base64
from pathlib import Path

import pytest

from compactctl.errors import UsageError
from compactctl.tokens.counters.bpe import BpeCounter
from compactctl.tokens.counters.rank_file import read_ranks
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.counters.vocabulary import VOCABULARIES, published_bytes

TEXTS = ["", "hello world", "it's 123456789 ÉCOLE 日本語\r\n\r\n  /x", "\ud800 \0", " " * 300]
BYTES = [bytes([byte]) for byte in range(256)]


def rank_file(path: Path, tokens: list[bytes]) -> Path:
    lines = (f"{base64.b64encode(t).decode()} {rank}\n" for rank, t in enumerate(tokens))
    path.write_text("".join(lines))
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return rank_file(tmp_path / "small.tiktoken", [*BYTES, b"he", b"ll", b"hell", b"hello"])


@pytest.mark.parametrize("name", sorted(VOCABULARIES))
def test_a_published_file_counts_like_our_own(name: str, tmp_path: Path) -> None:
    path = tmp_path / "my file xray #1.tiktoken"
    path.write_bytes(published_bytes(VOCABULARIES[name]))
    counter = parse_counter(f"file:{path}#{name}")
    assert counter.count_many(TEXTS) == BpeCounter(name).count_many(TEXTS)
    assert (counter.id, counter.exactness) == (f"file:{path.name}", "exact")


def test_ranks_decide_what_is_merged(small: Path) -> None:
    assert parse_counter(f"file:{small}").count_many(["hello", "help", "é"]) == [1, 3, 2]


def test_the_pattern_decides_where_texts_are_split(tmp_path: Path) -> None:
    path = rank_file(tmp_path / "ranks", [*BYTES, b"'s", b"x'", b"x's"])
    assert parse_counter(f"file:{path}#o200k_base").count_many(["x's"]) == [1]
    assert parse_counter(f"file:{path}#cl100k_base").count_many(["x's"]) == [2]
    assert parse_counter(f"file:{path}").count_many(["x's"]) == [1]


def test_a_changed_file_is_read_again(small: Path) -> None:
    assert parse_counter(f"file:{small}").count_many(["hello"]) == [1]
    rank_file(small, BYTES)
    assert parse_counter(f"file:{small}").count_many(["hello"]) == [5]


def test_a_name_may_be_followed_by_a_factor(small: Path) -> None:
    assert parse_counter(f"file:{small} x2").count_many(["hello"]) == [2]


def test_blank_lines_and_windows_line_ends_do_not_matter(small: Path) -> None:
    ranks = read_ranks(small)
    small.write_bytes(b"\r\n" + small.read_bytes().replace(b"\n", b"\r\n") + b"\n  \n")
    assert read_ranks(small) == ranks


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 257: not a token in base64 and its rank; give a tiktoken rank file"),
        ("aGVsbG8= 256 7", "line 257: not a token in base64 and its rank"),
        ("aGVsbG8 256", r"line 257: the token is not base64 \("),
        ("h!== 256", r"line 257: the token is not base64 \("),
        ("= 256", "line 257: the token is "),
        ("aGVsbG8= -1", "line 257: the rank is not a number of at most nine digits"),
        ("aGVsbG8= " + "9" * 5000, "line 257: the rank is not a number of at most nine digits"),
        ("AA== 256", "line 257: the token stands on line 1 already"),
        ("aGVsbG8= 255", "line 257: the rank 255 stands on line 256 already"),
    ],
)
def test_a_bad_line_is_named(line: str, complaint: str, tmp_path: Path) -> None:
    path = rank_file(tmp_path / "ranks", BYTES)
    with path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(UsageError, match=complaint) as raised:
        parse_counter(f"file:{path}")
    assert str(raised.value).startswith(f"{path}, ")
    assert "\n" not in str(raised.value)


def test_an_incomplete_file_is_refused(tmp_path: Path) -> None:
    path = rank_file(tmp_path / "ranks", [byte for byte in BYTES if byte != b"A"])
    with pytest.raises(UsageError, match="ranks: no token for byte 0x41"):
        parse_counter(f"file:{path}")


@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ("no/such", "no/such: No such file or directory; give a rank file"),
        (".", "Is a directory"),
        ("no/such#cl100k_base", "no/such: No such file"),
        ("no/such#gpt2", "no pattern named 'gpt2'; patterns: o200k_base, cl100k_base"),
        ("", "no token counter named 'file:'"),
    ],
)
def test_what_is_no_file_is_a_usage_error(argument: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_counter(f"file:{argument}")
