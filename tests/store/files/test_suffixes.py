"""What follows a state is written the same way, whether the state's last line is ended or not."""

import pytest

from compactctl.store.files.content import (
    can_follow,
    canonical_suffix,
    ends_mid_line,
    join_suffixes,
    suffix_after,
)


@pytest.mark.parametrize(
    ("state", "suffix", "canonical"),
    [
        (b"a\n", b"b\n", b"\nb\n"),
        (b"a", b"\nb\n", b"\nb\n"),
        (b"a", b"\r\nb", b"\r\nb"),
        (b"", b"b", b"\nb"),
        (b"a\n", b"", b""),
        (b"a", b"", b""),
    ],
)
def test_a_suffix_has_one_canonical_form(state: bytes, suffix: bytes, canonical: bytes) -> None:
    is_mid_line = ends_mid_line(state)
    assert can_follow(suffix, is_mid_line=is_mid_line)
    assert canonical_suffix(suffix, is_mid_line=is_mid_line) == canonical
    assert suffix_after(canonical, is_mid_line=is_mid_line) == suffix


def test_only_an_ended_line_is_followed_by_another() -> None:
    assert can_follow(b"b\n", is_mid_line=False)
    assert not can_follow(b"b\n", is_mid_line=True)


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        (b"", b"\nb\n", b"\nb\n"),
        (b"\na\n", b"\nb\n", b"\na\nb\n"),
        (b"\na", b"\nb\n", b"\na\nb\n"),
        (b"\na\n", b"\r\nb", b"\na\nb"),
        (b"\na\n", b"", b"\na\n"),
    ],
)
def test_suffixes_are_joined_line_by_line(first: bytes, second: bytes, joined: bytes) -> None:
    assert join_suffixes(first, second) == joined
