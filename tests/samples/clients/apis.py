"""Conversations as the APIs of providers take them: messages one by one, documents and logs."""

import json
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from samples.clients.recorder import CLAUDE, GPT, Call, Model, Record, Recorder, Usage
from samples.errands import errands
from samples.picture import png_base64
from samples.stamps import compact, jsonl, opaque
from samples.story import Step

_SYSTEM = "You look after the harbour's software. Never touch migrations/. Be brief."
_NAMES = ("read", "edit", "grep", "bash")


class Conversation(Recorder):
    """Messages of one API, and the exchanges in which they were sent."""

    def __init__(self, name: str, model: Model = GPT) -> None:
        super().__init__(name, overhead=700, model=model)
        self.exchanges: list[Record] = []
        self.entered(_SYSTEM)

    @abstractmethod
    def answer(self, step: Step, calls: Sequence[Call]) -> list[Record]:
        """Return the messages of a response."""

    @abstractmethod
    def results(self, calls: Sequence[Call]) -> list[Record]:
        """Return the messages that answer calls."""

    @abstractmethod
    def exchange(self, answer: list[Record], usage: Usage) -> Record:
        """Return the row of a log: the request with all messages so far, and the response."""

    def respond(self, step: Step) -> None:
        calls = self.calls(step)
        usage = self.request(step, calls)
        answer = self.answer(step, calls)
        self.exchanges.append(self.exchange(answer, usage))
        self.records += answer
        if calls:
            self.records += self.results(calls)
        self.answered(calls)


class OpenAI(Conversation):
    """Chat messages of OpenAI."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.records.append({"role": "system", "content": _SYSTEM})

    def prompt(self, words: str, *, picture: bool = False) -> None:
        url = {"url": f"data:image/png;base64,{png_base64()}"}
        parts = [{"type": "text", "text": words}, {"type": "image_url", "image_url": url}]
        self.records.append({"role": "user", "content": parts if picture else words})
        self.entered(words, pictures=int(picture))

    def answer(self, step: Step, calls: Sequence[Call]) -> list[Record]:
        made = [{"id": call.id, "type": "function", "function":
                 {"name": call.tool, "arguments": json.dumps(call.arguments)}}
                for call in calls]  # fmt: skip
        thought = {"reasoning_content": step.thinking} if step.thinking else {}
        called = {"tool_calls": made} if made else {}
        return [{"role": "assistant", "content": step.text or None, **thought, **called}]

    def results(self, calls: Sequence[Call]) -> list[Record]:
        return [{"role": "tool", "tool_call_id": call.id, "content": call.result}
                for call in calls]  # fmt: skip

    def exchange(self, answer: list[Record], usage: Usage) -> Record:
        counts = {"prompt_tokens": usage.sent, "completion_tokens": usage.output,
                  "total_tokens": usage.sent + usage.output,
                  "prompt_tokens_details": {"cached_tokens": usage.cached}}  # fmt: skip
        choice = {"index": 0, "finish_reason": "stop", "message": answer[0]}
        return {"request": {"model": GPT.name, "messages": [*self.records], "tools": TOOLS},
                "response": {"id": self.ids.token("chatcmpl-"), "object": "chat.completion",
                             "model": GPT.name, "choices": [choice], "usage": counts}}  # fmt: skip


TOOLS = [{"type": "function", "function": {"name": name, "description": f"Run {name}.",
          "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}
         for name in _NAMES]  # fmt: skip


class Anthropic(Conversation):
    """Messages of Anthropic."""

    call_prefix = "toolu_01"

    def __init__(self, name: str) -> None:
        super().__init__(name, CLAUDE)

    def prompt(self, words: str, *, picture: bool = False) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": png_base64()}
        image = [{"type": "image", "source": source}] if picture else []
        self.records.append({"role": "user", "content": [*image, {"type": "text", "text": words}]})
        self.entered(words, pictures=int(picture))

    def answer(self, step: Step, calls: Sequence[Call]) -> list[Record]:
        blocks: list[Record] = []
        if step.thinking is not None:
            signature = opaque(self.rng, 120)
            blocks.append({"type": "thinking", "thinking": step.thinking, "signature": signature})
        blocks += [{"type": "text", "text": step.text}] if step.text else []
        blocks += [{"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}
                   for call in calls]  # fmt: skip
        return [{"role": "assistant", "content": blocks}]

    def results(self, calls: Sequence[Call]) -> list[Record]:
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": call.result,
                   **({"is_error": True} if call.failed else {})} for call in calls]  # fmt: skip
        return [{"role": "user", "content": blocks}]

    def exchange(self, answer: list[Record], usage: Usage) -> Record:
        counts = {"input_tokens": usage.fresh, "output_tokens": usage.output,
                  "cache_read_input_tokens": usage.cached,
                  "cache_creation_input_tokens": 0}  # fmt: skip
        made = {"id": self.ids.token("msg_01"), "type": "message", "model": CLAUDE.name}
        return {"request": self.body(), "response": {**made, **answer[0], "usage": counts}}

    def body(self) -> Record:
        """Return a request with all messages so far."""
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in _NAMES]
        return {"model": CLAUDE.name, "max_tokens": 8_000, "system": _SYSTEM, "tools": tools,
                "messages": [*self.records]}  # fmt: skip


class Bedrock(Conversation):
    """Messages of Bedrock Converse."""

    call_prefix = "tooluse_"

    def __init__(self, name: str) -> None:
        super().__init__(name, CLAUDE)

    def prompt(self, words: str, *, picture: bool = False) -> None:
        image = [{"image": {"format": "png", "source": {"bytes": png_base64()}}}]
        content = [{"text": words}, *(image if picture else [])]
        self.records.append({"role": "user", "content": content})
        self.entered(words, pictures=int(picture))

    def answer(self, step: Step, calls: Sequence[Call]) -> list[Record]:
        thought = {"text": step.thinking or "", "signature": opaque(self.rng, 90)}
        blocks: list[Record] = (
            [{"reasoningContent": {"reasoningText": thought}}] if step.thinking else []
        )
        blocks += [{"text": step.text}] if step.text else []
        blocks += [{"toolUse": {"toolUseId": call.id, "name": call.tool, "input": call.arguments}}
                   for call in calls]  # fmt: skip
        return [{"role": "assistant", "content": blocks}]

    def results(self, calls: Sequence[Call]) -> list[Record]:
        blocks = [{"toolResult": {"toolUseId": call.id, "content": [{"text": call.result}],
                                  "status": "error" if call.failed else "success"}}
                  for call in calls]  # fmt: skip
        return [{"role": "user", "content": blocks}]

    def exchange(self, answer: list[Record], usage: Usage) -> Record:
        counts = {"inputTokens": usage.fresh, "outputTokens": usage.output,
                  "cacheReadInputTokens": usage.cached, "cacheWriteInputTokens": 0,
                  "totalTokens": usage.sent + usage.output}  # fmt: skip
        body = {"modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
                "system": [{"text": _SYSTEM}], "messages": [*self.records]}  # fmt: skip
        made = {"output": {"message": answer[0]}, "stopReason": "end_turn", "usage": counts}
        return {"request": body, "response": made}


class Gemini(Conversation):
    """Contents of the Gemini API, whose calls have no ids."""

    def prompt(self, words: str, *, picture: bool = False) -> None:
        inline = [{"inlineData": {"mimeType": "image/png", "data": png_base64()}}]
        parts = [{"text": words}, *(inline if picture else [])]
        self.records.append({"role": "user", "parts": parts})
        self.entered(words, pictures=int(picture))

    def answer(self, step: Step, calls: Sequence[Call]) -> list[Record]:
        parts: list[Record] = [{"text": step.thinking, "thought": True}] if step.thinking else []
        parts += [{"text": step.text}] if step.text else []
        parts += [{"functionCall": {"name": call.tool, "args": call.arguments},
                   "thoughtSignature": opaque(self.rng, 60)} for call in calls]  # fmt: skip
        return [{"role": "model", "parts": parts}]

    def results(self, calls: Sequence[Call]) -> list[Record]:
        parts = [{"functionResponse": {"name": call.tool, "response":
                  {"error" if call.failed else "output": call.result}}}
                 for call in calls]  # fmt: skip
        return [{"role": "user", "parts": parts}]

    def exchange(self, answer: list[Record], usage: Usage) -> Record:
        counts = {"promptTokenCount": usage.sent, "candidatesTokenCount": usage.output,
                  "cachedContentTokenCount": usage.cached,
                  "totalTokenCount": usage.sent + usage.output}  # fmt: skip
        body = {"systemInstruction": {"parts": [{"text": _SYSTEM}]}, "contents": [*self.records]}
        candidate = {"content": answer[0], "finishReason": "STOP", "index": 0}
        made = {"candidates": [candidate], "usageMetadata": counts,
                "modelVersion": "gemini-2.5-pro"}  # fmt: skip
        return {"request": body, "response": made}


class Responses(Conversation):
    """Items of OpenAI's Responses API."""

    def prompt(self, words: str, *, picture: bool = False) -> None:
        url = f"data:image/png;base64,{png_base64()}"
        content: list[Record] = [{"type": "input_text", "text": words}]
        content += [{"type": "input_image", "image_url": url}] if picture else []
        self.records.append({"type": "message", "role": "user", "content": content})
        self.entered(words, pictures=int(picture))

    def answer(self, step: Step, calls: Sequence[Call]) -> list[Record]:
        items: list[Record] = []
        if step.thinking is not None:
            summary = [{"type": "summary_text", "text": step.thinking}] if step.thinking else []
            items.append({"type": "reasoning", "id": self.ids.token("rs_"), "summary": summary,
                          "encrypted_content": opaque(self.rng, 200)})  # fmt: skip
        if step.text:
            content = [{"type": "output_text", "text": step.text, "annotations": []}]
            items.append({"type": "message", "role": "assistant", "content": content,
                          "id": self.ids.token("msg_"), "status": "completed"})  # fmt: skip
        return items + [{"type": "function_call", "id": self.ids.token("fc_"), "call_id": call.id,
                         "name": call.tool, "arguments": json.dumps(call.arguments),
                         "status": "completed"} for call in calls]  # fmt: skip

    def results(self, calls: Sequence[Call]) -> list[Record]:
        return [{"type": "function_call_output", "call_id": call.id, "output": call.result}
                for call in calls]  # fmt: skip

    def exchange(self, answer: list[Record], usage: Usage) -> Record:
        counts = {"input_tokens": usage.sent, "output_tokens": usage.output,
                  "input_tokens_details": {"cached_tokens": usage.cached},
                  "output_tokens_details": {"reasoning_tokens": 0},
                  "total_tokens": usage.sent + usage.output}  # fmt: skip
        body = {"model": "gpt-5.1", "instructions": _SYSTEM, "input": [*self.records]}
        made = {"id": self.ids.token("resp_"), "object": "response", "model": "gpt-5.1",
                "output": answer, "usage": counts}  # fmt: skip
        return {**body, "response": made}


class UIMessages(Conversation):
    """UI messages of the AI SDK: all that answers a prompt is one message."""

    def prompt(self, words: str, *, picture: bool = False) -> None:
        url = f"data:image/png;base64,{png_base64()}"
        parts: list[Record] = [{"type": "text", "text": words}]
        parts += [{"type": "file", "mediaType": "image/png", "url": url}] if picture else []
        self.records.append({"id": self.ids.token("msg-"), "role": "user", "parts": parts})
        self.records.append({"id": self.ids.token("msg-"), "role": "assistant", "parts": []})

    def answer(self, step: Step, calls: Sequence[Call]) -> list[Record]:
        parts = self.records[-1]["parts"]
        parts.append({"type": "step-start"})
        if step.thinking:
            parts.append({"type": "reasoning", "text": step.thinking, "state": "done"})
        if step.text:
            parts.append({"type": "text", "text": step.text, "state": "done"})
        parts += map(_ui_call, calls)
        return []

    def results(self, calls: Sequence[Call]) -> list[Record]:  # noqa: ARG002 - they are in the calls
        return []

    def exchange(self, answer: list[Record], usage: Usage) -> Record:  # noqa: ARG002 - apps keep none
        return {}


def _ui_call(call: Call) -> Record:
    ended = ({"state": "output-error", "errorText": call.result} if call.failed
             else {"state": "output-available", "output": call.result})  # fmt: skip
    return {"type": f"tool-{call.tool}", "toolCallId": call.id, "input": call.arguments, **ended}


def _played(made: Conversation, count: int) -> Conversation:
    made.play(errands(f"{type(made).__name__} {count}", count))
    return made


def chat_lines() -> bytes:
    """Chat messages one by one, with Windows' ends of lines."""
    records = _played(OpenAI("openai-chat lines"), 5).records
    return "".join(f"{compact(record)}\r\n" for record in records).encode()


def chat_document() -> bytes:
    """A document with messages, tools and facts of its own, printed over several lines."""
    made = _played(OpenAI("openai-chat document"), 3)
    document = {"format": "chat", "meta": {"run": 7}, "messages": made.records, "tools": TOOLS}
    return json.dumps(document, indent=1).encode()


def messages_document() -> bytes:
    """A request to the Messages API."""
    made = Anthropic("anthropic-messages document")
    _played(made, 6)
    return compact(made.body()).encode()


def ui_chat() -> bytes:
    """A chat as an app stores it."""
    records = _played(UIMessages("ai-sdk chat"), 6).records
    return json.dumps({"id": "chat-1", "messages": records}).encode()


def items() -> bytes:
    """Items one by one."""
    return jsonl(_played(Responses("openai-responses items"), 5).records)


def _log(kind: type[Conversation]) -> Callable[[], bytes]:
    """Return how a log is written of some of the requests to an API, with their responses."""
    return lambda: jsonl(_played(kind(f"log of {kind.__name__}"), 2).exchanges[::3])


def mixed_log() -> bytes:
    """A log with requests to several APIs."""
    rows: list[Any] = []
    for kind in (OpenAI, Anthropic, Responses):
        rows += _played(kind(f"mixed {kind.__name__}"), 1).exchanges[1::2]
    return jsonl(rows)


SESSIONS = {
    "openai-chat/lines.jsonl": chat_lines,
    "openai-chat/document.json": chat_document,
    "openai-chat/log.jsonl": _log(OpenAI),
    "anthropic-messages/document.json": messages_document,
    "anthropic-messages/log.jsonl": _log(Anthropic),
    "bedrock-converse/log.jsonl": _log(Bedrock),
    "gemini-api/log.jsonl": _log(Gemini),
    "openai-responses/items.jsonl": items,
    "openai-responses/log.jsonl": _log(Responses),
    "ai-sdk/chat.json": ui_chat,
    "api-log/mixed.jsonl": mixed_log,
}
