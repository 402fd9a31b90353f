"""Messages of a chat's requests: those that Copilot Chat sends again.

Field names are those of VS Code's chat model, and of the metadata that Copilot Chat stores with a
request's result (versions of 2025 and 2026).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from compactctl.clients.records.json_values import (
    count_or_none,
    integer_or_none,
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.unread import text_in
from compactctl.model.message import (
    CallId,
    JsonPath,
    Part,
    ReasoningPart,
    ReportedUsage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.tags import read_tags
from compactctl.records import Record, replace

# @vscode/prompt-tsx: the nodes of an element are elements (1) or texts (2).
_ELEMENT, _TEXT = 1, 2
_MAX_PRIORITY = 9_007_199_254_740_991
_PROMPT_REASON = "it is what was asked, which the editor shows from another place"
_SUMMARY_REASON = "a summary of the client"
_MULTIPART_REASON = "the result has several pieces"
_ROUND_REASON = "the editor keeps its requests and rounds"
# What of requests, of their results and of the client's metadata the editor only displays.
_DISPLAYED = frozenset(
    {
        "agent",
        "codeCitations",
        "contentReferences",
        "editedFileEvents",
        "followups",
        "modelState",
        "responseMarkdownInfo",
        "slashCommand",
        "usedContext",
        # What is attached to a prompt: the client puts it into the rendered message.
        "variableData",
        "voteDownReason",
        "workingSet",
    }
)
_DISPLAYED_RESULT = frozenset({"details", "errorDetails", "timings"})
_DISPLAYED_METADATA = frozenset({"codeBlocks"})
# The model id of a request for which the client chose the model.
_AUTO = "auto"


class ChatMessage(Record):
    """A message of a chat, the path of its record, and the record, which may have tags."""

    draft: MessageDraft
    record_path: JsonPath
    record: Mapping[str, Any]


def chat_messages(chat: Mapping[str, Any]) -> Iterator[ChatMessage]:
    """Yield the messages of all requests in order, the client's summaries among them."""
    for index, request in enumerate(map(object_or_empty, list_or_empty(chat.get("requests")))):
        # The user went back to a state before it.
        if not request.get("shouldBeRemovedOnSend"):
            yield from _Request(request, ("requests", index)).messages()


class RequestRest(Record):
    """What of a request may be sent beside its messages.

    Attributes:
        value: the request without what the editor only displays.
        path: the path of the request.
        paths: where its messages were read.
        texts: the texts of its messages.
    """

    value: object
    path: JsonPath
    paths: set[JsonPath]
    texts: Sequence[str]


def request_rests(
    chat: Mapping[str, Any], messages: Sequence[ChatMessage]
) -> Iterator[RequestRest]:
    """Yield the rest of each request of a chat that has these messages."""
    messages_by_path: dict[JsonPath, list[ChatMessage]] = defaultdict(list)
    for message in messages:
        messages_by_path[message.record_path[:2]].append(message)
    for index, request in enumerate(list_or_empty(chat.get("requests"))):
        path: JsonPath = ("requests", index)
        if object_or_empty(request).get("shouldBeRemovedOnSend"):
            continue
        parts = [part for message in messages_by_path[path] for part in message.draft.parts]
        yield RequestRest(
            value=_without_displayed(request) if isinstance(request, Mapping) else request,
            path=path,
            paths={*_read_paths(messages_by_path[path])},
            texts=[text for part in parts for text in _read_texts(part)],
        )


def _read_paths(messages: Iterable[ChatMessage]) -> Iterator[JsonPath]:
    """Yield where messages were read. Texts that were put together are found by what they repeat.

    Rounds and results are measured with their own records.
    """
    for message in messages:
        is_of_request = len(message.record_path) == len(("requests", 0))
        if message.record and not is_of_request:
            yield message.record_path
        if is_of_request:
            yield (*message.record_path, "message", "text")


def _read_texts(part: Part) -> Iterator[str]:
    yield text_in(part)
    if isinstance(part, TextPart) and part.typed:
        yield part.typed


def _without_displayed(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request without what the editor only displays."""
    result = object_or_empty(request.get("result"))
    metadata = object_or_empty(result.get("metadata"))
    fields = _without(request, _DISPLAYED)
    message = request.get("message")
    if isinstance(message, Mapping):
        fields["message"] = _without_mentions(message)
    if list_or_empty(metadata.get("toolCallRounds")):
        fields = _without(fields, {"response"})
    elif isinstance(request.get("response"), list):
        # Without rounds, the answer is what was displayed.
        fields["response"] = [p for p in request["response"] if "kind" not in object_or_empty(p)]
    if result:
        fields["result"] = _without(result, _DISPLAYED_RESULT)
    if metadata:
        fields["result"]["metadata"] = _without(metadata, _DISPLAYED_METADATA)
    summaries = metadata.get("summaries")
    if isinstance(summaries, list):
        fields["result"]["metadata"]["summaries"] = summaries[-1:]
    return fields


def _without_mentions(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a prompt of which the parts are only texts; others describe what it mentions."""
    parts = message.get("parts")
    if not isinstance(parts, list):
        return message
    texts = [part for part in parts if object_or_empty(part).get("kind", "text") == "text"]
    return {**message, "parts": texts}


def _without(fields: Mapping[str, Any], names: AbstractSet[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def model_of(chat: Mapping[str, Any]) -> str | None:
    """Return the newest recorded model; the title of a model that the client chose."""
    requests = map(object_or_empty, reversed(list_or_empty(chat.get("requests"))))
    return next(filter(None, map(_model, requests)), None)


def as_immutable(message: ChatMessage) -> ChatMessage:
    """Forbid editing a message, as in files that the editor itself writes."""
    reason = "the editor holds its sessions in memory and writes them itself; export the chat"
    return replace(message, draft=replace(message.draft, immutable_reason=reason))


def new_item_value(current: object, text: str) -> object:
    """Return an item's value with another text, in the shape of the current one."""
    if isinstance(current, str):
        return text
    child = {"type": _TEXT, "priority": _MAX_PRIORITY, "text": text, "lineBreakBefore": False}
    node = object_or_empty(object_or_empty(current).get("node"))
    return {"node": {**node, "children": [child], "references": []}}


def _model(request: Mapping[str, Any]) -> str | None:
    name = text_or_empty(request.get("modelId")).rpartition("/")[2]
    details = text_or_empty(object_or_empty(request.get("result")).get("details"))
    title = details.partition(" • ")[0]
    return title or None if name in ("", _AUTO) else name


class _Request:
    """One request: the prompt, the rounds of answers and calls, and the results."""

    def __init__(self, request: Mapping[str, Any], path: JsonPath) -> None:
        self.request, self.path = request, path
        self.metadata = object_or_empty(object_or_empty(request.get("result")).get("metadata"))
        self.metadata_path: JsonPath = (*path, "result", "metadata")
        self.results = object_or_empty(self.metadata.get("toolCallResults"))
        self.summaries = _summaries(self.metadata)

    def messages(self) -> Iterator[ChatMessage]:
        yield from self._prompt()
        rounds = list_or_empty(self.metadata.get("toolCallRounds"))
        newest = len(rounds) - 1
        for index, record in enumerate(map(object_or_empty, rounds)):
            yield from self._round(record, index, is_newest=index == newest)
        if not rounds:
            yield from self._displayed_answer()

    def _prompt(self) -> Iterator[ChatMessage]:
        context_text = _rendered_text(self.metadata.get("renderedGlobalContext"))
        if context_text:
            path: JsonPath = (*self.metadata_path, "renderedGlobalContext", 0)
            draft = _prompt_draft(context_text, "", path)
            yield ChatMessage(draft=draft, record_path=path, record={})
        rendered = _rendered_text(self.metadata.get("renderedUserMessage"))
        message = self.request.get("message")
        value = message if isinstance(message, str) else object_or_empty(message).get("text")
        typed = text_or_empty(value)
        text = rendered or typed
        if text:
            record_id = text_or_none(self.request.get("requestId"))
            draft = _prompt_draft(text, typed, (*self.path, "message"))
            draft = replace(draft, record_id=record_id)
            time = integer_or_none(self.request.get("timestamp"))
            # Not the request itself: its other messages have records of their own.
            record = {} if time is None else {"timestamp": time}
            yield ChatMessage(draft=draft, record_path=self.path, record=record)

    def _round(
        self, record: Mapping[str, Any], index: int, *, is_newest: bool
    ) -> Iterator[ChatMessage]:
        path: JsonPath = (*self.metadata_path, "toolCallRounds", index)
        round_id = text_or_none(record.get("id"))
        parts = tuple(_round_parts(record, path))
        usage = self._usage() if is_newest else None
        if parts or usage is not None:
            draft = MessageDraft(
                role="assistant",
                parts=parts,
                record_id=round_id,
                response_id=round_id,
                model=_model(self.request),
                unmovable_reason=_ROUND_REASON,
                usage=usage,
            )
            yield ChatMessage(draft=draft, record_path=path, record=record)
        # The original that an inline compaction keeps of a round must not yield results again.
        if not read_tags(record).edit_parent:
            for part in parts:
                if isinstance(part, ToolCallPart):
                    yield from self._result(part)
        summary = self.summaries.get(round_id or "") or text_or_none(record.get("summary"))
        if summary:
            part = TextPart(text=summary, embedded=True, path=path)
            draft = MessageDraft(
                role="user", parts=(part,), is_summary=True, immutable_reason=_SUMMARY_REASON
            )
            yield ChatMessage(draft=draft, record_path=path, record={})

    def _result(self, call: ToolCallPart) -> Iterator[ChatMessage]:
        path: JsonPath = (*self.metadata_path, "toolCallResults", call.call_id, "content")
        content = object_or_empty(self.results.get(call.call_id)).get("content")
        items = [
            (index, item)
            for index, item in enumerate(list_or_empty(content))
            if isinstance(item, Mapping)
        ]
        # Originals that an inline compaction keeps do not count. Several items are one result,
        # which cannot be edited, with the first item as its record.
        is_single = sum(not read_tags(item).edit_parent for _, item in items) == 1
        for index, item in items if is_single else items[:1]:
            contents = [item] if is_single else [content for _, content in items]
            part = ToolResultPart(
                call_id=call.call_id,
                tool=call.tool,
                text="\n".join(map(_item_text, contents)),
                path=(*path, index, "value"),
            )
            draft = MessageDraft(
                role="tool",
                parts=(part,),
                record_id=call.call_id,
                unmovable_reason=_ROUND_REASON,
                immutable_reason=None if is_single and "value" in item else _MULTIPART_REASON,
            )
            yield ChatMessage(draft=draft, record_path=(*path, index), record=item)

    def _displayed_answer(self) -> Iterator[ChatMessage]:
        """Yield the answer as displayed, for a request without rounds."""
        pieces = map(object_or_empty, list_or_empty(self.request.get("response")))
        # Pieces with a kind are only displayed; those without one are the answer's text.
        text = "".join(text_or_empty(piece.get("value")) for piece in pieces if "kind" not in piece)
        part = TextPart(text=text, embedded=True, path=(*self.path, "response"))
        usage = self._usage()
        if text or usage is not None:
            draft = MessageDraft(
                role="assistant",
                parts=(part,) if text else (),
                model=_model(self.request),
                usage=usage,
                immutable_reason=_PROMPT_REASON,
            )
            yield ChatMessage(draft=draft, record_path=(*self.path, "response", 0), record={})

    def _usage(self) -> ReportedUsage | None:
        sent, answered = (self.metadata.get(name) for name in ("promptTokens", "outputTokens"))
        if sent is None:
            return None
        return ReportedUsage(context=count_or_none(sent) or 0, output=count_or_none(answered))


def _prompt_draft(text: str, typed: str, path: JsonPath) -> MessageDraft:
    part = TextPart(text=text, typed=typed, embedded=True, path=path)
    return MessageDraft(role="user", parts=(part,), immutable_reason=_PROMPT_REASON)


def _round_parts(record: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    thinking = object_or_empty(record.get("thinking"))
    value = thinking.get("text")
    text = "\n".join(map(json_text, value)) if isinstance(value, list) else value
    sealed = len(text_or_empty(thinking.get("encrypted")))
    if text or sealed:
        text_path = (*path, "thinking", "text")
        yield ReasoningPart(
            text=text_or_empty(text), opaque=not text, sealed=sealed, path=text_path
        )
    if text_or_empty(record.get("response")):
        yield TextPart(text=record["response"], path=(*path, "response"))
    for index, call in enumerate(map(object_or_empty, list_or_empty(record.get("toolCalls")))):
        yield ToolCallPart(
            call_id=CallId(text_or_empty(call.get("id"))),
            tool=text_or_empty(call.get("name")),
            arguments=json_text(call.get("arguments", "")),
            embedded="arguments" not in call,
            path=(*path, "toolCalls", index, "arguments"),
        )


def _summaries(metadata: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the client's last summary by the id of the last round that it covers, or {}."""
    values: Sequence[Any] = list_or_empty(metadata.get("summaries")) or [metadata.get("summary")]
    summaries = [s for s in map(object_or_empty, values) if text_or_none(s.get("text"))]
    return {text_or_empty(s.get("toolCallRoundId")): s["text"] for s in summaries[-1:]}


def _rendered_text(nodes: object) -> str:
    """Return the text of rendered nodes; those without text are cache breakpoints."""
    texts = (text_or_empty(object_or_empty(node).get("text")) for node in list_or_empty(nodes))
    return "\n".join(text for text in texts if text)


def _item_text(item: Mapping[str, Any]) -> str:
    """Return the text of one item of a tool's result: a string, or a tree of nodes."""
    value = item.get("value")
    if isinstance(value, str):
        return value
    return "".join(_texts(object_or_empty(object_or_empty(value).get("node")))).lstrip("\n")


def _texts(root: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a tree in order; without recursion, as it may be deep."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.get("type") == _TEXT:
            yield ("\n" if node.get("lineBreakBefore") else "") + text_or_empty(node.get("text"))
        children = map(object_or_empty, list_or_empty(node.get("children")))
        stack.extend(reversed(list(children)))
