"""What a summary holds: points about the state of the work, lines that show it, and names."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compactctl.summaries.digest.facts import LineIndex, StateFact
from compactctl.summaries.digest.fragments import (
    DigestSection,
    Fragment,
    FragmentGroup,
    collect_fragments,
    list_entries,
)
from compactctl.summaries.digest.render import QUOTE, group_heading, list_row, quote_lines
from compactctl.summaries.digest.selection import FragmentPool, Selection
from compactctl.summaries.document.templates import NINE, Template
from compactctl.summaries.extract.current_work import call_title
from compactctl.summaries.extract.entities import EntityDemand
from compactctl.summaries.extract.items import SummaryItem
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.sentences import BULLET, INDENT, without_marks

HEADINGS = tuple(section.heading for section in NINE.sections)


def write_document(note: str, items: Iterable[SummaryItem], template: Template = NINE) -> str:
    """Write the note and all sections of a template with their items."""
    by_section: dict[int, list[SummaryItem]] = {}
    for item in items:
        by_section.setdefault(template.section_for(item.section, item.topic), []).append(item)
    lines = [note]
    for number, section in enumerate(template.sections, start=1):
        lines.append(f"### {number}. {section.heading}")
        lines.extend(
            item_lines(by_section.get(number, [])) if number in by_section else [template.empty]
        )
    return "\n".join(lines)


def item_chars(item: SummaryItem) -> int:
    """Return the characters an item adds to a document, its label not counted."""
    return len(item.text) + len(BULLET) + 1 + len(INDENT) * item.text.count("\n")


def item_lines(items: Sequence[SummaryItem]) -> Iterator[str]:
    """Yield the lines of items, grouped below their labels."""
    label = ""
    for item in sorted(items, key=lambda item: (item.label, item.section, item.position)):
        if item.label != label:
            label = item.label
            yield label
        # Continuation lines are indented, so that quoted headings cannot pass for our own.
        yield BULLET + item.text.replace("\n", "\n" + INDENT)


KEY_LINES = "Key lines, verbatim:"
NAMES = "Identifiers in use:"
# Where lines of what was said stand.
_SAID = {"request": (6, "From requests:"), "reply": (4, "Said by the agent:")}
# Characters of what a quoted line is of; paths are whole.
_TITLE = 90
# Quoted lines of tools are at most this part of the text; with more of them nobody finds the rest.
# Names are chosen up to this share, of which those go that stand in lines.
_LINES_PART = 3
_NAMES_PERCENT = 45
# Candidates that are weighed against one another, the best of many more.
_MAX_LINES, _MAX_NAMES = 3_000, 1_500
# More backslashes or quotation marks than this are data, which nobody can read.
_MAX_BACKSLASHES = 4
_MAX_QUOTES = 12
# Of the demand for an entity, what its mere name is worth; digests are worth reading for more.
_NAMED = 0.4
# Names that are needed less, in demands for one that is needed, are what tools happened to show.
_MIN_DEMAND = 0.1
# Tokens of a bullet or an indent with the line end.
_LINE_TOKENS = 2
# Characters of the same.
_MARGIN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryMaterial:
    """What there is to choose from: points, and the passages that lines and names are from.

    ``covered`` is what stands elsewhere: in what is pinned, and behind the summary.
    """

    passages: Sequence[Passage]
    items: Mapping[Fragment, SummaryItem]
    covered: Sequence[str]
    demand: EntityDemand


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryDraft:
    """What is written so far: the items that are pinned, and what is chosen beside them."""

    note: str
    template: Template
    pinned: Sequence[SummaryItem]
    material: SummaryMaterial
    selection: Selection

    def text(self) -> str:
        """Write it down."""
        chosen, found, known = self.selection.fragments, self.material.passages, self.material.items
        items = [*self.pinned, *(known[each] for each in chosen if each in known)]
        items += [*_name_items(chosen), *_said_items(chosen, found)]
        room = len(write_document(self.note, items, self.template)) // (_LINES_PART - 1)
        items += _line_items(chosen, found, room)
        return write_document(self.note, items, self.template)


def select_content(
    material: SummaryMaterial, budget: int, count: Callable[[str], int]
) -> Selection:
    """Return the choice among points, lines and names for a summary of ``budget`` tokens."""
    found, demand = material.passages, material.demand
    offered = (*material.items, *_lines(material), *_names(found, demand))
    titles = {group: _title(group, found) for group in dict.fromkeys(e.group for e in offered)}
    names = {group: demand.lexicon.entities(text) for group, text in titles.items()}
    offer = FragmentPool(
        fragments=offered,
        tokens=[_cost(each.text, count) for each in offered],
        headings={group: (_cost(text, count), names[group]) for group, text in titles.items()},
        demand=demand.demand,
        demand_unit=demand.mean_top_demand,
        name_share=_NAMED,
        section_limits={"course": budget // _LINES_PART, "names": budget * _NAMES_PERCENT // 100},
    )
    return Selection(offer, (n for text in material.covered for n in demand.lexicon.entities(text)))


def _cost(text: str, count: Callable[[str], int]) -> int:
    return count(text) + _LINE_TOKENS if text else 0


def fragments_of(items: Iterable[SummaryItem], demand: EntityDemand) -> dict[Fragment, SummaryItem]:
    """Return items as what a choice is made of; of equal ones the last."""
    return {_fragment(item, demand): item for item in items}


def _fragment(item: SummaryItem, demand: EntityDemand) -> Fragment:
    return Fragment(
        group=FragmentGroup("items", label=f"{item.section} {item.label}"),
        line=LineIndex(item.section, item.position),
        text=item.text,
        describes=tuple(
            name for name in demand.lexicon.entities(item.text) if name in demand.demand
        ),
        facts=(StateFact(f"{item.section} {item.text}", item.value),),
    )


def _lines(material: SummaryMaterial) -> list[Fragment]:
    """Return the lines worth most for each character that say something about what they name."""
    found, demand = material.passages, material.demand
    said = {line.strip() for text in material.covered for line in text.split("\n")}
    said.update(item.text.partition("] ")[2] for item in material.items.values())
    readable = (
        replace(each, facts=())
        for each in collect_fragments(found, {}, demand.demand, demand.lexicon)
        if each.describes and each.text.count("\\") <= _MAX_BACKSLASHES
        if each.text.count('"') <= _MAX_QUOTES
        if without_marks(each.text) not in said
    )

    def rank(each: Fragment) -> float:
        return -sum(demand.demand[name] for name in each.describes) / len(each.text)

    return [_with_speaker(each, found) for each in heapq.nsmallest(_MAX_LINES, readable, key=rank)]


def _with_speaker(each: Fragment, found: Sequence[Passage]) -> Fragment:
    if found[each.group.passage].kind not in _SAID:
        return each
    return replace(each, group=FragmentGroup("said", each.group.passage))


def _names(found: Sequence[Passage], demand: EntityDemand) -> list[Fragment]:
    floor = _MIN_DEMAND * demand.mean_top_demand
    names = (
        each
        for each in list_entries(found, demand.demand, demand.lexicon, None)
        if each.group.section == "names" and demand.demand[each.mentions[0]] >= floor
    )
    return heapq.nsmallest(_MAX_NAMES, names, key=lambda each: -demand.demand[each.mentions[0]])


def _title(group: FragmentGroup, found: Sequence[Passage]) -> str:
    match group.section:
        case "items":
            return group.label.partition(" ")[2]
        case "said":
            return f"{found[group.passage].ref} "
        case "course" if pair := found[group.passage].pair:
            return f"{found[group.passage].ref} {call_title(pair, _TITLE)}"
        case _:
            return group_heading(group, found)


def _said_items(chosen: Iterable[Fragment], found: Sequence[Passage]) -> Iterator[SummaryItem]:
    """Yield one item per passage for what people and the agent said."""
    for group, lines in _by_group(chosen, "said").items():
        section, label = _SAID[found[group.passage].kind]
        text = _title(group, found) + _quoted(lines, found).lstrip()
        yield SummaryItem(
            section=section, label=label, text=text, value=0.0, position=group.passage
        )


def _line_items(
    chosen: Iterable[Fragment], found: Sequence[Passage], room: int
) -> Iterator[SummaryItem]:
    """Yield one item per passage for the lines chosen first that fit in ``room`` characters."""
    shown: dict[FragmentGroup, list[Fragment]] = {}
    for each in chosen:
        if each.group.section == "course":
            heading = 0 if each.group in shown else len(_title(each.group, found)) + _MARGIN
            room -= len(each.text) + _MARGIN + heading
            if room < 0:
                break
            shown.setdefault(each.group, []).append(each)
    for group, lines in shown.items():
        text = f"{_title(group, found)}\n{_quoted(lines, found)}"
        yield SummaryItem(section=3, label=KEY_LINES, text=text, value=0.0, position=group.passage)


def _quoted(lines: Sequence[Fragment], found: Sequence[Passage]) -> str:
    quoted = (line.removeprefix(QUOTE) for line in quote_lines(found, lines, gaps=False))
    return "\n".join(quoted)


def _by_group(
    chosen: Iterable[Fragment], section: DigestSection
) -> dict[FragmentGroup, list[Fragment]]:
    found: dict[FragmentGroup, list[Fragment]] = {}
    for each in chosen:
        if each.group.section == section:
            found.setdefault(each.group, []).append(each)
    return found


def _name_items(chosen: Sequence[Fragment]) -> Iterator[SummaryItem]:
    """Yield one item per folder for the names chosen that stand nowhere else."""
    said = {name for each in chosen if each.group.section != "names" for name in each.describes}
    names = [each for each in chosen if not said.issuperset(each.mentions)]
    by_folder = _by_group(names, "names")
    for place, group in enumerate(sorted(by_folder, key=lambda group: group.label)):
        text = list_row(group, by_folder[group])
        yield SummaryItem(section=2, label=NAMES, text=text, value=0.0, position=place)
