"""Transcripts that crashes have damaged: compacted or left alone, and never a byte lost.

COMPACTCTL_LONG_TESTS=1 tries many more accidents, on every real transcript there is.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from crashes.damage import damaged, excerpt, redocumented
from examples import LONG
from formats.squeeze import ALL, plan
from real.choice import TRIED, name_of, orphaned
from samples.generate import FOLDER
from talks import TALK_FILES as TALKS
from talks import TalkFile as Talk

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import CompactOptions, compact
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import Recipe
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.errors import NotUnderstoodError
from compactctl.history.protection import ProtectOptions

TRIES = 300 if LONG else 3
REAL_TRIES = 40 if LONG else 1
SIZES = (12, 30, 60)
STAGES = (*((stage,) for stage in ALL), ("window", "summarize"), ALL)


def options(path: Path, rng: Random) -> CompactOptions:
    """Choose stages and a layout; fast counting changes nothing that is shown here."""
    return CompactOptions(
        input=InputOptions(path=str(path)),
        output=OutputOptions(
            path=str(path.with_name("out")),
            layout=rng.choice(("split", "split", "inline")),
            tags=rng.random() < 0.6,
        ),
        recipe=Recipe(
            measure=MeasureOptions(counter="chars/4"),
            plan=plan(rng.choice(STAGES)),
            protect=ProtectOptions(keep_turns=rng.choice((None, 0, 1, 2))),
        ),
    )


def survives(data: bytes, rng: Random, folder: Path) -> None:
    """Compact damaged bytes and take it back: exactly, and no pair is parted on the way."""
    path = folder / "run.jsonl"
    path.write_bytes(data)
    chosen = options(path, rng)
    try:
        result = compact(chosen)
    except NotUnderstoodError:
        return
    out = Path(chosen.output.path or "")
    if result.compacted:
        before, after = parted(path, result.format), parted(out, result.format)
        assert not after - before
        rewind(RewindOptions(input=InputOptions(path=str(out))))
    assert out.read_bytes() == data


def parted(path: Path, format_name: str) -> Counter[str]:
    """Count calls and results without their other half."""
    return orphaned(load(InputOptions(path=str(path), format=format_name)).transcript.effective)


def try_all(folder: Path, key: str, tries: int, damage: Callable[[Random], bytes]) -> None:
    """Damage and compact so many times, each time in another folder."""
    for number in range(tries):
        place = folder / str(number)
        place.mkdir()
        rng = Random(f"{key} {number}")
        if data := damage(rng):
            survives(data, rng, place)


def in_part(data: bytes, rng: Random) -> bytes:
    """Return a part of a transcript of one record per line, damaged."""
    return damaged(excerpt(data, rng, rng.choice(SIZES)), rng)


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.format)
def test_a_damaged_talk_is_compacted_or_left_alone(talk: Talk, tmp_path: Path) -> None:
    damage = in_part if talk.later else redocumented
    try_all(tmp_path, talk.format, TRIES, lambda rng: damage(talk.data + talk.later, rng))


@pytest.mark.parametrize("name", ["claude-code-session", "codex-session", "damaged", "neurolink"])
def test_a_damaged_sample_is_compacted_or_left_alone(name: str, tmp_path: Path) -> None:
    data = (FOLDER / f"{name}.jsonl").read_bytes()
    try_all(tmp_path, name, TRIES, lambda rng: in_part(data, rng))


@pytest.mark.long
@pytest.mark.parametrize("path", TRIED, ids=name_of)
def test_a_damaged_real_transcript_is_compacted_or_left_alone(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    damage = redocumented if path.suffix == ".json" else in_part
    try_all(tmp_path, name_of(path), REAL_TRIES, lambda rng: damage(data, rng))
