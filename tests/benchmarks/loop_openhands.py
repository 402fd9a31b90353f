"""The condenser of OpenHands' SDK."""

import os
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

# Read when the package is imported: no banner, and no price list from the network.
os.environ |= {"OPENHANDS_SUPPRESS_BANNER": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}

from openhands.sdk.context.condenser import LLMSummarizingCondenser
from openhands.sdk.context.view import View
from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent, SystemPromptEvent
from openhands.sdk.event.condenser import Condensation
from openhands.sdk.llm import LLM, Message, MessageToolCall, TextContent
from openhands.sdk.tool import Observation
from pydantic import PrivateAttr

from benchmarks.loop import OPENAI, Chat
from benchmarks.loop_replay import Reader, Setting, StandInModel, System

_NO_LIMIT = 1_000_000


class _Output(Observation):  # type: ignore[misc]
    """The output of a tool, as text."""


class _Llm(LLM):  # type: ignore[misc]
    """A model of the SDK that counts in our unit, and whose summaries are of the stand-in."""

    _reader: Reader = PrivateAttr()
    _model: StandInModel = PrivateAttr()

    @classmethod
    def of(cls, reader: Reader, model: StandInModel) -> "_Llm":
        llm = cls(model="gpt-4.1", api_key="none", max_input_tokens=_NO_LIMIT)
        llm._reader, llm._model = reader, model
        return llm

    def get_token_count(self, messages: Sequence[Any], *_: Any, **__: Any) -> int:
        return self._reader.size(map(_to_chat, messages))

    def generate(self, messages: Sequence[Any], *_: Any, **__: Any) -> Any:
        text = "\n".join(part.text for message in messages for part in message.content)
        summary = TextContent(text=self._model.summarize(text))
        return SimpleNamespace(message=SimpleNamespace(content=[summary]), id="summary")


def _to_chat(message: Any) -> Chat:
    calls = ({"name": c.name, "arguments": c.arguments} for c in message.tool_calls or ())
    return {
        "role": message.role,
        "content": [{"type": "text", "text": part.text} for part in message.content],
        "tool_calls": [{"function": call} for call in calls],
    }


class Condenser(System):
    """Summarizes events so that half of its maximum stays.

    The maximum is such that its middle is that of trigger and target: 80% for 80 and 40%.
    """

    name = "OpenHands LLMSummarizingCondenser"
    package = "openhands-sdk"
    formats: ClassVar = (OPENAI,)

    def __init__(self, setting: Setting, reader: Reader, model: StandInModel) -> None:
        super().__init__(setting, reader, model)
        self._llm = _Llm.of(reader, model)
        self._condenser = LLMSummarizingCondenser(
            llm=self._llm,
            max_size=_NO_LIMIT,
            max_tokens=(setting.trigger_tokens + setting.target_tokens) * 2 // 3,
        )
        self._events: list[Any] = []
        self._originals: dict[str, Chat] = {}
        self._actions: dict[str, Any] = {}

    def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
        del history
        for message in new:
            for event in self._convert(message):
                self._events.append(event)
                self._originals[event.id] = message
        view = self._condenser.condense(View.from_events(self._events), agent_llm=self._llm)
        if isinstance(view, Condensation):
            self._events.append(view)
            view = View.from_events(self._events)
        return list(self._request(view.events))

    def _request(self, events: Iterable[Any]) -> Iterator[Chat]:
        """Yield the messages of events; those of an answer with several calls are one."""
        last: Chat | None = None
        for event in events:
            if event.id not in self._originals:
                self._originals[event.id] = {"role": "user", "content": event.summary}
            message = self._originals[event.id]
            if message is not last:
                yield message
            last = message

    def _convert(self, message: Chat) -> Iterator[Any]:
        match message:
            case {"role": "system"}:
                prompt = TextContent(text=_text(message))
                yield SystemPromptEvent(source="agent", system_prompt=prompt, tools=[])
            case {"role": "assistant", "tool_calls": calls}:
                yield from self._convert_calls(message, calls)
            case {"role": "tool", "tool_call_id": id_, "content": text}:
                yield ObservationEvent(
                    source="environment",
                    observation=_Output.from_text(text),
                    action_id=self._actions[id_].id,
                    tool_name=self._actions[id_].tool_name,
                    tool_call_id=id_,
                )
            case _:
                role = message["role"]
                content = [TextContent(text=_text(message))]
                source = "user" if role == "user" else "agent"
                yield MessageEvent(source=source, llm_message=Message(role=role, content=content))

    def _convert_calls(self, message: Chat, calls: Sequence[Chat]) -> Iterator[Any]:
        for number, call in enumerate(calls):
            function = call["function"]
            action = ActionEvent(
                thought=[TextContent(text=_text(message))] if number == 0 else [],
                tool_name=function["name"],
                tool_call_id=call["id"],
                tool_call=MessageToolCall(id=call["id"], origin="completion", **function),
                # The SDK joins the calls of a response.
                llm_response_id=calls[0]["id"],
            )
            self._actions[call["id"]] = action
            yield action


def _text(message: Chat) -> str:
    content = message["content"]
    if isinstance(content, list):
        return "\n\n".join(block["text"] for block in content)
    return content or ""


SYSTEMS = (Condenser,)
