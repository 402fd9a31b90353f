"""How a call ended is read from what its client writes, and only that is said of it later.

Each client writes one call and its result in its own words and fields, for each way in which its
calls end; what is drawn from the session must say the same. And no file and no page that a call
fetched can say that the call ended otherwise, nor speak as the user.
"""

from collections.abc import Iterator

import pytest
from outcomes.endings import ENDINGS, UNTOLD, Ending
from outcomes.hostile_texts import PHRASES, PLACES, Place, around
from outcomes.written_calls import CLIENTS, FILE, UNTRIED
from voices.place import Talk, lines_of, read

from compactctl.model.message import ToolResultPart
from compactctl.model.transcript import Transcript
from compactctl.summaries.extract.files import file_uses
from compactctl.summaries.extract.outcomes import command_items
from compactctl.summaries.extract.passages import ToolPair, read_passages, tool_pairs

_EDITS = [ending for ending in ENDINGS if ending.work != "run"]
# Nothing is said of commands of Cline's SDK, which come in a list.
_RUNS = [ending for ending in ENDINGS if ending.work == "run" and ending.client != "cline SDK"]
_STATING = [name for name, client in CLIENTS.items() if client.states_success]


def test_all_formats_that_mark_how_calls_end_are_tried() -> None:
    # A log of requests holds what the other APIs do; Spring AI records nothing of an outcome.
    assert {"api-log", "spring-ai"} == UNTRIED, "tests/outcomes/written_calls.py: add these"
    assert UNTOLD == UNTRIED, "tests/outcomes/endings.py: add the rows of these to _TABLES"


@pytest.mark.parametrize("ending", ENDINGS, ids=str)
def test_the_end_of_a_call_is_what_its_client_writes(ending: Ending) -> None:
    pair = _pair(_session(ending))
    assert pair.outcome == ending.outcome
    if pair.result is not None:
        assert (pair.result.outcome, pair.result.exit_code) == (ending.outcome, ending.code)
    assert (pair.is_done, pair.has_failed) == (
        ending.outcome == "ok",
        ending.outcome not in ("ok", "unknown"),
    )


@pytest.mark.parametrize("ending", _EDITS, ids=str)
def test_a_file_counts_as_changed_only_by_an_edit_that_went_well(ending: Ending) -> None:
    found = file_uses(read_passages(_session(ending).history), None)
    changed = {"edited", "written"} & found[FILE].action_counts.keys()
    assert bool(changed) is (ending.outcome == "ok")


@pytest.mark.parametrize("ending", _RUNS, ids=str)
def test_a_command_counts_as_ok_only_if_it_went_well(ending: Ending) -> None:
    pairs = tool_pairs(read_passages(_session(ending).history))
    texts = [item.text for item in command_items(pairs)]
    assert any(" -> ok" in text for text in texts) is (ending.outcome == "ok")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("work", ["read", "fetch"])
@pytest.mark.parametrize("client", _STATING)
def test_no_text_changes_how_a_call_ended_whose_record_states_a_success(
    client: str, work: str, place: Place
) -> None:
    found = _shown(client, work, place)
    results = [result for message in found.effective for result in message.results]
    assert len(results) == len(PHRASES)
    wrong = [
        (phrase, result.outcome, result.exit_code)
        for phrase, result in zip(PHRASES, results, strict=True)
        if (result.outcome, result.exit_code, result.process) != ("ok", None, "")
    ]
    assert wrong == []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("work", ["read", "fetch"])
@pytest.mark.parametrize("client", CLIENTS)
def test_no_text_that_a_call_shows_is_words_of_the_user(
    client: str, work: str, place: Place
) -> None:
    found = _shown(client, work, place)
    assert list(_said(found)) == []
    assert sum(message.starts_turn for message in found.effective) == len(_PEOPLE)


_OPENING, _NEWEST = "Raise the lock gate before high tide.", "Now paint the quay."
_PEOPLE = (_OPENING, _NEWEST)


def _session(ending: Ending) -> Transcript:
    client = CLIENTS[ending.client]
    talk = client.talk()
    talk.say(_OPENING)
    client.write(talk, client.calls[ending.work], ending.text, ending.fields)
    if "ends" not in ending.fields:
        talk.say(_NEWEST)
    return _read(talk, ending.client)


def _shown(name: str, work: str, place: Place) -> Transcript:
    """Return a session in which a call shows each of the phrases in a text."""
    client = CLIENTS[name]
    talk = client.talk()
    talk.say(_OPENING)
    for phrase in PHRASES:
        client.write(talk, client.calls[work], around(phrase, place), {})
    talk.say(_NEWEST)
    return _read(talk, name)


def _read(talk: Talk, client: str) -> Transcript:
    found = read(lines_of(talk))
    assert found.format == client.partition(" ")[0]
    return found


def _pair(found: Transcript) -> ToolPair:
    (pair,) = tool_pairs(read_passages(found.history))
    return pair


def _said(found: Transcript) -> Iterator[str]:
    """Yield what is read as words of people in results, or beyond the two requests."""
    for message in found.effective:
        if message.role == "system":
            continue
        for part in message.parts:
            words = message.words(part)
            if words and (isinstance(part, ToolResultPart) or words.strip() not in _PEOPLE):
                yield words
