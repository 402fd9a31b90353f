"""How fast texts are counted, beside the tokenizer's own time, measured in one run.

Run: ``python tests/benchmarks/counting.py PATH… [--megabytes 20] [--rounds 3]``. Prints one line
per way to count: megabytes of all texts in a second, repeats included, and the time as a multiple
of tokenizing each distinct text once with tiktoken alone. Times are CPU times, the least of the
rounds, in which the ways take turns. Vocabularies are loaded before. Rows of optional engines
appear when installed.
"""

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.transcript_texts import size_of, texts_of
from compactctl.model.message import Message, MessageId, TextPart
from compactctl.tokens.counters.bpe import BpeCounter
from compactctl.tokens.counters.claude import VERSIONS, ClaudeCounter, claude_is_installed
from compactctl.tokens.counters.claude import load_reconstruction as load_claude
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.vocabulary import load_encoding
from compactctl.tokens.meter import Meter

NAME = "o200k_base"
MEGABYTE = 1_000_000
CTOK_SAMPLE = 200_000
Way = Callable[[], object]


def main() -> None:
    """Measure on the transcripts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    texts = texts_of(given.paths, most_bytes=given.megabytes * MEGABYTE)
    distinct = sorted(set(texts))
    size = sum(map(size_of, texts)) / MEGABYTE
    unique = sum(map(size_of, distinct)) / MEGABYTE
    print(f"{size:.1f} MB in {len(texts):,} texts; distinct: {unique:.1f} MB in {len(distinct):,}")
    ways = exact_ways(texts, distinct)
    times = least_times(ways, given.rounds)
    pure = times["tiktoken alone, each distinct text once"]
    for way, seconds in times.items():
        print(f"{size / seconds:8.1f} MB/s  x{seconds / pure:5.2f}  {seconds:7.2f} s  {way}")
    if claude_is_installed():
        for name in VERSIONS:
            print_claude(name, distinct)


def exact_ways(texts: Sequence[str], distinct: Sequence[str]) -> dict[str, Way]:
    """Return what is compared; every way gives the tokens of all texts."""
    encode = load_encoding(NAME).encode_ordinary
    messages = [as_message(text) for text in texts]
    plain = BpeCounter(NAME, min_tiktoken_chars=sys.maxsize)
    plain.count_many(["load"])
    ways: dict[str, Way] = {
        "tiktoken alone, every text": lambda: [len(encode(text)) for text in texts],
        "tiktoken alone, each distinct text once": lambda: [len(encode(t)) for t in distinct],
        "BpeCounter and Meter": lambda: metered(plain, messages),
    }
    return ways


def as_message(text: str) -> Message:
    """Return a message of one text."""
    return Message(id=MessageId("m"), role="user", parts=(TextPart(text=text),), line=0)


def metered(counter: TokenCounter, messages: Sequence[Message]) -> int:
    """Measure all messages with a new meter, as a command does."""
    meter = Meter(counter)
    meter.prime(messages)
    return meter.total(messages)


def least_times(ways: dict[str, Way], rounds: int) -> dict[str, float]:
    """Return the least CPU seconds of each way."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            taken[name].append(cpu_seconds(way))
    return {name: min(seconds) for name, seconds in taken.items()}


def cpu_seconds(way: Way) -> float:
    """Run a way once and return the CPU seconds it took."""
    start = time.process_time()
    way()
    return time.process_time() - start


def print_claude(name: str, texts: Sequence[str]) -> None:
    """Print how long a Claude vocabulary takes to load, and its counts cold, warm and slow."""
    print(f"{name}: loaded in {cpu_seconds(lambda: load_claude(name)):.2f} s")
    counter = ClaudeCounter(name)
    size = sum(map(size_of, texts)) / MEGABYTE
    for state in ("cold", "warm"):
        seconds = cpu_seconds(lambda: counter.count_many(texts))
        print(f"{size / seconds:8.2f} MB/s  {seconds:7.2f} s  {state}")
    sample = texts_up_to(texts, CTOK_SAMPLE)
    ctok = importlib.import_module("ctok")
    seconds = cpu_seconds(lambda: [ctok.token_count(text, VERSIONS[name]) for text in sample])
    speed = sum(map(size_of, sample)) / MEGABYTE / seconds
    print(f"{speed:8.2f} MB/s  ctok alone, on {len(sample):,} texts")


def texts_up_to(texts: Sequence[str], most_bytes: int) -> Sequence[str]:
    """Return every so many of the texts, about ``most_bytes`` together."""
    step = max(1, sum(map(size_of, texts)) // most_bytes)
    return texts[::step]


if __name__ == "__main__":
    main()
