"""The systems that need no other package: simple policies, and compactctl."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, ClassVar

from benchmarks.loop import OPENAI, Chat
from benchmarks.loop_replay import Reader, Setting, StandInModel, System, call_ids, result_ids

_MODELS = {OPENAI: "gpt-4.1"}
_ANTHROPIC_MODEL = "claude-sonnet-4-5"


class Everything(System):
    """Sends the whole history, however large it is."""

    name = "everything"
    is_swept = False

    def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
        del new
        return history


class Newest(System):
    """Drops the oldest messages at the trigger, down to the target.

    What comes before the first answer stays, and so does the newest answer with its results.
    """

    name = "newest messages"

    def __init__(self, setting: Setting, reader: Reader, model: StandInModel) -> None:
        super().__init__(setting, reader, model)
        self._start = 0

    def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
        del new
        request = self._request(history)
        if self.size(request) > self.setting.trigger_tokens:
            self._start = self._find_start(history)
            request = self._request(history)
        return request

    def _request(self, history: list[Chat]) -> list[Chat]:
        first = self._find_first_answer(history)
        return [*history[:first], *history[max(first, self._start) :]]

    def _find_first_answer(self, history: list[Chat]) -> int:
        answers = (n for n, message in enumerate(history) if message["role"] == "assistant")
        return next(answers, len(history))

    def _find_start(self, history: list[Chat]) -> int:
        room = self.setting.target_tokens - self.size(history[: self._find_first_answer(history)])
        start = len(history)
        newest = max((n for n, m in enumerate(history) if any(call_ids(m))), default=start - 1)
        while start > 0 and (room := room - self.size([history[start - 1]])) >= 0:
            start -= 1
        while start < newest and any(result_ids(history[start])):
            start += 1
        return min(start, newest)


class ClearToolUses(System):
    """Clears the oldest tool results at the trigger, down to the target.

    It stands for ``clear_tool_uses_20250919`` of Anthropic's API at its best: what was cleared
    stays so, the newest three results stay, and so many are cleared as the target needs.
    """

    name = "clear_tool_uses"
    _PLACEHOLDER: ClassVar = "[Old tool result cleared to save space]"
    _N_NEWEST: ClassVar = 3
    _MIN_CLEARED: ClassVar = 5_000

    def __init__(self, setting: Setting, reader: Reader, model: StandInModel) -> None:
        super().__init__(setting, reader, model)
        self._cleared: dict[int, Chat] = {}

    def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
        del new
        size = self.size(self._request(history))
        if size > self.setting.trigger_tokens:
            self._clear(history, max(size - self.setting.target_tokens, self._MIN_CLEARED))
        return self._request(history)

    def _request(self, history: list[Chat]) -> list[Chat]:
        return [self._cleared.get(index, message) for index, message in enumerate(history)]

    def _clear(self, history: list[Chat], excess: int) -> None:
        """Clear results until the request is so many tokens smaller."""
        indices = [index for index, message in enumerate(history) if any(result_ids(message))]
        for index in indices[: -self._N_NEWEST]:
            if excess <= 0:
                break
            if index not in self._cleared:
                cleared = self._clear_message(history[index])
                excess -= self.size([history[index]]) - self.size([cleared])
                self._cleared[index] = cleared

    def _clear_message(self, message: Chat) -> Chat:
        if message["role"] == "tool":
            return {**message, "content": self._PLACEHOLDER}
        blocks = (
            {**block, "content": self._PLACEHOLDER} if block["type"] == "tool_result" else block
            for block in message["content"]
        )
        return {**message, "content": list(blocks)}


class _Compactor(System):
    """A class with the interface of ``compactctl.Compactor``, given the whole history each time.

    As in a loop, it is told how large each request was.
    """

    is_swept = False
    make: ClassVar[Any]

    def __init__(self, setting: Setting, reader: Reader, model: StandInModel) -> None:
        super().__init__(setting, reader, model)
        self._compactor = self.make(
            model=_MODELS.get(setting.format, _ANTHROPIC_MODEL),
            window=setting.window,
            trigger=setting.trigger,
            target=setting.target,
            format=setting.format,
        )

    def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
        del new
        return self._send(history)

    def _send(self, messages: list[Chat]) -> list[Chat]:
        return list(self._compactor.fit(messages))

    def after(self, tokens: int) -> None:
        self._compactor.after({"prompt_tokens": tokens})


class _FedBack(_Compactor):
    """The same, given its own last result with what was appended."""

    def __init__(self, setting: Setting, reader: Reader, model: StandInModel) -> None:
        super().__init__(setting, reader, model)
        self._sent: list[Chat] = []

    def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
        del history
        self._sent = self._send([*self._sent, *new])
        return self._sent


def find_compactors(reference: str) -> Iterator[type[System]]:
    """Yield the two systems of a class that ``MODULE:CLASS`` refers to.

    Raises:
        ImportError: there is no such module or class.
    """
    module, _, name = reference.partition(":")
    try:
        make = getattr(import_module(module), name)
    except AttributeError as error:
        raise ImportError(f"{module} has no {name}") from error
    title = name if module == "compactctl" else reference
    for kind, suffix in ((_Compactor, ""), (_FedBack, ", fed back")):
        yield type(kind.__name__, (kind,), {"name": title + suffix, "make": staticmethod(make)})
