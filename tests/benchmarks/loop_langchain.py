"""LangChain's ways to fit messages into a window: ``trim_messages`` and SummarizationMiddleware."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import (
    convert_to_messages,
    convert_to_openai_messages,
    get_buffer_string,
    trim_messages,
)

from benchmarks.loop import OPENAI, Chat
from benchmarks.loop_replay import Reader, Setting, StandInModel, System


class _LangChain(System):
    """Converts messages, and returns the originals of those that were not changed."""

    package = "langchain"
    formats: ClassVar = (OPENAI,)

    def __init__(self, setting: Setting, reader: Reader, model: StandInModel) -> None:
        super().__init__(setting, reader, model)
        self._originals: dict[str, Chat] = {}

    def _convert(self, messages: Iterable[Chat]) -> list[Any]:
        converted = []
        for message in messages:
            (result,) = convert_to_messages([message])
            result.id = f"message-{len(self._originals)}"
            self._originals[result.id] = message
            converted.append(result)
        return converted

    def _original(self, message: Any) -> Chat:
        if message.id not in self._originals:
            self._originals[message.id] = convert_to_openai_messages(message)
        return self._originals[message.id]

    def _count(self, messages: Iterable[Any]) -> int:
        return self.size(map(self._original, messages))


class TrimMessages(_LangChain):
    """Trims the whole history for each request, to the target.

    It begins with a message of the user, as the documentation advises for chat models.
    """

    name = "LangChain trim_messages"

    def __init__(self, setting: Setting, reader: Reader, model: StandInModel) -> None:
        super().__init__(setting, reader, model)
        self._messages: list[Any] = []

    def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
        del history
        self._messages += self._convert(new)
        trimmed = trim_messages(
            self._messages,
            max_tokens=self.setting.target_tokens,
            token_counter=self._count,
            strategy="last",
            start_on="human",
            end_on=("human", "tool"),
            include_system=True,
        )
        return [self._original(message) for message in trimmed]


class Summarization(_LangChain):
    """Summarizes at the trigger all but the newest messages, which may have the target.

    As it comes, it has 4,000 tokens of these summarized.
    """

    name = "LangChain SummarizationMiddleware"

    def __init__(self, setting: Setting, reader: Reader, model: StandInModel) -> None:
        super().__init__(setting, reader, model)
        self._system: list[Any] = []
        self._messages: list[Any] = []
        self._middleware = SummarizationMiddleware(
            FakeListChatModel(responses=[]),
            trigger=("tokens", setting.trigger_tokens),
            keep=("tokens", setting.target_tokens),
            token_counter=self._count,
            summarizer=lambda messages: model.summarize(get_buffer_string(messages)),
        )

    def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
        del history
        # The agent adds the system prompt after the middleware.
        for message in self._convert(new):
            (self._system if message.type == "system" else self._messages).append(message)
        update = self._middleware.before_model({"messages": self._messages}, None)
        if update is not None:
            # The first one says that all messages are replaced.
            self._messages = update["messages"][1:]
        return [self._original(message) for message in (*self._system, *self._messages)]


SYSTEMS = (TrimMessages, Summarization)
