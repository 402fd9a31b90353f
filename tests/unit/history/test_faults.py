"""What each rule refuses at its bound, and accepts beside it."""

from collections.abc import Mapping
from typing import Any

import pytest
from builders import (
    assistant,
    call,
    call_part,
    conversation,
    definition,
    image,
    message,
    raw_call,
    result,
    result_part,
    system,
    user,
)

from compactctl.history.faults import Fault, Recipient, find_faults
from compactctl.model.message import MediaPart, Message, ReasoningPart, TextPart
from compactctl.profiles.refusals import load_refusals
from compactctl.records import replace

RULES = load_refusals()
CLAUDE = Recipient(provider="anthropic", rules=RULES, pair_order="next turn")
REQUEST = replace(CLAUDE, is_request=True)
CONVERSE = replace(CLAUDE, provider="bedrock")
CHAT = Recipient(provider="openai", rules=RULES, pair_order="next messages")
RESPONSES = Recipient(provider="openai-responses", rules=RULES)
GEMINI = Recipient(provider="gemini", model="gemini-3-pro", rules=RULES, pair_order="next turn")
MISTRAL = Recipient(provider="mistral", rules=RULES)
BLANK = " \n"


def faults(recipient: Recipient, *messages: Message) -> list[Fault]:
    return list(find_faults(conversation(*messages), (), (), recipient))


def rules(recipient: Recipient, *messages: Message) -> list[str]:
    return [fault.rule.id for fault in faults(recipient, *messages)]


def talk(*messages: Message) -> tuple[Message, ...]:
    return (user("go"), *messages, assistant("so"), user("on"))


def pair(call_id: str = "a", tool: str = "Read", arguments: str = "{}") -> tuple[Message, ...]:
    return raw_call(call_id, tool, arguments), result(call_id, "x")


def picture(**fields: Any) -> Message:
    return message("user", MediaPart(media_type="image/png", n_bytes=10, **fields))


@pytest.mark.parametrize(
    ("recipient", "role", "text", "is_refused"),
    [
        (CLAUDE, "user", "", True),
        (CLAUDE, "user", BLANK, True),
        (CLAUDE, "user", "x", False),
        (CLAUDE, "assistant", "", True),
        (CLAUDE, "assistant", BLANK, False),
        (CONVERSE, "assistant", BLANK, True),
        (CHAT, "user", "", False),
    ],
)
def test_empty_texts(recipient: Recipient, role: Any, text: str, is_refused: bool) -> None:  # noqa: FBT001
    parts = (TextPart(text=text, path=("content", 0, "text")), TextPart(text="x"))
    expected = ["text-empty"] if is_refused else []
    assert rules(recipient, *talk(assistant("and"), message(role, *parts))) == expected


def test_an_empty_system_prompt_is_refused_as_a_block_and_not_as_a_text() -> None:
    text = message("system", TextPart(text="", path=("system",)))
    block = message("system", TextPart(text="", path=("system", 0, "text")))
    assert rules(CLAUDE, text, *talk()) == []
    assert rules(CLAUDE, block, *talk()) == ["text-empty"]


def test_a_message_may_be_empty_only_as_the_last_answer() -> None:
    assert rules(CLAUDE, *talk(message("assistant"), user("and"))) == ["message-empty"]
    assert rules(CLAUDE, *talk(), message("assistant")) == []
    assert rules(CLAUDE, *talk(), message("user")) == ["message-empty"]
    assert rules(CLAUDE, message("system"), *talk()) == []


@pytest.mark.parametrize(
    ("recipient", "call_id", "rule"),
    [
        (CLAUDE, "toolu_1-B", None),
        (CLAUDE, "fs.read:1", "call-id-pattern"),
        (CLAUDE, "x" * 200, None),
        (CONVERSE, "fs.read:1", None),
        (CONVERSE, "a b", "call-id-pattern"),
        (CONVERSE, "x" * 64, None),
        (CONVERSE, "x" * 65, "call-id-length"),
        (CHAT, "a b", None),
        (CHAT, "x" * 40, None),
        (CHAT, "x" * 41, "call-id-length"),
        (RESPONSES, "x" * 64, None),
        (RESPONSES, "x" * 65, "call-id-length"),
    ],
)
def test_ids_of_calls(recipient: Recipient, call_id: str, rule: str | None) -> None:
    assert rules(recipient, *talk(*pair(call_id))) == ([rule] if rule else [])


def test_ids_are_used_once_where_the_provider_says_so() -> None:
    again = talk(*pair(), assistant("and"), *pair())
    assert rules(CLAUDE, *again) == ["call-id-unique"]
    assert [fault.message for fault in faults(CLAUDE, *again)] == ["m4"]
    assert rules(CHAT, *again) == []


@pytest.mark.parametrize(
    ("recipient", "tool", "is_refused"),
    [
        (CLAUDE, "x" * 128, False),
        (CLAUDE, "x" * 129, True),
        (CONVERSE, "x" * 64, False),
        (CONVERSE, "x" * 65, True),
        (CLAUDE, "mcp__files-read", False),
        (CLAUDE, "files.read", True),
        (CLAUDE, "", True),
        (CHAT, "files.read", False),
    ],
)
def test_names_of_tools(recipient: Recipient, tool: str, is_refused: bool) -> None:  # noqa: FBT001
    expected = ["call-name-pattern"] if is_refused else []
    assert rules(recipient, *talk(*pair(tool=tool))) == expected


@pytest.mark.parametrize(
    ("arguments", "is_refused"),
    [
        ("{}", False),
        (' {"a": 1} ', False),
        ('{"a": ', True),
        ("[1]", True),
        ('"text"', True),
        ("null", True),
        ("", True),
        ("{" * 5_000, True),
    ],
)
def test_inputs_of_calls_are_objects(arguments: str, is_refused: bool) -> None:  # noqa: FBT001
    expected = ["call-input-object"] if is_refused else []
    assert rules(CLAUDE, *talk(*pair(arguments=arguments))) == expected


def test_in_openais_chat_no_arguments_and_free_texts_are_accepted() -> None:
    empty, half = (
        message("assistant", replace(call_part("a", "Read"), arguments=text, path=("arguments",)))
        for text in ("", '{"a"')
    )
    assert rules(CHAT, *talk(empty, result("a", "x"))) == []
    assert rules(CHAT, *talk(half, result("a", "x"))) == ["call-input-object"]
    free = message("assistant", replace(call_part("a", "Run"), arguments="ls", path=("input",)))
    assert rules(CHAT, *talk(free, result("a", "x"))) == []


def test_halves_of_characters() -> None:
    assert rules(CLAUDE, *talk(user("\ud83d"))) == ["surrogate"]
    assert rules(CLAUDE, *talk(user("\N{ANCHOR}\U0001f600"))) == []
    assert rules(CLAUDE, *talk(call("a", "Read", x="y"), result("a", "\ude00"))) == ["surrogate"]
    assert rules(CHAT, *talk(user("\ud83d"))) == []


def test_only_a_request_is_judged_by_its_end_and_its_tools() -> None:
    ending = (definition("Read", "{}"), user("go"), assistant("so "))
    assert rules(REQUEST, *ending) == ["trailing-space", "ends-with-assistant"]
    assert rules(REQUEST, *ending[:-1], assistant("so")) == ["ends-with-assistant"]
    assert rules(CLAUDE, *ending) == []
    assert rules(REQUEST, *talk(*pair())) == ["tools-defined"]
    assert rules(REQUEST, definition("Read", "{}"), *talk(*pair())) == []
    assert rules(REQUEST, *talk()) == []


def test_the_first_message_is_one_of_the_user() -> None:
    start = (system("be good"), assistant("hello"), user("on"))
    assert rules(CLAUDE, *start) == ["first-user"]
    assert rules(GEMINI, *start) == []
    calling = (call("a", "Read"), result("a", "x"), assistant("so"), user("on"))
    assert "first-user" in rules(GEMINI, *calling)
    assert rules(replace(CLAUDE, pair_order="anywhere"), *start) == []
    logged = assistant("hello", is_logged_answer=True)
    assert rules(CLAUDE, logged, user("on")) == []


def test_a_user_after_a_tool_is_refused_by_mistral_alone() -> None:
    order = talk(*pair(), user("and"))
    assert rules(MISTRAL, *order) == ["role-order"]
    assert rules(CHAT, *order) == []


def test_marks_for_the_cache_are_counted() -> None:
    marks: Mapping[int, tuple[Any, ...]] = {n: (("content", n),) for n in range(5)}
    four = [user("x", cache_marks=marks[n]) for n in range(4)]
    assert rules(CLAUDE, *four) == []
    (fault,) = faults(CLAUDE, *four, user("y", cache_marks=marks[4]))
    assert (fault.rule.id, fault.actual, fault.limit) == ("cache-control-count", 5, 4)


@pytest.mark.parametrize(("sealed", "is_refused"), [(0, True), (99, True), (100, False)])
def test_signatures_of_thinking(sealed: int, is_refused: bool) -> None:  # noqa: FBT001
    part = ReasoningPart(text="hm", sealed=sealed, path=("content", 0, "thinking"))
    thought = message("assistant", part, TextPart(text="so"))
    expected = ["thinking-signature"] if is_refused else []
    assert rules(CLAUDE, user("go"), thought, user("on")) == expected
    redacted = replace(part, path=("content", 0, "data"))
    assert rules(CLAUDE, user("go"), message("assistant", redacted), user("on")) == []


def test_the_first_call_of_an_answer_of_gemini_3_is_signed() -> None:
    signed = message("assistant", ReasoningPart(text="", sealed=200), call_part("a", "Read"))
    assert rules(GEMINI, *talk(signed, result("a", "x"))) == []
    assert rules(GEMINI, *talk(*pair())) == ["thought-signature"]
    older = replace(GEMINI, model="gemini-2.5-pro")
    assert rules(older, *talk(*pair())) == []
    assert rules(replace(GEMINI, client="Gemini CLI"), *talk(*pair())) == []


def test_reasoning_of_openai() -> None:
    sound = ReasoningPart(text="", opaque=True, sealed=100)
    assert rules(RESPONSES, *talk(message("assistant", sound))) == []
    alone = (user("go"), message("assistant", sound), user("on"))
    assert rules(RESPONSES, *alone) == ["reasoning-alone"]
    short = replace(sound, sealed=99)
    assert rules(RESPONSES, *talk(message("assistant", short))) == ["reasoning-encrypted"]
    spoken = replace(sound, text="hm", path=("content", 0, "text"))
    assert rules(RESPONSES, *talk(message("assistant", spoken))) == ["reasoning-content"]


def test_only_a_failed_result_must_say_something_on_bedrock() -> None:
    def answered(**fields: Any) -> tuple[Message, ...]:
        return talk(call("a", "Read"), message("user", result_part("a", "", **fields)))

    assert rules(CONVERSE, *answered(outcome="failed")) == ["result-empty"]
    assert rules(CONVERSE, *answered()) == []
    shown = (MediaPart(media_type="image/png", n_bytes=10),)
    assert rules(CONVERSE, *answered(outcome="failed", media=shown)) == []


@pytest.mark.parametrize(
    ("recipient", "n_bytes", "is_refused"),
    [
        (CLAUDE, 3_932_160, False),
        (CLAUDE, 3_932_161, True),
        (CONVERSE, 3_932_160, False),
        (CONVERSE, 3_932_161, True),
    ],
)
def test_sizes_of_images(recipient: Recipient, n_bytes: int, is_refused: bool) -> None:  # noqa: FBT001
    expected = ["image-bytes"] if is_refused else []
    assert rules(recipient, *talk(image(n_bytes))) == expected


def test_pixels_of_images_alone_and_among_many() -> None:
    assert rules(CLAUDE, *talk(picture(width=8_000, height=9))) == []
    assert rules(CLAUDE, *talk(picture(width=9, height=8_001))) == ["image-pixels"]
    long, short = picture(width=2_001), picture(width=2_000)
    assert rules(CLAUDE, *[long] * 20) == []
    assert rules(CLAUDE, *[short] * 20, long) == ["image-pixels-many"]
    assert rules(CLAUDE, *[short] * 21) == []


@pytest.mark.parametrize(
    ("recipient", "limit"),
    [(CLAUDE, 100), (replace(CLAUDE, window=1_000_000), 600), (CONVERSE, 20)],
)
def test_the_oldest_images_beyond_the_limit(recipient: Recipient, limit: int) -> None:
    for count in (1, limit // 2 + 1, limit - 1, limit):
        assert rules(recipient, *[picture(width=9)] * count) == []
    surplus = faults(recipient, *[picture(width=9)] * (limit + 2))
    assert [(fault.rule.id, fault.message) for fault in surplus] == [
        ("image-count", "m0"),
        ("image-count", "m1"),
    ]


@pytest.mark.parametrize(
    ("media_type", "real_type", "rule"),
    [
        ("image/png", None, None),
        ("image/png", "image/png", None),
        ("image/jpg", "image/jpeg", None),
        ("IMAGE/PNG", "image/png", None),
        ("image/png", "image/jpeg", "image-media-type"),
        ("image/bmp", "image/bmp", "image-media-type"),
        ("image/png", "", "image-readable"),
    ],
)
def test_types_of_images(media_type: str, real_type: str | None, rule: str | None) -> None:
    shown = MediaPart(media_type=media_type, n_bytes=10, real_type=real_type)
    assert rules(CLAUDE, *talk(message("user", shown))) == ([rule] if rule else [])
    in_result = message("user", result_part("a", "", media=(shown,)))
    places = [(f.rule.id, f.medium) for f in faults(CLAUDE, *talk(call("a", "Read"), in_result))]
    assert places == ([(rule, 0)] if rule else [])


def test_pages_and_bytes_of_documents() -> None:
    def document(*, n_bytes: int = 9, pages: int = 0) -> Message:
        media = MediaPart(media_type="application/pdf", n_bytes=n_bytes, pages=pages)
        return message("user", media)

    assert rules(CLAUDE, *talk(document(pages=100))) == []
    assert rules(CLAUDE, *talk(document(pages=101))) == ["pdf-pages"]
    assert rules(CONVERSE, *talk(document(n_bytes=4_718_592))) == []
    assert rules(CONVERSE, *talk(document(n_bytes=4_718_593))) == ["document-bytes"]


def test_of_a_large_request_only_as_many_media_are_named_as_must_go() -> None:
    large = message("user", MediaPart(media_type="application/pdf", n_bytes=3_900_000))
    assert rules(CLAUDE, *[large] * 6) == []
    surplus = faults(CLAUDE, *[large] * 7)
    assert [(fault.rule.id, fault.message) for fault in surplus] == [("request-bytes", "m0")]


def test_a_client_fixes_it_from_a_version_on() -> None:
    claude_code = replace(CLAUDE, client="Claude Code", version="2.1.197")
    lost = talk(result("ghost", "x"))
    (fault,) = faults(claude_code, *lost)
    assert (fault.is_refused, fault.fixed_since) == (False, "2.1.197")
    (fault,) = faults(replace(claude_code, version="2.1.100"), *lost)
    assert fault.is_refused
    (fault,) = faults(CLAUDE, *lost)
    assert fault.is_refused


def test_what_only_the_file_has_is_fixed_by_the_client() -> None:
    stored = conversation(*talk(message("user", TextPart(text=""), TextPart(text="x"))))
    (fault,) = find_faults(conversation(*talk()), stored, (), CLAUDE)
    assert (fault.rule.id, fault.is_refused, fault.fixed_since) == ("text-empty", False, "")


def test_without_a_provider_only_pairs_are_required() -> None:
    nobody = Recipient()
    assert rules(nobody, *talk(user(""), result("ghost", "x"))) == ["result-without-call"]
