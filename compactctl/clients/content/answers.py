"""How several clients write what the user answered to a tool that asks, as data."""

import re

from compactctl.clients.records.wrapping import AnswerWording

# A JSON object with the answers, by the question's id or number.
JSON_ANSWERS = AnswerWording(pattern=re.compile(r'(\{\s*"answers".*\})', re.DOTALL))
# Pairs of a question and the user's choice or text, with notes: "Which?"="Blue" user notes: now
ANSWERED_PAIRS = AnswerWording(
    pattern=re.compile(
        r"(?:User has answered your questions|Your questions have been answered"
        r"|The user answered): (.*[^.])"
        r"\.? (?:You can now continue with|Read the answers carefully)[^\n]*",
        re.DOTALL,
    ),
    unanswered=re.compile(
        r'User has answered your questions: (?:"[^"\n]*"="Unanswered"(?:, )?)+\..*', re.DOTALL
    ),
    # Behind a choice, the client writes the model's preview of it.
    pairs=re.compile(
        r'(?:^|, )"[^"\n]*"="(.*?)"(?: selected preview:\n.*?)?( user notes: .*?)?'
        r'(?=, "[^"\n]*"="|\Z)',
        re.DOTALL,
    ),
)
RESPONSE = AnswerWording(
    pattern=re.compile(r"User (?:responded|selected|provided custom input): (.*)", re.DOTALL)
)
