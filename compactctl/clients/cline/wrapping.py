"""What Cline and Roo Code write around their user's words, as data."""

import re

from compactctl.clients.cline.tools import RESULTS
from compactctl.clients.records.wrapping import AnswerWording, Wrapping

_TAGGED_ANSWER = AnswerWording(pattern=re.compile(r"<answer>\n(.*)</answer>", re.DOTALL))

# Cline and Roo Code; the format parses the blocks in which they put the user's words.
CLINE = Wrapping(
    client="Cline or Roo Code",
    system_prompt=re.compile(r"You are (?:Cline|Roo)\b"),
    tags=frozenset({"environment_details", "mode_notice"}),
    answers={"ask_followup_question": _TAGGED_ANSWER},
    results=RESULTS,
)
