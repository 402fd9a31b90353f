"""The error of a provider or client is about one record: it is named, and repaired."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from cli.asking import Ask, Outcome
from refusals.inputs import FAULTS, Fault, Input, sound_inputs
from refusals.media import encoded, png
from refusals.oracle import find_refusals
from refusals.providers import Json
from refusals.talks import (
    FERNET,
    SIGNATURE,
    WRITERS,
    Messages,
    assistant,
    call,
    result,
    sound_talk,
    text,
    user,
)

from compactctl.profiles.refusals import load_refusals

RULES = load_refusals()
# A session that only lacks a parent is not refused, so no error says it.
WITH_ERRORS = [fault for fault in FAULTS if RULES[fault.rule].sentences]
every_error = pytest.mark.parametrize(
    "fault", WITH_ERRORS, ids=[fault.label for fault in WITH_ERRORS]
)
CHANGED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"
)
UNREADABLE = "Could not process image"


def write(name: str, data: bytes) -> Path:
    path = Path(name)
    path.write_bytes(data)
    return path


def error_of(rule: str, place: str = "", number: int = -1) -> str:
    """Return the last sentence of a rule, or that with a number, as a client shows it."""
    sentence = RULES[rule].sentences[number].replace("…", " of 9 ")
    body = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": place + sentence},
    }
    return f"API Error: 400 {json.dumps(body)}"


def rescued(ask: Ask, path: Path, error: str) -> tuple[Outcome, Path]:
    """Return how a rescue from an error ends, and where it has written."""
    new = Path("new") / path.name
    new.parent.mkdir(exist_ok=True)
    return ask("rescue", path, "--from-error", error, "-o", new, "-f"), new


def subject(ask: Ask, path: Path, error: str) -> Json:
    """Return what a rescue says an error is about."""
    outcome = ask("rescue", "-n", path, "--from-error", error, "--json")
    about: Json = outcome.json["compact"]["error"]
    return about


def is_at(entry: Mapping[str, object], case: Input) -> bool:
    """Tell whether a fault is on the line of an input, or in the message of a document."""
    if case.place is None or case.name.endswith(".jsonl"):
        return case.place in (None, entry["line"])
    path = entry["path"]
    assert isinstance(path, list)
    return next(step for step in path if isinstance(step, int)) == case.place


@every_error
def test_the_error_of_every_fault_names_its_record(fault: Fault, ask: Ask) -> None:
    case = fault.make()
    # The last sentences are those of Bedrock.
    error = error_of(fault.rule, number=0 if fault.form in ("chat", "codex", "responses") else -1)
    about = subject(ask, write(case.name, case.faulty), error)
    assert about["rule"] in {rule.id for rule in RULES.values() if shares(rule.id, fault.rule)}
    assert any(is_at(entry, case) for entry in about["faults"]), about


def shares(rule: str, other: str) -> bool:
    """Tell whether two rules have a sentence in common: the transcript shows which is meant."""
    return not set(RULES[rule].sentences).isdisjoint(RULES[other].sentences)


def put_twice(fault: str, form: str) -> tuple[Path, int]:
    """Write a session with an empty text in two messages; return it and the place of the second."""
    messages = sound_talk()
    for index in (1, 5):
        messages[index]["content"].insert(0, text(""))
    written = WRITERS[form](messages)
    return write(fault, written.data()), written.places[5, 0]


@pytest.mark.parametrize(
    ("form", "name"), [("anthropic", "r.json"), ("bedrock", "r.json"), ("claude-code", "s.jsonl")]
)
def test_the_index_of_a_message_decides_between_two_faults(form: str, name: str, ask: Ask) -> None:
    path, place = put_twice(name, form)
    error = error_of("text-empty", "messages.5.content.0: ")
    (entry,) = subject(ask, path, error)["faults"]
    assert place in (entry["line"], *entry["path"])
    first, second = subject(ask, path, error_of("text-empty"))["faults"]
    assert first != second == entry


def test_records_of_one_answer_and_results_in_a_row_are_one_message(ask: Ask) -> None:
    """Claude Code stores each block of an answer in a record, and each result of its calls."""
    case = sound_inputs()["claude-code in rows"]()
    rows = [json.loads(line) for line in case.faulty.splitlines()]
    numbers = [
        number
        for number, row in enumerate(rows, 1)
        if row["type"] == "user" and "timber" in json.dumps(row)
    ]
    rows[numbers[0] - 1]["message"]["content"].append(text(" "))
    rows[1]["message"]["content"].append(text(""))
    path = write(case.name, b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    (entry,) = subject(ask, path, error_of("text-empty", "messages.6.content.1: "))["faults"]
    assert entry["line"] == numbers[0]


def thinking(signature: str = SIGNATURE) -> Json:
    return {"type": "thinking", "thinking": "Two ships.", "signature": signature}


def with_thinking(*indices: int) -> Messages:
    messages = sound_talk()
    for index in indices:
        messages[index]["content"].insert(0, thinking())
    return messages


@pytest.mark.parametrize(
    ("error", "remaining"),
    [
        (f"messages.5.content.0: {CHANGED}", [1, 7]),
        (CHANGED, [1, 5]),
        # The turn has two answers.
        ("messages.5.content.0.type: Expected `thinking`, but found `text`", [1]),
        ("messages.5.content.0: Invalid `signature` in `thinking` block", [1, 7]),
    ],
)
@pytest.mark.parametrize("form", ["anthropic", "claude-code"])
def test_reasoning_is_left_out_that_only_the_error_shows(
    form: str, error: str, remaining: list[int], ask: Ask
) -> None:
    path = write(FILES[form], WRITERS[form](with_thinking(1, 5, 7)).data())
    outcome, new = rescued(ask, path, error)
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("the error is about ")
    assert new.read_bytes().count(b"Two ships.") == len(remaining)
    assert find_refusals(new) == []
    assert ask("rewind", new, "-o", "back", "-f").code == 0
    assert Path("back").read_bytes() == path.read_bytes()


FILES = {"anthropic": "request.json", "claude-code": "session.jsonl", "responses": "request.json"}


def items(*added: tuple[int, Json]) -> Path:
    """Write a request of responses with items before those of these indices."""
    body = json.loads(WRITERS["responses"](sound_talk()).data())
    for index, item in reversed(added):
        body["input"].insert(index, item)
    return write("request.json", json.dumps(body, indent=1).encode())


def test_all_encrypted_reasoning_is_left_out_that_another_account_got(ask: Ask) -> None:
    one = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": FERNET}
    path = items((2, one), (5, one | {"id": "rs_2"}))
    body = json.loads(path.read_bytes())
    # What follows reasoning is only accepted without it if it has no id.
    body["input"][3]["id"], body["input"][13]["id"] = "msg_1", "msg_2"
    path.write_bytes(json.dumps(body, indent=1).encode())
    error = "The encrypted content gAAA...mm== could not be verified."
    outcome, new = rescued(ask, path, error)
    assert outcome.code == 0, outcome
    assert b"encrypted_content" not in new.read_bytes()
    assert b"msg_1" not in new.read_bytes()
    assert b"msg_2" in new.read_bytes()
    assert find_refusals(new) == []


def test_an_item_without_its_reasoning_loses_its_id(ask: Ask) -> None:
    path = items()
    body = json.loads(path.read_bytes())
    place, item = next((n, i) for n, i in enumerate(body["input"]) if i["type"] == "function_call")
    item["id"] = "fc_2"
    path.write_bytes(json.dumps(body, indent=1).encode())
    error = "Item 'fc_2' of type 'function_call' was provided without its required 'reasoning' item"
    (entry,) = subject(ask, path, error)["faults"]
    assert entry["path"][:2] == ["input", place]
    outcome, new = rescued(ask, path, error)
    assert outcome.code == 0, outcome
    body["input"][place].pop("id")
    assert json.loads(new.read_bytes())["input"] == body["input"]


def picture(data: bytes) -> Json:
    source = {"type": "base64", "media_type": "image/png", "data": encoded(data)}
    return {"type": "image", "source": source}


def test_an_unreadable_image_is_newer_than_the_newest_answer(ask: Ask) -> None:
    """The provider has read those before it; the bytes of the newest do not tell what is wrong."""
    messages = sound_talk()
    for index in (0, 8):
        messages[index]["content"].append(picture(png()))
    written = WRITERS["claude-code"](messages)
    # The answer to the newest request is an error instead.
    del written.records[-1]
    path = write("session.jsonl", written.data())
    (entry,) = subject(ask, path, UNREADABLE)["faults"]
    assert entry["line"] == written.places[8, 1]
    outcome, new = rescued(ask, path, UNREADABLE)
    assert outcome.code == 0, outcome
    assert new.read_bytes().count(b'"image"') == 1


@pytest.mark.parametrize("error", ["413 Payload Too Large", "Request too large (max 8MB)"])
def test_a_limit_of_bytes_leaves_out_the_oldest_media_and_sets_no_target(
    error: str, ask: Ask
) -> None:
    messages = sound_talk()
    for index in (0, 4, 8):
        messages[index]["content"].append(picture(png(n_bytes=3_000_000 + index)))
    path = write("session.jsonl", WRITERS["claude-code"](messages).data())
    outcome, new = rescued(ask, path, error)
    assert outcome.code == 0, outcome
    text_after = new.read_text()
    assert "[image/png" in text_after
    assert len(re.findall('"type": "image"', text_after)) == (1 if error.startswith("413") else 2)
    assert encoded(png(n_bytes=3_000_008)) in text_after
    assert (
        ask("rescue", "-n", path, "--from-error", error, "--json").json["compact"]["targetTokens"]
        is None
    )


def test_a_limit_of_bytes_frees_space_where_there_are_no_media(ask: Ask) -> None:
    path = write("session.jsonl", sound_inputs()["claude-code"]().faulty)
    outcome = ask("rescue", "-n", path, "--from-error", "413 Payload Too Large")
    assert "cannot be reached" not in outcome.out + outcome.err
    assert outcome.code == 5
    assert "the error is about line 1: request of" in outcome.out


def test_an_error_of_another_provider_is_read_with_its_rules(ask: Ask) -> None:
    """A gateway sends the messages of OpenAI's chat on to Anthropic, which joins them."""
    messages = [
        {"role": "user", "content": "Which berth is free?"},
        {"role": "assistant", "content": "Berth 4."},
        {"role": "user", "content": [{"type": "text", "text": ""}]},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Book it."},
    ]
    path = write("chat.jsonl", b"".join(json.dumps(m).encode() + b"\n" for m in messages))
    (entry,) = subject(ask, path, error_of("text-empty", "messages.2.content.0: "))["faults"]
    assert entry["line"] == 3


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "messages.5: `tool_use` ids were found without `tool_result` blocks",
            "where nothing breaks the rule call-without-result",
        ),
        ("No tool output found for function call call_9", "nothing in the transcript breaks"),
        (CHANGED, "nothing in the transcript breaks the rule of the error (thinking-modified)"),
    ],
)
def test_what_the_transcript_does_not_show_is_not_said_to_be_repaired(
    error: str, said: str, ask: Ask
) -> None:
    path = write("session.jsonl", sound_inputs()["claude-code"]().faulty)
    outcome, new = rescued(ask, path, error)
    assert outcome.code == 5, outcome
    assert said in outcome.out
    assert not new.exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("connection reset by peer", "not recognized"),
        ("429 Too Many Requests", "rate limit"),
        ("max_tokens is too large: 70000", "lower max_tokens"),
    ],
)
@pytest.mark.parametrize("command", ["rescue", "compact"])
def test_an_error_against_which_no_change_helps_is_a_usage_error(
    command: str, error: str, said: str, ask: Ask
) -> None:
    path = write("session.jsonl", sound_inputs()["claude-code"]().faulty)
    outcome = ask(command, path, "--from-error", error)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_compact_repairs_what_the_error_is_about(ask: Ask) -> None:
    messages = with_thinking(1, 5)
    messages[8]["content"] = [result("toolu_none", "high water"), text("Then book berth 4.")]
    path = write("session.jsonl", WRITERS["claude-code"](messages).data())
    error = error_of("result-without-call", "messages.8.content.0: ")
    outcome = ask("compact", path, "--stages", "prune", "--from-error", error, "-o", "new.jsonl")
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("the error is about ")
    assert find_refusals(Path("new.jsonl")) == []


def test_a_call_is_known_by_its_id_wherever_it_stands(ask: Ask) -> None:
    messages = sound_talk()
    messages[4:4] = [user(text("Wait.")), assistant(call("toolu_tide", "read_tide"))]
    path = write("session.jsonl", WRITERS["claude-code"](messages).data())
    sentence = (
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_tide"
    )
    about = subject(ask, path, f"messages.0: {sentence}")
    assert [entry["rule"] for entry in about["faults"]] == ["call-without-result"]


# A request of OpenAI's chat: a message with text and two calls, and a result without a call.
CHAT: Messages = [
    {"role": "user", "content": "Which berth is free?"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": name * 41, "type": "function", "function": {"name": "look", "arguments": "{}"}}
            for name in ("a", "b")
        ],
    },
    *({"role": "tool", "tool_call_id": name * 41, "content": "calm"} for name in ("a", "b")),
    {"role": "tool", "tool_call_id": "c", "content": "calm"},
    {"role": "user", "content": "Book it."},
]


@pytest.mark.parametrize(
    ("error", "path"),
    [
        (
            {"message": "Invalid 'messages[1].tool_calls[1].id': string too long."},
            ["messages", 1, "tool_calls", 1],
        ),
        (
            {
                "message": "messages with role 'tool' must be a response to a preceding message",
                "param": "messages.[4].role",
            },
            ["messages", 4],
        ),
    ],
)
def test_places_of_the_chat_are_read(error: Json, path: list[object], ask: Ask) -> None:
    body = {"model": "gpt-4o", "messages": [*CHAT[:4], CHAT[4], CHAT[4], CHAT[5]]}
    write("request.json", json.dumps(body, indent=1).encode())
    (entry,) = subject(ask, Path("request.json"), json.dumps({"error": error}))["faults"]
    assert entry["path"][: len(path)] == path


def test_a_place_is_the_one_nearest_to_the_sentence(ask: Ask) -> None:
    path, place = put_twice("request.json", "anthropic")
    error = (
        f"at file.js line 4, messages.1.content.0 of 9: {error_of('text-empty', 'messages.5: ')}"
    )
    (entry,) = subject(ask, path, error)["faults"]
    assert place in entry["path"]


@pytest.mark.parametrize("as_list", [True, False])
def test_of_several_conversations_the_place_decides(as_list: bool, ask: Ask) -> None:  # noqa: FBT001
    def request(index: int) -> Json:
        messages = sound_talk()
        messages[index]["content"].insert(0, text(""))
        body: Json = json.loads(WRITERS["anthropic"](messages).data())
        return body

    requests = [request(1), request(5)]
    data = json.dumps(requests) if as_list else "\n".join(map(json.dumps, requests))
    path = write("requests.json" if as_list else "requests.jsonl", data.encode())
    (entry,) = subject(ask, path, error_of("text-empty", "messages.5.content.0: "))["faults"]
    assert [step for step in entry["path"] if isinstance(step, int)][-2:] == [5, 0]


def test_an_id_with_a_full_stop_is_read_whole(ask: Ask) -> None:
    messages = sound_talk()
    names = {"toolu_hold": "functions.hold:1", "toolu_plan": "functions"}
    data = json.dumps(messages)
    for old, new in names.items():
        data = data.replace(old, new)
    messages = json.loads(data)
    del messages[6]["content"][0]
    path = write("session.jsonl", WRITERS["claude-code"](messages).data())
    sentence = "`tool_use` ids were found without `tool_result` blocks immediately after:"
    (entry,) = subject(ask, path, f"messages.0: {sentence} functions.hold:1. Each of them")[
        "faults"
    ]
    assert entry["line"] == 6


def test_of_several_images_in_a_result_the_error_names_one(ask: Ask) -> None:
    messages = sound_talk()
    images = [picture(png(n_bytes=3_000 + n)) for n in range(2)]
    messages[6]["content"][0]["content"] = [text("80 t of timber"), *images]
    path = write("request.json", WRITERS["anthropic"](messages).data())
    error = error_of("image-readable", "messages.6.content.0.tool_result.content.2.image: ")
    _, new = rescued(ask, path, error.replace(RULES["image-readable"].sentences[-1], UNREADABLE))
    notes = re.findall(r"\[image[^\"\\]*", new.read_text())
    assert ["cannot be read" in note for note in notes] == [False, True]


def test_an_answer_without_reasoning_is_not_the_one_that_has_it(ask: Ask) -> None:
    """The error names the answer that lacks what others of its turn have."""
    path = write("session.jsonl", WRITERS["claude-code"](with_thinking(1, 7)).data())
    error = "messages.3.content.0.type: Expected `thinking`, but found `text`"
    (entry,) = subject(ask, path, error)["faults"]
    assert entry["line"] == 2


def test_a_compaction_that_cannot_be_verified_is_not_reasoning(ask: Ask) -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": FERNET}
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": FERNET}
    path = items((1, compaction), (2, reasoning))
    for place in ("'input[1].encrypted_content': ", "for item cmp_1: "):
        error = f"Invalid {place}The encrypted content gAAA...mm== could not be verified."
        outcome, new = rescued(ask, path, error)
        assert outcome.code == 5, outcome
        assert "request.json --redo" in outcome.out
        assert not new.exists()


@pytest.mark.parametrize("form", ["claude-code", "cline", "pi", "anthropic"])
def test_an_error_that_its_client_cannot_get_changes_nothing(form: str, ask: Ask) -> None:
    name = {"claude-code": "s.jsonl", "pi": "s.jsonl"}.get(form, f"{form}.json")
    data = WRITERS[form](with_thinking(1, 5)).data()
    if form == "cline":
        name = "api_conversation_history.json"
    path = write(name, data)
    error = "Item 'msg_9' of type 'reasoning' was provided without its required following item."
    outcome, new = rescued(ask, path, error)
    assert outcome.code == 5, outcome
    assert not new.exists()


def test_what_only_the_user_can_fix_is_not_said_to_be_fixed(ask: Ask) -> None:
    body = {"model": "gpt-4o", "messages": CHAT}
    path = write("request.json", json.dumps(body, indent=1).encode())
    outcome, _ = rescued(ask, path, "Unexpected role 'user' after role 'tool'")
    assert outcome.code == 5, outcome
    assert "which only you can fix" in outcome.out
    assert "role-order" in outcome.out


def test_another_repair_does_not_stand_for_that_of_the_error(ask: Ask) -> None:
    messages = sound_talk()
    del messages[6]["content"][0]
    path = write("session.jsonl", WRITERS["claude-code"](messages).data())
    assert rescued(ask, path, f"messages.5.content.0: {CHANGED}")[0].code == 5


def test_texts_over_a_limit_of_bytes_are_not_said_to_fit(ask: Ask) -> None:
    messages = sound_talk()
    messages[0]["content"].append(text("See the tide table. " * 6_000))
    messages[8]["content"].append(picture(png(n_bytes=90_000)))
    path = write("session.jsonl", WRITERS["claude-code"](messages).data())
    outcome, _ = rescued(ask, path, "Request too large (max 60KB)")
    assert outcome.code == 5, outcome


def test_a_limit_of_another_provider_counts(ask: Ask) -> None:
    """Claude Code may ask Bedrock, whose ids and names may have 64 characters."""
    messages = sound_talk()
    data = json.dumps(messages).replace("toolu_hold", "h" * 65).replace("toolu_plan", "p" * 45)
    path = write("session.jsonl", WRITERS["claude-code"](json.loads(data)).data())
    place = "messages.6.member.content.1.member.toolUse.toolUseId"
    error = f"Value 'h' at '{place}' failed to satisfy constraint: Member must have length 64"
    (entry,) = subject(ask, path, error)["faults"]
    assert (entry["line"], entry["limit"]) == (6, 64)


def test_an_error_that_a_terminal_has_broken_is_read(ask: Ask) -> None:
    path, place = put_twice("session.jsonl", "claude-code")
    error = error_of("text-empty", "messages.5.content.0: ")
    broken = "\n".join(f"     {error[start : start + 37]}" for start in range(0, len(error), 37))
    (entry,) = subject(ask, path, broken)["faults"]
    assert entry["line"] == place


def test_an_id_that_is_not_in_the_transcript_names_nothing_else(ask: Ask) -> None:
    messages = sound_talk()
    del messages[6]["content"][0]
    path = write("session.jsonl", WRITERS["claude-code"](messages).data())
    outcome, _ = rescued(ask, path, "No tool output found for function call call_9")
    assert outcome.code == 5
    assert "the error is about line" not in outcome.out


def test_the_same_error_again_says_which_session_was_rescued(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = tmp_path / "home" / ".claude" / "projects" / "-home-dev-harbor"
    store.mkdir(parents=True)
    monkeypatch.chdir(store)
    name = "5b1c7d1e-3c55-4c0e-9a53-6f1d2c3b9abc.jsonl"
    path = write(name, WRITERS["claude-code"](with_thinking(1, 5)).data())
    first = ask("rescue", path.absolute(), "--from-error", f"messages.5.content.0: {CHANGED}")
    again = ask("rescue", path.absolute(), "--from-error", f"messages.5.content.0: {CHANGED}")
    assert "fixed 1 record in a new session" in first.out
    assert "rescued before, as session" in again.out
    assert len([*store.glob("*.jsonl")]) == 2


def test_an_error_that_is_cut_off_names_what_is_wrong_at_its_place(ask: Ask) -> None:
    path, place = put_twice("session.jsonl", "claude-code")
    error = 'API Error: 400 {"type":"error","error":{"message":"messages.5.content.0: tex'
    (entry,) = subject(ask, path, error)["faults"]
    assert (entry["rule"], entry["line"]) == ("text-empty", place)
    outcome, new = rescued(ask, path, "messages.3.content.0: somethi")
    assert outcome.code == 5
    assert "where nothing breaks a rule" in outcome.out
    assert find_refusals(new) == []
