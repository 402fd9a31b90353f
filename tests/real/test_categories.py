"""Categories of real sessions against a second reading of the raw JSON."""

from pathlib import Path

import pytest
from real.choice import FILES, TRIED, client_of, name_of
from real.raw_texts import KINDS, READERS, kinds

from compactctl.commands.inspect.stats import StatsOptions, stats
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.tokens.counters.selection import parse_counter

COUNTER = "o200k_base"
READ_TWICE = [path for path in FILES if client_of(path) in READERS]


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name_of(path), marks=() if path in TRIED else pytest.mark.long)
        for path in READ_TWICE
    ],
)
def test_categories_are_those_of_the_raw_records(path: Path) -> None:
    counter = parse_counter(COUNTER)
    texts = kinds(READERS[client_of(path)](path))
    expected = {kind: sum(counter.count_many(each)) for kind, each in texts.items()}
    result = stats(
        StatsOptions(input=InputOptions(path=str(path)), measure=MeasureOptions(counter=COUNTER))
    )
    told = {str(name): tokens for name, tokens in result.breakdown.categories.items()}
    found = {kind: sum(told[name] for name in names) for kind, names in KINDS.items()}

    if client_of(path) == "claude-code":
        # The words of its reminders are an estimate, and in no file.
        found["said"] -= result.extras.by_client
    assert found == expected
