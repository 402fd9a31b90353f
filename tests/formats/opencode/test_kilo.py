"""What Kilo leaves out of OpenCode's document, which it writes as well."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from file_commands import stats_of_file
from formats.jsonl import texts
from formats.opencode.sessions import CREATED, assistant, opencode, text, tool, user

from compactctl.model.message import MediaPart
from compactctl.model.transcript import Transcript
from compactctl.views.results.stats import stats_terminal

KILO = {"version": "7.7.9"}
PIXEL = "data:image/png;base64,aGVsbG8="
PICTURE = {"type": "file", "mime": "image/png", "filename": "gauge.png", "url": PIXEL}


def kilo(*messages: dict[str, Any]) -> Transcript:
    return opencode(*messages, **KILO)


def summary(name: str, parent: str, **info: object) -> dict[str, Any]:
    own = {"parentID": parent, "summary": True, "finish": "stop", **info}
    return assistant(name, text("All so far."), **own)


def test_stats_names_it_and_not_the_client_whose_format_it_is(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    for info, client in ((KILO, "Kilo"), ({"version": "1.18.33"}, "OpenCode")):
        document = {"info": info, "messages": [user("msg_1", text("one"))]}
        path.write_text(json.dumps(document))
        told = " ".join(str(item) for item in stats_terminal(stats_of_file(path)))

        assert re.findall(r"\w+(?= compacts at)", told) == [client]


def test_what_it_writes_about_its_own_state_is_not_sent() -> None:
    notice = text("Retrying.", metadata={"kilocode.lifecycle": "transient"})
    answer = assistant("msg_a", text("hello"), notice)

    assert texts(kilo(answer).effective) == ["hello"]
    assert kilo(answer).unread.lost == 0
    assert texts(opencode(answer).effective) == ["hello | Retrying."]


@pytest.mark.parametrize("newest", ["msg_3", "msg_a"], ids=["less", "greater"])
def test_prompts_with_greater_ids_than_the_newest_one_are_left_out(newest: str) -> None:
    messages = [
        user("msg_8", text("one")),
        assistant("msg_1", text("first"), parentID="msg_8"),
        user("msg_2", text("two")),
        assistant("msg_9", text("second"), parentID="msg_2"),
        user(newest, text("three")),
    ]
    older = [] if newest == "msg_3" else ["one", "first"]

    assert texts(kilo(*messages).effective) == [*older, "two", "second", "three"]
    assert len(kilo(*messages).messages) == 5
    assert texts(opencode(*messages).effective)[0] == "one"


@pytest.mark.parametrize(
    ("name", "created", "is_warned"),
    [
        ("msg_fd1234000001HarbourHarbour", 1_780_000_000_000, True),
        ("msg_0fd1234000001HarbourHarbou", 1_780_000_000_000, False),
        ("msg_fd1234000001HarbourHarbour", 1_796_000_000_000, False),
    ],
    ids=["old", "fork of an old one", "new"],
)
def test_prompts_from_before_ids_began_anew_may_be_left_out(
    name: str, created: int, *, is_warned: bool
) -> None:
    prompt = user(name, text("one"))
    prompt["info"]["time"] = {"created": created}

    assert any("not followed" in each for each in kilo(prompt).warnings) == is_warned
    assert opencode(prompt).warnings == ()


def test_the_history_starts_at_what_the_newest_summary_answers() -> None:
    messages = [
        user("msg_1", text("one")),
        user("msg_2", text("Summarize it.")),
        summary("msg_3", "msg_2"),
        user("msg_4", text("two")),
    ]
    failed = summary("msg_5", "msg_4", error={"name": "APIError"})
    found = kilo(*messages, failed)

    assert texts(found.effective) == ["Summarize it.", "All so far.", "two"]
    assert [bool(m.locks.unmovable_reason) for m in found.effective] == [True, True, False]
    assert texts(opencode(*messages).effective)[0] == "one"


def test_pictures_are_left_out_once_there_is_a_summary() -> None:
    shown = tool("c1", "read", {}, output="a gauge", attachments=[PICTURE])
    messages = [user("msg_1", text("look"), PICTURE), assistant("msg_2", shown)]
    whole = kilo(*messages)
    found = kilo(*messages, user("msg_3", text("Summarize it.")), summary("msg_4", "msg_1"))

    assert isinstance(whole.effective[0].parts[1], MediaPart)
    assert len(whole.effective[1].results[0].media) == 1
    assert texts(found.effective[:1]) == ["look | [Attached image/png: gauge.png]"]
    assert found.effective[1].results[0].media == ()
    assert isinstance(found.messages[0].parts[1], MediaPart)


def test_a_file_that_is_sent_to_the_user_is_not_sent_to_the_model() -> None:
    part = tool("c1", "send_file", {}, output="sent", attachments=[PICTURE])

    assert kilo(assistant("msg_1", part)).effective[0].results[0].media == ()
    assert len(opencode(assistant("msg_1", part)).effective[0].results[0].media) == 1


def test_messages_without_a_prompt_are_sent() -> None:
    answer = assistant("msg_1", text("hello"), time={"created": CREATED})

    assert texts(kilo(answer).effective) == ["hello"]
