"""Every field of what is read and written is as in its snapshot; ``snapshots.py`` takes them."""

import pytest
from formats.snapshots.snapshots import kept, snapshots

SNAPSHOTS = snapshots()
RENEW = "if the change is meant: python tests/formats/snapshots/snapshots.py, then git diff"


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, taken in SNAPSHOTS.items() for name in taken]
)
def test_every_field_is_as_in_the_snapshot(group: str, name: str) -> None:
    assert SNAPSHOTS[group][name]() == kept(group).get(name), RENEW


@pytest.mark.parametrize("group", SNAPSHOTS)
def test_every_snapshot_is_of_a_file(group: str) -> None:
    assert list(kept(group)) == list(SNAPSHOTS[group]), RENEW
