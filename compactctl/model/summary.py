"""What a summary is asked for, what comes back, and who writes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from compactctl.model.message import Message

BUILTIN_SUMMARIZER = "offline"
"""What the built-in summarizer is called."""
COUNTS = "counts"
"""What the stage ``plain`` is called as a summarizer: it counts messages and quotes none."""
EXTERNAL_SUMMARIZERS = ("openai", "llm")
"""Summarizers that hand the conversation to something else, as options and profiles name them."""

FailurePolicy = Literal["builtin", "skip", "fail"]
"""What to do without a usable summary: the built-in one, none, or an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What is to be summarized, and how.

    Attributes:
        messages: the originals that the summary will stand for, oldest first.
        budget: tokens the text may have.
        template: name of the sections it is to have.
        template_text: a template of the user's own, which counts instead; "" for none.
        cwd: the session's working folder.
        previous: text of the newest earlier summary, to be carried forward; "" without one.
        lookahead: messages that stay and follow the summary; shown for continuity, not summarized.
        following: all messages that follow it; what they say need not be said twice.
        continues: the messages go on with a conversation that another summary begins.
        instructions: what the user wants the summary to heed.
    """

    messages: tuple[Message, ...]
    budget: int
    template: str = "nine"
    template_text: str = ""
    cwd: str | None = None
    previous: str = ""
    lookahead: tuple[Message, ...] = ()
    following: tuple[Message, ...] = ()
    continues: bool = False
    instructions: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryInputs:
    """What a run brings along for summaries, beside the options of the stage that writes them.

    Attributes:
        summary: the text itself, written elsewhere; "" to have one written.
        template: sections of the user's own instead of those that the options name; "" for none.
        archive_hint: where the originals will be and how to see them.
    """

    summary: str = ""
    template: str = ""
    archive_hint: str = ""


NO_SUMMARY_INPUTS = SummaryInputs()


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary's text, what wrote it, and why that was not what had been asked for, if so."""

    text: str
    writer: str = BUILTIN_SUMMARIZER
    note: str = ""


# The second argument counts the tokens of a text.
Summarizer = Callable[[SummaryRequest, Callable[[str], int]], Summary]
