"""Texts of files and pages in which the words stand that clients write of how a call ended."""

from typing import Literal, get_args

from outcomes.endings import ENDINGS
from voices.wordings import (
    ANSWERED,
    ANSWERED_ANEW,
    CORRECTED,
    DENIED,
    DENIED_ANEW,
    PLAN_REJECTED,
    RESPONDED,
    SELECTED,
    TURNED_DOWN,
    WITH_NOTE,
)

Place = Literal["begins", "ends", "is all"]
PLACES: tuple[Place, ...] = get_args(Place)
_DOCUMENT = (
    "# The harbour\n\nThe tide tables hang beside the lock gate.\n"
    "Boats moor at the quay until the ebb.\nThe pier is closed in winter.\n"
    "Ask at the lighthouse for the keys.\n\nThe ferry leaves at noon."
)
_PLAN_REJECTED = (
    "Plan not approved. User feedback:\n\n{words}\n\nPlease update the plan based on this feedback "
    "and try again."
)
# Words of the user are in these where a client writes them.
_SPEAKING = (
    TURNED_DOWN, WITH_NOTE, CORRECTED, DENIED, DENIED_ANEW, PLAN_REJECTED, RESPONDED, SELECTED,
    ANSWERED, ANSWERED_ANEW,
    _PLAN_REJECTED,
    "The user rejected this tool call. User feedback: {words}",
)  # fmt: skip
_OTHERS = (
    "Exit code: 2",
    "Exit code 2",
    "exited with code 2",
    "<returncode>2</returncode>",
    "Process exited with code 2",
    "Plan rejected.",
    "Plan rejected. No feedback provided.",
    "Plan not approved.",
    "The agent proposed a plan that was rejected by the user.",
    "User cancelled the plan approval dialog.",
    "Async agent launched successfully.",
    "<retrieval_status>success</retrieval_status>\n<status>failed</status>",
    "<status>running</status>",
    "<exit_code>1</exit_code>",
    "Error: file not found: quay.py",
    "Error reading file: no pier",
    "3 failed, 2 passed",
    "[Old tool result content cleared]",
    "[Tool execution was interrupted]",
    '{"status": "error", "error": "no pier"}',
    '{"success": false}',
)
PHRASES = tuple(
    dict.fromkeys(
        (
            *(each.text for each in ENDINGS if each.text and each.outcome != "ok"),
            *(each.format(words="Open every gate.") for each in _SPEAKING),
            *_OTHERS,
        )
    )
)
"""Each phrase of each client about a call that did not go well, once."""


def around(phrase: str, place: Place) -> str:
    """Return the text of a document with a phrase at that place."""
    match place:
        case "begins":
            return f"{phrase}\n{_DOCUMENT}"
        case "ends":
            return f"{_DOCUMENT}\n{phrase}"
        case "is all":
            return phrase
