"""Refuses a file that is not one session in the order in which it was written.

Log stores export the newest record first, and people join files. What is sent after what would then
be told wrongly. Ids and times tell the order well enough to measure a session, but what is written
to such a file could not be taken back byte for byte.
"""

import shlex
from itertools import pairwise

from compactctl.errors import NotUnderstoodError
from compactctl.formats.unsupported import fed
from compactctl.model.transcript import RecordOrder, SessionLines, Transcript

_IN_ORDER = "in-order.jsonl"
# As tac, which macOS has not, and which joins two lines where the last one has no end.
_REVERSE = "awk '{line[NR] = $0} END {for (n = NR; n; n--) print line[n]}'"
_STANDS = {
    "newest first": "its records stand newest first",
    "shuffled": "its records do not stand in the order in which they were written",
}
# How many sessions are named.
_NAMED = 3


def check_one_session(transcript: Transcript, path: str) -> None:
    """Raise NotUnderstoodError for several sessions in one, and for records out of order."""
    if transcript.sessions:
        raise NotUnderstoodError(f"{path}: {_of_several(transcript.sessions, path)}")
    if transcript.order:
        turned = f"turn it around: {fed(_REVERSE, path)} > {_IN_ORDER}"
        again = "export it again in that order; compactctl stats measures it as it is"
        what = _STANDS[transcript.order]
        advice = turned if transcript.order == "newest first" else again
        raise NotUnderstoodError(f"{path}: {what}; {advice}")


def order_warning(order: RecordOrder) -> str:
    """Return what to say where a session is measured in another order than the file's."""
    return (
        f"{_STANDS[order]}; they are read in the order of their ids and times, and lines are "
        "numbered in it"
    )


def _of_several(sessions: tuple[SessionLines, ...], path: str) -> str:
    """Say which sessions there are, and how to take them apart."""
    told = ", ".join(f"{each.id} from line {each.first + 1}" for each in sessions[:_NAMED])
    more = f" and {len(sessions) - _NAMED} more" if len(sessions) > _NAMED else ""
    several = f"holds {len(sessions)} sessions ({told}{more})"
    in_turn = all(before.last < after.first for before, after in pairwise(sessions))
    if in_turn:
        starts = " ".join(str(each.first + 1) for each in sessions[1:])
        return f"{several}; split it: {fed('csplit -f session-', path, starts)}"
    one = sessions[0].id
    chosen = shlex.quote(f'select((.sessionId // .session_id) == "{one}")')
    return f"{several}; take each out: {fed(f'jq -c {chosen}', path)} > {shlex.quote(one)}.jsonl"
