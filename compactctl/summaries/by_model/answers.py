"""What a model or a program answered, and the summary in it."""

import re
from dataclasses import dataclass

# What models write before their answer and nobody wants to keep; one that is never closed lasts to
# the summary, or to the end.
_THOUGHT = re.compile(
    r"<(analysis|think|thinking)>.*?(?:</\1>|(?=<summary>)|\Z)", re.DOTALL | re.IGNORECASE
)
# Control characters other than tabs and line ends, and halves of characters, mean nothing here.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_SUMMARY = re.compile(r"<summary>(.*?)(?=<summary>|</summary>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it came; ``finish_reason`` is "" when none was told."""

    text: str
    finish_reason: str = ""


def extracted(text: str) -> str:
    """Return the summary in an answer.

    That is what stands in ``<summary>``, up to the end when it is not closed, and the longest
    when there are several: some models speak of the tag before they use it. Without that tag it
    is all of the answer. Analysis and thinking are left out.
    """
    answer = _THOUGHT.sub("", _UNPRINTABLE.sub("", text.replace("\r\n", "\n")))
    found = [summary.strip() for summary in _SUMMARY.findall(answer)]
    return max(found, key=len) if found else answer.strip()
