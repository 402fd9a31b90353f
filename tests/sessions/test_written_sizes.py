"""The size that lists show of a new session is that of its next request."""

import json
from pathlib import Path

import pytest
from cli.asking import Ask
from sessions.homes import Home
from sessions.long_sessions import SAID, SMALL, codex, copilot

# Writers of sessions that end with a record of how large the context is.
WRITERS = {"codex": codex, "copilot-cli": copilot}


def listed(ask: Ask) -> dict[str, int]:
    return {
        each["id"]: each["contextTokens"] for each in ask("sessions", "--json").json["sessions"]
    }


@pytest.mark.parametrize("client", WRITERS)
def test_a_new_session_is_listed_with_its_own_size(home: Home, ask: Ask, client: str) -> None:
    session = WRITERS[client](home)
    before = listed(ask)[SAID.id]
    done = ask("compact", session, *SMALL, "--json").json
    after = listed(ask)

    assert done["restatedUsage"]["tokens"] == done["largestRequestTokens"]
    assert after[done["forkedTo"]] == done["largestRequestTokens"]
    assert after[SAID.id] == before


def test_what_copilot_cli_counts_beside_the_conversation_stays(home: Home, ask: Ask) -> None:
    session = copilot(home)
    done = ask("compact", session, *SMALL, "--json").json
    new = Path(done["output"])

    *_, end = (json.loads(line) for line in new.read_bytes().splitlines())
    sizes = {name: end["data"][name] for name in ("systemTokens", "toolDefinitionsTokens")}
    assert sizes == {"systemTokens": 30_000, "toolDefinitionsTokens": 16_000}
    assert end["data"]["currentTokens"] == done["largestRequestTokens"]
    assert end["data"]["currentTokens"] == sum(sizes.values()) + end["data"]["conversationTokens"]
    assert ask("rewind", new).code == 0
    assert new.read_bytes().splitlines()[-1] == session.read_bytes().splitlines()[-1]


def test_a_session_of_copilot_cli_without_a_size_is_given_none(home: Home, ask: Ask) -> None:
    session = copilot(home)
    lines = session.read_bytes().splitlines(keepends=True)
    session.write_bytes(b"".join(line for line in lines if b"session.shutdown" not in line))

    done = ask("compact", session, *SMALL, "--json").json

    assert done["restatedUsage"] is None
    assert b"conversationTokens" not in Path(done["output"]).read_bytes()
