"""Templates that users write: headings, one a line or as Markdown, and what belongs under each."""

import re
from collections.abc import Iterable, Sequence

from compactctl.errors import UsageError
from compactctl.summaries.document.templates import TEMPLATES, Section, Template
from compactctl.summaries.extract.items import DECISIONS, OPERATIONS, RULES

# Words by which a heading is recognised as the home of one of the nine sections, or of a topic;
# earlier words tell more.
_WORDS: dict[int | str, tuple[str, ...]] = {
    1: ("request", "intent", "goal", "objective", "purpose", "overview", "task", "summary"),
    2: ("concept", "foundation", "technolog", "technical", "background"),
    3: ("file", "codebase", "code", "artifact", "artefact"),
    4: ("problem", "error", "issue", "bug", "failure", "resolution"),
    5: ("pending", "to do", "todo", "remaining", "open", "left"),
    6: ("evolution", "history", "progress", "done", "so far"),
    7: ("current", "active", "status", "state", "progress"),
    8: ("next", "continuation", "plan", "step"),
    9: ("required", "reading", "reference"),
    RULES: ("constraint", "rule", "convention", "preference", "requirement"),
    DECISIONS: ("decision", "decided", "finding", "rationale", "learned"),
    OPERATIONS: ("operation", "command", "action"),
}
# Where something goes whose own words are in no heading.
_NEXT_BEST = {5: 8, 8: 5, 6: 7, 7: 6, 9: 3, 3: 9}
_GENERAL = ("context", "note", "other", "general", "miscellaneous", "background", "summary")
_NINE = range(1, 10)

_MARKED = re.compile(r"\s{0,3}#{1,6}\s+(.*?)[\s#]*")
_NUMBERING = re.compile(r"^(?:[-*+]\s+|\d{1,3}[.)]\s+)+")


def template_from(text: str) -> Template:
    """Read a template: Markdown headings with hints under them, or one heading a line.

    Raises UsageError when there is no heading in it, or one twice.
    """
    marked = any(_MARKED.fullmatch(line) for line in text.splitlines())
    sections = _marked_sections(text) if marked else _plain_sections(text)
    headings = [section.heading.lower() for section in sections]
    if not headings:
        raise UsageError("the template has no heading; write one a line, or Markdown headings")
    twice = next((each for each in headings if headings.count(each) > 1), None)
    if twice is not None:
        raise UsageError(f"the template has the heading {twice!r} twice; name each section once")
    homes = tuple(_home(number, sections) for number in _NINE)
    topics = {
        topic: home
        for topic in (RULES, DECISIONS, OPERATIONS)
        if (home := _best(_WORDS[topic], sections))
    }
    return Template(name="file", sections=sections, homes=homes, topics=topics)


def template_of(name: str, text: str) -> Template:
    """Return the template of a user's ``text``, without one the template called ``name``.

    Raises UsageError for an unknown name, and as ``template_from``.
    """
    if text.strip():
        return template_from(text)
    if name not in TEMPLATES:
        raise UsageError(f"there is no template {name!r}; templates: {', '.join(TEMPLATES)}")
    return TEMPLATES[name]


def _plain_sections(text: str) -> tuple[Section, ...]:
    headings = (_heading(line) for line in text.splitlines())
    return tuple(Section(heading=heading) for heading in headings if heading)


def _marked_sections(text: str) -> tuple[Section, ...]:
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        heading = _MARKED.fullmatch(line)
        if heading and _heading(heading[1]):
            found.append((_heading(heading[1]), []))
        elif found and line.strip():
            found[-1][1].append(line.strip())
    return tuple(Section(heading=heading, hint=" ".join(hints)) for heading, hints in found)


def _heading(line: str) -> str:
    return _NUMBERING.sub("", line.strip("# \t")).rstrip(":").strip()


def _home(number: int, sections: Sequence[Section]) -> int:
    own = _best(_WORDS[number], sections)
    near = _NEXT_BEST.get(number)
    return own or (near and _best(_WORDS[near], sections)) or _general(sections)


def _best(words: Iterable[str], sections: Sequence[Section]) -> int:
    """Return the section whose heading, else whose hint, has the earliest word; 0 for none."""
    words = tuple(words)
    return _having(words, [s.heading for s in sections]) or _having(
        words, [s.hint for s in sections]
    )


def _having(words: Iterable[str], texts: Sequence[str]) -> int:
    for word in words:
        for number, text in enumerate(texts, start=1):
            if word in text.lower():
                return number
    return 0


def _general(sections: Sequence[Section]) -> int:
    return _having(_GENERAL, [section.heading for section in sections]) or len(sections)
