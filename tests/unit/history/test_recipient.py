"""Who gets the next request, and what a client fixes of it by itself."""

import pytest

from compactctl.history.faults import Recipient
from compactctl.profiles.refusals import load_refusals

RULE = load_refusals()["call-without-result"]
SINCE = RULE.fixed_by["Claude Code"]


@pytest.mark.parametrize(
    ("version", "since"),
    [
        ("2.1.196", None),
        ("2.1", None),
        ("0.9.999", None),
        (SINCE, SINCE),
        (f"{SINCE}-beta.1", SINCE),
        ("2.1.1000", SINCE),
        ("3", SINCE),
        # Nothing says that it is older.
        (None, SINCE),
        ("", SINCE),
        ("dev", SINCE),
        ("v2.1.196", SINCE),
    ],
)
def test_a_client_fixes_what_its_version_was_seen_to(
    version: str | None, since: str | None
) -> None:
    recipient = Recipient(client="Claude Code", version=version)
    assert recipient.fixed_since(RULE) == since


def test_another_client_fixes_nothing() -> None:
    assert Recipient(client="Roo Code", version=SINCE).fixed_since(RULE) is None
