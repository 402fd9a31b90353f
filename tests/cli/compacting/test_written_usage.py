"""The newest usage in what is written is that of the request that will be sent, or still holds.

Usage is left in some answers of a session only, and put into records that are not sent.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample
from cli.compacting.recorded_sizes import CLIENTS, Json, told_by
from file_commands import load_file

from compactctl.model.message import Message

WAYS: dict[str, tuple[str, ...]] = {
    "truncated": ("--stages", "truncate", "--keep", "30%"),
    "summarized": ("--keep", "30%"),
    "trimmed": ("--stages", "prune", "--set", "prune.min-savings=0", "--set", "prune.protect=0"),
    "in place": ("--stages", "truncate", "--keep", "50%", "--in-place"),
}
# Which of the answers with usage keep it, by their number from 0.
ANSWERS: dict[str, Callable[[int], bool]] = {
    "none": lambda _: False,
    "the first": lambda number: number == 0,
    "every other": lambda number: number % 2 == 1,
    "all but the last ones": lambda number: number < 4,
}
# What the records of a client hold between the record and its counts.
_HOLDERS = {
    "claude-code": ("message", "usage"),
    "codex": ("payload", "info", "last_token_usage"),
    "pi": ("message", "usage"),
    "opencode": ("info", "tokens"),
    "gemini-cli": ("tokens",),
}


def _counts(value: Json, path: Sequence[str]) -> Json | None:
    inner: Any = value
    for name in path:
        inner = inner.get(name) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else None


def _records(client: str, path: Path) -> list[Json]:
    records = [json.loads(line) for line in path.read_text().splitlines()]
    messages: list[Json] = records[0]["messages"] if client == "opencode" else records
    return messages


def _sizes(client: str, path: Path) -> list[int]:
    """Return the sizes that the records of a file name, in order, and without zeros."""
    counts = (_counts(record, _HOLDERS[client]) for record in _records(client, path))
    return [size for size in (told_by(each) for each in counts if each) if size]


def _with_usage_in(client: str, path: Path, answers: Callable[[int], bool]) -> None:
    """Leave the usage in some of the answers that have one, by their number."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    holders = records[0]["messages"] if client == "opencode" else records
    number = 0
    for record in holders:
        *outer, name = _HOLDERS[client]
        holder = _counts(record, outer) if outer else record
        if holder is not None and isinstance(holder.get(name), dict):
            if not answers(number):
                del holder[name]
            number += 1
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def _newest_report(messages: Sequence[Message]) -> int | None:
    reports = (n for n, message in enumerate(messages) if message.usage and message.usage.context)
    return max(reports, default=None)


@pytest.mark.each_choice
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("client", CLIENTS)
def test_it_is_what_will_be_sent(  # noqa: PLR0913, PLR0917
    ask: Ask, sample: Sample, tmp_path: Path, client: str, way: str, answers: str
) -> None:
    original = CLIENTS[client](sample, tmp_path)
    _with_usage_in(client, original, ANSWERS[answers])
    before = load_file(original).transcript.effective

    outcome = ask("compact", original, *WAYS[way], "--json")

    assert outcome.code == 0, outcome.err
    done = outcome.json
    if not done["compacted"]:
        return
    written = Path(done["output"])
    after = load_file(written).transcript.effective
    sizes = _sizes(client, written)
    if done["restatedUsage"] is not None:
        assert sizes[-1] == done["restatedUsage"]["tokens"] <= done["largestRequestTokens"]
        return
    newest = _newest_report(after)
    # Nothing is reported any more, or nothing that is sent before the report has changed.
    assert newest is None or [m.id for m in after[: newest + 1]] == [
        m.id for m in before[: newest + 1]
    ]
