"""Fill the gaps that hidden messages leave, for APIs that restrict the order of roles."""

from collections.abc import Iterator
from itertools import pairwise

from compactctl.history.apply import apply
from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import Hide, Insert, Proposal, groups_of
from compactctl.model.message import FINAL_KEY, MessageId, Role, Synthetic
from compactctl.records import replace

GAP_TEXT = "[Earlier messages were left out here.]"
"""The text of an inserted message, whatever its role."""


def fill_gaps(view: ConversationView, proposal: Proposal) -> Proposal:
    """Insert the messages that the API requires between two that the proposal makes adjacent.

    Mistral's API, for example, requires an assistant message between tool results and a user
    message. Pairs that were adjacent before are left alone: the API has accepted them.
    """
    if view.roles_between is None or not any(
        isinstance(edit, Hide | Insert) for edit in proposal.edits
    ):
        return proposal
    group = groups_of(proposal.edits)[0]
    # A plan edited by hand may already contain inserts; continue their numbers.
    n_inserts = sum(isinstance(edit, Insert) for edit in proposal.edits)
    inserts = tuple(
        Insert(
            before=before,
            message=Synthetic(
                id=MessageId(f"between-{group}-{number}"),
                kind="marker",
                role=role,
                text=GAP_TEXT,
                group=group,
                # This message replaces none: the group's summary or marker does.
                details={FINAL_KEY: 1},
            ),
        )
        for number, (before, role) in enumerate(_missing_roles(view, proposal), n_inserts + 1)
    )
    return replace(proposal, edits=(*proposal.edits, *inserts)) if inserts else proposal


def _missing_roles(view: ConversationView, proposal: Proposal) -> Iterator[tuple[MessageId, Role]]:
    """Yield each missing role with the message to insert it before."""
    adjacent_before = {(first.id, second.id) for first, second in pairwise(view.messages)}
    for first, second in pairwise(apply(view.messages, proposal.edits)):
        # An immutable message may be a field of the request, with no record to insert before.
        if (
            view.roles_between is None
            or second.locks.immutable_reason is not None
            or (first.id, second.id) in adjacent_before
        ):
            continue
        for role in view.roles_between(first, second):
            yield second.id, role
