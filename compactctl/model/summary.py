"""Summaries: the request for one, the text that comes back, and the names of their writers."""

from collections.abc import Callable
from typing import Literal

from compactctl.model.message import Message
from compactctl.records import Record

BUILTIN_SUMMARIZER = "offline"
"""The built-in summarizer."""
COUNTS = "counts"
"""The summarizer of the stage ``plain``, which counts messages and quotes none."""
EXTERNAL_SUMMARIZERS = ("openai", "llm")
"""Summarizers that send the conversation to another program, as options and profiles name them."""

FailurePolicy = Literal["builtin", "skip", "fail"]
"""What to do if an external summarizer fails: use the built-in one, write none, or fail."""

LabelStyle = Literal["xml", "role", "speaker"]
"""How a prompt marks roles: a tag, ``user: text``, or ``User: text``."""


class SummaryRequest(Record):
    """What is to be summarized, and how.

    Attributes:
        messages: the originals that the summary will replace, oldest first.
        budget: maximum length of the text in tokens.
        words_room: tokens that the words of the user in it may take; half of the budget if None.
        template: name of the built-in template.
        template_text: the user's template, which takes precedence; "" for none.
        cwd: the session's working folder.
        previous: text of the newest earlier summary, to be carried forward; "" for none.
        lookahead: messages that stay and follow the summary; shown for continuity, not summarized.
        following: all messages that follow it; the summary need not repeat them.
        continues: the messages continue a conversation that begins with another summary.
        instructions: the user's instructions for the summary.
        message_cap: maximum characters of a message to show a model; None for the usual ones.
    """

    messages: tuple[Message, ...]
    budget: int
    words_room: int | None = None
    template: str = "nine"
    template_text: str = ""
    cwd: str | None = None
    previous: str = ""
    lookahead: tuple[Message, ...] = ()
    following: tuple[Message, ...] = ()
    continues: bool = False
    instructions: str = ""
    message_cap: int | None = None


class SummaryInputs(Record):
    """Inputs of a run for its summaries, beside the options of the stage that writes them.

    Attributes:
        summary: a finished summary, written elsewhere; "" to have one written.
        template: the user's template instead of the one that the options name; "" for none.
        archive_hint: where the originals will be archived and how to read them.
    """

    summary: str = ""
    template: str = ""
    archive_hint: str = ""


NO_SUMMARY_INPUTS = SummaryInputs()


class Summary(Record):
    """A summary's text and writer; ``note`` says what a reader of the report should know of it."""

    text: str
    writer: str = BUILTIN_SUMMARIZER
    note: str = ""


# The second argument counts the tokens of a text.
Summarizer = Callable[[SummaryRequest, Callable[[str], int]], Summary]
