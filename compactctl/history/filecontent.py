"""The content of a file inside a tool result, without what the client wrote around it."""

import json
import re
from typing import Any

# What clients put in front of the content: OpenCode, OpenHands and SWE-agent, Codex.
_HEADERS = (
    re.compile(r"<path>[^\n]*</path>\n<type>file</type>\n<content>\n?"),
    re.compile(r"<file>\n"),
    re.compile(r"Here's the result of running `cat -n` on [^\n]*:\n"),
    re.compile(
        r"(?:Chunk ID: [^\n]*\n)?(?:Exit code: 0\n)?Wall time: [^\n]*\n"
        r"(?:Process exited with code 0\n)?(?:Original token count: \d+\n)?"
        r"(?:Total output lines: \d+\n)?Output:\n"
    ),
)
# What they put behind it: OpenCode, pi.
_FOOTERS = (
    re.compile(r"\n*\((?:End of file|File has more lines)[^\n]*\)\n</(?:content|file)>\s*\Z"),
    re.compile(r"\n\[(?:Showing lines |\d+ more lines )[^\n]*\]\s*\Z"),
)
_TAIL = 500
# "   12→" and "12<tab>" (Claude Code), "00012| " and "12: " (OpenCode), "12. " (Copilot CLI).
_NUMBER = re.compile(r"[ 0]*(\d+)(→|\t|\||: |\. )")
_REMINDER = ("<system-reminder>", "</system-reminder>")
# What clients say in place of a file's content, in one line, shorter than this: of an empty file
# (VS Code, Claude Code's kin), of a file that has not changed since an earlier read (Claude Code),
# of lines behind its end (Claude Code, OpenCode, pi, Codex), and of one that could not be read,
# where a format has no mark for errors.
_LONGEST_NOTICE = 400
_NOTICE = re.compile(
    r"\b(?:file|contents?)\b.*\b(?:is|are) empty\b|\bempty file\b|\bonly whitespace\b"
    r"|\bunchanged since\b"
    r"|\bshorter than the (?:provided )?offset\b|\bout of range\b|\bexceeds (?:the )?file length\b"
    r"|\b(?:beyond|past|exceeds) (?:the )?end of (?:the )?file\b"
    r"|\A\W*(?:error|failed|cannot|could not)\b|\bno such file\b|\bnot found\b|\bdoes not exist\b"
    r"|\bpermission denied\b|\bis a directory\b",
    re.IGNORECASE,
)
# Roo Code and Kilo Code write this, and a notice behind it, for an empty file.
_NO_CONTENT = "<content/>"


def file_content(text: str, *, numbered: bool) -> str:
    """Return the file's text: no headers, footers, reminders and, if ``numbered``, line numbers.

    Line numbers go only when every line has one, each one more than the last. Line breaks at the
    end go too, because clients differ in them.
    """
    text = _without_reminders(_unwrapped(text))
    for header in _HEADERS:
        text = header.sub("", text, count=1) if header.match(text) else text
    for footer in _FOOTERS:
        tail = max(0, len(text) - _TAIL)
        text = text[:tail] + footer.sub("", text[tail:])
    text = text.rstrip("\n")
    return _without_numbers(text).rstrip("\n") if numbered else text


def is_notice(body: str) -> bool:
    """Whether nothing of a file is shown: the content is blank, or the client's own words."""
    body = body.strip()
    if len(body) >= _LONGEST_NOTICE:
        return False
    return not body or _NO_CONTENT in body or ("\n" not in body and bool(_NOTICE.search(body)))


def _unwrapped(text: str) -> str:
    # Codex up to 0.5x stored {"output": ..., "metadata": {...}} as the result's text.
    if not text.startswith('{"output":'):
        return text
    try:
        value: Any = json.loads(text)
    except ValueError:
        return text
    return value["output"] if isinstance(value["output"], str) else text


def _without_reminders(text: str) -> str:
    start, end = _REMINDER
    while text.rstrip().endswith(end) and start in text:
        text = text[: text.rindex(start)].rstrip()
    return text


def _without_numbers(text: str) -> str:
    first = _NUMBER.match(text)
    if first is None:
        return text
    separator, lines = first[2], []
    for number, line in enumerate(text.split("\n"), int(first[1])):
        bare = line.lstrip(" 0")
        prefix = f"{number}{separator}"
        if not bare.startswith(prefix):
            return text
        lines.append(bare[len(prefix) :])
    return "\n".join(lines)
