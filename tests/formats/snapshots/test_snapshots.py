"""Every field of what is read and written is as in its snapshot; ``snapshots.py`` takes them."""

import pytest
from formats.snapshots.snapshots import kept, snapshots

SNAPSHOTS = snapshots()


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, taken in SNAPSHOTS.items() for name in taken]
)
def test_every_field_is_as_in_the_snapshot(group: str, name: str) -> None:
    assert SNAPSHOTS[group][name]() == kept(group)[name]


@pytest.mark.parametrize("group", SNAPSHOTS)
def test_every_snapshot_is_of_a_file(group: str) -> None:
    assert list(kept(group)) == list(SNAPSHOTS[group])
