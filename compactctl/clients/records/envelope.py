"""Locate the request, messages and answer in rows logged by gateways, SDKs and proxies.

Any dialect may be inside any envelope, so these tables say nothing about the messages themselves.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from compactctl.clients.records.json_values import (
    count_or_none,
    list_or_empty,
    object_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.streams import StreamedAnswer, may_be_body
from compactctl.clients.records.unread import REQUEST_PARAMETERS
from compactctl.model.json_paths import json_in, value_at
from compactctl.model.message import JsonPath, ReportedUsage, TextPart
from compactctl.records import Record, replace

# Keys of the messages of a request.
MESSAGE_KEYS = ("messages", "contents")
# Key of the messages, or of a single text, in the Responses API and in logs without a request.
INPUT_KEY = "input"
# Paths of the request. The first one with messages counts.
REQUEST_PATHS: tuple[JsonPath, ...] = (
    # An unwrapped request; LiteLLM's standard logging payload.
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
    # LiteLLM: spend logs, and the arguments of its loggers.
    ("proxy_server_request", "body"),
    ("proxy_server_request",),
    ("kwargs",),
    # Token counting requests to Gemini; Vertex AI's request-response logging.
    ("generateContentRequest",),
    ("full_request",),
)
# Paths of messages without a request around them, as MLflow stores them.
LIST_PATHS: tuple[JsonPath, ...] = (("inputs",), ("prompt",))
# Paths of the API's answer, or of its text or messages. The first one with content counts.
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
    # Arguments of LiteLLM's loggers.
    ("response_obj",),
    # Data sets of TRL for training on completions.
    ("completion",),
    # Vertex AI.
    ("full_response",),
    # The fields of the request, or the row itself.
    (),
)
# Paths of the events of a streamed answer beside its request.
STREAM_PATHS: tuple[JsonPath, ...] = tuple(
    (key,) for key in ("chunks", "events", "response_chunks", "stream_chunks", "raw_response")
)
# Keys of what an API received or returned, whatever it is: JSON, or the events of a stream.
_BODIES = frozenset({"body", "response_body", "responseBody", "outputBodyJson"})
# Paths of tools and system prompts in logs that store them apart from the request.
_PARAMETER_PATHS: tuple[JsonPath, ...] = (
    # LiteLLM's standard logging payload, and the arguments of its loggers.
    ("model_parameters",),
    ("optional_params",),
    ("kwargs", "optional_params"),
    # Langfuse.
    ("modelParameters",),
    # LangSmith.
    ("extra", "invocation_params"),
    ("invocation_params",),
)
# Keys of system prompts and tools in requests.
_PREAMBLE_KEYS = frozenset(
    {"system", "instructions", "systemInstruction", "system_instruction", "tools", "functions"}
)
# Keys of the model: OpenAI and most others, Bedrock, Helicone.
_MODEL_KEYS = ("model", "modelId", "request_model")
# Roles of messages in all dialects.
_ROLES = frozenset(
    {"system", "developer", "user", "assistant", "model", "tool", "function", "tool_call"}
    | {"tool_result", "data"}
)
# Endings of the types of items of the Responses API, which are messages as well.
_ITEM_ENDINGS = ("_call", "_output", "_result")
_ITEM_TYPES = frozenset({"message", "reasoning", "item_reference", "compaction"})
# Keys of lists of alternative messages in answers.
_ANSWER_KEYS = ("choices", "candidates")
# Keys of an answer in the Agents SDKs for Python and JavaScript.
_RESPONSE_ID_KEYS = frozenset({"response_id", "responseId"})
# Keys under which rows of traces name the kind of a step: LangSmith; MLflow; OpenInference, and the
# last name of its attributes when they are objects in objects; Braintrust.
_KIND_PATHS: tuple[JsonPath, ...] = (
    ("run_type",),
    ("span_type",),
    ("spanType",),
    ("span_kind",),
    ("attributes", "mlflow.spanType"),
    ("attributes", "openinference.span.kind"),
    ("attributes", "openinference", "span", "kind"),
    ("openinference.span.kind",),
    ("span_attributes", "type"),
)
# Keys of what a step took and returned.
_STEP_KEYS = ("input", "output", "inputs", "outputs", "attributes")
# Kinds of steps without a conversation; chains and agents log the whole of theirs. Langfuse writes
# them in capitals, in ``type``.
_STEP_KINDS = frozenset(
    {"embedding", "evaluator", "event", "function", "guardrail", "parser", "prompt", "reranker"}
    | {"retriever", "score", "tool"}
)
# Token counts that a log stores outside of the answer: path, key of the input, key of the output.
_USAGE_PATHS: tuple[tuple[JsonPath, str, str], ...] = (
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

# Enough for any list in memory, and fewer than Python converts.
_MAX_INDEX_DIGITS = 18


class LogRow(Record, kw_only=False):
    """The paths of a request and its answer in a row.

    Attributes:
        request: the path of the request.
        messages: the path of its messages; None if an answer is logged without its request.
        answers: all paths that may hold the answer.
        parameters: the paths where tools and a system prompt may be stored apart from the request.
    """

    request: JsonPath
    messages: JsonPath | None
    answers: tuple[JsonPath, ...] = ()
    parameters: tuple[JsonPath, ...] = ()


def locate_exchange(value: Mapping[str, Any]) -> LogRow | None:
    """Locate the request and answer in an object; None if it has neither."""
    if is_message(value):
        return None
    answers = _answer_paths(value)
    paths = next(_request_paths(value), None)
    if paths is not None:
        return LogRow(*paths, answers, _parameter_paths(value, paths[0]))
    alone = tuple(path for path in answers if is_answer(value_at(value, path)))
    return LogRow(alone[0], None, alone) if alone else None


def is_step(value: object) -> bool:
    """Whether a row of a trace says that it is a step of a program, and no request to a model.

    What it took and returned is text of tools and functions, whatever it looks like.
    """
    row = object_or_empty(value)
    if not any(key in row for key in _STEP_KEYS):
        return False
    kinds = [_member_at(row, path) for path in _KIND_PATHS]
    kind = text_or_none(row.get("type"))
    names = [*kinds, kind] if kind and kind.isupper() else kinds
    return any(isinstance(name, str) and name.lower() in _STEP_KINDS for name in names)


def locate_exchange_at(value: Mapping[str, Any], field: str) -> LogRow | None:
    """Locate the request and answer in an object with messages at a known field; None without."""
    messages = find_list(value, field)
    if messages is None:
        return None
    answers = _answer_paths(value)
    return LogRow(messages[:-1], messages, answers, _parameter_paths(value, messages[:-1]))


def is_reference(key: str, value: object) -> bool:
    """Whether a field of a request names what the provider has stored and puts in."""
    is_cached = key in ("cachedContent", "cached_content") and bool(value)
    return is_cached or (key == "prompt" and isinstance(value, Mapping) and "id" in value)


def is_sent_field(key: str, row: LogRow) -> bool:
    """Whether the text of a request's field beside its messages is sent to the model.

    An unwrapped request has the fields of its log as well, so only known ones are.
    """
    if row.messages is None or key == row.messages[-1]:
        return False
    return key not in REQUEST_PARAMETERS if row.request else key in _PREAMBLE_KEYS


def is_body(path: JsonPath) -> bool:
    """Whether a column is named for what an API returned, and its text is not a message."""
    return bool(path) and path[-1] in _BODIES


def _answer_paths(value: Mapping[str, Any]) -> tuple[JsonPath, ...]:
    return (
        *(path for path in ANSWER_PATHS if _may_answer(_member_at(value, path))),
        *(path for path in STREAM_PATHS if isinstance(_member_at(value, path), StreamedAnswer)),
    )


def format_path(path: JsonPath) -> str:
    """Write a path as names and numbers separated by dots."""
    return ".".join(map(str, path))


def find_list(value: Any, field: str) -> JsonPath | None:  # noqa: ANN401 - JSON is any value
    """Return the path of the list that ``format_path`` writes as ``field``, None if there is none.

    Only the value tells whether a number is an index or a key, and which dots are part of a key::

        find_list({"runs": {"0": {"a.b": []}}}, "runs.0.a.b")  ->  ("runs", "0", "a.b")

    Of several such lists it is the one with the shortest first key. The path may lead through JSON
    texts.
    """
    holder = json_in(value)
    steps = field.split(".")
    for count in range(1, len(steps) + 1):
        step = _step_in(holder, ".".join(steps[:count]))
        if step is None:
            continue
        if count == len(steps):
            return (step,) if isinstance(json_in(holder[step]), list) else None
        rest = find_list(holder[step], ".".join(steps[count:]))
        if rest is not None:
            return (step, *rest)
    return None


def _step_in(holder: object, name: str) -> str | int | None:
    """Return the key or index called ``name``, None if ``holder`` has none."""
    if isinstance(holder, Mapping):
        return name if name in holder else None
    if isinstance(holder, list) and name.isdecimal() and len(name) <= _MAX_INDEX_DIGITS:
        return int(name) if int(name) < len(holder) else None
    return None


def model_of(document: Mapping[str, Any], row: LogRow) -> str | None:
    """Return the model that was requested, or None."""
    paths = ((), *row.parameters, *row.answers)
    values = (request_in(document, row), *(value_at(document, path) for path in paths))
    objects = map(object_or_empty, values)
    names = (text_or_none(fields.get(key)) for fields in objects for key in _MODEL_KEYS)
    return next(filter(None, names), None)


def request_in(document: Mapping[str, Any], row: LogRow) -> Mapping[str, Any]:
    """Return the request of a row, also if it is stored as JSON text."""
    return object_or_empty(json_in(value_at(document, row.request)))


def logged_usage(document: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage that a row stores outside of the answer, or None."""
    for path, input_key, output_key in _USAGE_PATHS:
        numbers = object_or_empty(value_at(document, path))
        context = count_or_none(numbers.get(input_key))
        if context is not None and context > 0:
            return ReportedUsage(context=context, output=count_or_none(numbers.get(output_key)))
    return None


def read_exchange(
    document: Mapping[str, Any], row: LogRow
) -> tuple[list[Any], Mapping[str, Any], Mapping[str, Any]]:
    """Return the messages of a row, their request, and the answer.

    An answer that is logged without a request is the only message.
    """
    answers = (value_at(document, path) for path in row.answers)
    answer = next((value for value in answers if isinstance(value, Mapping)), {})
    if row.messages is None:
        return [answer], {}, answer
    return list_or_empty(_messages_at(document, row.messages)), request_in(document, row), answer


def _messages_at(document: Mapping[str, Any], path: JsonPath) -> object:
    # In ``input`` a text is the whole prompt; elsewhere it holds JSON.
    value = value_at(document, path)
    return value if path[-1] == INPUT_KEY else json_in(value)


def _parameter_paths(value: Mapping[str, Any], request: JsonPath) -> tuple[JsonPath, ...]:
    paths = (path for path in _PARAMETER_PATHS if isinstance(value_at(value, path), Mapping))
    return (*paths, ()) if request else (*paths,)


def _request_paths(value: Mapping[str, Any]) -> Iterator[tuple[JsonPath, JsonPath]]:
    """Yield the paths of possible requests and of their messages."""
    for path in REQUEST_PATHS:
        request = object_or_empty(_member_at(value, path))
        for name in MESSAGE_KEYS:
            if isinstance(request.get(name), list) and _are_records(request[name]):
                yield path, (*path, name)
    for path in REQUEST_PATHS:
        request = object_or_empty(_member_at(value, path))
        if _has_input(request):
            yield path, (*path, INPUT_KEY)
    for path in LIST_PATHS:
        messages = _member_at(value, path)
        if messages and isinstance(messages, list) and _are_records(messages):
            yield (), path


def _member_at(value: Mapping[str, Any], path: JsonPath) -> Any:  # noqa: ANN401 - JSON is any value
    """Return the value at a path of names, None if there is none; texts have no members."""
    member: Any = value
    for name in path:
        member = member.get(name) if isinstance(member, Mapping) else None
    return member


def _has_input(request: Mapping[str, Any]) -> bool:
    """Whether a request has its messages in ``input``, as a list or a single text.

    An object with a type and a text in ``input`` is not a request but a call or a traced step.
    """
    value = request.get(INPUT_KEY)
    if isinstance(value, str):
        return bool(value) and "type" not in request
    return isinstance(value, list) and _are_records(value)


def _are_records(values: list[Any]) -> bool:
    return not values or any(isinstance(value, Mapping) for value in values)


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether a record is a message or an item by its own keys, and not an object around one.

    What its fields hold says nothing: the result of a tool may be a request or an answer of an API.
    """
    if any(isinstance(value.get(name), list) for name in MESSAGE_KEYS):
        return False
    role, kind = value.get("role"), value.get("type")
    if isinstance(role, str) and (role in _ROLES or "content" in value or "parts" in value):
        return True
    is_item = isinstance(kind, str) and (kind in _ITEM_TYPES or kind.endswith(_ITEM_ENDINGS))
    return is_item and not any(isinstance(value.get(name), list) for name in _ANSWER_KEYS)


def _may_answer(value: object) -> bool:
    return bool(value) and isinstance(value, Mapping | list | str)


def is_answer(value: object) -> bool:
    """Whether a value is an unwrapped answer of an API, by the object around its message."""
    answer = object_or_empty(value)
    choices = [choice for name in _ANSWER_KEYS for choice in list_or_empty(answer.get(name))]
    holders = (*choices, object_or_empty(answer.get("output")))
    is_message = answer.get("type") == "message" and answer.get("role") == "assistant"
    return (
        is_message
        or has_items(answer)
        or any(
            isinstance(object_or_empty(holder).get(name), Mapping)
            for holder in holders
            for name in ("message", "content")
        )
    )


def has_items(answer: Mapping[str, Any]) -> bool:
    """Whether an answer of the Responses API has items, or is one whose items were removed."""
    items = answer.get("output")
    if not isinstance(items, list) or "type" in answer:
        return False
    is_response = answer.get("object") == "response" or not _RESPONSE_ID_KEYS.isdisjoint(answer)
    return is_response or any("type" in object_or_empty(item) for item in items)


_PlacedDraft = tuple[JsonPath, MessageDraft | None]

# Paths of a message outside of its API's wrapping: in answers of Ollama and tracers, or the value
# itself.
_MESSAGE_PATHS: tuple[JsonPath, ...] = (("message",), ())
# Paths of lists of messages.
_MESSAGE_LIST_PATHS: tuple[JsonPath, ...] = (("output",), ("messages",))


class AnswerReader(Protocol):
    """The part of a ``ConversationParser`` that reads answers."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Parse the record at ``path``; None if it is not a message."""

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        """Parse the API's answer at ``path``; return the path of its message and the draft."""


def answer_drafts(value: object, path: JsonPath, reader: AnswerReader) -> Iterable[_PlacedDraft]:
    """Parse the messages of an answer at ``path``; return their paths and drafts.

    List items that are not messages are returned with None.
    """
    if isinstance(value, StreamedAnswer):
        return _streamed_draft(answer_drafts({**value}, path, reader), path)
    if isinstance(value, str):
        if is_body(path) and may_be_body(value):
            return ()
        return ((path, MessageDraft(role="assistant", parts=(TextPart(text=value, path=path),))),)
    if not isinstance(value, Mapping):
        return _drafts_in_list(list_or_empty(value), path, reader)
    placed = reader.answer(value, path) or _wrapped_message(value, path, reader)
    if placed is not None:
        message_path, draft = placed
        return ((message_path, draft and _as_answer(draft)),)
    return [
        item
        for inner_path in _MESSAGE_LIST_PATHS
        for item in _drafts_in_list(
            list_or_empty(value_at(value, inner_path)), (*path, *inner_path), reader
        )
    ]


def _streamed_draft(drafts: Iterable[_PlacedDraft], path: JsonPath) -> list[_PlacedDraft]:
    """Join the items of a streamed answer: the file has no record of each, only the stream."""
    items = [draft for _, draft in drafts if draft is not None]
    if not items:
        return []
    parts = tuple(part for item in items for part in item.parts)
    return [(path, replace(items[0], role="assistant", parts=parts, is_summary=False))]


def _as_answer(draft: MessageDraft) -> MessageDraft:
    """Return a message as what a model wrote: an answer is by nobody else."""
    return replace(draft, role="assistant") if draft.role in ("user", "system") else draft


def _wrapped_message(
    value: Mapping[str, Any], path: JsonPath, reader: AnswerReader
) -> _PlacedDraft | None:
    for inner_path in _MESSAGE_PATHS:
        message_path = (*path, *inner_path)
        draft = reader.message(object_or_empty(value_at(value, inner_path)), message_path)
        if draft is not None:
            return message_path, draft
    return None


def _drafts_in_list(
    items: list[Any], path: JsonPath, reader: AnswerReader
) -> Iterator[_PlacedDraft]:
    for index, item in enumerate(map(object_or_empty, items)):
        item_path = (*path, index)
        # Gemini streams an answer as a list of answers.
        draft = reader.answer(item, item_path) or _wrapped_message(item, item_path, reader)
        yield draft or (item_path, None)
