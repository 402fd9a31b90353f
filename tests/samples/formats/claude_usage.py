"""Usage numbers of a session as its provider would have reported them."""

from random import Random
from typing import Any

from samples.stamps import claude_tokens

# System prompt and tool definitions, which the transcript does not hold.
OVERHEAD = 15_400
STABLE_PREFIX = 13_932
# What sessions of this client show beside the text of a tool result, of a text that the client
# injects, and of a call within an answer.
RESULT_FRAME, INJECTED_FRAME, CALL_FRAME = 29, 15, 56


class ContextMeter:
    """Follows the size of the context from request to request."""

    def __init__(self, rng: Random, overhead: int = OVERHEAD) -> None:
        self._rng = rng
        self._size = overhead
        self._cached = 0
        self._prefix = STABLE_PREFIX if overhead == OVERHEAD else 0

    def add(self, text: str, extra: int = 0) -> None:
        """Something entered the context; ``extra`` tokens have no text."""
        self._size += claude_tokens(text) + extra

    @property
    def size(self) -> int:
        """The tokens that the next request sends."""
        return self._size

    def shrink(self, size: int) -> None:
        """Something left the context, and the cache with it."""
        self._size = size
        self.expire()

    def expire(self) -> None:
        """More than five minutes passed: only the shared prefix is still cached."""
        self._cached = min(self._cached, self._prefix)

    def request(self, output: int) -> dict[str, Any]:
        """Report one request and take its output into the context."""
        fresh = self._rng.randrange(2, 12)
        written = max(0, self._size - self._cached - fresh)
        usage = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": self._cached,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": output,
            "service_tier": "standard",
        }
        self._cached += written
        self._size += output
        return usage
