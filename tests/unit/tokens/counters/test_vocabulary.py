import gzip
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest
from vocabularies import build

from compactctl.errors import IntegrityError
from compactctl.tokens.counters import vocabulary
from compactctl.tokens.counters.vocabulary import VOCABULARIES, load_ranks, published_bytes

NAMES = sorted(VOCABULARIES)

# The digests OpenAI's tiktoken checks its downloads against.
PUBLISHED = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}


@cache
def published(name: str) -> bytes:
    return published_bytes(VOCABULARIES[name])


@cache
def packed(data: bytes) -> bytes:
    return build.pack(data)


@pytest.mark.parametrize("name", NAMES)
def test_our_file_recreates_the_published_one_to_the_byte(name: str) -> None:
    data = published(name)
    assert hashlib.sha256(data).hexdigest() == PUBLISHED[name] == VOCABULARIES[name].sha256


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "compress", [bytes, partial(gzip.compress, compresslevel=1)], ids=["plain", "gzip"]
)
def test_building_from_the_published_file_gives_our_file(
    name: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    source = tmp_path / "any-name"
    source.write_bytes(compress(published(name)))
    data = build.published(source)
    assert build.recognise(data).name == name
    ours = (vocabulary.FOLDER / f"{name}.bin").read_bytes()
    assert packed(data) == ours


def test_building_refuses_a_file_with_another_digest() -> None:
    with pytest.raises(ValueError, match="no published rank file"):
        build.recognise(b"IQ== 0\n")


@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.unlink(),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(file.read_bytes()[:-100]),
        lambda file: file.write_bytes(b"\x01" * 3_000_000),
        lambda file: file.write_bytes(b"\x01"),
    ],
    ids=["missing", "empty", "torn", "other content", "too short"],
)
def test_a_damaged_file_is_reported_with_what_to_do(
    damage: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cl100k_base.bin"
    file.write_bytes((vocabulary.FOLDER / file.name).read_bytes())
    damage(file)
    monkeypatch.setattr(vocabulary, "FOLDER", tmp_path)
    with pytest.raises(IntegrityError, match=r"cl100k_base\.bin.*reinstall"):
        load_ranks.__wrapped__(VOCABULARIES["cl100k_base"])


def test_the_licence_of_the_data_is_beside_it() -> None:
    notice = (vocabulary.FOLDER / "NOTICE").read_text(encoding="utf-8")
    assert "Copyright (c) 2022 OpenAI, Shantanu Jain" in notice
    assert "Permission is hereby granted" in notice


NO_NETWORK = """
import socket

def refuse(*args, **kwargs):
    raise OSError("there is no network")

socket.socket = socket.create_connection = socket.getaddrinfo = refuse

from compactctl.tokens.counters.bpe import BpeCounter

print(BpeCounter("o200k_base").count_many(["hello world"]))
print(BpeCounter("cl100k_base").count_many(["hello world"]))
"""


def test_counting_needs_no_network_no_home_and_no_cache(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    kept = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK],
        cwd=Path(__file__).resolve().parents[4],
        env={**kept, "HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[2]\n[2]\n", "")
    assert list(home.iterdir()) == []
