"""What is written between messages that an API refuses right behind one another."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import Hide, Insert, Proposal, groups_of
from compactctl.model.message import FINAL_KEY, MessageId, Role, Synthetic
from compactctl.pipeline.apply import apply

TEXT = "[Earlier messages were left out here.]"
"""What is said there, in the name of whoever has to say something."""


def with_gaps_filled(view: ConversationView, proposal: Proposal) -> Proposal:
    """Return a proposal after which no two messages meet that the view's API would refuse.

    Those that met before stay as they are: they have been sent.
    """
    if view.between is None or not any(isinstance(each, Hide | Insert) for each in proposal.edits):
        return proposal
    group = groups_of(proposal.edits)[0]
    # A plan by hand may have some already.
    taken = sum(isinstance(each, Insert) for each in proposal.edits)
    inserts = tuple(
        Insert(
            before=before,
            message=Synthetic(
                id=MessageId(f"between-{group}-{number}"),
                kind="marker",
                role=role,
                text=TEXT,
                group=group,
                # It stands for nothing: the group's summary or marker does.
                details={FINAL_KEY: 1},
            ),
        )
        for number, (before, role) in enumerate(_gaps(view, proposal), taken + 1)
    )
    return replace(proposal, edits=(*proposal.edits, *inserts)) if inserts else proposal


def _gaps(view: ConversationView, proposal: Proposal) -> Iterator[tuple[MessageId, Role]]:
    """Yield the roles that are missing, each with the message that it has to stand before."""
    met = {(first.id, second.id) for first, second in pairwise(view.messages)}
    for first, second in pairwise(apply(view.messages, proposal.edits)):
        # What must stay exactly as it is may not be a record among others but part of a request.
        if (
            view.between is None
            or second.locks.immutable_reason is not None
            or (first.id, second.id) in met
        ):
            continue
        for role in view.between(first, second):
            yield second.id, role
