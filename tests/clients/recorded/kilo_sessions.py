"""Small sessions of Kilo, for each side of the rules that are not OpenCode's, and of some that are.

The rules are those of Kilo 7.7.9.
"""

from functools import partial

from clients.recorded import opencode_sessions
from clients.recorded.opencode_sessions import Draft
from clients.recorded.rules import Rule

_draft = partial(Draft, version="7.7.9")

OWN = Rule[Draft](
    name="own_rules",
    about="what only Kilo leaves out (scope, trimBeforeLastSummary, stripHistoricalMedia)",
    draft=_draft,
)


@OWN
def prompt_with_a_greater_id(draft: Draft) -> None:
    # As across 14 August 2026, when the times in ids began anew.
    older = "msg_f00000000001HarbourHarbour"
    draft.user(draft.text("Q1 first", messageID=older), id=older)
    draft.answer("A1 first")
    draft.user("Q2 second")
    draft.answer("A2 second")


@OWN
def transient(draft: Draft) -> None:
    draft.user("Q1 first")
    notice = {"kilocode.lifecycle": "transient"}
    draft.answer("A1 first", draft.text("N1 notice", metadata=notice))
    draft.user("Q2 second")
    draft.answer(draft.text("N2 notice", metadata={"kilocode": {"lifecycle": "kept"}}))


OWN(opencode_sessions.ignored_in_an_answer)
OWN(opencode_sessions.summary_that_nobody_asked_for)
OWN(opencode_sessions.tail_is_missing)
OWN(opencode_sessions.pictures_in_a_tail)

SHARED = Rule[Draft](
    name="shared_rules",
    about="what Kilo does as OpenCode (filterCompacted, toModelMessages)",
    draft=_draft,
)
SHARED(opencode_sessions.failed_with_tail)
SHARED(opencode_sessions.pictures)
SHARED(opencode_sessions.every_ending)
SHARED(opencode_sessions.of_an_older_model)

RULES = (OWN, SHARED)
