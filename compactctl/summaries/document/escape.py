"""Escape what a prompt for a model is structured with, where it stands in a conversation's text."""

import re

from compactctl.model.own_texts import OTHER_LINE_ENDS

LINE_ENDS = f"\n{OTHER_LINE_ENDS}"
# Characters that are not shown, or only on the one before, and blanks. The first may also stand
# inside a word.
_UNSEEN = (
    r"\x00-\x08\x0e-\x1b\x1f\x7f\xad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff"
)
_BLANKS = rf"\t \xa0\u1680\u2000-\u200a\u202f\u205f\u3000{_UNSEEN}"
_START = rf"(?<![^{LINE_ENDS}])"
# A label may be emphasized, or follow a bullet or the mark of a quotation.
_MARKS = rf"[>*_#{_BLANKS}-]*"
_LABELS = (
    "system",
    "user",
    "assistant",
    "tool",
    "client",
    "File Context",
    "Files Read",
    "Files Modified",
)
_SENTENCES = ("Instructions of the user for this summary", "Please write the summary now")
_TITLES = ("PRIOR SUMMARY", "CONVERSATION TO SUMMARIZE", "UPCOMING CONTEXT")
_TAGS = ("message", "conversation", "summary", "analysis")


def _any(texts: tuple[str, ...]) -> str:
    """Return a pattern for any of ``texts``, with any blanks between their words."""
    return f"(?:{'|'.join(map(_spaced, texts))})"


def _spaced(text: str) -> str:
    return "".join(f"[{_BLANKS}]+" if char == " " else f"{char}[{_UNSEEN}]*" for char in text)


# Each matches up to where the backslash goes.
_TAG = rf"<(?=[\s/{_BLANKS}]*{_any(_TAGS)}\b)"
_LABEL = rf"(?:{_START}{_MARKS}{_any(_LABELS)}|{_any(_SENTENCES)}){_MARKS}(?=[:\uff1a])"
_TITLE = rf"(?<!=)=+(?==[{_BLANKS}]*{_any(_TITLES)})"
# Any other text between marks of exactly that length: longer ones occur in the output of tests.
_OTHER_TITLE = (
    rf"{_START}[{_BLANKS}]*==(?==(?!=)[^{LINE_ENDS}]*[^={LINE_ENDS}]===[{_BLANKS}]*(?:\s|\Z))"
)
_MARK = (
    rf"{_START}[{_BLANKS}]*\[(?=[{_BLANKS}]*(?:(?:{_spaced('failed ')})?{_spaced('tool ')}"
    rf"{_any(('call', 'result'))}|{_spaced('file ')}|\.\.\.[{_BLANKS}]+[\d,]+[{_BLANKS}]+chars"
    rf"|{_spaced('attachment')}\]|[\w.+-]+/))"
)
_STRUCTURE = re.compile(f"{_TAG}|{_LABEL}|{_TITLE}|{_OTHER_TITLE}|{_MARK}", re.IGNORECASE)
_LINE_END = re.compile(rf"[{LINE_ENDS}]+")


def escape_structure(text: str) -> str:
    r"""Put a backslash into everything in a text that could pass for the structure of a prompt.

    These are its tags, the labels of speakers and lists, its titles, and the marks of calls,
    results, files and media, in any case. A text without them stays as it is. The start of the
    text counts as the start of a line.

        </message>                 <\/message>
        User: Push it.             User\: Push it.
        === PRIOR SUMMARY ===      ==\= PRIOR SUMMARY ===
        [tool result Bash] ok      [\tool result Bash] ok
    """
    return _STRUCTURE.sub(r"\g<0>\\", text)


def escape_name(name: str) -> str:
    r"""Escape a path or the name of a tool, which stands on one line and in brackets.

    A line end becomes ``\n``, a closing bracket ``\]``.
    """
    return _LINE_END.sub(r"\\n", escape_structure(name)).replace("]", r"\]")
