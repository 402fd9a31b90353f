import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.stand_ins import text_after_summary
from compactctl.history.voices import attribute, reply_in, typed_in
from compactctl.model.message import Message, MessageId, TextPart

REMINDER = "<system-reminder>\nNever tell anybody of <env> or </env>.\n</system-reminder>"
MODE = "<collaboration_mode>as in `<collaboration_mode>…</collaboration_mode>`</collaboration_mode>"
ASKED = (
    "<command-message>port</command-message>\n<command-name>/port</command-name>\n"
    "<command-args>src only</command-args>"
)
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. "
    "To tell you how to proceed, the user said:\nNever write\nto prod."
)
SAID = "Never write\nto prod."
DENIED = (
    "The user denied this operation and provided the following feedback:\n"
    f"<feedback>\n{SAID}\n</feedback>"
)
CHOICES = '"Which?"="The blue one", "And how?"="By hand,\nnot at once" user notes: today'
CHOSEN = CHOICES.replace('one"', 'one" selected preview:\n# blue\n')
NOTED = 'A; user_note: "b"'
STEERED = (
    "<system-reminder>\nThe user sent a new message while you were working:\nUse tabs.\n\n"
    "Never spaces.\n\nThis is how Claude Code surfaces messages the user sends mid-turn. Address "
    "the message above as you continue this turn.\n</system-reminder>"
)
CLARIFYING = (
    "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user "
    'said:\nThe user wants to clarify these questions.\n\nQuestions asked:\n- "Which?"'
)
CONTEXT = "<environment_context>\n  <cwd>/home/me</cwd>\n</environment_context>"


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Port the shop.", "Port the shop."),
        (f"{REMINDER}\nPort the shop.", "Port the shop."),
        (f"{REMINDER}{CONTEXT}Port the shop.", "Port the shop."),
        (f"Port the shop.\n{REMINDER}", "Port the shop."),
        (STEERED, "Use tabs.\n\nNever spaces."),
        (f"{REMINDER}\n{STEERED}\n{CONTEXT}", "Use tabs.\n\nNever spaces."),
        (f"Port it.\n{STEERED}", "Port it.\nUse tabs.\n\nNever spaces."),
        (f"First.\n\n{CONTEXT}\nThen.", "First.\n\n\nThen."),
        ("Port the shop.\n<hook_context>Be brief.</hook_context>", "Port the shop."),
        (REMINDER, ""),
        ("<system-reminder>\ncut off by a lo", ""),
        ("[Request interrupted by user for tool use]\nUse tabs.", "Use tabs."),
        ("[Request interrupted by user]", ""),
        ("<returncode>0</returncode>\n<output>\nok\n</output>", ""),
        ("<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>", ""),
        (MODE, ""),
        ("Why does it send <system-reminder>x</system-reminder> here?", None),
        ("Never open a <skill> tag.", None),
        ("<skill>\nis how it starts, and\n<environment_context> too", ""),
    ],
)
def test_what_clients_put_in_is_taken_out_and_nothing_else(text: str, typed: str | None) -> None:
    assert typed_in(text) == (text if typed is None else typed)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("<command-name>/model</command-name>\n<command-args></command-args>", ""),
        (ASKED, "/port src only"),
        (
            "<command-name>/port</command-name>\n<command-args>src</command-args>\nPort it.",
            "/port src\nPort it.",
        ),
    ],
)
def test_a_command_is_typed_where_it_has_arguments_or_a_text(text: str, typed: str) -> None:
    assert typed_in(text) == typed


@given(st.text(alphabet="ab <>/\n-", max_size=60), st.sampled_from([REMINDER, CONTEXT]))
def test_a_reminder_before_or_behind_a_text_takes_none_of_its_words(words: str, block: str) -> None:
    for text in (f"{block}\n{words}", f"{words}\n{block}"):
        assert typed_in(text).split() == words.split()


def test_a_message_is_a_persons_when_any_of_its_texts_is() -> None:
    parts = attribute((TextPart(text=REMINDER), TextPart(text="Go on.")), "user")
    message = Message(id=MessageId("m"), role="user", parts=parts, line=0)

    assert message.starts_turn
    assert [message.words(part) for part in message.parts] == ["", "Go on."]


@pytest.mark.parametrize(
    ("tool", "text", "said"),
    [
        ("Write", "The user doesn't want to proceed. The user said:\nUse tabs.", ""),
        ("Write", REFUSED, SAID),
        (
            "AskUserQuestion",
            f"User has answered your questions: {CHOICES}. You can now continue with the rest.",
            CHOICES,
        ),
        ("AskUserQuestion", f"The user answered: {CHOSEN}. Read the answers carefully.", CHOICES),
        ("ask_user", "The blue one", "The blue one"),
        ("ask_user", "User responded: The blue one", "The blue one"),
        ("request_user_input", '{"answers":{"q":{"answers":["A","user_note: \\"b\\""]}}}', NOTED),
        ("ask_user", "[1, 2]", "[1, 2]"),
        ("Write", f"{REFUSED}\n\nNote: The user's next message may contain more.", SAID),
        ("Write", DENIED, SAID),
        ("bash", f"The user rejected this call with the following feedback: {SAID}", SAID),
        ("Bash", f"a.py\n\n{STEERED}", "Use tabs.\n\nNever spaces."),
        ("AskUserQuestion", CLARIFYING, ""),
        ("Bash", "then the user said: no", ""),
        ("Read", 'a = "Which?"="The blue one"', ""),
    ],
)
def test_what_a_person_says_in_a_result_is_told_apart(tool: str, text: str, said: str) -> None:
    assert reply_in(tool, text) == said


def test_a_question_that_failed_has_no_answer() -> None:
    assert not reply_in("AskUserQuestion", "InputValidationError: no options", is_error=True)
    assert reply_in("Write", REFUSED, is_error=True) == SAID


@pytest.mark.parametrize(
    "piece",
    [
        "<skill>",
        "a\n<skill>\n",
        "<skill>a</skill>b",
        "\n<skill>\n<skill></skill>",
        "<command-name>",
        "The user sent the following message:\n",
        "[Request interrupted by user",
        "\n",
        " ",
        "The user rejected ",
    ],
)
def test_no_text_is_read_more_than_a_few_times(piece: str) -> None:
    """Read what would take minutes if each mark were looked for to the end of the text."""
    text = piece * (400_000 // len(piece))

    assert len(typed_in(text)) <= len(text)
    assert len(reply_in("Read", text)) <= len(text)


@pytest.mark.parametrize(
    ("summary", "joined"),
    [
        ("[Earlier]:\n\nHand-over of 9 earlier messages, without a model: x\n## 1.\n- done", ""),
        ("Digest of 9 earlier messages, made without a model: x\n## Course\n[M1] user\nGo.", ""),
        ("Hand-over of 9 earlier messages, without a model: x\n- done", "Use tabs.\n\nOnly tabs."),
    ],
)
def test_what_is_joined_with_a_summary_is_told_from_it(summary: str, joined: str) -> None:
    assert text_after_summary(f"{summary}\n\n{joined}" if joined else summary) == joined
