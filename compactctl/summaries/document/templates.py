"""Templates: the sections of a summary, built in or read from a user's file."""

import re
from collections.abc import Mapping, Sequence

from compactctl.errors import UsageError
from compactctl.records import Record, field
from compactctl.summaries.extract.items import DECISIONS, OPERATIONS, RULES


class Section(Record):
    """A section's heading, and a hint that tells a model what belongs under it."""

    heading: str
    hint: str = ""


class Template(Record):
    """The sections of a summary, in order.

    Attributes:
        name: the value of ``--template``.
        sections: the sections, numbered from 1.
        section_numbers: for each of NeuroLink's nine sections, the number of the section that
            takes its items; the offline summarizer sorts items into the nine.
        topics: the same for topics that have no section of their own among the nine.
        empty: the text of a section without items.
        analysis: steps a model thinks through before it writes; not part of the summary.
    """

    name: str
    sections: tuple[Section, ...]
    section_numbers: tuple[int, ...]
    topics: Mapping[str, int] = field(default_factory=dict)
    empty: str = "N/A"
    analysis: tuple[str, ...] = ()

    def section_for(self, section: int, topic: str = "") -> int:
        """Return the number of the section for an item of one of the nine sections."""
        return self.topics.get(topic) or self.section_numbers[section - 1]


# The headings of NeuroLink's nine sections.
_NINE = (
    Section(
        heading="Primary Request and Intent",
        hint="every request of the user and its purpose, the newest word for word",
    ),
    Section(
        heading="Key Technical Concepts",
        hint="technologies, names and conventions that the work depends on",
    ),
    Section(
        heading="Files and Code Sections",
        hint="each file by its path, what was read or changed in it and why that matters",
    ),
    Section(
        heading="Problem Solving",
        hint="errors verbatim, their causes, what was tried, what worked",
    ),
    Section(heading="Pending Tasks", hint="what was asked for and is not done"),
    Section(heading="Task Evolution", hint="how the task changed, in order"),
    Section(heading="Current Work", hint="what was being done last, in detail"),
    Section(heading="Next Step", hint="the next step that the newest request calls for"),
    Section(heading="Required Files", hint="paths that must be read again to continue"),
)
_SAME_NUMBERS = tuple(range(1, len(_NINE) + 1))

NINE = Template(name="nine", sections=_NINE, section_numbers=_SAME_NUMBERS)

# The sections of later versions of NeuroLink.
TEN = Template(
    name="ten",
    sections=(
        *_NINE,
        Section(
            heading="Constraints and Established Rules",
            hint="every rule the user set, word for word; none is ever dropped",
        ),
    ),
    section_numbers=_SAME_NUMBERS,
    topics={RULES: 10},
)

# The headings and analysis steps of VS Code Copilot Chat.
EIGHT = Template(
    name="eight",
    sections=(
        Section(
            heading="Conversation Overview",
            hint="what the user wants, how that changed, and the rules they set, word for word",
        ),
        Section(
            heading="Technical Foundation",
            hint="languages, frameworks, tools and decisions about the architecture",
        ),
        Section(
            heading="Codebase Status",
            hint="each file by its path, its purpose, its state and its changes",
        ),
        Section(
            heading="Problem Resolution",
            hint="problems, solutions, open investigations",
        ),
        Section(heading="Progress Tracking", hint="what is done, what is half done, what is open"),
        Section(heading="Active Work State", hint="what was being worked on last, in detail"),
        Section(
            heading="Recent Operations",
            hint="the newest commands and tool calls with their outcome",
        ),
        Section(heading="Continuation Plan", hint="the steps that come next, in order"),
    ),
    section_numbers=(1, 2, 3, 4, 5, 1, 6, 8, 3),
    topics={OPERATIONS: 7},
    analysis=(
        "Chronological Review",
        "Intent Mapping",
        "Technical Inventory",
        "Code Archaeology",
        "Progress Assessment",
        "Context Validation",
        "Recent Commands Analysis",
    ),
)

# The headings of agent-code, which writes "(none)" into an empty section.
SIX = Template(
    name="six",
    sections=(
        Section(heading="Goal", hint="what the user wants to achieve"),
        Section(heading="Constraints", hint="every rule the user set, word for word"),
        Section(heading="Progress", hint="what was done, what failed and why, what is in progress"),
        Section(heading="Decisions", hint="what was decided or found, and the reason"),
        Section(heading="Next steps", hint="what is left, in order"),
        Section(heading="Files", hint="each file by its path, read or changed, and how"),
    ),
    section_numbers=(1, 6, 6, 3, 5, 3, 3, 5, 6),
    topics={RULES: 2, DECISIONS: 4},
    empty="(none)",
)

TEMPLATES: Mapping[str, Template] = {t.name: t for t in (NINE, TEN, EIGHT, SIX)}


# Words in a heading of a user's template that show which of the nine sections, or which topic, it
# corresponds to; the most specific words come first.
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
# The most similar of the nine sections, if no heading has a section's own words.
_SIMILAR = {5: 8, 8: 5, 6: 7, 7: 6, 9: 3, 3: 9}
_GENERAL = ("context", "note", "other", "general", "miscellaneous", "background", "summary")
_SECTION_NUMBERS = range(1, 10)

_MARKED = re.compile(r"\s{0,3}#{1,6}\s+(.*?)[\s#]*")
_NUMBERING = re.compile(r"^(?:[-*+]\s+|\d{1,3}[.)]\s+)+")


def template_from(text: str) -> Template:
    """Parse a template: Markdown headings with hints under them, or one heading per line.

    Raises UsageError if it has no heading, or the same one twice.
    """
    is_markdown = any(_MARKED.fullmatch(line) for line in text.splitlines())
    sections = _marked_sections(text) if is_markdown else _plain_sections(text)
    headings = [section.heading.lower() for section in sections]
    if not headings:
        raise UsageError("the template has no headings; write one per line, or Markdown headings")
    duplicate = next((heading for heading in headings if headings.count(heading) > 1), None)
    if duplicate is not None:
        raise UsageError(
            f"the template has the heading {duplicate!r} twice; name each section once"
        )
    topics = {
        topic: number
        for topic in (RULES, DECISIONS, OPERATIONS)
        if (number := _best_match(_WORDS[topic], sections))
    }
    return Template(
        name="file",
        sections=sections,
        section_numbers=tuple(_number_for(section, sections) for section in _SECTION_NUMBERS),
        topics=topics,
    )


def resolve_template(name: str, text: str) -> Template:
    """Return the template in a user's ``text``, or the one called ``name`` if the text is blank.

    Raises UsageError for an unknown name, or for an invalid text (see ``template_from``).
    """
    if text.strip():
        return template_from(text)
    if name not in TEMPLATES:
        raise UsageError(f"no template named {name!r}; templates: {', '.join(TEMPLATES)}")
    return TEMPLATES[name]


def _plain_sections(text: str) -> tuple[Section, ...]:
    headings = (_heading(line) for line in text.splitlines())
    return tuple(Section(heading=heading) for heading in headings if heading)


def _marked_sections(text: str) -> tuple[Section, ...]:
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        match = _MARKED.fullmatch(line)
        if match and _heading(match[1]):
            sections.append((_heading(match[1]), []))
        elif sections and line.strip():
            sections[-1][1].append(line.strip())
    return tuple(Section(heading=heading, hint=" ".join(hints)) for heading, hints in sections)


def _heading(line: str) -> str:
    return _NUMBERING.sub("", line.strip("# \t")).rstrip(":").strip()


def _number_for(section: int, sections: Sequence[Section]) -> int:
    """Return the number of the section that takes the items of one of the nine.

    Tried in order: its own words, those of the most similar of the nine, a general section, the
    last one.
    """
    similar = _SIMILAR.get(section)
    return (
        _best_match(_WORDS[section], sections)
        or (similar and _best_match(_WORDS[similar], sections))
        or _first_with(_GENERAL, [section.heading for section in sections])
        or len(sections)
    )


def _best_match(words: Sequence[str], sections: Sequence[Section]) -> int:
    """Return the number of the section whose heading, else hint, has the first word; 0 if none."""
    headings, hints = [s.heading for s in sections], [s.hint for s in sections]
    return _first_with(words, headings) or _first_with(words, hints)


def _first_with(words: Sequence[str], texts: Sequence[str]) -> int:
    for word in words:
        for number, text in enumerate(texts, start=1):
            if word in text.lower():
                return number
    return 0
