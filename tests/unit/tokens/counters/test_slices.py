import pytest
from examples import tries
from hypothesis import example, given
from hypothesis import strategies as st

from compactctl.tokens.counters.tiktoken_counter import MAX_SLICE, MIN_SLICE, split_at_seams
from compactctl.tokens.counters.vocabulary import VOCABULARIES, load_encoding

LETTERS = ("it's", "DON'T", "'ll", "fooBar", "a", "ÉCOLE", "日本", "\u017f", "\u0301")
SPACES = (" ", "  ", "\t", "\n", "\r\n", "\n\n", "\n /", "\u00a0", "\x1c", "\x85")
OTHERS = ("123", "/", "'", "_", "\0", "{", '":', "-")

fragments = st.sampled_from((*LETTERS, *SPACES, *OTHERS))
texts = st.lists(fragments, max_size=60).map("".join)


@given(text=texts, shortest=st.integers(1, 10), extra=st.integers(1, 20))
def test_slices_add_up_to_the_text_and_stay_short(text: str, shortest: int, extra: int) -> None:
    longest = shortest + extra
    parts = [part for part, _ in split_at_seams(text, min_chars=shortest, max_chars=longest)]
    assert "".join(parts) == text
    assert all(len(part) <= longest for part in parts)


@pytest.mark.parametrize("name", sorted(VOCABULARIES))
@given(text=texts, shortest=st.integers(1, 6))
@tries(500)
@example(text="x = 1;\n// a comment\n};\n/** another */", shortest=1)
@example(text="-----\n/usr/bin\n-----\n/usr/lib", shortest=1)
def test_counts_add_up_over_seams(name: str, text: str, shortest: int) -> None:
    encode = load_encoding(name).encode_ordinary
    groups = [""]
    for part, seamless in split_at_seams(text, min_chars=shortest, max_chars=shortest + 8):
        groups[-1] += part
        if seamless:
            groups.append("")
    assert sum(len(encode(group)) for group in groups) == len(encode(text))


def test_a_text_that_is_not_huge_stays_whole() -> None:
    text = "word " * (MAX_SLICE // 5)
    assert list(split_at_seams(text)) == [(text, True)]


def test_a_huge_text_is_cut_at_its_first_seam_past_the_shortest_slice() -> None:
    start = "x" * MIN_SLICE + "y"
    assert next(split_at_seams(start + " z" + "w" * MAX_SLICE)) == (start, True)


def test_a_cut_without_a_seam_says_so() -> None:
    assert list(split_at_seams("日" * 25, min_chars=5, max_chars=10)) == [
        ("日" * 10, False),
        ("日" * 10, False),
        ("日" * 5, True),
    ]
