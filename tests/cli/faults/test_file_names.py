"""Whatever a transcript is called: it is read, compacted and restored, or its name is refused."""

import os
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import pytest
from cli.asking import Ask
from examples import tries
from hypothesis import assume, example, given
from hypothesis import strategies as st
from real.choice import written

from compactctl.store.archive.names import SUFFIX
from compactctl.store.files.stale_drafts import DRAFT

MAX_NAME = 255
COMPACT = ("--stages", "truncate", "--keep-turns", "0")
DATA = written("openai-chat/lines.jsonl").read_bytes()
READING = ("stats", "view", "log", "check", "rewind", "batch", "verify")

names = st.one_of(
    st.binary(min_size=1, max_size=MAX_NAME),
    st.text(min_size=1, max_size=80).map(lambda text: text.encode("utf-8", "replace")),
    st.builds(bytes.__mul__, st.sampled_from([b"n", b"\xff", "é".encode()]), st.integers(90, 255)),
).filter(lambda name: len(name) <= MAX_NAME and not {0, ord("/")} & set(name))
folders = count()


@pytest.mark.skipif(os.name != "posix", reason="names are bytes elsewhere")
@tries(120)
@given(name=names)
@example(name=b"\xff" * 96)
@example(name=b"n" * 247)
@example(name="é".encode() * 120)
@example(name=b"n" * 254)
@example(name=b"--in-place\n[x]* ~'\"\\$")
def test_a_transcript_of_any_name(ask: Ask, tmp_path: Path, name: bytes) -> None:
    assume(name not in (b".", b".."))
    folder = tmp_path / str(next(folders))
    path, other = folder / os.fsdecode(name), folder / "other.jsonl"
    # Drafts and archives, and what has to be unpacked.
    assume(not DRAFT.fullmatch(path.name) and path.suffix not in (SUFFIX, ".gz", ".zst"))
    assume(path != other)
    folder.mkdir()
    try:
        path.write_bytes(DATA)
    except OSError:
        # Not all file systems take all names.
        assume(False)  # noqa: FBT003 - hypothesis' way of leaving out an example
    assert {command: ask(command, path).code for command in READING} == {
        **dict.fromkeys(READING, 0),
        "verify": 3,
    }
    assert contents(folder) == {path.name: DATA}
    compacted = ask("compact", path, "-o", other, *COMPACT)
    assert compacted.code == 0, compacted.err
    assert [ask(command, other).code for command in ("verify", "log", "rewind")] == [0, 0, 0]
    assert other.read_bytes() == path.read_bytes() == DATA
    before = contents(folder)
    compacted = ask("compact", path, "--in-place", *COMPACT)
    if len(name) > MAX_NAME - len(SUFFIX):
        assert compacted.code == 2
        assert "its name is too long for an archive folder" in compacted.err
        assert contents(folder) == before
    else:
        assert compacted.code == 0, compacted.err
        assert path.read_bytes() != DATA
        assert [ask(command, path).code for command in READING if command != "rewind"] == [0] * 6
        assert ask("rewind", path).code == 0
        assert path.read_bytes() == DATA


@pytest.mark.parametrize("arguments", [("compact", "-n"), ("compact",), ("batch", "--out", "out")])
def test_a_name_that_is_too_long_for_its_output(
    ask: Ask, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / ("n" * 250)
    path.write_bytes(DATA)
    outcome = ask(arguments[0], path, *arguments[1:], *COMPACT)
    assert outcome.code == 2
    assert "its name is too long for an archive folder" in outcome.err + outcome.out
    assert not list(tmp_path.rglob("*.parquet"))


def contents(folder: Path) -> Mapping[str, bytes]:
    """Return the files in a folder; the lock of an archive folder is none that stays."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
