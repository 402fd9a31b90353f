"""Every file is taken for what it is and for nothing else: all shapes, and real files."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from file_commands import scan_file
from formats.confusion.shapes import CHAT, LONG, READ, REFUSED, lines

from compactctl.clients.registry import ALL_FORMATS
from compactctl.commands.batch.batch import BatchOptions, batch
from compactctl.commands.batch.columns import row_values
from compactctl.commands.batch.report_format import UNREAD
from compactctl.commands.reading.discover import FileChoice
from compactctl.errors import NotATranscriptError, NotUnderstoodError
from compactctl.tokens.counters.selection import best_counter
from compactctl.tokens.models.lookup import resolve_model

NONE = "refused"
# What no format reads, though half of it looks like a chat.
NOT_READ = {
    "half of the roles": lines(*CHAT, *({"role": "bot", "content": LONG} for _ in CHAT)),
    "a field that nobody reads": lines(*({**each, "zzBody": LONG} for each in CHAT)),
}
# Folders of real files that are of another format than the folder's name, or of none.
NO_TRANSCRIPTS = ("README.md", "task_metadata.json", "ui_messages.json")


def confused(taken: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return what stands off the diagonal: names, what they are, and what they were taken for."""
    return [f"{name}: {right}, taken for {got}" for name, (right, got) in taken.items()
            if right != got]  # fmt: skip


def format_of(path: Path) -> str:
    try:
        return scan_file(path).format
    except (NotATranscriptError, NotUnderstoodError):
        return NONE


def test_every_shape_is_taken_for_what_it_is(tmp_path: Path) -> None:
    taken = {}
    for name, (right, data) in READ.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(data)
        taken[name] = (right, format_of(path))
    assert confused(taken) == [], (
        "let fewer files pass sniff of the wrong format, or put it later in clients/registry.py"
    )


@pytest.mark.long
def test_every_real_file_is_taken_for_what_it_is(real_transcripts: Path) -> None:
    formats = {each.name for each in ALL_FORMATS}
    taken = {}
    for path in sorted(each for each in real_transcripts.rglob("*") if each.is_file()):
        name = path.relative_to(real_transcripts)
        folder = name.parts[0]
        is_read = folder in formats and path.name not in NO_TRANSCRIPTS
        taken[str(name)] = (folder if is_read else NONE, format_of(path))
    assert confused(taken) == []
    assert len(Counter(right for right, _ in taken.values())) > 10


def test_a_batch_over_all_shapes_reads_flags_or_refuses(tmp_path: Path) -> None:
    """No file counts less than what it says without a word about it."""
    for name, (_, data) in READ.items():
        (tmp_path / f"{name}.jsonl").write_bytes(data)
    for name, data in NOT_READ.items():
        (tmp_path / f"{name}.jsonl").write_bytes(data)
    for name, data in REFUSED.items():
        (tmp_path / f"{name}.jsonl").write_bytes(data)

    rows = {
        Path(row.path).stem: row
        for row in batch(BatchOptions(files=FileChoice(paths=(str(tmp_path),)))).rows
    }

    assert len(rows) == len(READ) + len(NOT_READ) + len(REFUSED)
    least = best_counter(resolve_model("gpt-4o")).count_many([LONG])[0]
    for name, row in rows.items():
        if name in READ:
            assert (row.status, row.flags) == ("ok", ()), name
            assert row_values(row)["format"] == READ[name][0], name
            assert (row.tokens or 0) >= least, name
        elif name in NOT_READ:
            assert "opaque" in row.flags, name
        else:
            assert row.status in UNREAD, name
            assert name in row_values(row)["error"]
