"""Transcripts whose usage is not what the provider reported, in whatever format they are."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# Which number of a usage holds what was sent, beside which number of the answer.
_SENT = {
    "input_tokens": "output_tokens",
    "prompt_tokens": "completion_tokens",
    "inputTokens": "outputTokens",
    "promptTokens": "outputTokens",
    "promptTokenCount": "candidatesTokenCount",
    "input": "output",
    "prompt": "completion",
}
# What was sent beside it, from a cache or into one.
_CACHED = (
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cacheRead",
    "cacheWrite",
    "cacheReads",
    "cacheWrites",
)
_TOTALS = ("total", "totalTokens", "total_tokens", "totalTokenCount")


@dataclass(frozen=True, slots=True)
class Reported:
    """What was reported of one request: all that was sent, the answer, and the requests before."""

    sent: int
    answer: int
    before: tuple[int, ...]


Lie = Callable[[Reported], object]

LIES: Mapping[str, Lie] = {
    "three": lambda _: 3,
    "a hundredth": lambda told: told.sent // 100,
    "a third": lambda told: told.sent // 3,
    "the answer": lambda told: told.answer,
    "what is new": lambda told: max(3, told.sent - (told.before[-1] if told.before else 0)),
    "zero": lambda _: 0,
    "negative": lambda told: -told.sent,
    "text": lambda told: f"{told.sent} tokens",
    "ten times": lambda told: 10 * told.sent,
    "sums": lambda told: sum(told.before) + told.sent,
}


def with_usage(data: bytes, lie: Lie, *, in_sums: bool = False) -> bytes:
    """Return a transcript with each report replaced by what ``lie`` makes of it.

    ``in_sums`` replaces sums over the session as well, which tell reports apart.
    """
    liar = _Liar(lie, in_sums=in_sums)
    try:
        return json.dumps(liar.changed(json.loads(data))).encode()
    except ValueError:
        return b"\n".join(map(liar.line, data.split(b"\n")))


class _Liar:
    """Replaces reports in the order of the file; the same one again is one."""

    def __init__(self, lie: Lie, *, in_sums: bool = False) -> None:
        self._lie = lie
        self._in_sums = in_sums
        self._sent: list[int] = []

    def line(self, line: bytes) -> bytes:
        try:
            record = json.loads(line)
        except ValueError:
            return line
        return json.dumps(self.changed(record)).encode()

    def changed(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.changed(item) for item in value]
        if not isinstance(value, dict):
            return value
        names = [
            name
            for name, answer in _SENT.items()
            if isinstance(value.get(name), int) and isinstance(value.get(answer), int)
        ]
        if not names:
            return {name: self._member(name, item) for name, item in value.items()}
        return self._usage(value, names[0])

    def _member(self, name: str, item: Any) -> Any:
        if name != "total_token_usage" or not isinstance(item, dict):
            return self.changed(item)
        if not self._in_sums:
            return item
        sent = item["input_tokens"]
        return dict.fromkeys(item, self._lie(Reported(sent, item["output_tokens"], ())))

    def _usage(self, usage: dict[str, Any], name: str) -> dict[str, Any]:
        caches = usage["cache"] if isinstance(usage.get("cache"), dict) else {}
        # Cline's is not part of the prompt, unlike that of Gemini CLI.
        cached = (*_CACHED, "cached") if name == "prompt" else _CACHED
        beside = {key: usage[key] for key in cached if isinstance(usage.get(key), int)}
        sent = sum([usage[name], *beside.values(), *caches.values()])
        if sent and (not self._sent or sent != self._sent[-1]):
            self._sent.append(sent)
        told = self._lie(Reported(sent, usage[_SENT[name]], tuple(self._sent[:-1])))
        zeros = dict.fromkeys(beside, 0) | ({"cache": dict.fromkeys(caches, 0)} if caches else {})
        kept = {key: item for key, item in usage.items() if key not in _TOTALS}
        kept.pop("iterations", None)
        return {**kept, **zeros, name: told if sent else 0}
