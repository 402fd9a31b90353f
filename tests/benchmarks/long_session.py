"""One long coding session of any size, in the format of Claude Code, the same on every run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from samples import outputs, sources, surfaces
from samples.project import entities
from samples.stamps import Clock, Ids, compact, tokens

MODEL = "gpt-5"
START = "2026-03-24T08:00:00+00:00"
# The system prompt and the tool definitions, which the file does not hold.
OVERHEAD = 18_000
STEPS_PER_TURN = 20
Draw = Callable[[Random], str]


def write_session(path: Path, n_bytes: int) -> None:
    """Write about so many bytes: one conversation without a compaction, no text twice."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for record in Session().records():
            written += file.write(compact(record) + "\n")
            if written >= n_bytes:
                return


class Session:
    """Draws the records of one session, each the child of the one before."""

    def __init__(self) -> None:
        self.rng = Random("long session")
        self.ids = Ids("long session")
        self.clock = Clock(START, self.rng)
        self.id = self.ids.uuid()
        self.context = OVERHEAD
        self.parent: str | None = None

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield records without end; after every response usage is reported."""
        while True:
            yield self._said(f"{outputs.history(1, self.rng)}: look into that, please.")
            for _ in range(STEPS_PER_TURN):
                draw = self.rng.choice(DRAWS)
                yield self._asked(draw.__name__)
                yield self._answered(draw(self.rng))

    def _said(self, text: str) -> dict[str, Any]:
        self.context += tokens(text)
        return self._line("user", {"role": "user", "content": text})

    def _asked(self, what: str) -> dict[str, Any]:
        self.call = self.ids.token("toolu_01")
        text = f"Next I look at {outputs.history(1, self.rng)}."
        arguments = {"command": f"{what} --token {self.rng.getrandbits(40):x}", "timeout": 60_000}
        asked = {"type": "tool_use", "id": self.call, "name": "Bash", "input": arguments}
        output = tokens(text) + 60
        usage = {
            "input_tokens": 4,
            "cache_read_input_tokens": self.context,
            "output_tokens": output,
        }
        self.context += output
        message = {
            "id": self.ids.token("msg_01"),
            "role": "assistant",
            "model": MODEL,
            "content": [{"type": "text", "text": text}, asked],
            "usage": usage,
        }
        return self._line("assistant", message)

    def _answered(self, text: str) -> dict[str, Any]:
        self.context += tokens(text[:200]) * len(text) // max(1, len(text[:200]))
        content = [{"type": "tool_result", "tool_use_id": self.call, "content": text}]
        return self._line("user", {"role": "user", "content": content})

    def _line(self, kind: str, message: dict[str, Any]) -> dict[str, Any]:
        parent, self.parent = self.parent, self.ids.uuid()
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "type": kind,
            "message": message,
            "uuid": self.parent,
            "sessionId": self.id,
            "timestamp": self.clock.tick(),
        }


def log(rng: Random) -> str:
    """A piece of a log."""
    return outputs.log(list(entities()), rng.randrange(5, 120), rng)


def rows(rng: Random) -> str:
    """A page of rows as JSON or as a table."""
    draw = rng.choice((outputs.rows_json, outputs.rows_table))
    return draw(rng.choice(list(entities())), rng.randrange(3, 40), rng)


def commits(rng: Random) -> str:
    """A piece of the history."""
    return outputs.history(rng.randrange(5, 80), rng)


def profile(rng: Random) -> str:
    """A profile of the program."""
    return outputs.timings(rng.randrange(5, 40), rng)


def code(rng: Random) -> str:
    """A part of a source file in which some names are new."""
    entity = entities()[rng.choice(list(entities()))]
    draw = rng.choice((sources.model, sources.store, surfaces.service, surfaces.routes))
    lines = draw(entity).splitlines()
    start = rng.randrange(max(1, len(lines) - 40))
    name = f"{rng.choice(outputs.SYLLABLES)}_{rng.choice(outputs.SYLLABLES)}{rng.randrange(999)}"
    shown = "\n".join(f"{n:>6}→{line}" for n, line in enumerate(lines[start:], start + 1))
    return shown.replace(entity.name, name)


DRAWS: tuple[Draw, ...] = (log, rows, commits, profile, code)
