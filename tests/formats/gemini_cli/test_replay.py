"""Which records of a session's log are sent, as the client itself loads them."""

from typing import Any

from formats.gemini_cli.talks import answered, gemini, put, session, tokens, tool, user
from formats.jsonl import texts
from hypothesis import given
from hypothesis import strategies as st

from compactctl.model.transcript import SupersededVersion

SNAPSHOT = "<state_snapshot>\nAll of it was about the parser.\n</state_snapshot>"
NAMES = ("a", "b", "c", "d")


def test_a_newer_version_stays_at_the_place_of_the_first_one() -> None:
    found = session(
        user("u1", "hi"), gemini("g1", "I"), user("u2", "go on"), gemini("g1", "I look")
    )

    assert texts(found.effective) == ["hi", "I look", "go on"]
    assert found.metadata["earlier version of a message"].count == 1
    assert found.chain.superseded == (
        SupersededVersion(line=2, record_path=(), message_id=found.effective[1].id),
    )


def test_going_back_takes_a_message_and_all_after_it() -> None:
    begun = (user("u1", "one"), gemini("g1", "1"), user("u2", "two"), gemini("g2", "2"))

    assert texts(session(*begun, {"$rewindTo": "u2"}).effective) == ["one", "1"]
    assert texts(session(*begun, {"$rewindTo": "u2"}, user("u3", "new")).effective) == [
        "one", "1", "new"]  # fmt: skip
    assert session(*begun, {"$rewindTo": "not there"}).effective == ()
    assert len(session(*begun, {"$rewindTo": "u2"}).messages) == 4


def test_a_list_takes_the_place_of_all_before_it() -> None:
    one, two = user("u1", "one"), gemini("g1", "1")
    found = session(one, two, put(one), user("u2", "two"))

    assert texts(found.effective) == ["one", "two"]
    assert [m.record_path for m in found.effective] == [("$set", "messages", 0), ()]
    assert [m.id for m in found.messages] == ["g1", "u1", "u2"]
    assert found.chain.superseded == ()


def test_a_resumed_session_sends_what_it_sent() -> None:
    asked = tool("c1", "ls", {}, answered("c1", "ls", output="a.py"))
    begun = (user("u1", "one"), gemini("g1", "1", asked, tokens=tokens(100)))
    resumed = put(*begun, user("g1_response", answered("c1", "ls", output="a.py")))
    found = session(*begun, resumed)

    assert texts(found.effective) == ["one", "1 | ls({}) | a.py", "a.py"]
    assert [m.role for m in found.effective] == ["user", "assistant", "tool"]
    assert not found.effective[2].starts_turn
    assert found.compactions.lines == ()
    assert found.effective[1].usage is not None


def test_the_clients_own_compaction_is_told_with_what_it_hid() -> None:
    begun = (user("u1", "one"), gemini("g1", "1", tokens=tokens(90_000)))
    kept = (user("u2", "two"), gemini("g2", "2", tokens=tokens(91_000)))
    summary = (user("s1", SNAPSHOT), gemini("s2", "Got it. Thanks for the additional context!"))
    after = gemini("g3", "3", tokens=tokens(900))
    found = session(*begun, *kept, put(*summary, *kept), put(*summary, *kept), after)

    assert texts(found.effective)[:2] == [SNAPSHOT, "Got it. Thanks for the additional context!"]
    assert found.effective[0].origin.is_summary
    assert (found.compactions.by_client, found.compactions.lines) == (True, (5,))
    assert {m.id for m in found.messages} - {m.id for m in found.effective} == {"u1", "g1"}
    # What was reported before held what is left out now.
    assert [m.usage.context for m in found.effective if m.usage] == [900]


def replayed(records: list[Any]) -> dict[str, str]:
    """Replay a log in the plainest way there is."""
    shown: dict[str, str] = {}
    for record in records:
        if "$rewindTo" in record:
            names = list(shown)
            start = names.index(record["$rewindTo"]) if record["$rewindTo"] in shown else 0
            shown = {name: shown[name] for name in names[:start]}
        elif "$set" in record:
            shown = {each["id"]: each["content"][0]["text"] for each in record["$set"]["messages"]}
        else:
            shown[record["id"]] = record["content"][0]["text"]
    return shown


messages = st.builds(user, st.sampled_from(NAMES), st.text("xyz", min_size=1, max_size=3))
logs = st.lists(
    messages
    | st.builds(lambda name: {"$rewindTo": name}, st.sampled_from(NAMES))
    | st.lists(messages, max_size=3).map(lambda found: put(*found)),
    max_size=12,
)


@given(logs)
def test_any_log_comes_to_what_the_client_makes_of_it(records: list[Any]) -> None:
    found = session(*records)

    assert texts(found.effective) == list(replayed(records).values())
    names = [each["id"] for r in records for each in (*r.get("$set", {}).get("messages", ()), r)
             if "id" in each]  # fmt: skip
    assert {message.id for message in found.messages} == set(names)
