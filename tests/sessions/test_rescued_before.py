"""A session that was rescued before: its copy is found as long as neither has changed."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cli.asking import Ask
from sessions.homes import Home, Said
from sessions.long_sessions import SAID, SMALL, claude, codex

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.presets import RescueResult, earlier_rescue, rescue
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.profiles.overflow import Overflow
from compactctl.records import replace
from compactctl.store.files.limits import READ_LIMITS

OTHER = Said(name="other", title="Other", project="/home/dev/quayside")
# Room enough for all that the session says, so that nothing else is written.
PLAIN = CompactOptions(input=InputOptions(path=""), output=OutputOptions())


def copied(ask: Ask, path: Path) -> None:
    outcome = ask("compact", path, *SMALL)
    assert outcome.code == 0, outcome.err


def rescued(path: Path, options: CompactOptions = PLAIN) -> RescueResult:
    return rescue(replace(options, input=InputOptions(path=str(path))))


def copy_of(path: Path) -> Path | None:
    found = earlier_rescue(str(path), READ_LIMITS)
    return None if found is None else found.entry.path


@pytest.mark.parametrize("write", [claude, codex])
def test_a_compacted_copy_of_the_same_state_is_found(
    write: Callable[[Home], Path], home: Home, ask: Ask
) -> None:
    path = write(home)
    assert copy_of(path) is None
    copied(ask, path)
    copy = copy_of(path)
    assert copy is not None
    assert copy != path
    assert copy_of(copy) is None
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines(keepends=True)[-1])
    assert copy_of(path) is None
    path.write_bytes(whole.replace(b"ide", b"IDE"))
    assert copy_of(path) is None
    path.write_bytes(whole)
    assert ask("rewind", copy).code == 0
    assert copy_of(path) is None


def test_copies_of_other_sessions_are_not_taken(home: Home, ask: Ask, tmp_path: Path) -> None:
    path, other = claude(home), claude(home, OTHER)
    copied(ask, other)
    assert copy_of(path) is None
    outside = tmp_path / "session.jsonl"
    outside.write_bytes(other.read_bytes())
    assert copy_of(outside) is None
    assert copy_of(other) is not None


def test_the_copy_is_offered_and_nothing_is_written(home: Home, ask: Ask) -> None:
    path = claude(home)
    copied(ask, path)
    files = sorted(home.root.rglob("*"))
    result = rescued(path)
    assert result.earlier is not None
    assert result.earlier.id != SAID.id
    assert result.compacted.written is None
    assert (result.continue_with or "").endswith(f"claude --resume {result.earlier.id}")
    assert sorted(home.root.rglob("*")) == files


def test_with_options_it_is_done_anew(home: Home, ask: Ask) -> None:
    path = claude(home)
    copied(ask, path)
    recipe = Recipe(plan=PlanOptions(stages=("truncate",), keep=0.5))
    result = rescued(path, replace(PLAIN, recipe=recipe, output=OutputOptions(dry_run=True)))
    assert (result.earlier, result.continue_with) == (None, None)
    assert result.tokens_after < result.tokens_before


def test_a_session_with_room_goes_on_itself(home: Home) -> None:
    result = rescued(claude(home))
    assert (result.earlier, result.compacted.written) == (None, None)
    assert (result.continue_with or "").endswith(f"claude --resume {SAID.id}")
    assert result.tokens_before == result.tokens_after


@pytest.mark.parametrize("more", [0, 5_000])
def test_what_an_error_reports_beyond_the_count_stays(more: int, home: Home) -> None:
    path = claude(home)
    counted = rescued(path).tokens_before
    error = Overflow(kind="overflow", actual=counted + more)
    options = replace(
        PLAIN,
        recipe=Recipe(plan=PlanOptions(stages=("truncate",), keep=0.5, error=error)),
        output=OutputOptions(dry_run=True),
    )
    result = rescued(path, options)
    assert (result.uncounted, result.tokens_before) == (more, counted + more)
    assert result.tokens_after == result.compacted.largest_after + more
