"""The messages of a Codex session that the next request would send.

These are the newest compaction's history and what followed it, without turns that were rolled back.
A rollback also undoes compactions within those turns (``reconstruct_history_from_rollout``).
"""

from collections.abc import Iterable, Iterator, Sequence

from compactctl.clients.codex.truncation import TextBudget, cut_text
from compactctl.clients.codex.wrapping import CODEX, TAGGED
from compactctl.history.omissions import omitted
from compactctl.model.message import Message, Part, TextPart
from compactctl.records import Record, replace

# A compaction without a history keeps so many tokens of prompts (compact.rs, 0.171.0).
_PROMPT_TOKENS = 20_000


class _Replaced(Record, kw_only=False):
    """A compaction that records the whole new history."""

    history: Sequence[Message]


class _Condensed(Record, kw_only=False):
    """A compaction that records only a summary."""

    summary: Message


class _RolledBack(Record, kw_only=False):
    turns: int


class _Turn(Record, kw_only=False):
    """What the client notes of a turn: that it begins, or else that the user has typed."""

    begins: bool


_Step = Message | _Replaced | _Condensed | _RolledBack | _Turn


class CodexHistory:
    """Add what happened in file order, then call ``messages`` for what Codex would send.

    Attributes:
        unreplaceable: ids of messages that no synthetic record can replace. It would be a turn to
            the client, which a rollback of more turns than there are would then undo.
        agent_ids: ids of the messages of other agents, which start a turn, too.
    """

    def __init__(self) -> None:
        self.unreplaceable: set[str] = set()
        self.agent_ids: set[str] = set()
        self._steps: list[_Step] = []

    def add(self, message: Message) -> None:
        """Append a message."""
        self._steps.append(message)

    def begin_turn(self) -> None:
        """Note that a turn begins."""
        self._steps.append(_Turn(begins=True))

    def add_prompt(self) -> None:
        """Note that the user has typed something in the current turn."""
        self._steps.append(_Turn(begins=False))

    def replace(self, messages: Sequence[Message]) -> None:
        """Append a compaction that records the whole new history."""
        self._steps.append(_Replaced(messages))

    def condense(self, summary: Message) -> None:
        """Append a compaction that records only a summary."""
        self._steps.append(_Condensed(summary))

    def roll_back(self, turns: int) -> None:
        """Append that the newest ``turns`` turns are dropped, or all if there are fewer."""
        self._steps.append(_RolledBack(turns))

    def messages(self) -> Sequence[Message]:
        """Return the messages that would be sent, in order; set ``unreplaceable``."""
        return self._messages(self._steps)

    def rolled_back(self) -> Iterator[Sequence[Message]]:
        """Yield the messages that each rollback dropped, in order; a compaction's may be copies."""
        for place, step in enumerate(self._steps):
            if isinstance(step, _RolledBack):
                remaining_ids = {m.id for m in self._messages(self._steps[: place + 1])}
                before = self._messages(self._steps[:place])
                yield [message for message in before if message.id not in remaining_ids]

    def _messages(self, steps: Sequence[_Step]) -> list[Message]:
        base = self._base(steps)
        history: list[Message] = []
        for place, step in enumerate(steps[max(0, base) :], max(0, base)):
            match step:
                case Message():
                    history.append(step)
                case _Replaced() if place == base:
                    history = [*step.history]
                case _Condensed():
                    history = _condensed(history, step.summary)
                case _RolledBack():
                    history = self._rolled_back(history, step.turns)
                case _:
                    pass
        return history

    def _base(self, steps: Sequence[_Step]) -> int:
        """Return the place of the newest compaction with a history that counts, -1 for none.

        One that was made within a turn that was rolled back does not. A turn goes from its
        beginning to that of the next one; only those in which the user, or another agent, has said
        something are counted (``finalize_active_segment``).
        """
        is_prompted, base, n_dropped = False, -1, 0
        for place in reversed(range(len(steps))):
            match steps[place]:
                case Message() as message:
                    is_prompted = is_prompted or self._starts_turn(message)
                case _Turn(begins=False):
                    is_prompted = True
                case _Replaced():
                    base = max(base, place)
                case _RolledBack(turns=turns):
                    n_dropped += turns
                case _Turn(begins=True):
                    if n_dropped:
                        n_dropped -= is_prompted
                    elif base >= 0:
                        return base
                    is_prompted, base = False, -1
                case _:
                    pass
        return -1 if n_dropped else base

    def _rolled_back(self, history: list[Message], turns: int) -> list[Message]:
        """Return a history without its newest turns (``drop_last_n_user_turns``).

        What the client had told of its surroundings right before goes too, unless that was before
        the first turn (``trim_pre_turn_context_updates``).
        """
        starts = [place for place, message in enumerate(history) if self._starts_turn(message)]
        end = starts[-min(turns, len(starts))] if starts else len(history)
        while starts and end > starts[0] and self._tells_surroundings(history[end - 1]):
            end -= 1
        if turns > len(starts):
            self.unreplaceable.update(message.id for message in history[:end])
        return history[:end]

    def _starts_turn(self, message: Message) -> bool:
        return _is_prompt(message) or message.id in self.agent_ids

    def _tells_surroundings(self, message: Message) -> bool:
        if self._starts_turn(message) or not message.origin.is_injected:
            return False
        texts = (part.text for part in message.parts if isinstance(part, TextPart))
        return message.role == "user" or any(map(TAGGED.match, texts))


def _is_prompt(message: Message) -> bool:
    """Whether a message is a prompt to the client; a summary and a synthetic record are, too."""
    is_other = message.origin.is_summary or message.origin.is_synthetic
    return message.starts_turn or (message.role == "user" and is_other)


def _condensed(history: Iterable[Message], summary: Message) -> list[Message]:
    """Return the newest prompts, shortened if they are long, and the summary.

    The client tells its surroundings anew.
    """
    prompts = [m for m in history if _is_prompt(m) and not _begins_as_summary(m)]
    return [*reversed(list(_newest_prompts(prompts))), summary]


def _begins_as_summary(message: Message) -> bool:
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    return bool(CODEX.summary and texts and CODEX.summary.match(texts[0]))


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
