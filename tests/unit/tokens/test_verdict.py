"""The verdict is the worst thing that is true, and nothing that is true is left out."""

from hypothesis import given
from hypothesis import strategies as st

from compactctl.tokens.verdict import VERDICTS, Judgment

SIZES = st.none() | st.integers(0, 4)
JUDGMENTS = st.builds(
    Judgment,
    tokens=SIZES,
    limit=SIZES,
    target=SIZES,
    has_failed=st.booleans(),
    is_refused=st.booleans(),
    is_incomplete=st.booleans(),
    is_unchanged=st.booleans(),
)


@given(JUDGMENTS)
def test_all_that_is_true_is_listed_the_worst_first(judgment: Judgment) -> None:
    verdicts = judgment.verdicts
    assert judgment.verdict == verdicts[0]
    assert list(verdicts) == sorted(verdicts, key=VERDICTS.index)
    assert ("failed" in verdicts) == judgment.has_failed
    assert ("will be refused" in verdicts) == judgment.is_refused
    assert ("incomplete" in verdicts) == judgment.is_incomplete
    assert ("unchanged" in verdicts) == judgment.is_unchanged
    assert ("fits" in verdicts) == (len(verdicts) == 1 and verdicts[0] == "fits")


@given(JUDGMENTS)
def test_what_is_over_something_is_never_said_to_fit(judgment: Judgment) -> None:
    tokens = judgment.tokens
    for name, most in (("over limit", judgment.limit), ("over target", judgment.target)):
        is_over = tokens is not None and most is not None and tokens > most
        assert (name in judgment.verdicts) == is_over
        assert not (is_over and (judgment.fits or judgment.is_within))
    assert judgment.is_within or not judgment.fits


def test_a_context_of_just_its_limit_fits() -> None:
    assert Judgment(tokens=10, limit=10, target=10).verdict == "fits"
    assert Judgment(tokens=11, limit=10, target=10).verdicts == ("over limit", "over target")
    assert Judgment(tokens=0, limit=0).verdict == "fits"
