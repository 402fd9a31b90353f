"""Commands that a person typed: a task of theirs, or something for the client."""

from formats.claude_code.sessions import said, user
from formats.jsonl import read

COMMAND = "<command-message>port</command-message>\n<command-name>/port</command-name>"
ARGUMENTS = f"{COMMAND}\n<command-args>src only</command-args>"
TEXT = [{"type": "text", "text": "Port the files, never write to config."}]
PRINTED = "<local-command-stdout>Set model to fable</local-command-stdout>"


def words(*records: object) -> list[tuple[bool, bool, str]]:
    """Return of each message whether it starts a turn and instructs, and what was written."""
    messages = read("claude-code", *records).effective
    return [
        (
            message.starts_turn,
            message.origin.is_instruction,
            "".join(map(message.words, message.parts)),
        )
        for message in messages
        if message.role == "user"
    ]


def test_a_command_starts_a_turn_and_its_text_is_an_instruction() -> None:
    asked = user("a", None, ARGUMENTS), user("b", "a", TEXT, isMeta=True), said("c", "b", "Done.")

    assert words(*asked) == [
        (True, False, "/port src only"),
        (False, True, "Port the files, never write to config."),
    ]


def test_a_command_without_arguments_is_typed_where_a_text_follows() -> None:
    asked = user("a", None, COMMAND), user("b", "a", TEXT, isMeta=True)

    assert [word for *_, word in words(*asked)] == [
        "/port",
        "Port the files, never write to config.",
    ]


def test_what_the_client_carries_out_itself_is_no_request() -> None:
    for command in (COMMAND, ARGUMENTS):
        done = user("a", None, command), user("b", "a", PRINTED), user("c", "b", "Go on.")
        assert words(*done) == [(False, False, ""), (False, False, ""), (True, False, "Go on.")]


def test_a_command_with_arguments_that_nothing_follows_is_a_request() -> None:
    assert words(user("a", None, ARGUMENTS)) == [(True, False, "/port src only")]
    assert words(user("a", None, COMMAND)) == [(False, False, "")]


def test_a_text_that_follows_no_command_is_the_clients() -> None:
    plain = user("a", None, "Go on."), user("b", "a", TEXT, isMeta=True)

    assert words(*plain) == [(True, False, "Go on."), (False, False, "")]


def test_words_beside_a_result_start_a_turn() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    text = {"type": "text", "text": "Use tabs."}
    reminder = {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"}

    assert words(user("a", None, [result, text, reminder])) == [(True, False, "Use tabs.")]
    assert words(user("a", None, [result, reminder])) == [(False, False, "")]
