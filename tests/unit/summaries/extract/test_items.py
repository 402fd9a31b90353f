import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.summaries.extract.items import OMISSION, clip_middle

PATHS = st.from_regex(r"[a-z]{1,12}(/[a-z_]{1,12}){0,5}\.py", fullmatch=True)


@given(st.lists(PATHS, min_size=1, max_size=40).map(" ".join), st.integers(100, 400))
def test_no_path_is_cut_inside(text: str, limit: int) -> None:
    pieces = clip_middle(text, limit).split(OMISSION.strip())
    assert {word for piece in pieces for word in piece.split()} <= set(text.split())
    assert len(clip_middle(text, limit)) <= limit + len(OMISSION)


@pytest.mark.parametrize(
    ("text", "limit", "found"),
    [
        ("short", 9, "short"),
        ("one two three four", 12, "one two […] four"),
        ("x" * 50, 9, "x" * 50),
        ("x" * 500, 9, "xxxxxx […] xxx"),
        ("read(file_name)", 12, "read( […] )"),
        ("1,2,3,4,5,6,7,8,9", 9, "1,2,3, […] 8,9"),
        ("/a/long/path/of/one.py is read", 40, "/a/long/path/of/one.py is read"),
        ("/a/long/path/of/one.py is read by all", 24, "/a/long/path/of/one.py […] by all"),
        ("Begin " + "x" * 90 + " end", 30, "Begin […] end"),
    ],
)
def test_a_text_loses_its_middle_between_words(text: str, limit: int, found: str) -> None:
    assert clip_middle(text, limit) == found
