"""Where the parts of a logged request stand in the row that a gateway, SDK or proxy wrote.

Any dialect may stand in any envelope, so the tables know nothing of the messages themselves.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from compactctl.formats.records.json_values import (
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.json_paths import json_in, value_at
from compactctl.model.message import JsonPath, ReportedUsage, TextPart

# What APIs call the messages of a request.
MESSAGE_KEYS = ("messages", "contents")
# And what the Responses API does, in a list or as one text; so do logs that have no request.
INPUT_KEY = "input"
# The object that was sent. The first that holds messages counts.
REQUEST_PATHS: tuple[JsonPath, ...] = (
    # A request as it was sent; LiteLLM's standard logging payload.
    (),
    # Input of batches at OpenAI and Azure.
    ("body",),
    # Portkey.
    ("request", "body"),
    # Gateways of many kinds; input of batches at Gemini and Vertex AI.
    ("request",),
    # Helicone.
    ("request_body",),
    ("requestBody",),
    # Message batches at Anthropic.
    ("params",),
    # Logs of invocations and input of batches at Bedrock.
    ("input", "inputBodyJson"),
    ("modelInput",),
    # LangSmith, Weave and MLflow; Langfuse, OpenPipe and Braintrust.
    ("inputs",),
    ("input",),
    # LiteLLM: spend logs, and what its loggers are called with.
    ("proxy_server_request", "body"),
    ("proxy_server_request",),
    ("kwargs",),
    # What Gemini is asked to count the tokens of; rows of Vertex AI's request-response logging.
    ("generateContentRequest",),
    ("full_request",),
)
# MLflow may have the messages there without a request around them, as others have in ``input``.
LIST_PATHS: tuple[JsonPath, ...] = (("inputs",), ("prompt",))
# What the API answered, or a text or messages of it. The first that says something counts.
ANSWER_PATHS: tuple[JsonPath, ...] = (
    # Portkey; output of batches at OpenAI and Azure.
    ("response", "body"),
    # Gateways of many kinds; LiteLLM; output of batches at Gemini and Vertex AI.
    ("response",),
    # Helicone.
    ("response_body",),
    ("responseBody",),
    # Message batches at Anthropic.
    ("result", "message"),
    # Logs of invocations and output of batches at Bedrock.
    ("output", "outputBodyJson"),
    ("modelOutput",),
    # LangSmith, Weave and MLflow; Langfuse, OpenPipe and Braintrust.
    ("outputs",),
    ("output",),
    # What loggers of LiteLLM are called with.
    ("response_obj",),
    # Data sets of TRL for training on completions.
    ("completion",),
    # Vertex AI.
    ("full_response",),
    # Among the fields of the request, or alone.
    (),
)
# What is sent beside the messages, where a log keeps it apart from them.
_PARAMETERS: tuple[JsonPath, ...] = (
    # LiteLLM's standard logging payload, and what its loggers are called with.
    ("model_parameters",),
    ("optional_params",),
    ("kwargs", "optional_params"),
    # Langfuse.
    ("modelParameters",),
    # LangSmith.
    ("extra", "invocation_params"),
    ("invocation_params",),
)
# Of the request, then of what stands around it: OpenAI and most others, Bedrock, Helicone.
_MODELS = ("model", "modelId", "request_model")
# What the Agents SDKs for Python and JavaScript have beside the items of an answer.
_ITEM_ANSWERS = frozenset({"response_id", "responseId"})
# Of all that was sent, and of the answer, where a log tells them apart from what the API reported.
_USAGE: tuple[tuple[JsonPath, str, str], ...] = (
    # LiteLLM, Helicone.
    ((), "prompt_tokens", "completion_tokens"),
    # Langfuse, in older and newer versions.
    (("usageDetails",), "input", "output"),
    (("usage",), "input", "output"),
    # LangSmith.
    (("outputs", "usage_metadata"), "input_tokens", "output_tokens"),
    # Braintrust.
    (("metrics",), "prompt_tokens", "completion_tokens"),
)


@dataclass(frozen=True, slots=True)
class LogRow:
    """Where things stand in a row.

    ``messages`` is None where an answer is logged without its request; ``answers`` has all places
    that may hold one; ``beside`` those where tools and a system prompt may stand apart from the
    request.
    """

    request: JsonPath
    messages: JsonPath | None
    answers: tuple[JsonPath, ...] = ()
    beside: tuple[JsonPath, ...] = ()


def row_of(value: Mapping[str, Any]) -> LogRow | None:
    """Return where things stand in an object that holds a request or an answer, else None."""
    if _is_message(value) and not any(isinstance(value.get(name), list) for name in MESSAGE_KEYS):
        return None
    answers = tuple(path for path in ANSWER_PATHS if _may_answer(value_at(value, path)))
    place = next(_places(value), None)
    if place is not None:
        return LogRow(*place, answers, _beside(value, place[0]))
    alone = tuple(path for path in answers if _is_answer(value_at(value, path)))
    return LogRow(alone[0], None, alone) if alone else None


def row_with(value: Mapping[str, Any], messages: JsonPath) -> LogRow | None:
    """Return where things stand in an object with messages at a path, None where it has none."""
    if not isinstance(json_in(value_at(value, messages)), list):
        return None
    answers = tuple(path for path in ANSWER_PATHS if _may_answer(value_at(value, path)))
    return LogRow(messages[:-1], messages, answers, _beside(value, messages[:-1]))


def dotted(path: JsonPath) -> str:
    """Return a path as it is typed."""
    return ".".join(map(str, path))


def from_dotted(text: str) -> JsonPath:
    """Return the path that is typed as names and numbers with dots between them, as in jq."""
    names = text.removeprefix(".").split(".")
    return tuple(int(name) if name.isdecimal() else name for name in names)


def model_of(row: Mapping[str, Any], place: LogRow) -> str | None:
    """Return the model that was asked, None where the row does not say."""
    places = ((), *place.beside, *place.answers)
    objects = (request_in(row, place), *(value_at(row, path) for path in places))
    names = (text_or_none(object_or_empty(each).get(name)) for each in objects for name in _MODELS)
    return next(filter(None, names), None)


def request_in(row: Mapping[str, Any], place: LogRow) -> Mapping[str, Any]:
    """Return the request of a row, which may stand there as JSON text."""
    return object_or_empty(json_in(value_at(row, place.request)))


def logged_usage(row: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage that a row tells beside the answer, None where there is none."""
    for path, sent, said in _USAGE:
        numbers = object_or_empty(value_at(row, path))
        context = integer_or_none(numbers.get(sent))
        if context is not None and context > 0:
            return ReportedUsage(context=context, output=integer_or_none(numbers.get(said)))
    return None


def exchange(
    row: Mapping[str, Any], place: LogRow
) -> tuple[list[Any], Mapping[str, Any], Mapping[str, Any]]:
    """Return the messages of a row, the request that they stand in, and the answer.

    An answer that is logged alone is the only message.
    """
    answers = (value_at(row, path) for path in place.answers)
    answer = next((each for each in answers if isinstance(each, Mapping)), {})
    if place.messages is None:
        return [answer], {}, answer
    return list_or_empty(_messages(row, place.messages)), request_in(row, place), answer


def _messages(row: Mapping[str, Any], path: JsonPath) -> object:
    """Return what stands at a path: of an input a text is all that is asked, elsewhere JSON."""
    value = value_at(row, path)
    return value if path[-1] == INPUT_KEY else json_in(value)


def _beside(value: Mapping[str, Any], request: JsonPath) -> tuple[JsonPath, ...]:
    found = (path for path in _PARAMETERS if isinstance(value_at(value, path), Mapping))
    return (*found, ()) if request else (*found,)


def _places(value: Mapping[str, Any]) -> Iterator[tuple[JsonPath, JsonPath]]:
    """Yield where a request may stand, and its messages."""
    for path in REQUEST_PATHS:
        request = object_or_empty(value_at(value, path))
        for name in MESSAGE_KEYS:
            if isinstance(request.get(name), list) and _are_records(request[name]):
                yield path, (*path, name)
    for path in REQUEST_PATHS:
        request = object_or_empty(value_at(value, path))
        if _is_input(request):
            yield path, (*path, INPUT_KEY)
    for path in LIST_PATHS:
        messages = value_at(value, path)
        if messages and isinstance(messages, list) and _are_records(messages):
            yield (), path


def _is_input(request: Mapping[str, Any]) -> bool:
    """Tell whether a request has its messages in ``input``, as a list, or as one text.

    What has a type and a text there is something else: a call, or a step that was traced.
    """
    value = request.get(INPUT_KEY)
    if isinstance(value, str):
        return bool(value) and "type" not in request
    return isinstance(value, list) and _are_records(value)


def _are_records(values: list[Any]) -> bool:
    return not values or any(isinstance(value, Mapping) for value in values)


def _is_message(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("role"), str) and ("content" in value or "parts" in value)


def _may_answer(value: object) -> bool:
    return bool(value) and isinstance(value, Mapping | list | str)


def _is_answer(value: object) -> bool:
    """Tell whether this is an answer as an API gives it: by what holds its message."""
    answer = object_or_empty(value)
    choices = (*list_or_empty(answer.get("choices")), *list_or_empty(answer.get("candidates")))
    held = (*choices, object_or_empty(answer.get("output")))
    is_message = answer.get("type") == "message" and answer.get("role") == "assistant"
    return (
        is_message
        or _has_items(answer)
        or any(
            isinstance(object_or_empty(each).get(name), Mapping)
            for each in held
            for name in ("message", "content")
        )
    )


def _has_items(answer: Mapping[str, Any]) -> bool:
    """Tell whether this is an answer that is a list of items with types, or of none any more."""
    items = answer.get("output")
    if not isinstance(items, list) or "type" in answer:
        return False
    is_told = answer.get("object") == "response" or not _ITEM_ANSWERS.isdisjoint(answer)
    return is_told or any("type" in object_or_empty(item) for item in items)


_Said = tuple[JsonPath, MessageDraft | None]

# Where an object has a message that is not wrapped as its API does: in Ollama's answers and in
# those of tracers, or it is one itself.
_MESSAGE: tuple[JsonPath, ...] = (("message",), ())
# Where it has several.
_MESSAGES: tuple[JsonPath, ...] = (("output",), ("messages",))


class AnswerReader(Protocol):
    """What is asked of a conversation for this."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Return what a record at ``path`` says, None when it is not a message."""

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        """Return what an API answered at ``path``, and where the message in it stands."""


def said_in(value: object, path: JsonPath, conversation: AnswerReader) -> Iterable[_Said]:
    """Return the messages of an answer at ``path``, with the places where they stand.

    What stands in a list and is not a message is None.
    """
    if isinstance(value, str):
        return ((path, MessageDraft(role="assistant", parts=(TextPart(text=value, path=path),))),)
    if not isinstance(value, Mapping):
        return _each(list_or_empty(value), path, conversation)
    said = conversation.answer(value, path) or _one(value, path, conversation)
    if said is not None:
        return (said,)
    lists = ((value_at(value, at), (*path, *at)) for at in _MESSAGES)
    return [said for items, at in lists for said in _each(list_or_empty(items), at, conversation)]


def _one(value: Mapping[str, Any], path: JsonPath, conversation: AnswerReader) -> _Said | None:
    for at in _MESSAGE:
        place = (*path, *at)
        draft = conversation.message(object_or_empty(value_at(value, at)), place)
        if draft is not None:
            return place, draft
    return None


def _each(items: list[Any], path: JsonPath, conversation: AnswerReader) -> Iterator[_Said]:
    for index, item in enumerate(map(object_or_empty, items)):
        at = (*path, index)
        # Gemini streams an answer as a list of such.
        yield conversation.answer(item, at) or _one(item, at, conversation) or (at, None)
