"""A hand-over document: items under the headings of a template."""

from collections.abc import Iterable, Iterator, Sequence

from compactctl.summaries.document.templates import NINE, Template
from compactctl.summaries.extract.items import SummaryItem
from compactctl.summaries.extract.quoted_words import BULLET, INDENT

HEADINGS = tuple(section.heading for section in NINE.sections)


def document(note: str, items: Iterable[SummaryItem], template: Template = NINE) -> str:
    """Write the note and all sections of a template with their items."""
    by_section: dict[int, list[SummaryItem]] = {}
    for item in items:
        by_section.setdefault(template.home(item.section, item.topic), []).append(item)
    lines = [note]
    for number, section in enumerate(template.sections, start=1):
        lines.append(f"### {number}. {section.heading}")
        lines.extend(
            item_lines(by_section.get(number, [])) if number in by_section else [template.empty]
        )
    return "\n".join(lines)


def cost(item: SummaryItem) -> int:
    """Return the characters an item adds to a document, its label not counted."""
    return len(item.text) + len(BULLET) + 1 + len(INDENT) * item.text.count("\n")


def item_lines(items: Sequence[SummaryItem]) -> Iterator[str]:
    """Yield the lines of items, grouped below their labels."""
    label = ""
    for item in sorted(items, key=lambda item: (item.label, item.section, item.place)):
        if item.label != label:
            label = item.label
            yield label
        # Continuation lines are indented, so that quoted headings cannot pass for our own.
        yield BULLET + item.text.replace("\n", "\n" + INDENT)
