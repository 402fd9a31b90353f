"""The messages of a Codex session that the next request would send.

These are the newest compaction's history and what followed it, without turns that were rolled back.
A rollback also undoes compactions within those turns.
"""

from collections.abc import Iterable, Iterator

from compactctl.clients.codex.truncation import TextBudget, cut_text
from compactctl.clients.codex.wrapping import TAGGED
from compactctl.history.omissions import omitted
from compactctl.model.message import Message, Part, TextPart
from compactctl.records import Record, replace

# A compaction without a history keeps so many tokens of prompts (compact.rs, 0.171.0).
_PROMPT_TOKENS = 20_000


class _CodexNode(Record, kw_only=False):
    """A message in a linked list; lists share their beginnings, so older histories cost nothing."""

    message: Message
    previous: "_CodexNode | None"
    starts_turn: bool


class CodexHistory:
    """Replay messages, compactions and rollbacks in file order to find what Codex would send.

    Attributes:
        unreplaceable: ids of messages that no synthetic record can replace. It would be a turn to
            the client, which a rollback of more turns than there are would then undo.
        agent_ids: ids of the messages of other agents, which start a turn, too.
    """

    def __init__(self) -> None:
        self.unreplaceable: set[str] = set()
        self.agent_ids: set[str] = set()
        self._head: _CodexNode | None = None
        # The end of the history before each turn, for rollbacks.
        self._turns: list[_CodexNode | None] = []

    def add(self, message: Message) -> None:
        """Append a message."""
        if self._starts_turn(message):
            self._turns.append(self._head)
        self._head = _CodexNode(message, self._head, self._starts_turn(message))

    def replace(self, messages: Iterable[Message]) -> None:
        """Apply a compaction that records the whole new history."""
        self._head = None
        for message in messages:
            self._head = _CodexNode(message, self._head, self._starts_turn(message))

    def condense(self, summary: Message) -> None:
        """Apply a compaction that records only a summary.

        The client then sends the newest prompts, shortened if they are long, and the summary. To
        it, a synthetic record is a prompt too. It tells its surroundings anew.
        """
        prompts = [m for m in self.messages() if m.starts_turn or m.origin.is_synthetic]
        self.replace([*reversed(list(_newest_prompts(prompts))), summary])

    def roll_back(self, turns: int) -> None:
        """Drop the newest ``turns`` turns, or all if there are fewer.

        What the client had told of its surroundings right before goes too, unless that was before
        the first turn (``trim_pre_turn_context_updates``, 0.171.0).
        """
        for _ in range(turns):
            if self._turns:
                self._head = self._turns.pop()
                continue
            start = _newest_turn(self._head)
            if start is None:
                self.unreplaceable.update(message.id for message in self.messages())
                return
            self._head = start.previous
        while self._head and _tells_surroundings(self._head) and _newest_turn(self._head):
            self._head = self._head.previous

    def _starts_turn(self, message: Message) -> bool:
        return message.starts_turn or message.id in self.agent_ids

    def messages(self) -> list[Message]:
        """Return the messages that would be sent, in order."""
        newest_first: list[Message] = []
        node = self._head
        while node is not None:
            newest_first.append(node.message)
            node = node.previous
        return newest_first[::-1]


def _newest_prompts(prompts: list[Message]) -> Iterator[Message]:
    """Yield the texts of the newest prompts, the newest first; the last one is cut."""
    remaining = _PROMPT_TOKENS
    for prompt in reversed(prompts):
        budget = TextBudget(limit=remaining)
        text = "".join(part.text for part in prompt.parts if isinstance(part, TextPart))
        parts = tuple(_shortened(prompt.parts, text, budget))
        yield prompt if parts == prompt.parts else replace(prompt, parts=parts)
        remaining -= budget.cost(text)
        if remaining <= 0:
            return


def _shortened(parts: Iterable[Part], text: str, budget: TextBudget) -> Iterator[Part]:
    """Yield the parts of a prompt; what is cut of its text may begin and end in any of them."""
    head, mark, tail = cut_text(text, budget)
    start, end = len(head), len(text) - len(tail)
    place = 0
    for part in parts:
        if not isinstance(part, TextPart):
            yield omitted(part, "image", "of a prompt before a compaction")
            continue
        following = place + len(part.text)
        here = mark if place <= start < following else ""
        rest = f"{part.text[: max(0, start - place)]}{here}{part.text[max(0, end - place) :]}"
        place = following
        if rest == part.text:
            yield part
        elif rest:
            yield replace(part, text=rest, typed=None)
        else:
            yield omitted(part, "text", "over the limit of a compaction")


def _tells_surroundings(node: _CodexNode) -> bool:
    message = node.message
    if node.starts_turn or message.origin.is_synthetic or not message.origin.is_injected:
        return False
    texts = (part.text for part in message.parts if isinstance(part, TextPart))
    return message.role == "user" or any(map(TAGGED.match, texts))


def _newest_turn(node: _CodexNode | None) -> _CodexNode | None:
    while node is not None and not node.starts_turn:
        node = node.previous
    return node
