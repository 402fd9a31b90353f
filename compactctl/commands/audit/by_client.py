"""Compactions by a client itself, as far as their originals are in the file."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from compactctl.commands.audit.found import FoundCompaction, text_of
from compactctl.commands.audit.result import AuditVerdict
from compactctl.commands.by_client.moments import (
    Moment,
    moments,
    place_after,
    read_after,
    read_before,
    texts_of,
)
from compactctl.commands.by_client.states import PastState, sent
from compactctl.formats.records.decode import Decoded
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript


def by_client(state: PastState, start: int) -> Iterator[FoundCompaction]:
    """Yield what a client compacted on line ``start`` or later, oldest first.

    What changed nothing is left out. Every compaction has what stands before it read once more.
    """
    messages = state.transcript.messages
    found = moments(state.transcript, start)
    places = [place_after(state.transcript, moment) for moment in found]
    for moment, (place, end) in zip(found, pairwise([*places, len(messages)]), strict=True):
        compaction = _found(state, moment, messages[place:end])
        if compaction.before != compaction.after:
            yield compaction


def _found(state: PastState, moment: Moment, following: Sequence[Message]) -> FoundCompaction:
    tagged = _tagged(state, moment)
    if tagged is not None:
        return tagged
    before, after = read_before(state, moment), read_after(state, moment)
    said = [m for m in following if not (m.aside or m.summary or m.synthetic)]
    answers = (at for at, message in enumerate(said) if message.role == "assistant")
    answer = next(answers, len(said))
    restored = (message for message in said[:answer] if not message.starts_turn)
    return FoundCompaction(
        writer=state.transcript.format,
        line=moment.last,
        before=sent(before),
        after=sent(after),
        restored=tuple(restored),
        later=tuple(said[answer:]),
        source=before.messages,
        aside="\n".join(texts_of(_known_lines(state, moment, said[answer:]))),
        verdict=_verdict(before, after),
    )


def _tagged(state: PastState, moment: Moment) -> FoundCompaction | None:
    """Return a compaction that tagged what it hides, and left it in the file; None for others.

    When it happened is not told: all that is sent beside the summary counts as kept.
    """
    left = sent(state.transcript)
    at_moment = (m for m in left if m.summary and (m.line, m.element) == moment.place)
    summary = next((m for m in at_moment if m.tags.condense_id), None)
    if summary is None:
        return None
    group = summary.tags.condense_id
    messages = state.transcript.messages
    hidden = tuple(m for m in messages if m.tags.condense_parent == group)
    if not hidden:
        return None
    shown = {m.id for m in (*hidden, *left)} - {summary.id}
    return FoundCompaction(
        writer=state.transcript.format,
        line=moment.last,
        before=tuple(m for m in messages if m.id in shown),
        after=left,
        source=hidden,
    )


def _known_lines(state: PastState, moment: Moment, later: Sequence[Message]) -> Sequence[Decoded]:
    """Return the lines that a client may have facts from.

    Those behind a compaction count up to the answer: what a person asked of it is among them.
    """
    if moment.element:
        return state.decoded[: moment.first]
    end = later[0].line if later else len(state.decoded)
    return (*state.decoded[: moment.first], *state.decoded[moment.last + 1 : end])


def _verdict(before: Transcript, after: Transcript) -> AuditVerdict:
    known, left = ({m.id for m in each.effective} for each in (before, after))
    new = tuple(message for message in after.effective if message.id not in known)
    if new and known <= left:
        return "gone"
    return "sealed" if new and not text_of(tuple(m for m in new if m.summary)) else "audited"
