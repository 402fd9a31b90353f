"""What pi writes around its user's words, as data."""

import re

from compactctl.clients.content.answers import RESPONSE
from compactctl.clients.pi.tools import RESULTS
from compactctl.clients.records.wrapping import Wrapping

# pi and oh-my-pi, whose extensions ask; messages of extensions have a role of their own. Files
# named on the command line, and skills, stand before the prompt.
PI = Wrapping(
    client="pi",
    system_prompt=re.compile(r"You are an expert coding assistant operating inside pi\b"),
    line_tags=frozenset({"system-reminder", "file", "skill"}),
    answers={"ask": RESPONSE, "ask_user": RESPONSE, "question": RESPONSE},
    results=RESULTS,
)
