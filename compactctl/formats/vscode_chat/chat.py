"""The requests of a chat as messages: what Copilot Chat sends of them again.

Names are those of VS Code's chat model and of what Copilot Chat keeps of a request in its result
(versions of 2025 and 2026).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compactctl.formats.records.json_values import (
    integer_or_none,
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft
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

# @vscode/prompt-tsx: pieces of an element are elements (1) or texts (2).
_ELEMENT, _TEXT = 1, 2
_HIGHEST = 9_007_199_254_740_991


def rendered_text(nodes: object) -> str:
    """Return the text of rendered nodes; others among them mark where a cache may end."""
    texts = (text_or_empty(object_or_empty(node).get("text")) for node in list_or_empty(nodes))
    return "\n".join(text for text in texts if text)


def item_text(item: Mapping[str, Any]) -> str:
    """Return the text of one piece of a tool's result: a string, or a tree of nodes."""
    value = item.get("value")
    if isinstance(value, str):
        return value
    return "".join(_texts(object_or_empty(object_or_empty(value).get("node")))).lstrip("\n")


def new_item_value(current: object, text: str) -> object:
    """Return the value of a piece with another text, in the shape of the current one."""
    if isinstance(current, str):
        return text
    said = {"type": _TEXT, "priority": _HIGHEST, "text": text, "lineBreakBefore": False}
    node = object_or_empty(object_or_empty(current).get("node"))
    return {"node": {**node, "children": [said], "references": []}}


def _texts(root: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a tree in order, however deep it is."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.get("type") == _TEXT:
            yield ("\n" if node.get("lineBreakBefore") else "") + text_or_empty(node.get("text"))
        children = map(object_or_empty, list_or_empty(node.get("children")))
        waiting.extend(reversed(list(children)))


PROMPT_REASON = "it is what was asked, which the editor shows from another place"
SUMMARY_REASON = "a summary of the client"
MULTIPART_REASON = "the result has several pieces"
ROUND_REASON = "the editor keeps its requests and rounds"
# Pieces of ``response`` without a kind are text of the answer; all others are for the screen.
_AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message of a chat, where its record stands, and the record, which may carry tags."""

    draft: MessageDraft
    element: JsonPath
    record: Mapping[str, Any]


def chat_messages(chat: Mapping[str, Any]) -> Iterator[ChatMessage]:
    """Yield the messages of all requests in order, the client's summaries among them."""
    for index, request in enumerate(map(object_or_empty, list_or_empty(chat.get("requests")))):
        # A person went back to before it.
        if not request.get("shouldBeRemovedOnSend"):
            yield from _Request(request, ("requests", index)).messages()


def model_of(chat: Mapping[str, Any]) -> str | None:
    """Return the model of the newest request that tells it; of one chosen for it, its title."""
    requests = map(object_or_empty, reversed(list_or_empty(chat.get("requests"))))
    return next(filter(None, map(_model, requests)), None)


def _model(request: Mapping[str, Any]) -> str | None:
    name = text_or_empty(request.get("modelId")).rpartition("/")[2]
    details = text_or_empty(object_or_empty(request.get("result")).get("details"))
    title = details.partition(" • ")[0]
    return title or None if name in ("", _AUTO) else name


class _Request:
    """One request: what was asked, the rounds of answers and calls, and the results."""

    def __init__(self, request: Mapping[str, Any], path: JsonPath) -> None:
        self.request, self.path = request, path
        self.metadata = object_or_empty(object_or_empty(request.get("result")).get("metadata"))
        self.at: JsonPath = (*path, "result", "metadata")
        self.results = object_or_empty(self.metadata.get("toolCallResults"))
        self.summaries = _summaries(self.metadata)

    def messages(self) -> Iterator[ChatMessage]:
        yield from self._asked()
        rounds = list_or_empty(self.metadata.get("toolCallRounds"))
        newest = len(rounds) - 1
        for index, each in enumerate(map(object_or_empty, rounds)):
            yield from self._round(each, index, is_newest=index == newest)
        if not rounds:
            yield from self._displayed_answer()

    def _asked(self) -> Iterator[ChatMessage]:
        context_text = rendered_text(self.metadata.get("renderedGlobalContext"))
        if context_text:
            element: JsonPath = (*self.at, "renderedGlobalContext", 0)
            yield ChatMessage(
                draft=_prompt_messages(context_text, "", element), element=element, record={}
            )
        rendered = rendered_text(self.metadata.get("renderedUserMessage"))
        message = self.request.get("message")
        text = message if isinstance(message, str) else object_or_empty(message).get("text")
        typed = text_or_empty(text)
        said = rendered or typed
        if said:
            name = text_or_none(self.request.get("requestId"))
            draft = replace(_prompt_messages(said, typed, (*self.path, "message")), record_id=name)
            time = integer_or_none(self.request.get("timestamp"))
            # A member of an array of its own, as the request holds what is edited on its own.
            record = {} if time is None else {"timestamp": time}
            yield ChatMessage(draft=draft, element=self.path, record=record)

    def _round(
        self, each: Mapping[str, Any], index: int, *, is_newest: bool
    ) -> Iterator[ChatMessage]:
        element: JsonPath = (*self.at, "toolCallRounds", index)
        name = text_or_none(each.get("id"))
        parts = tuple(_round_parts(each, element))
        if parts:
            draft = MessageDraft(
                role="assistant",
                parts=parts,
                record_id=name,
                response_id=name,
                model=_model(self.request),
                unmovable_reason=ROUND_REASON,
                usage=self._usage() if is_newest else None,
            )
            yield ChatMessage(draft=draft, element=element, record=each)
        # What an inline compaction keeps of a round is not answered a second time.
        if not read_tags(each).edit_parent:
            for part in parts:
                if isinstance(part, ToolCallPart):
                    yield from self._result(part)
        summary = self.summaries.get(name or "") or text_or_none(each.get("summary"))
        if summary:
            said = TextPart(text=summary, embedded=True, path=element)
            draft = MessageDraft(
                role="user", parts=(said,), is_summary=True, immutable_reason=SUMMARY_REASON
            )
            yield ChatMessage(draft=draft, element=element, record={})

    def _result(self, call: ToolCallPart) -> Iterator[ChatMessage]:
        path: JsonPath = (*self.at, "toolCallResults", call.call_id, "content")
        content = object_or_empty(self.results.get(call.call_id)).get("content")
        items = [
            (index, item)
            for index, item in enumerate(list_or_empty(content))
            if isinstance(item, Mapping)
        ]
        is_whole = sum(not read_tags(item).edit_parent for _, item in items) == 1
        for index, item in items if is_whole else items[:1]:
            each = [item] if is_whole else [other for _, other in items]
            part = ToolResultPart(
                call_id=call.call_id,
                tool=call.tool,
                text="\n".join(map(item_text, each)),
                path=(*path, index, "value"),
            )
            fixed = None if is_whole and "value" in item else MULTIPART_REASON
            draft = MessageDraft(
                role="tool",
                parts=(part,),
                record_id=call.call_id,
                unmovable_reason=ROUND_REASON,
                immutable_reason=fixed,
            )
            yield ChatMessage(draft=draft, element=(*path, index), record=item)

    def _displayed_answer(self) -> Iterator[ChatMessage]:
        """Yield the answer as the screen shows it, where nothing else is kept of it."""
        pieces = map(object_or_empty, list_or_empty(self.request.get("response")))
        said = "".join(text_or_empty(piece.get("value")) for piece in pieces if "kind" not in piece)
        if said:
            part = TextPart(text=said, embedded=True, path=(*self.path, "response"))
            draft = MessageDraft(role="assistant", parts=(part,), immutable_reason=PROMPT_REASON)
            yield ChatMessage(draft=draft, element=(*self.path, "response", 0), record={})

    def _usage(self) -> ReportedUsage | None:
        sent = integer_or_none(self.metadata.get("promptTokens"))
        if sent is None:
            return None
        return ReportedUsage(
            context=sent, output=integer_or_none(self.metadata.get("outputTokens"))
        )


def _prompt_messages(text: str, typed: str, path: JsonPath) -> MessageDraft:
    part = TextPart(text=text, typed=typed, embedded=True, path=path)
    return MessageDraft(role="user", parts=(part,), immutable_reason=PROMPT_REASON)


def _round_parts(each: Mapping[str, Any], path: JsonPath) -> Iterator[Part]:
    thinking = object_or_empty(each.get("thinking"))
    thought = thinking.get("text")
    text = "\n".join(map(json_text, thought)) if isinstance(thought, list) else thought
    sealed = len(text_or_empty(thinking.get("encrypted")))
    if text or sealed:
        at = (*path, "thinking", "text")
        yield ReasoningPart(text=text_or_empty(text), opaque=not text, sealed=sealed, path=at)
    if text_or_empty(each.get("response")):
        yield TextPart(text=each["response"], path=(*path, "response"))
    for index, call in enumerate(map(object_or_empty, list_or_empty(each.get("toolCalls")))):
        yield ToolCallPart(
            call_id=CallId(text_or_empty(call.get("id"))),
            tool=text_or_empty(call.get("name")),
            arguments=json_text(call.get("arguments", "")),
            embedded="arguments" not in call,
            path=(*path, "toolCalls", index, "arguments"),
        )


def _summaries(metadata: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the client's summaries by the round that they reach to; of several the last counts."""
    told: Sequence[Any] = list_or_empty(metadata.get("summaries")) or [metadata.get("summary")]
    found = map(object_or_empty, told)
    last = [each for each in found if text_or_none(each.get("text"))][-1:]
    return {text_or_empty(each.get("toolCallRoundId")): each["text"] for each in last}


def as_immutable(found: ChatMessage) -> ChatMessage:
    """Return a message of a file that the editor itself writes, which is never edited."""
    why = "the editor holds its sessions in memory and writes them itself; export the chat"
    return replace(found, draft=replace(found.draft, immutable_reason=why))
