"""What programs say around summaries of their own accord: no claims about a conversation."""

import re

from compactctl.history.standins import NOTE

# Claude Code 2.0.76 to 2.1.217 say so behind a summary.
_TRANSCRIPT = re.compile(r"read the full transcript at: .+")
# What compactctl's summarizers and stages write: the label of a summary, the note on what it is
# made from, where the originals are, and what takes the place of a text that is left out.
_STATEMENTS = re.compile(
    r"\A\[[^\]\n]*\]:?$"
    rf"|^{NOTE}.*$"
    r"|^User messages: [\d,]+, Assistant responses: [\d,]+, Tool calls: [\d,]+$"
    r"|; [\d,]+ tokens hold no summary of them\."
    r"|^The messages that this summary stands for are kept word for word in .*$"
    r"|^At the time this summary was created, the transcript had [\d,]+ lines\.$"
    r"|\[Large \w+ message \(~[\d,]+K? tokens\) omitted from summary\]"
    r"|\[\.\.\. [\d,]+ chars truncated\]",
    re.MULTILINE,
)
# In a digest these are lists; what is quoted elsewhere in it is verbatim.
_LISTS = re.compile(r"^## (?:Files|Also named)\n(?:> .*(?:\n|\Z))+", re.MULTILINE)
_MARK = re.compile(r"^> ", re.MULTILINE)


def without_frame(summary: str) -> str:
    """Return a client's summary without the path at which it kept the transcript."""
    return _TRANSCRIPT.sub("", summary)


def without_own_words(summary: str) -> str:
    """Return a summary by compactctl without what it says itself; its lines stay where they are."""
    unlisted = _LISTS.sub(lambda found: _MARK.sub("  ", found[0]), summary)
    return _STATEMENTS.sub("", unlisted)
