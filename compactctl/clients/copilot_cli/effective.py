"""The messages of a Copilot CLI session that the next request is made of."""

from compactctl.clients.copilot_cli.request import INTERRUPTED, RESUMED
from compactctl.history.omissions import with_answers
from compactctl.model.message import CallId, Message, TextPart
from compactctl.records import replace

_KEPT_REASON = "the client kept it verbatim at its own compaction"


class CopilotHistory:
    """Follows the messages and changes of the main conversation, in the order of the file.

    What the client has truncated it sends again (1.0.102), and what its user takes back it removes
    from the file.
    """

    def __init__(self) -> None:
        self._system_prompt: Message | None = None
        self._sent: list[Message] = []
        # By the id of a message: what the client repeats of it when it compacts.
        self._prompts: dict[str, TextPart] = {}
        # How many of the messages a compaction that has begun will replace; None without one.
        self._n_replaced: int | None = None
        # Whether no prompt has come since a clear, and the message to send with that prompt.
        self.is_cleared = False
        self._first: Message | None = None
        # The calls since the newest prompt that have no result yet.
        self._open_calls: set[CallId] = set()

    def add(self, message: Message, prompt: TextPart | None = None) -> None:
        """Add a message; ``prompt`` is what the client repeats of it when it compacts."""
        if message.role == "system":
            self._system_prompt = message
            return
        if prompt is not None:
            self._prompts[message.id] = prompt
        self._sent.append(message)
        self._open_calls |= {call.call_id for call in message.calls}
        self._open_calls -= {result.call_id for result in message.results}

    def begin_turn(self) -> None:
        """Note that a prompt comes, before which the first message since a clear is sent.

        Only to calls from now on the client records a result when it resumes the session.
        """
        if self._first is not None:
            self.add(self._first)
        self._first, self.is_cleared = None, False
        self._open_calls = set()

    def abort(self) -> None:
        """Answer all calls without a result, as the client does; it sends none that come later."""
        calls = {call.call_id for message in self._sent for call in message.calls}
        results = {result.call_id for message in self._sent for result in message.results}
        self._sent = [with_answers(m, calls - results, INTERRUPTED) for m in self._sent]
        self._open_calls = set()

    def begin_compaction(self) -> None:
        """Note the beginning of a compaction, which replaces nothing that is added from now on.

        Nor does it replace the newest answer if that has a call without a result.
        """
        answers = [index for index, message in enumerate(self._sent) if message.calls]
        newest = answers[-1] if answers else len(self._sent)
        results = {part.call_id for message in self._sent[newest:] for part in message.results}
        calls = (call for message in self._sent[newest:][:1] for call in message.calls)
        is_answered = all(call.added or call.call_id in results for call in calls)
        self._n_replaced = len(self._sent) if is_answered else newest

    def condense(self, summary: Message) -> None:
        """Replace the messages by the prompts among them and a summary.

        A prompt that came while the client compacted is sent twice by it, but shown once.
        """
        count = len(self._sent) if self._n_replaced is None else self._n_replaced
        prompts = [
            replace(message, parts=(self._prompts[message.id],))
            for message in self._sent[:count]
            if message.id in self._prompts
        ]
        # Usage reported before the compaction describes a context that no longer exists.
        later = [
            replace(message.as_unmovable(_KEPT_REASON), usage=None)
            for message in self._sent[count:]
        ]
        self._sent = [*prompts, summary, *later]
        self._n_replaced = None

    def clear(self, first: Message | None, prompt: TextPart | None) -> None:
        """Remove all messages; ``first``, if that is given, is sent with the next prompt."""
        self._sent = []
        self._n_replaced = None
        self._open_calls = set()
        self._first, self.is_cleared = first, True
        if first is not None and prompt is not None:
            self._prompts[first.id] = prompt

    def effective(self) -> tuple[Message, ...]:
        """Return the newest system prompt, then the conversation."""
        system_prompts = () if self._system_prompt is None else (self._system_prompt,)
        first = () if self._first is None else (self._first,)
        sent = (with_answers(message, self._open_calls, RESUMED) for message in self._sent)
        return (*system_prompts, *sent, *first)
