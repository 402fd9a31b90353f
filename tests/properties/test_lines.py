"""What happens to the lines of a transcript: none is lost, and none changes without an edit."""

import json
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from examples import tries
from hypothesis import assume, example, given
from hypothesis import strategies as st
from properties.jobs import LONG_TRANSCRIPTS, TRANSCRIPTS, WAYS, Written, bench, read

from compactctl.clients.records.decode import decode
from compactctl.clients.registry import ALL_FORMATS
from compactctl.commands.compact.compact import compact
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.errors import CompactctlError
from compactctl.model.operation import ArchivedLine
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.archive_file import archived_lines
from compactctl.store.files.source import split_lines


@tries(300)
@given(data=st.binary(max_size=400) | st.text("\r\n\x0b\x85\u2028{}\0").map(str.encode))
@example(data=b"\n\n\r\r\n\x0c\xc2\x85")
def test_lines_split_and_joined_are_the_file(data: bytes) -> None:
    lines = split_lines(data)
    assert b"".join(lines) == data
    assert all(line.find(b"\n") in {-1, len(line) - 1} for line in lines)


@tries(60)
@given(written=TRANSCRIPTS)
def test_every_line_is_a_message_metadata_or_opaque(written: Written) -> None:
    with bench(written.data) as at:
        loaded = read(at)
        transcript = loaded.transcript
        assert (transcript.n_lines, transcript.n_bytes) == (len(loaded.lines), len(written.data))
        understood = {message.line for message in transcript.messages}
        carried = {opaque.line for opaque in transcript.opaque}
        rest = set(range(len(loaded.lines))) - understood - carried
        assert len(rest) <= sum(volume.count for volume in transcript.metadata.values())
        for index in rest:
            assert decode(loaded.lines[index])[1] is None


@tries(40)
@given(written=LONG_TRANSCRIPTS, way=WAYS)
def test_a_line_that_no_edit_names_stays_the_same(written: Written, way: dict[str, Any]) -> None:
    with bench(written.data) as at:
        before = read(at)
        # What is never sent leaves many lines by one edit, which names none of them.
        assume("unsent" not in way["plan"].stages)
        result = compact(at.options(**way))
        assume(result.compacted)
        after = load(InputOptions(path=str(at.out), format=before.format.name)).lines
        if way["layout"] == "split":
            rows = tuple(archived_lines(Archive(archive_folder(at.out)).files[0].path))
            check_rows(rows, after)
        else:
            check_inline(ended(before.lines), after)


def ended(lines: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the lines, the last of several with the line end that any compaction gives it."""
    *others, last = lines
    return (*others, last if last.endswith(b"\n") or not others else last + b"\n")


def check_rows(rows: tuple[ArchivedLine, ...], after: Sequence[bytes]) -> None:
    """Check what the archive says became of each line against the new file."""
    places = [row.after_line for row in rows if row.after_line is not None]
    assert places == sorted(places)
    for row in rows:
        if row.fate == "kept":
            assert row.after_line is not None
            assert after[row.after_line] == row.raw
        elif row.fate == "replaced" and row.edits is None:
            assert row.after_line is not None
            new = after[row.after_line]
            assert row.raw + b"\n" == new or unlinked(row.raw) == as_reported(unlinked(new))
        else:
            assert row.group or row.edits
    for index in set(range(len(after))) - set(places):
        assert len(decode(after[index])[0]) == 1, "a written line is whole"


LINKS = ("parentUuid", "leafUuid")


def unlinked(line: bytes) -> dict[str, Any]:
    """Return a record without the id of the one it follows or points to."""
    record: dict[str, Any] = json.loads(line.decode().strip().removeprefix("\ufeff"), strict=False)
    return {name: value for name, value in record.items() if name not in LINKS}


def as_reported(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the counts that its provider reported, where it keeps them beside."""
    own = record.get("compactctl", {})
    if "reported" not in own:
        return record
    rest = {name: value for name, value in own.items() if name != "reported"}
    told = deepcopy(record)
    if "payload" in told:
        told["payload"]["info"]["last_token_usage"] = own["reported"]
    else:
        told["message"]["usage"] = own["reported"]
    del told["compactctl"]
    return {**told, **({"compactctl": rest} if rest else {})}


def check_inline(before: tuple[bytes, ...], after: Sequence[bytes]) -> None:
    """Check that lines which are not the input's carry tags, and that the others keep its order."""
    tags = (b'"compactctl":', b'Parent":"')
    changed = Counter(after) - Counter(before)
    assert all(any(tag in line for tag in tags) for line in changed)
    input_lines = iter(before)
    assert all(line in input_lines for line in after if line not in changed)
    assert len(after) >= len(before)


@tries(800)
@given(
    data=st.binary(min_size=1, max_size=300) | st.text(min_size=1, max_size=100).map(str.encode),
    name=st.none() | st.sampled_from([candidate.name for candidate in ALL_FORMATS]),
)
def test_any_bytes_are_read_or_refused_in_words(data: bytes, name: str | None) -> None:
    with bench(data) as at:
        code = 0
        try:
            compact(at.options(format=name, dry_run=True))
        except CompactctlError as error:
            code = error.exit_code
        assert code in {0, 3, 4}
        assert at.path.read_bytes() == data
