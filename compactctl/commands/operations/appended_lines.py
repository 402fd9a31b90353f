"""What was appended to a transcript after an operation; a rewind keeps it."""

from collections.abc import Iterable
from functools import reduce
from itertools import pairwise

from compactctl.commands.operations.history import OperationHistory
from compactctl.commands.operations.steps import InlineStep, OperationStep
from compactctl.errors import ChangedError
from compactctl.store.files.carry import can_carry, carry_of, is_open, joined
from compactctl.store.files.content import parted
from compactctl.store.files.lines import digest_of


def appended(history: OperationHistory, step: OperationStep) -> bytes:
    """Return the carry of what was appended since a step in effect, in the order it came.

    Raises as reading the states in between does, and ChangedError when some of it went on in an
    unterminated line.
    """
    later = history.chain[history.chain.index(step) :]
    pieces = [carry_behind(earlier, following.before()) for earlier, following in pairwise(later)]
    return reduce(joined, (*pieces, carry_behind(later[-1], history.lines)))


def appended_since(history: OperationHistory, step: OperationStep) -> bytes:
    """Return the carry of what was appended after a step that is no longer in effect.

    Raises as ``appended`` does.
    """
    if history.current is None and history.archived and not history.chain:
        oldest = history.archived[0].operation
        return _carry(history.lines, oldest.before.n_bytes, "after the first state")
    steps, last = history.steps, history.place
    newest = carry_behind(steps[last], history.lines)
    # The same step may have been taken before, even within the second that is recorded.
    first = max((at for at in range(last + 1) if steps[at].id == step.id), default=last)
    pieces: list[bytes] = []
    earlier = steps[first]
    for following in steps[first + 1 : last + 1]:
        before = b"".join(following.before())
        if _begins_with(before, earlier):
            pieces.append(carry_behind(earlier, (before,)))
            earlier = following
        elif not isinstance(following, InlineStep):
            return newest
        # Else it is inside a state that a rewind led to, and was not taken after it.
    return reduce(joined, (*pieces, newest))


def _begins_with(state: bytes, step: OperationStep) -> bool:
    return digest_of(state[: step.after.n_bytes]) == step.after


def carry_behind(step: OperationStep, state: Iterable[bytes]) -> bytes:
    """Return the carry of what follows the outcome of a step in a state that begins with it.

    ``state`` are its pieces.

    ChangedError when it goes on in an unterminated line.
    """
    return _carry(state, step.after.n_bytes, f"after operation {step.id}")


def _carry(state: Iterable[bytes], n_bytes: int, when: str) -> bytes:
    end, suffix = parted(state, n_bytes)
    if not can_carry(suffix, is_open=is_open(end)):
        raise ChangedError(
            f"the unterminated last line was continued {when}, which would be "
            "torn; take out what was appended to it first, or name another operation"
        )
    return carry_of(suffix, is_open=is_open(end))
