"""The table of refusals: every rule is complete, and its errors are recognized as its own."""

import json
import re
from string import Formatter

import pytest

from compactctl.model.refusal_rule import ErrorPlace, RefusalError, RefusalRule
from compactctl.profiles.overflow import classify_error
from compactctl.profiles.refusals import _load_table, load_refusals, rules_of


def refusal_in(error: str) -> RefusalError:
    refusal = classify_error(error).refusal
    assert refusal is not None
    return refusal


def rules_in(error: str) -> tuple[RefusalRule, ...]:
    return refusal_in(error).rules


APIS = {"anthropic", "bedrock", "openai", "openai-responses", "gemini", "mistral"}
CLIENTS = {"Claude Code", "Codex", "Copilot CLI", "Cline", "Gemini CLI", "OpenCode", "pi"}
# Two rules whose sentences are all those of a likelier one: only the transcript tells them apart.
LIKELIER = {
    "result-not-next": "call-without-result",
    "result-with-text": "call-without-result",
    "compaction-encrypted": "reasoning-encrypted",
}
# An error per rule, in the shapes in which users paste them.
EXAMPLES = {
    "call-without-result": (
        "API Error: 400 messages.17: `tool_use` ids were found without `tool_result` blocks "
        "immediately after: toolu_ab."
    ),
    "result-without-call": (
        "messages.4.content.2: unexpected `tool_use_id` found in `tool_result` blocks: toolu_cd."
    ),
    "result-not-next": (
        "messages.9: tool_use ids were found without tool_result blocks immediately after: t_1"
    ),
    "result-first": "messages.6: content must begin with all of its `tool_result` blocks",
    "result-once": (
        "messages.3.content.1: each tool_use must have a single result. Found multiple "
        "`tool_result` blocks with id: toolu_ef"
    ),
    "result-in-user": "messages.1: `tool_result` blocks can only be in `user` messages",
    "result-with-text": (
        "Please ensure that the number of function response parts is equal to the number of "
        "function call parts of the function call turn."
    ),
    "result-empty": (
        "ValidationException: The content field at messages.8.content.0.toolResult cannot be "
        "empty when status value is error."
    ),
    "tools-defined": "Requests which include `tool_use` blocks must define tools.",
    "call-id-unique": "messages.7.content.1: `tool_use` ids must be unique",
    "call-id-pattern": (
        "messages.2.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    ),
    "call-id-length": (
        "Invalid 'input[12].call_id': string too long. Expected a string with maximum length 64, "
        "but got a string with length 81 instead."
    ),
    "call-name-pattern": (
        "messages.2.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
    ),
    "call-input-object": (
        "messages.2.content.0.tool_use.input: Input should be a valid dictionary"
    ),
    "text-empty": "messages: text content blocks must be non-empty",
    "message-empty": "messages.5: all messages must have non-empty content",
    "surrogate": (
        "The request body is not valid JSON: no low surrogate in string: line 1 column 9 (char 8)"
    ),
    "trailing-space": "final assistant content cannot end with trailing whitespace",
    "ends-with-assistant": "The conversation must end with a user message.",
    "first-user": 'messages: first message must use the "user" role',
    "role-order": "Unexpected role 'user' after role 'tool'",
    "cache-control-count": "A maximum of 4 blocks with cache_control may be provided. Found 6.",
    "thinking-signature": "messages.1.content.0: Invalid `signature` in `thinking` block",
    "thinking-modified": (
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant "
        "message cannot be modified."
    ),
    "thought-signature": (
        "Function call is missing a thought_signature in functionCall parts. Additional data, "
        "function call `default_api:grep` , position 4."
    ),
    "reasoning-alone": (
        "Item 'rs_3' of type 'reasoning' was provided without its required following item."
    ),
    "thinking-missing": (
        "messages.5.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`."
    ),
    "reasoning-missing": (
        "Item 'msg_4' of type 'message' was provided without its required 'reasoning' item: 'rs_3'."
    ),
    "reasoning-encrypted": "The encrypted content gAAA...xyz could not be verified.",
    "compaction-encrypted": "The encrypted content gAAA...9w== could not be verified.",
    "reasoning-content": (
        "Invalid type for 'input[7].content': expected one of an array of objects or null"
    ),
    "item-reference": (
        "Item with id 'rs_9' not found. Items are not persisted when `store` is set to false."
    ),
    "item-value": (
        "Invalid value: 'other'. Supported values are: 'search', 'open_page', and 'find_in_page'."
    ),
    "image-bytes": (
        "messages.3.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > "
        "5242880 bytes"
    ),
    "image-pixels": (
        "messages.3.content.0.image.source.base64.data: At least one of the image dimensions "
        "exceed max allowed size: 8000 pixels"
    ),
    "image-pixels-many": (
        "messages.3.content.0.image.source.base64.data: At least one of the image dimensions "
        "exceed max allowed size for many-image requests: 2000 pixels"
    ),
    "image-count": "messages: too many images and documents: 104 + 0 > 100",
    "image-readable": "Could not process image",
    "image-media-type": (
        "The image was specified using the image/png media type, but the image appears to be a "
        "image/webp image"
    ),
    "pdf-pages": "messages.5.content.0.pdf: A maximum of 100 PDF pages may be provided.",
    "document-bytes": "messages.0.content.1.document: document exceeds 4.5 MB",
    "request-bytes": "413 request_too_large: Request exceeds the maximum size",
    "bom": "failed to read session metadata from rollout",
    "header": "failed to parse thread ID from rollout file",
    "torn": "Session file is corrupted (line 31: Unexpected end of JSON input)",
    "ordinal": "thread history projection for 019d expected ordinal 40, got 38",
    "field-type": "Session file is corrupted (line 8: data.name: Expected string, received null)",
    "field-value": (
        "Session file is corrupted (line 7: data.code: Number must be greater than or equal to 0)"
    ),
    "field-required": "Session file is corrupted (line 12: data.title: Required)",
}
RULES = load_refusals()


def test_an_id_has_one_row() -> None:
    assert [row["id"] for row in _load_table()["refusal"]] == list(RULES)


@pytest.mark.parametrize("rule_id", RULES)
def test_a_rule_says_who_refuses_what_and_what_to_do(rule_id: str) -> None:
    rule = RULES[rule_id]
    assert rule.providers
    assert set(rule.providers) <= APIS | CLIENTS
    assert {name.removesuffix("-long") for name in rule.limits} <= set(rule.providers)
    assert rule.fixed_by.keys() <= CLIENTS
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in rule.fixed_by.values())
    assert rule.source
    assert bool(rule.repaired) != bool(rule.advice)


@pytest.mark.parametrize("rule_id", RULES)
def test_its_clauses_are_short_and_its_placeholders_are_filled(rule_id: str) -> None:
    rule = RULES[rule_id]
    assert 0 < len(rule.says.format(actual="5.3 MB", limit="5.0 MB")) <= 60
    assert "{limit}" not in rule.says or rule.limits
    assert not rule.says.endswith(".")
    fields = {field for place in rule.places for _, field, _, _ in Formatter().parse(place)}
    assert fields - {None} <= set(ErrorPlace.__struct_fields__)


@pytest.mark.parametrize("rule_id", RULES)
def test_every_sentence_finds_itself(rule_id: str) -> None:
    for sentence in RULES[rule_id].sentences:
        assert rule_id in {rule.id for rule in rules_in(sentence.replace("…", " of 9 "))}


def test_only_a_rule_without_errors_lacks_sentences() -> None:
    silent = {rule.id for rule in RULES.values() if not rule.sentences}
    assert silent == RULES.keys() - EXAMPLES.keys() == {"context-cleared", "parent-missing"}


@pytest.mark.parametrize("rule_id", EXAMPLES)
def test_an_error_is_recognized_by_its_rule(rule_id: str) -> None:
    body = json.dumps({"error": {"type": "invalid_request_error", "message": EXAMPLES[rule_id]}})
    for text in (EXAMPLES[rule_id], body, f"API Error: 400 {body}", json.dumps({"error": body})):
        assert refusal_in(text).rules[0].id == LIKELIER.get(rule_id, rule_id)


@pytest.mark.parametrize("rule_id", EXAMPLES)
def test_another_rule_takes_it_only_by_a_sentence_that_both_have(rule_id: str) -> None:
    rules = rules_in(EXAMPLES[rule_id])
    assert RULES[rule_id] in rules
    for other in rules:
        assert not set(RULES[rule_id].sentences).isdisjoint(other.sentences), other.id


@pytest.mark.parametrize("rule_id", sorted(EXAMPLES.keys() - {"request-bytes"}))
def test_a_refusal_for_another_reason_is_no_overflow_and_not_tried_again(rule_id: str) -> None:
    result = classify_error(EXAMPLES[rule_id])
    assert (result.kind, result.overflow, result.retryable) == ("refused", False, False)
    assert result.rule == LIKELIER.get(rule_id, rule_id)


@pytest.mark.parametrize("rule_id", ["text-empty", "call-without-result", "image-readable"])
def test_an_index_that_looks_like_a_status_does_not_make_it_a_rate_limit(rule_id: str) -> None:
    assert classify_error(f"messages.429: {EXAMPLES[rule_id]}").retryable is False


@pytest.mark.parametrize(
    ("rule_id", "place"),
    [
        ("call-without-result", ErrorPlace(message=17, call_id="toolu_ab")),
        ("result-without-call", ErrorPlace(message=4, block=2, call_id="toolu_cd")),
        ("result-once", ErrorPlace(message=3, block=1, call_id="toolu_ef")),
        ("call-id-length", ErrorPlace(item=12)),
        ("thinking-modified", ErrorPlace(message=1, block=0)),
        ("reasoning-missing", ErrorPlace(item_id="msg_4")),
        ("item-reference", ErrorPlace(item_id="rs_9")),
        ("field-required", ErrorPlace(line=12)),
        ("image-readable", ErrorPlace()),
    ],
)
def test_an_error_names_the_place(rule_id: str, place: ErrorPlace) -> None:
    assert refusal_in(EXAMPLES[rule_id]).place == place
    assert refusal_in(json.dumps({"error": EXAMPLES[rule_id]})).place == place


def test_a_field_of_the_error_names_the_place() -> None:
    error = {"message": EXAMPLES["item-value"], "param": "input[3].action.type"}
    assert refusal_in(json.dumps({"error": error})).place == ErrorPlace(item=3)


def test_a_place_that_counts_from_1_is_an_index() -> None:
    place = "messages.2.member.content.1.member.toolUse.name"
    error = f"Value 'x y' at '{place}' failed to satisfy constraint"
    assert refusal_in(error).place == ErrorPlace(message=1, block=0)


@pytest.mark.parametrize("text", ["", "ECONNRESET", "429 rate limit exceeded", "Overloaded"])
def test_other_errors_have_no_rule(text: str) -> None:
    assert classify_error(text).refusal is None


def test_the_rules_of_a_provider_and_its_client() -> None:
    ids = {rule.id for rule in rules_of("bedrock", "Claude Code")}
    assert {"result-empty", "document-bytes", "parent-missing"} <= ids
    assert ids.isdisjoint({"thought-signature", "ordinal"})


def test_one_rule_has_the_limits_of_all_providers() -> None:
    assert RULES["image-bytes"].limits == {"anthropic": 5_242_880, "bedrock": 3_932_160}
