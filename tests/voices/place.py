"""Places of a transcript in which its format can carry what the user says."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from formats.jsonl import decoded, raw_lines

from compactctl.clients.detection import detect
from compactctl.model.transcript import Transcript

Record = dict[str, Any]
# An instruction is the operator's; only a request starts a turn. What a client writes is no one's.
Kind = Literal["request", "instruction", "answer", "objection", "client"]
Put = Callable[[Any, str], None]
Rows = Mapping[str, Put]

OPENING = "Port the shop to the new API, one module after the other."
NEWEST = "Forget the port. Write the release notes of version 7 into NOTES.md now."
QUESTION: Record = {"questions": [{"question": "Which provider stays?", "header": "Provider"}]}
EDIT: Record = {"file_path": "config/prod.yml", "content": "api: 2\n"}
_OPENS = ("opening", "restart")
_KINDS: Mapping[str, Kind] = {
    "opening": "request",
    "restart": "request",
    "request": "request",
    "instruction": "instruction",
    "answer": "answer",
    "objection": "objection",
    "client": "client",
}
# Steps between one place and the next, and behind the newest request.
_GAP, _TAIL = 3, 12
_LINES = 14


class Talk(ABC):
    """A transcript that is written piece by piece: what is said, and the steps of the agent."""

    shell = "Bash"
    editor = "Write"

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._count = 0

    @abstractmethod
    def say(self, words: str) -> None:
        """Write a request in the plainest way that the format has."""

    @abstractmethod
    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        """Write a tool call and its result."""

    @abstractmethod
    def reply(self, words: str) -> None:
        """Write what the agent says."""

    def lines(self) -> Sequence[Record]:
        """Return the JSON value of each line."""
        return self.records

    def attach(self, path: str, content: str) -> None:  # noqa: ARG002 - most formats keep no files
        """Write a request that names a file, where the client sends the file with it."""
        self.say(f"Look at @{path}.")

    def printed(self, output: str) -> str:
        """Return the result of a command that prints ``output``."""
        return output

    def number(self) -> int:
        """Return a number that no other call of this gives."""
        self._count += 1
        return self._count

    def work(self, steps: int) -> None:
        """Write steps whose results are worth taking out."""
        for _ in range(steps):
            n = self.number()
            listing = "\n".join(
                f"def handler_{n}_{line}(request): return old_api.call_{line}(request, {n * line})"
                for line in range(_LINES)
            )
            self.step(self.shell, {"command": f"sed -n 1,40p src/part_{n}.py"}, listing)

    def ask(self, result: Any, tool: str = "AskUserQuestion") -> None:
        """Write a call by which the agent asks the user, and what came back."""
        self.step(tool, QUESTION, result)

    def refuse(self, result: Any) -> None:
        """Write an edit that the user turned down, and what was told to the agent."""
        self.step(self.editor, EDIT, result, failed=True)


@dataclass(frozen=True)
class Place:
    """A place in a shape of transcripts, and how words are put there into a talk of that shape.

    ``opens`` tells that a session can begin so, ``restarts`` that a summary is all that is sent of
    what came before.
    """

    shape: str
    kind: Kind
    name: str
    put: Put
    opens: bool = False
    restarts: bool = False

    @property
    def starts_turn(self) -> bool:
        """Whether a turn starts there: the text of a command comes with the command, as typed."""
        return self.kind == "request" or self.name == "text of a command"

    def __str__(self) -> str:
        return f"{self.shape}-{self.kind}-{self.name}".replace(" ", "_")


def table(shape: str, **rows: Rows) -> tuple[Place, ...]:
    """Return the places of a shape, by their kinds.

    With an ``opening`` request a session can begin, with a ``restart`` as well: then a summary is
    all that is sent of what came before.
    """
    return tuple(
        Place(shape, _KINDS[name], row, put, opens=name in _OPENS, restarts=name == "restart")
        for name, puts in rows.items()
        for row, put in puts.items()
    )


def lines_of(talk: Talk) -> list[bytes]:
    return raw_lines(*talk.lines())


def read(lines: list[bytes]) -> Transcript:
    parsed = decoded(lines)
    return detect(parsed, "talk").read(parsed)


def words(kind: Kind, number: int) -> str:
    """Return what is said at a place; no two places have a sentence in common."""
    match kind:
        case "request":
            return f"Now comes module {number}. Never write to config/prod_{number}.yml."
        case "instruction":
            return f"Always log the payments of shop {number} in cents."
        case "answer":
            return f"Quay Cash {number} and until June"
        case "objection":
            return f"That file belongs to team {number}. Take staging_{number}.yml instead."
        case "client":
            return f"Build {number} is done."


def words_at(places: Sequence[Place]) -> Iterator[tuple[Place, str]]:
    """Yield the places that a talk can have together, each with what is said there."""
    for number, place in enumerate(places, start=10):
        if not place.restarts:
            yield place, words(place.kind, number)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; some places put each into a block of its own."""
    return text.replace(". ", ".\n").splitlines()


def all_places(talk: Talk, places: Sequence[Place]) -> Talk:
    """Return a talk with words at each of the places, between two plain requests.

    Places that restart the talk are left out.
    """
    talk.say(OPENING)
    talk.work(_GAP)
    for place, said in words_at(places):
        place.put(talk, said)
        talk.work(_GAP)
    talk.say(NEWEST)
    talk.work(_TAIL)
    return talk


def at_both_ends(talk: Talk, place: Place) -> Talk:
    """Return a talk whose newest request is at a place, and its first one where it can be."""
    if place.opens:
        place.put(talk, OPENING)
    else:
        talk.say(OPENING)
    talk.work(_TAIL)
    if place.restarts:
        talk.say(NEWEST)
    else:
        place.put(talk, NEWEST)
    talk.work(_TAIL)
    return talk
