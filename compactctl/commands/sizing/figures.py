"""What a transcript comes to, in the figures that a batch has a row of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compactctl.commands.sizing.context_size import ContextSize
from compactctl.commands.sizing.measure import Measure
from compactctl.commands.sizing.sized_request import largest_of, sized_requests
from compactctl.history.breakdown import breakdown
from compactctl.history.categories import Category
from compactctl.history.conversations import conversations_of
from compactctl.history.pairs import Orphan, orphans
from compactctl.history.turns import steps
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript, Unread


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A transcript's effective history in figures; the categories add up to ``tokens``.

    ``unseen`` are the tokens that every request has beside it, ``largest`` those of the largest
    conversation with them; ``is_doubted`` tells that reported usage is not believed.
    ``lines``, ``n_bytes``, ``opaque_lines`` and ``unread``, the text in fields that the format does
    not know, are of the whole file, unpacked. ``orphans`` are tool calls without a result and the
    other way round, ``tool_errors`` results that say that the call failed. ``tools`` are the tokens
    of calls and results by tool, ``reread`` those of reads of files that were read again later;
    ``project`` is the session's working folder, ``began`` and ``ended`` when its first and last
    messages were written, in seconds since 1970.
    """

    tokens: int
    unseen: int
    is_doubted: bool
    largest: int
    messages: int
    turns: int
    steps: int
    lines: int
    n_bytes: int
    opaque_lines: int
    unread: Unread
    categories: Mapping[Category, int]
    orphans: int
    tool_errors: int
    tools: Mapping[str, int]
    reread: int
    project: str | None
    began: float | None
    ended: float | None
    client_version: str | None


def figures_of(transcript: Transcript, measured: Measure, size: ContextSize) -> Figures:
    """Measure the effective history; ``size`` is what was found of its next request."""
    history, meter = transcript.effective, measured.meter
    conversations = conversations_of(history)
    found = breakdown(history, meter, cwd=transcript.cwd, largest=0)
    times = [message.time for message in transcript.messages if message.time is not None]
    return Figures(
        tokens=sum(found.categories.values()),
        unseen=size.unseen,
        is_doubted=bool(size.doubt),
        largest=largest_of(sized_requests(history, meter, size.unseen)).tokens,
        messages=len(history),
        turns=sum(message.starts_turn for message in history),
        steps=sum(len(steps(conversation)) for conversation in conversations),
        lines=transcript.n_lines,
        n_bytes=transcript.n_bytes,
        opaque_lines=len({opaque.line for opaque in transcript.opaque}),
        unread=transcript.unread,
        categories=found.categories,
        orphans=sum(len(_orphans(conversation)) for conversation in conversations),
        tool_errors=sum(result.is_error for message in history for result in message.results),
        tools={use.tool: use.call_tokens + use.result_tokens for use in found.tools},
        reread=sum(file.tokens for file in found.rereads),
        project=transcript.cwd,
        began=min(times, default=None),
        ended=max(times, default=None),
        client_version=transcript.client_version,
    )


def _orphans(conversation: Sequence[Message]) -> list[Orphan]:
    """Return the orphans, but for calls in logged answers: their results are in other requests."""
    asking = {message.id for message in conversation if message.logged_answer}
    found = orphans(conversation)
    return [each for each in found if each.kind == "result" or each.message not in asking]
