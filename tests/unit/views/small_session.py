"""A small session of Claude Code with reported usage: a file read twice, and a cache missed."""

from pathlib import Path
from typing import Any

from file_commands import stats_of_file
from formats.claude_code.sessions import Record, answered, response_line, user
from unit.commands.conversations import FAST

from compactctl.commands.inspect.stats import StatsResult
from compactctl.tokens.models.prices import Price, PriceTable

# In dollars for a million tokens.
PRICE = Price(
    model="claude-opus-4-6", input=5, cache_read=0.5, cache_write=6.25, cache_write_1h=10, output=25
)
PRICES = PriceTable("mine", (PRICE,))
FILE = "x = 1\n" * 1_000


def answer(  # noqa: PLR0913 - an answer has these facts
    minute: int,
    uuid: str,
    block: Record,
    *,
    read: int,
    written: int,
    model: str = "claude-opus-4-6",
) -> Record:
    """Return an answer to the record with the letter before its own, and its reported usage."""
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 50,
    }
    inner = {"model": model, "usage": usage}
    time = f"2026-01-02T03:{minute:02}:05Z"
    return response_line(uuid, chr(ord(uuid) - 1), block, "", inner=inner, timestamp=time)


def read(call: str) -> Record:
    return {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": "/w/a.py"}}


def said(text: str) -> Record:
    return {"type": "text", "text": text}


TALK = [
    user("a", None, "Look into a.py."),
    answer(4, "b", read("c1"), read=0, written=15_000),
    answered("c", "b", "c1", FILE),
    answer(5, "d", read("c2"), read=15_000, written=1_600),
    answered("e", "d", "c2", FILE),
    answer(30, "f", said("It is fine."), read=0, written=18_300),
    user("g", "f", "Run it."),
    answer(31, "h", said("Done."), read=18_300, written=100, model="claude-sonnet-4-6"),
]


def measured(path: Path, **changes: Any) -> StatsResult:
    options: dict[str, Any] = {"measure": FAST} | changes
    return stats_of_file(path, **options)
