"""Decide what a text in a logged row is: the JSON of an API, or the words of a message.

Models are asked for JSON, and answer with any. A text is an API's only if all of it is, by the keys
that distinguish the API's answers, or if its column says so.
"""

from collections.abc import Iterable, Mapping
from operator import is_not
from typing import Any

from compactctl.clients.records.envelope import (
    ANSWER_PATHS,
    INPUT_KEY,
    LIST_PATHS,
    MESSAGE_KEYS,
    REQUEST_PATHS,
    STREAM_PATHS,
    has_items,
    is_body,
    is_message,
)
from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
)
from compactctl.clients.records.stream_answers import is_candidate
from compactctl.clients.records.streams import assemble_answer, is_gemini_stream
from compactctl.model.json_paths import json_in
from compactctl.model.message import JsonPath

_JSON_STARTS = ("{", "[", '"')
# Roles of a model, and of results of tools in answers that are lists of messages.
_MODEL_ROLES = ("assistant", "model")
_RESULT_ROLES = ("tool", "function")
_CONTENT_KEYS = ("content", "parts", "tool_calls", "function_call")
# Keys and types of blocks with results of tools: Bedrock, Gemini, Anthropic.
_RESULT_KEYS = ("toolResult", "functionResponse")
_RESULT_TYPE = "tool_result"
# Keys of the body in an object around it: of HTTP, and of logs of Bedrock.
_BODY_KEYS = ("body", "outputBodyJson", "inputBodyJson")


def decode_embedded(value: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Replace texts of a row that are a request or an answer as JSON by their values.

    Paths into the row stay valid. Returns the row itself if it has no such text. The texts of a
    message are never decoded.
    """
    if isinstance(value, list):
        if is_gemini_stream(value):
            return assemble_answer(value) or value
        items = [decode_embedded(v) if isinstance(v, Mapping) else v for v in value]
        return items if any(map(is_not, items, value)) else value
    is_row = isinstance(value, Mapping) and not is_message(value)
    return _decode_at(value, (), _PATH_TREE) if is_row else value


def _decode_at(value: Any, path: JsonPath, tree: Mapping[Any, Any]) -> Any:  # noqa: ANN401 - JSON is any value
    if isinstance(value, str):
        value = _decoded_text(value, path, is_answer=_ANSWER in tree)
    if _STREAM in tree:
        value = assemble_answer(value) or value
    if not isinstance(value, Mapping):
        return value
    decoded = {
        name: _decode_at(value[name], (*path, name), tree[name])
        for name in tree
        if name in value and not (name == INPUT_KEY and _is_prompt_in(value))
    }
    return {**value, **decoded} if any(decoded[n] is not value[n] for n in decoded) else value


def _is_prompt_in(request: Mapping[str, Any]) -> bool:
    """Whether a text in ``input`` is what a user sent: in a request of the Responses API."""
    return "instructions" in request or has_items(request)


def _decoded_text(text: str, path: JsonPath, *, is_answer: bool) -> object:
    """Return the JSON in a text at an answer's or a request's place; the text if it is words."""
    value = json_in(text) if text.lstrip().startswith(_JSON_STARTS) else text
    if isinstance(value, str):
        return text
    is_of_api = is_body(path) or _is_api_answer(value) if is_answer else _is_request(value)
    return value if is_of_api else text


def _is_request(value: object) -> bool:
    """Whether a value is a request with messages, an object around one, or a list of messages."""
    if isinstance(value, list):
        return _are_messages(value)
    request = _body_in(object_or_empty(value))
    prompt = json_in(request.get(INPUT_KEY))
    if isinstance(prompt, str) and "model" in request:
        return True
    lists = (json_in(request.get(name)) for name in MESSAGE_KEYS)
    return _are_messages(prompt) or any(
        isinstance(items, list) and all(isinstance(item, Mapping) for item in items)
        for items in lists
    )


def _are_messages(value: object) -> bool:
    items = [object_or_empty(item) for item in list_or_empty(value)]
    return bool(items) and all(is_message(item) or "parts" in item for item in items)


def _is_api_answer(value: object) -> bool:
    """Whether a value is an answer of an API by its distinctive keys, or messages of a model."""
    if isinstance(value, list):
        answers = [object_or_empty(item) for item in value]
        return _are_by_model(value) or (bool(answers) and all(map(_is_answer_object, answers)))
    answer = _body_in(object_or_empty(value))
    return _is_answer_object(answer) or _are_by_model(list_or_empty(answer.get("messages")))


def _body_in(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an object around a request or an answer has in it, or else the object."""
    while True:
        bodies = (json_in(value.get(key)) for key in _BODY_KEYS)
        body = next((body for body in bodies if isinstance(body, Mapping)), None)
        if body is None:
            return value
        value = body


def _is_answer_object(answer: Mapping[str, Any]) -> bool:
    return any(is_own(answer) for is_own in _ANSWERS) or _is_by_model(answer)


def _is_chat_answer(answer: Mapping[str, Any]) -> bool:
    choices = [object_or_empty(choice) for choice in list_or_empty(answer.get("choices"))]
    has_messages = all(isinstance(choice.get("message"), Mapping) for choice in choices)
    return bool(choices) and has_messages and any(k in answer for k in ("object", "id", "usage"))


def _is_gemini_answer(answer: Mapping[str, Any]) -> bool:
    candidates = [object_or_empty(item) for item in list_or_empty(answer.get("candidates"))]
    is_blocked = isinstance(answer.get("promptFeedback"), Mapping)
    return is_blocked or (bool(candidates) and all(map(is_candidate, candidates)))


def _is_response(answer: Mapping[str, Any]) -> bool:
    has_output = "type" not in answer and _are_by_model(list_or_empty(answer.get("output")))
    return answer.get("object") == "response" or has_output


def _is_converse_answer(answer: Mapping[str, Any]) -> bool:
    return _is_by_model(object_or_empty(object_or_empty(answer.get("output")).get("message")))


def _holds_message(answer: Mapping[str, Any]) -> bool:
    """Whether this is an answer of Ollama, or the result of a batch at Anthropic."""
    message = object_or_empty(answer.get("message"))
    has_mark = isinstance(answer.get("done"), bool) or message.get("type") == "message"
    return has_mark and _is_by_model(message)


_ANSWERS = (_is_chat_answer, _is_gemini_answer, _is_response, _is_converse_answer, _holds_message)


def _is_by_model(message: Mapping[str, Any]) -> bool:
    """Whether this is a message of a model, or the answer of Anthropic's API, which is one."""
    return message.get("role") in _MODEL_ROLES and any(key in message for key in _CONTENT_KEYS)


def _are_by_model(values: list[Any]) -> bool:
    """Whether a list has what a model and its tools wrote, and nothing of another role."""
    messages = [object_or_empty(value) for value in values]
    by_model = [_is_by_model(message) or _is_item(message) for message in messages]
    return any(by_model) and all(
        is_own or message.get("role") in _RESULT_ROLES or _has_only_results(message)
        for is_own, message in zip(by_model, messages, strict=True)
    )


def _is_item(item: Mapping[str, Any]) -> bool:
    kind = text_or_empty(item.get("type"))
    return "role" not in item and (kind == "reasoning" or kind.endswith("_call"))


def _has_only_results(message: Mapping[str, Any]) -> bool:
    """Whether this is an output of a tool in a list of items, or a message of results."""
    if "role" not in message:
        return text_or_empty(message.get("type")).endswith("_output")
    blocks = list_or_empty(message.get("content")) or list_or_empty(message.get("parts"))
    fields = [object_or_empty(block) for block in blocks]
    return bool(fields) and all(
        block.get("type") == _RESULT_TYPE or any(key in block for key in _RESULT_KEYS)
        for block in fields
    )


# Mark the paths that may lead to an answer, and those of answers, which may be streamed.
_ANSWER, _STREAM = object(), object()


def _path_tree(paths: Iterable[JsonPath]) -> Mapping[Any, Any]:
    root: dict[Any, Any] = {}
    for path in paths:
        is_answer = path in (*ANSWER_PATHS, *STREAM_PATHS)
        node = root
        for name in path:
            node = node.setdefault(name, {})
            node |= {_ANSWER: True} if is_answer else {}
        node |= {_STREAM: True} if path and is_answer else {}
    return root


_PATH_TREE = _path_tree(
    (
        *((*path, name) for path in REQUEST_PATHS for name in MESSAGE_KEYS),
        *LIST_PATHS,
        *ANSWER_PATHS,
        *STREAM_PATHS,
    )
)
