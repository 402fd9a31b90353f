"""Small sessions of every format, each with one fault of one rule, and the same without it."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from refusals.clients import BYTE_ORDER_MARK
from refusals.media import bmp, encoded, pdf, png
from refusals.providers import Json
from refusals.talks import (
    FERNET,
    FILE_NAMES,
    NAMES,
    SIGNATURE,
    WRITERS,
    Messages,
    Writer,
    Written,
    assistant,
    call,
    claude_code,
    claude_code_rows,
    codex,
    copilot_cli,
    result,
    sound_talk,
    text,
    user,
)

Place = tuple[int, int] | None
"""The indices of a message and its block in the talk; None for the talk as a whole."""
TalkFault = Callable[[Messages], Place]
"""Puts a fault into a talk."""
FileFault = Callable[[Written], int | None]
"""Puts a fault into what a writer made of a talk; returns its place in the file."""
PLAN, HOLD, CREW = NAMES
EVENT = "0000fa17-7a1b-4c2d-8e3f-0000000000ff"


@dataclass(frozen=True)
class Input:
    """A faulty file and a sound one.

    Attributes:
        place: the line of the fault, from 1; in a document the index of the message; None for the
            request as a whole.
    """

    name: str
    faulty: bytes
    sound: bytes
    place: int | None


@dataclass(frozen=True)
class Fault:
    """A rule that an input of a format breaks.

    Attributes:
        variant: what is special about this way to break it.
        fixed_since: the oldest version of the client that is seen to set it right, if that is the
            version of the input.
        needs_user: whether only the user can do something about it.
    """

    form: str
    rule: str
    variant: str
    make: Callable[[], Input]
    fixed_since: str | None = None
    needs_user: bool = False

    @property
    def label(self) -> str:
        """How a test calls it."""
        since = f"at {self.fixed_since}" if self.fixed_since else ""
        return "-".join(filter(None, (self.form, self.rule, self.variant, since)))


def _insert(messages: Messages, index: int, block: int, *new: Json) -> Place:
    messages[index]["content"][block:block] = new
    return index, block


def call_without_result(messages: Messages) -> Place:
    del messages[6]["content"][0]
    return 5, 0


def calls_without_results(messages: Messages) -> Place:
    messages[2] = user(text("Never mind, go on."))
    return 1, 1


def server_call_without_result(messages: Messages) -> Place:
    search = {"type": "server_tool_use", "id": "srvtoolu_tide", "name": "web_search"}
    return _insert(messages, 3, 0, search | {"input": {"query": "tide"}})


def result_without_call(messages: Messages) -> Place:
    return _insert(messages, 2, 1, result("toolu_tide", "high water at 9"))


def result_beside_text(messages: Messages) -> Place:
    return _insert(messages, 4, 0, result("toolu_tide", "high water at 9"))


def result_not_next(messages: Messages) -> Place:
    late = messages[2]["content"][0]
    messages[2] = user(text("Take your time."))
    messages[4]["content"].insert(0, late)
    return 1, 1


def result_first(messages: Messages) -> Place:
    _insert(messages, 6, 0, text("Here is what I read:"))
    return 6, 1


def result_once(messages: Messages) -> Place:
    return _insert(messages, 2, 1, result(PLAN, "berth 4: still free"))


def result_in_user(messages: Messages) -> Place:
    answer = messages[2]["content"].pop()
    messages[2]["content"] = [text("Go on.")]
    messages[1]["content"].append(answer)
    return 1, 2


def _rename(messages: Messages, call_id: str, new: str) -> None:
    for message in messages:
        for block in message["content"]:
            for key in ("id", "tool_use_id"):
                if block.get(key) == call_id:
                    block[key] = new


def call_id_unique(messages: Messages) -> Place:
    _rename(messages, HOLD, PLAN)
    return 5, 0


def call_id_pattern(messages: Messages) -> Place:
    _rename(messages, HOLD, "toolu hold/1")
    return 5, 0


def call_id_length(messages: Messages) -> Place:
    _rename(messages, HOLD, "toolu_" + "h" * 70)
    return 5, 0


def call_name_pattern(messages: Messages) -> Place:
    messages[5]["content"][0]["name"] = "read_hold<ship>"
    return 5, 0


def call_input_object(messages: Messages) -> Place:
    messages[5]["content"][0]["input"] = '{"ship": "Her'
    return 5, 0


def _answer(messages: Messages, index: int, answer: Any) -> Place:
    """Let the first result of a message say something else."""
    block = messages[index]["content"][0]
    if block["type"] != "tool_result":
        raise LookupError("another fault has removed the result")
    block["content"] = answer
    return index, 0


def surrogate(messages: Messages) -> Place:
    return _answer(messages, 2, "berth 4: free \ud83d")


def text_empty(messages: Messages) -> Place:
    return _insert(messages, 5, 0, text(""))


def text_blank(messages: Messages) -> Place:
    return _insert(messages, 4, 0, text(" \n"))


def text_empty_cached(messages: Messages) -> Place:
    return _insert(messages, 5, 0, text("") | {"cache_control": {"type": "ephemeral"}})


def message_empty(messages: Messages) -> Place:
    messages[3]["content"] = []
    return 3, 0


def trailing_space(messages: Messages) -> Place:
    messages.append(assistant(text("I book berth 4 \n")))
    return len(messages) - 1, 0


def ends_with_assistant(messages: Messages) -> Place:
    messages.append(assistant(text("I book berth 4")))
    return len(messages) - 1, 0


def first_user(messages: Messages) -> Place:
    del messages[0]
    return 0, 0


def cache_control_count(messages: Messages) -> Place:
    for index in (0, 1, 3, 4, 8):
        messages[index]["content"][0]["cache_control"] = {"type": "ephemeral"}
    return 0, 0


def result_empty(messages: Messages) -> Place:
    place = _answer(messages, 6, "")
    messages[6]["content"][0]["is_error"] = True
    return place


def results_with_text(messages: Messages) -> Place:
    messages[6]["content"].append(text("Both are sure."))
    return 6, 0


def result_with_text(messages: Messages) -> Place:
    del messages[5]["content"][-1], messages[6]["content"][-1]
    return results_with_text(messages)


def _thinking(**signature: str) -> TalkFault:
    def put(messages: Messages) -> Place:
        return _insert(messages, 5, 0, {"type": "thinking", "thinking": "Two ships."} | signature)

    return put


def image(data: bytes, media_type: str = "image/png") -> Json:
    source = {"type": "base64", "media_type": media_type, "data": encoded(data)}
    return {"type": "image", "source": source}


def _images(*data: bytes, media_type: str = "image/png") -> TalkFault:
    def put(messages: Messages) -> Place:
        return _insert(messages, 4, 0, *(image(each, media_type) for each in data))

    return put


def _image_of_many(messages: Messages) -> Place:
    _insert(messages, 4, 0, *[image(png())] * 20, image(png(2_001)))
    return 4, 20


def _shown_in_result(data: bytes) -> TalkFault:
    """Put an image into a result: what a tool returned of a screen."""

    def put(messages: Messages) -> Place:
        return _answer(messages, 2, [text("berth 4: free"), image(data)])

    return put


def _document(data: bytes) -> TalkFault:
    source = {"type": "base64", "media_type": "application/pdf", "data": encoded(data)}

    def put(messages: Messages) -> Place:
        return _insert(messages, 4, 0, {"type": "document", "source": source})

    return put


def request_bytes(messages: Messages) -> Place:
    picture = png(n_bytes=3_800_000)
    for index in (0, 4, 8):
        _insert(messages, index, 0, *[image(picture)] * 3)
    _insert(messages, 8, 0, text("See all of these."))
    return None


def _item(item: Json, *, index: int = 3) -> TalkFault:
    """Put an item of responses before a message."""

    def put(messages: Messages) -> Place:
        return _insert(messages, index, 0, {"type": "item", "item": item})

    return put


def reasoning(**fields: Any) -> Json:
    return {"type": "reasoning", "id": "rs_1", "summary": [], **fields}


def reasoning_alone(messages: Messages) -> Place:
    messages[3] = assistant({"type": "item", "item": reasoning(encrypted_content=FERNET)})
    return 3, 0


# Formats in which a call and its result have places of their own.
_ANTHROPIC = ("anthropic", "claude-code", "cline")
_PAIRS = (*_ANTHROPIC, "bedrock", "chat", "responses", "codex", "pi", "gemini")
# pi and OpenCode write the missing results themselves.
_CALLS = (*[form for form in _PAIRS if form != "pi"], "copilot-cli", "gemini-cli")
_NAMED = (*_ANTHROPIC, "bedrock", "pi", "opencode")
_PICTURES = (*_ANTHROPIC, "bedrock", "pi", "opencode")
_OPENAI = ("chat", "responses", "codex")
_ITEMS = ("responses", "codex")
_BIG = png(n_bytes=4_000_000)

TALK_FAULTS: Sequence[tuple[str, str, TalkFault, Sequence[str]]] = (
    ("call-without-result", "of two", call_without_result, _CALLS),
    ("call-without-result", "", calls_without_results, _CALLS),
    ("call-without-result", "of a server", server_call_without_result, _ANTHROPIC),
    ("result-without-call", "", result_without_call, _PAIRS),
    ("result-without-call", "beside text", result_beside_text, (*_ANTHROPIC, "bedrock")),
    ("result-not-next", "", result_not_next, (*_ANTHROPIC, "bedrock")),
    ("result-first", "", result_first, _ANTHROPIC),
    ("result-once", "", result_once, (*_ANTHROPIC, "pi")),
    ("result-in-user", "", result_in_user, ("anthropic",)),
    ("result-with-text", "", result_with_text, ("gemini",)),
    ("result-with-text", "of two", results_with_text, ("gemini",)),
    ("result-empty", "", result_empty, ("bedrock",)),
    ("call-id-unique", "", call_id_unique, (*_ANTHROPIC, "pi")),
    ("call-id-pattern", "", call_id_pattern, (*_ANTHROPIC, "bedrock")),
    ("call-id-length", "", call_id_length, ("bedrock", *_OPENAI)),
    ("call-name-pattern", "", call_name_pattern, _NAMED),
    ("call-input-object", "", call_input_object, (*_ANTHROPIC, "chat")),
    ("surrogate", "", surrogate, _ANTHROPIC),
    ("text-empty", "", text_empty, (*_ANTHROPIC, "bedrock")),
    ("text-empty", "blank", text_blank, (*_ANTHROPIC, "bedrock")),
    ("text-empty", "cached", text_empty_cached, _ANTHROPIC),
    ("message-empty", "", message_empty, (*_ANTHROPIC, "chat", "gemini")),
    ("trailing-space", "", trailing_space, ("anthropic",)),
    ("first-user", "", first_user, ("anthropic", "bedrock", "gemini")),
    ("cache-control-count", "", cache_control_count, ("anthropic",)),
    ("ends-with-assistant", "", ends_with_assistant, ("gemini",)),
    ("thinking-signature", "none", _thinking(), _ANTHROPIC),
    ("thinking-signature", "empty", _thinking(signature=""), _ANTHROPIC),
    ("thinking-signature", "foreign", _thinking(signature="rs_0c38"), _ANTHROPIC),
    ("image-bytes", "", _images(_BIG), _PICTURES),
    ("image-pixels", "", _images(png(8_001)), _PICTURES),
    ("image-pixels-many", "", _image_of_many, _ANTHROPIC),
    ("image-count", "", _images(*[png()] * 101), ("anthropic", "claude-code")),
    ("image-count", "of Bedrock", _images(*[png()] * 21), ("bedrock",)),
    ("image-readable", "", _images(b"403 Forbidden"), (*_PICTURES, *_OPENAI)),
    ("image-readable", "empty", _images(b""), _ANTHROPIC),
    ("image-readable", "in a result", _shown_in_result(b"403 Forbidden"), _ANTHROPIC),
    ("image-media-type", "other", _images(png(), media_type="image/jpeg"), _ANTHROPIC),
    ("image-media-type", "none", _images(bmp(), media_type="image/bmp"), _ANTHROPIC),
    ("pdf-pages", "", _document(pdf(101)), _ANTHROPIC),
    ("document-bytes", "", _document(pdf(n_bytes=4_800_000)), ("bedrock",)),
    ("request-bytes", "", request_bytes, ("anthropic",)),
    ("reasoning-alone", "", reasoning_alone, _ITEMS),
    ("reasoning-encrypted", "none", _item(reasoning()), _ITEMS),
    ("reasoning-encrypted", "foreign", _item(reasoning(encrypted_content="gAAAAx")), _ITEMS),
    (
        "reasoning-content",
        "",
        _item(
            reasoning(
                content=[{"type": "reasoning_text", "text": "It is."}], encrypted_content=FERNET
            )
        ),
        _ITEMS,
    ),
    ("item-reference", "", _item({"type": "item_reference", "id": "rs_7"}), ("responses",)),
    (
        "item-value",
        "",
        _item({"type": "web_search_call", "status": "completed", "action": {"type": "other"}}),
        _ITEMS,
    ),
)
"""The rules that a talk breaks: the rule, its variant, the fault, and the formats that have it."""


def four_cache_marks(messages: Messages) -> Place:
    for index in (0, 1, 4, 8):
        messages[index]["content"][0]["cache_control"] = {"type": "ephemeral"}
    return None


def blank_answer(messages: Messages) -> Place:
    return _insert(messages, 5, 0, text("\n\n"))


def answered_server_call(messages: Messages) -> Place:
    server_call_without_result(messages)
    answer = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_tide", "content": []}
    return _insert(messages, 3, 1, answer)


def longest_name(messages: Messages) -> Place:
    _rename(messages, HOLD, "h" * 40)
    messages[5]["content"][0]["name"] = "read_hold_" + "x" * 54
    return None


def pair_of_surrogates(messages: Messages) -> Place:
    messages[2]["content"][0]["content"] = "berth 4: free \U0001f600"
    return None


def written_anew(messages: Messages) -> Place:
    """Ask for the same call twice, which is answered twice."""
    messages[5]["content"][1] = call(CREW, "read_hold", ship="Heron")
    return None


def hidden_thinking(messages: Messages) -> Place:
    return _insert(messages, 5, 0, {"type": "redacted_thinking", "data": SIGNATURE})


def linked_image(messages: Messages) -> Place:
    source = {"type": "url", "url": "https://example.com/berth.png"}
    return _insert(messages, 4, 0, {"type": "image", "source": source})


def compaction(messages: Messages) -> Place:
    """Put what OpenAI compacted before a request."""
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": FERNET}
    messages[3]["content"].append({"type": "item", "item": item})
    return None


_SEARCH: Json = {"type": "web_search_call", "status": "completed"}
_SEARCH |= {"action": {"type": "search", "query": "tide"}}

ACCEPTED: Sequence[tuple[str, TalkFault, Sequence[str]]] = (
    ("signed thinking", _thinking(signature=SIGNATURE), _ANTHROPIC),
    ("encrypted reasoning", _item(reasoning(encrypted_content=FERNET)), _ITEMS),
    ("a search", _item(_SEARCH), _ITEMS),
    ("a compaction", compaction, _ITEMS),
    ("an image", _images(png()), (*_PICTURES, *_OPENAI)),
    ("an image in a result", _shown_in_result(png()), _ANTHROPIC),
    ("the largest image", _images(png(n_bytes=3_932_160)), _ANTHROPIC),
    ("the longest image", _images(png(8_000)), _PICTURES),
    ("few long images", _images(*[png()] * 19, png(2_001)), _ANTHROPIC),
    ("the most images", _images(*[png(2_000)] * 100), ("anthropic", "claude-code")),
    ("the longest document", _document(pdf(100)), _ANTHROPIC),
    ("four cache marks", four_cache_marks, ("anthropic",)),
    ("blank words of the model", blank_answer, ("anthropic", "claude-code")),
    ("a search of the server", answered_server_call, _ANTHROPIC),
    ("the longest name", longest_name, _CALLS),
    ("hidden thinking", hidden_thinking, _ANTHROPIC),
    ("a linked image", linked_image, _ANTHROPIC),
    ("an emoji", pair_of_surrogates, _CALLS),
    ("a call twice", written_anew, _CALLS),
)
"""What looks like a fault, or is just below a limit: what it is, and the formats that accept it."""


def sound_inputs() -> Mapping[str, Callable[[], Input]]:
    """Return how to make sound files, by what is special about them; ``faulty`` is what is so."""
    plain = {form: partial(_talk_input, form, nothing, WRITERS[form]) for form in WRITERS}
    fixing = {
        f"{form} {version}": partial(_talk_input, form, nothing, writer)
        for form, (version, writer, _) in FIXED_BY.items()
    }
    special = {
        f"{form} with {what}": partial(_talk_input, form, alter, WRITERS[form])
        for what, alter, forms in ACCEPTED
        for form in forms
    }
    rows = partial(_talk_input, "claude-code", nothing, claude_code_rows)
    return plain | fixing | special | {"claude-code in rows": rows}


def _body(written: Written) -> Json:
    body = written.records[0]
    assert isinstance(body, dict)
    return body


def no_tools(written: Written) -> None:
    del _body(written)["tools"]


def newer_model(written: Written) -> int:
    """Ask a model for the rest of its answer that does not go on with one."""
    _body(written)["model"] = "claude-opus-4-6"
    _body(written)["messages"].append(assistant(text("I book berth 4")))
    return len(_body(written)["messages"]) - 1


def no_signature(written: Written) -> int:
    """End a request of Gemini's within a step whose call is not signed."""
    contents = _body(written)["contents"]
    del contents[7:]
    del contents[5]["parts"][0]["thoughtSignature"]
    return 5


def order_of_mistral(written: Written) -> int:
    _body(written)["model"] = "mistral-large-latest"
    messages = _body(written)["messages"]
    # The answer between the first result and the second question.
    del messages[4]
    return 4


def pull_request_first(written: Written) -> int:
    """Begin a session with a record of metadata."""
    link = {"type": "pr-link", "sessionId": written.records[0]["sessionId"], "prNumber": 3}
    link |= {"prUrl": "https://example.com/3", "timestamp": "2026-03-02T08:00:00.000Z"}
    written.records.insert(0, link)
    return 1


def parent_missing(written: Written) -> int:
    written.records[4]["parentUuid"] = "99999999-0000-4000-8000-000000000000"
    return 5


def time_as_number(written: Written) -> int:
    """Give the first request of a session of Codex a time as a number."""
    number = _line_of(written, "response_item")
    written.records[number - 1]["timestamp"] = 1_772_438_405.875
    return number


def _line_of(written: Written, kind: str) -> int:
    return next(n for n, record in enumerate(written.records, 1) if record["type"] == kind)


def _number(written: Written) -> None:
    """Number the records, as Codex does where it shows the history page by page."""
    written.records[0]["payload"]["history_mode"] = "paginated"
    for number, record in enumerate(written.records):
        record["ordinal"] = number


def ordinal_missing(written: Written) -> int:
    _number(written)
    number = _line_of(written, "event_msg") + 2
    del written.records[number - 1]["ordinal"]
    return number


def last_ordinal_missing(written: Written) -> int:
    _number(written)
    del written.records[-1]["ordinal"]
    return len(written.records)


def ordinal_twice(written: Written) -> int:
    _number(written)
    number = _line_of(written, "event_msg") + 2
    written.records[number - 1]["ordinal"] -= 1
    return number


def _event(kind: str, data: Json) -> FileFault:
    """Put an event between two turns of a session of Copilot CLI."""

    def put(written: Written) -> int:
        rows = written.records
        place = next(n for n, row in enumerate(rows) if row["type"] == "user.message" and n > 3)
        own = {"type": kind, "data": data, "id": EVENT, "timestamp": rows[place]["timestamp"]}
        rows.insert(place, own | {"parentId": rows[place]["parentId"]})
        rows[place + 1]["parentId"] = EVENT
        return place + 1

    return put


def negative_exit_code(written: Written) -> int:
    number = _line_of(written, "tool.execution_complete")
    written.records[number - 1]["data"]["result"]["exitCode"] = -1
    return number


_COMPACTED = {"success": True, "tokensRemoved": -2_098, "messagesRemoved": 0}

FILE_FAULTS: Sequence[tuple[str, str, FileFault, str]] = (
    ("tools-defined", "", no_tools, "anthropic"),
    ("ends-with-assistant", "", newer_model, "anthropic"),
    ("thought-signature", "", no_signature, "gemini"),
    ("role-order", "of Mistral", order_of_mistral, "chat"),
    ("header", "", pull_request_first, "claude-code"),
    ("parent-missing", "", parent_missing, "claude-code"),
    ("field-type", "", time_as_number, "codex"),
    ("ordinal", "missing", ordinal_missing, "codex"),
    ("ordinal", "missing at the end", last_ordinal_missing, "codex"),
    ("ordinal", "twice", ordinal_twice, "codex"),
    ("field-value", "exit code", negative_exit_code, "copilot-cli"),
    ("field-value", "tokens", _event("session.compaction_complete", _COMPACTED), "copilot-cli"),
    ("field-required", "summary", _event("session.task_complete", {}), "copilot-cli"),
    (
        "field-required",
        "path",
        _event("skill.invoked", {"name": "tides", "content": "How to read tides."}),
        "copilot-cli",
    ),
)
"""The rules that a file breaks: the rule, its variant, the fault, and the format."""


def byte_order_mark(data: bytes) -> tuple[bytes, int]:
    return BYTE_ORDER_MARK + data, 1


def torn_header(data: bytes) -> tuple[bytes, int]:
    head, _, rest = data.partition(b"\n")
    return head[: len(head) // 2] + b"\n" + rest, 1


def torn_line(data: bytes) -> tuple[bytes, int]:
    lines = data.split(b"\n")
    lines[3] = lines[3][: len(lines[3]) // 2]
    return b"\n".join(lines), 4


def joined_records(data: bytes) -> tuple[bytes, int]:
    """Begin an event anew within the line of its own first half."""
    events = [json.loads(line) for line in data.splitlines()]
    place = next(n for n, event in enumerate(events) if event["type"] == "user.message" and n > 3)
    aborted = {**events[place], "type": "abort", "data": {"reason": "user"}, "id": EVENT}
    events[place]["parentId"] = EVENT
    lines = [json.dumps(event) for event in events]
    lines.insert(place, json.dumps(aborted)[:60] + json.dumps(aborted))
    return "".join(f"{line}\n" for line in lines).encode(), place + 1


BYTE_FAULTS: Sequence[tuple[str, Callable[[bytes], tuple[bytes, int]], str]] = (
    ("bom", byte_order_mark, "claude-code"),
    ("bom", byte_order_mark, "codex"),
    ("header", torn_header, "codex"),
    ("torn", torn_line, "claude-code"),
    ("torn", joined_records, "copilot-cli"),
)
"""The rules that the bytes of a file break: the rule, the fault, and the format."""

NEEDS_USER = frozenset(
    {"ends-with-assistant", "tools-defined", "role-order", "result-with-text of two"}
)
"""The rules, some with a variant, that nothing in the transcript can satisfy."""

BESIDE: Mapping[str, str] = {"torn": "parent-missing", "trailing-space": "ends-with-assistant"}
"""What a file may be refused for as well, by the rule that it breaks.

The record behind a damaged one has lost its parent. Which models go on with the beginning of an
answer depends on their version.
"""

# The versions of clients that were run with these faults, and what they set right by themselves.
CLAUDE_CODE, CODEX, COPILOT_CLI = "2.1.197", "0.169.0", "1.0.102"
FIXED_BY: Mapping[str, tuple[str, Writer, frozenset[str]]] = {
    "claude-code": (
        CLAUDE_CODE,
        partial(claude_code, version=CLAUDE_CODE),
        frozenset(
            {"call-without-result", "result-without-call", "result-not-next", "result-once"}
            | {"call-id-unique", "message-empty", "surrogate"}
        ),
    ),
    "codex": (
        CODEX,
        partial(codex, version=CODEX),
        frozenset({"call-without-result", "result-without-call", "image-readable"}),
    ),
    "copilot-cli": (
        COPILOT_CLI,
        partial(copilot_cli, version=COPILOT_CLI),
        frozenset({"call-without-result"}),
    ),
}

NEVER_FIXED: tuple[str, Writer, frozenset[str]] = ("", claude_code, frozenset())


def nothing(_: Messages) -> Place:
    return None


def _talk_input(form: str, fault: TalkFault, writer: Writer) -> Input:
    sound = writer(sound_talk())
    messages = sound_talk()
    place = fault(messages)
    faulty = writer(messages)
    line = None if place is None else faulty.places[place]
    return Input(FILE_NAMES[form], faulty.data(), sound.data(), line)


def _file_input(form: str, fault: FileFault, writer: Writer) -> Input:
    faulty, sound = writer(sound_talk()), writer(sound_talk())
    place = fault(faulty)
    return Input(FILE_NAMES[form], faulty.data(), sound.data(), place)


def _byte_input(form: str, fault: Callable[[bytes], tuple[bytes, int]], writer: Writer) -> Input:
    sound = writer(sound_talk()).data()
    faulty, place = fault(sound)
    return Input(FILE_NAMES[form], faulty, sound, place)


def _with_fix(
    form: str, rule: str, variant: str, make: Callable[[Writer], Input]
) -> Iterator[Fault]:
    """Yield a fault, and the same at the version of the client that sets it right."""
    plain = partial(make, WRITERS[form])
    needs_user = not NEEDS_USER.isdisjoint({rule, f"{rule} {variant}"})
    yield Fault(form, rule, variant, plain, needs_user=needs_user)
    version, writer, rules = FIXED_BY.get(form, NEVER_FIXED)
    if rule in rules:
        yield Fault(form, rule, variant, partial(make, writer), fixed_since=version)


def _faults() -> Iterator[Fault]:
    for rule, variant, alter, forms in TALK_FAULTS:
        for form in forms:
            yield from _with_fix(form, rule, variant, partial(_talk_input, form, alter))
    for rule, variant, change, form in FILE_FAULTS:
        yield from _with_fix(form, rule, variant, partial(_file_input, form, change))
    for rule, damage, form in BYTE_FAULTS:
        yield from _with_fix(form, rule, "", partial(_byte_input, form, damage))


FAULTS = tuple(_faults())
"""Every format with a fault of every rule that it can break."""
