from dataclasses import replace

import pytest
from builders import result_part
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.stand_ins import text_after_summary
from compactctl.history.voices import (
    attribute,
    command_in,
    is_from_client,
    reply_in,
    typed_in,
)
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


BLOCK = "<skill>x</skill>"
COMMAND = "<command-name>/port</command-name><command-args>src</command-args>"


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        # Within a line a block stays, unless only blanks or another block come before it.
        (f"a {BLOCK}", None),
        (f"  {BLOCK} a", "a"),
        (f"\t{BLOCK}{BLOCK} a", "a"),
        (f"{BLOCK} b {BLOCK} a", f"b {BLOCK} a"),
        (f"{BLOCK} {BLOCK} a", "<skill>x</skill> a"),
        # A closing tag without an opening one is no block; an inner one is removed with its outer.
        ("a</skill>\nb", None),
        ("<skill>a<skill>b</skill>c</skill>d", "d"),
        ("<skill>a\n<skill>b</skill>\nc", "c"),
        # Without an end it is the client's only before all words.
        ("go\n<skill>\nand so on", None),
        (f"{BLOCK}\n<skill>\nand so on", ""),
        (f"{COMMAND}\n<skill>a", "/port src\n<skill>a"),
        ("<skilled>a</skilled>", None),
        ("<skill >a</skill >b", "b"),
        ("go\n  Caveat: The messages below were generated.  \nnow", "go\n\nnow"),
        ("go\nFull transcript available at: /tmp/a", "go"),
        ("go, Caveat: The messages below were generated.", None),
        ("# AGENTS.md instructions for /home/me", ""),
        ("  <returncode>1", ""),
        ("go <returncode>1", None),
        ("  go  ", None),
        ("", None),
    ],
)
def test_where_a_block_stands_decides_whose_it_is(text: str, typed: str | None) -> None:
    assert typed_in(text) == (text if typed is None else typed)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("<command-name>/port</command-name>", "/port"),
        ("  <command-name> /port </command-name>\n<command-args> src </command-args>", "/port src"),
        ("<command-args>src</command-args>", "src"),
        ("<command-message>port</command-message>", ""),
        ("go <command-name>/port</command-name>", ""),
        (f"<command-name>/port</command-name>go{BLOCK}<command-args>a</command-args>", "/port"),
        ("/port", ""),
    ],
)
def test_a_command_is_read_at_the_start(text: str, command: str) -> None:
    assert command_in(text) == command


@pytest.mark.parametrize(
    ("texts", "from_client"),
    [
        ([], False),
        (["go"], False),
        ([BLOCK], True),
        ([BLOCK, REMINDER], True),
        ([BLOCK, "go"], False),
    ],
)
def test_a_client_wrote_all_texts_or_it_is_the_users(
    texts: list[str],
    from_client: bool,  # noqa: FBT001
) -> None:
    parts = attribute(tuple(TextPart(text=text) for text in texts), "user")
    assert is_from_client((*parts, result_part("a", "x"))) is from_client


def test_what_a_model_writes_is_not_attributed_but_a_result_beside_it_is() -> None:
    parts = (TextPart(text=BLOCK), result_part("a", "The blue one", tool="ask_user"))
    text, answer = attribute(parts, "assistant")
    assert (text, answer) == (parts[0], replace(parts[1], said="The blue one"))
    assert attribute(parts, "user")[0] == TextPart(text=BLOCK, typed="")


def test_what_a_format_or_a_stage_has_settled_stays() -> None:
    known = TextPart(text=BLOCK, typed="mine")
    cleared = result_part("a", "The blue one", tool="ask_user", cleared=True)
    said = result_part("a", "The blue one", tool="ask_user", said="Blue")
    failed = result_part("a", "The blue one", tool="ask_user", is_error=True)
    assert attribute((known, cleared, said, failed), "user") == (known, cleared, said, failed)


NOTICE = "The user sent the following message:\nUse tabs.\n"
PLEASE = "\nPlease address this message and continue with your tasks."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"ok\n{NOTICE}{PLEASE}", "Use tabs."),
        (f"<system-reminder>\n{NOTICE}{PLEASE}\n</system-reminder>", "Use tabs."),
        # One half of the reminder's tags alone is no such notice.
        (f"<system-reminder>\n{NOTICE}{PLEASE}", ""),
        (f"{NOTICE}{PLEASE}\n</system-reminder>", ""),
        (NOTICE, ""),
        (f"{STEERED}\n{STEERED}", "Use tabs.\n\nNever spaces.\nUse tabs.\n\nNever spaces."),
        (f"{REFUSED}\n{NOTICE}{PLEASE}", None),
    ],
)
def test_what_was_typed_meanwhile_is_between_the_clients_words(text: str, said: str | None) -> None:
    found = reply_in("Bash", text)
    assert found == said if said is not None else found.startswith("Use tabs.\nNever write")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": {"b": ["one", 2, "", "two"]}, "c": "three"}', "one; two; three"),
        ("{}", ""),
        ('["one"]', '["one"]'),
        ('{"a":', '{"a":'),
        ('{"a":' * 100_000, '{"a":' * 100_000),
        ("<answer>\nBlue\n</answer>", "Blue"),
        ("User selected: Blue", "Blue"),
    ],
)
def test_an_answer_is_the_strings_in_it(text: str, said: str) -> None:
    assert reply_in("AskUserQuestion", text) == said
