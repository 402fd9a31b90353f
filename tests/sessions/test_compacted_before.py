"""The same compaction of the same session writes one new session, however often it is run."""

from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from sessions.homes import Home
from sessions.long_sessions import SMALL, WRITERS
from sessions.read_files import PRUNE, SUMMARY, session

STAGES = pytest.mark.parametrize("stages", [PRUNE, SUMMARY], ids=["prune", "summarize"])


def compacted(ask: Ask, path: Path, *options: str) -> dict[str, Any]:
    outcome = ask("compact", path, *options, "--json")
    assert outcome.code == 0, outcome.err
    result: dict[str, Any] = outcome.json
    return result


@pytest.mark.parametrize("client", WRITERS)
def test_a_session_of_any_client_is_written_once(home: Home, ask: Ask, client: str) -> None:
    path = WRITERS[client](home)
    first = compacted(ask, path, *SMALL)
    files = sorted(home.root.rglob("*"))
    second = compacted(ask, path, *SMALL)
    assert sorted(home.root.rglob("*")) == files
    assert (first["earlier"], second["earlier"]) == (None, first["forkedTo"])
    assert second["continueWith"] == first["continueWith"]
    told = ask("compact", path, *SMALL).err
    assert f"already compacted as {first['forkedTo']}: no other session was written" in told


@STAGES
def test_another_one_is_written_if_one_insists(
    home: Home, ask: Ask, stages: tuple[str, ...]
) -> None:
    path = session(home)
    first = compacted(ask, path, *stages)
    assert compacted(ask, path, *stages)["earlier"] == first["forkedTo"]
    assert compacted(ask, path, *stages, "--force")["forkedTo"] != first["forkedTo"]


def test_a_session_that_was_gone_on_with_is_left_to_itself(home: Home, ask: Ask) -> None:
    path = session(home)
    first = Path(compacted(ask, path, *PRUNE)["output"])
    with first.open("a") as stream:
        stream.write('{"type":"mode","mode":"normal"}\n')
    second = compacted(ask, path, *PRUNE)
    assert second["earlier"] is None
    assert compacted(ask, path, *SUMMARY)["earlier"] is None
    assert compacted(ask, path, *PRUNE)["earlier"] == second["forkedTo"]
    path.write_bytes(path.read_bytes() + b'{"type":"mode","mode":"normal"}\n')
    assert compacted(ask, path, *PRUNE)["earlier"] is None


def test_a_rescue_with_options_offers_it_as_well(home: Home, ask: Ask) -> None:
    path = session(home)
    way = ("rescue", path, "--target", "84k")
    first = ask(*way)
    assert first.code == 0, first.err
    files = sorted(home.root.rglob("*"))
    second = ask(*way)
    assert sorted(home.root.rglob("*")) == files
    [command] = [line for line in first.out.splitlines() if line.startswith("continue ")]
    assert command in second.out
    assert "rescued before, as session" in second.out
