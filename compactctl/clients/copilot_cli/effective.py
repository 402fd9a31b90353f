"""The messages of a Copilot CLI session that the next request is made of."""

from compactctl.clients.copilot_cli.request import RESUMED, answer_calls
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

    def interrupt(self) -> None:
        """Note that the client is done with all calls so far: a prompt came, or the user aborted.

        Only to later ones it records a result when it resumes the session.
        """
        self._open_calls = set()

    def begin_compaction(self) -> None:
        """Note the beginning of a compaction, which replaces nothing that is added from now on.

        Nor does it replace the newest answer if that has a call without a result.
        """
        answers = [index for index, message in enumerate(self._sent) if message.calls]
        newest = answers[-1] if answers else len(self._sent)
        results = {part.call_id for message in self._sent[newest:] for part in message.results}
        calls = {call.call_id for message in self._sent[newest:][:1] for call in message.calls}
        self._n_replaced = len(self._sent) if calls <= results else newest

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
        """Remove all messages; the context then begins with ``first``, if that is given."""
        self._sent = []
        self._n_replaced = None
        self.interrupt()
        if first is not None:
            self.add(first, prompt)

    def effective(self) -> tuple[Message, ...]:
        """Return the newest system prompt, then the conversation."""
        system_prompts = () if self._system_prompt is None else (self._system_prompt,)
        return (*system_prompts, *answer_calls(self._sent, self._open_calls, RESUMED))
