"""Categories of sessions against a second reading of the raw JSON."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from file_commands import stats_of_file
from real.choice import FILES, WRITTEN, client_of, each_of
from real.more_raw_texts import FURTHER_READERS
from real.raw_texts import KINDS, READERS, Text, kinds

from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.tokens.counters.selection import parse_counter

COUNTER = "o200k_base"
# Of these, the calls of the model stand in its texts.
_PARTLY = {"cline", "roo"}


@each_of([path for path in FILES if client_of(path) in READERS])
def test_categories_are_those_of_the_raw_records(path: Path) -> None:
    check(path, READERS[client_of(path)], list(KINDS))


@each_of([path for path in WRITTEN if client_of(path) in FURTHER_READERS])
def test_categories_of_written_sessions_are_those_of_their_records(path: Path) -> None:
    asked = ["said", "tool results"] if client_of(path) in _PARTLY else list(KINDS)
    check(path, FURTHER_READERS[client_of(path)], asked)


def check(path: Path, read: Callable[[Path], Iterable[Text]], asked: Sequence[str]) -> None:
    """Compare the categories of a session with what a reader yields, kind by kind."""
    counter = parse_counter(COUNTER)
    texts = kinds(read(path))
    expected = {kind: sum(counter.count_many(each)) for kind, each in texts.items()}
    result = stats_of_file(path, measure=MeasureOptions(counter=COUNTER))
    told = {str(name): tokens for name, tokens in result.breakdown.categories.items()}
    found = {kind: sum(told[name] for name in names) for kind, names in KINDS.items()}

    if client_of(path) == "claude-code":
        # The words of its reminders are an estimate, and in no file.
        found["said"] -= result.extras.by_client
    assert {kind: found[kind] for kind in asked} == {kind: expected[kind] for kind in asked}
