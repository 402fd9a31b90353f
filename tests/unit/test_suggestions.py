"""What is suggested for a name that does not exist: one that was mistyped, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.errors import suggestion

NAMES = ("stats", "compact", "sessions", "rewind", "keep-turns", "profile", "protect-tool")


@st.composite
def mistyped(draw: st.DrawFn) -> tuple[str, str]:
    """Return a name, and what it becomes by one typing error."""
    name = draw(st.sampled_from(NAMES))
    at = draw(st.integers(0, len(name) - 2))
    letter = draw(st.sampled_from("qxz"))
    before, here, after = name[:at], name[at], name[at + 1 :]
    return name, draw(
        st.sampled_from(
            (
                before + after,
                before + letter + after,
                before + letter + here + after,
                before + after[:1] + here + after[1:],
                name.replace("-", "_").upper(),
            )
        )
    )


@given(mistyped())
def test_a_typing_error_is_corrected(names: tuple[str, str]) -> None:
    name, typed = names
    assert suggestion(typed, NAMES, "none") == f"did you mean {name}?"


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("--keep", ("--help", "--from")),
        ("--client", ("--closed", "--limit")),
        ("--full", ("--all", "--limit")),
        ("revert", ("report", "rewind")),
        ("compare", ("compact",)),
        ("", ("log",)),
        ("a", ("log", "archive")),
    ],
)
def test_what_is_only_like_it_is_not_suggested(typed: str, names: tuple[str, ...]) -> None:
    assert suggestion(typed, names, "none") == "none"


def test_the_nearest_comes_first() -> None:
    names = ("gpt-4", "gpt-5-mini", "gpt-5", "gpt-50")
    assert suggestion("gpt5", names, "", max_names=2) == "did you mean gpt-5 or gpt-4?"
    assert suggestion("min", ("min-savings", "max"), "") == "did you mean min-savings?"
