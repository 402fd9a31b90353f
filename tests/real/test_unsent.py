"""What clients never send goes from real sessions: they say the same, and all of it comes back."""

from pathlib import Path

import pytest
from file_commands import compact_file, rewind_file, scan_file
from real.choice import client_of, each_file

from compactctl.clients.registry import ALL_FORMATS
from compactctl.commands.compact.compact import CompactResult
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.proof import expected_messages
from compactctl.store.files.limits import READ_LIMITS

CLIENTS = {known.name for known in ALL_FORMATS if known.unsent}
ALL_OF_IT = PlanOptions(stages=("unsent",), settings={"unsent": {"snapshots": True}})


def without(path: Path, output: Path) -> CompactResult:
    return compact_file(path, output=output, plan=ALL_OF_IT)


@each_file
def test_what_is_never_sent_goes_and_comes_back(path: Path, tmp_path: Path) -> None:
    if client_of(path) not in CLIENTS:
        pytest.skip("its client is not known to keep anything of that kind")
    before = scan_file(path, format=None, limits=READ_LIMITS)
    small, restored = tmp_path / f"small{path.suffix}", tmp_path / f"restored{path.suffix}"
    made = without(path, small)
    if not made.compacted:
        assert not small.exists() or small.read_bytes() == path.read_bytes()
        return
    assert small.stat().st_size == made.change.after.n_bytes < made.before.n_bytes
    now = scan_file(small, format=None, limits=READ_LIMITS)
    assert [each.content for each in expected_messages(now.effective)] == [
        each.content for each in expected_messages(before.effective)
    ]
    assert len(now.opaque) == len(before.opaque)
    assert not without(small, tmp_path / f"again{path.suffix}").compacted
    rewind_file(small, output=restored)
    assert restored.read_bytes() == path.read_bytes()
