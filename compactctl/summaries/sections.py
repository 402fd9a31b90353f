"""The nine sections of a hand-over document, as NeuroLink names them."""

from collections.abc import Iterable, Iterator, Sequence

from compactctl.summaries.items import Item

HEADINGS = (
    "Primary Request and Intent",
    "Key Technical Concepts",
    "Files and Code Sections",
    "Problem Solving",
    "Pending Tasks",
    "Task Evolution",
    "Current Work",
    "Next Step",
    "Required Files",
)
EMPTY = "N/A"

_BULLET, _INDENT = "- ", "  "


def document(note: str, items: Iterable[Item]) -> str:
    """Write the note and all nine sections with their items."""
    by_section: dict[int, list[Item]] = {}
    for item in items:
        by_section.setdefault(item.section, []).append(item)
    lines = [note]
    for number, heading in enumerate(HEADINGS, start=1):
        lines.append(f"### {number}. {heading}")
        lines.extend(_section(by_section.get(number, [])))
    return "\n".join(lines)


def cost(item: Item) -> int:
    """Return the characters an item adds to a document, its label not counted."""
    return len(item.text) + len(_BULLET) + 1 + len(_INDENT) * item.text.count("\n")


def _section(items: Sequence[Item]) -> Iterator[str]:
    if not items:
        yield EMPTY
    label = ""
    for item in sorted(items, key=lambda item: (item.label, item.place)):
        if item.label != label:
            label = item.label
            yield label
        # Continuation lines are indented, so that quoted headings cannot pass for our own.
        yield _BULLET + item.text.replace("\n", "\n" + _INDENT)
