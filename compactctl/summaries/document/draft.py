"""Compose a hand-over document of items, quoted lines and names, within a budget."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from compactctl.model.own_texts import (
    GAP,
    QUOTE,
    HandOver,
    HandOverItem,
    HandOverSection,
    heading,
    read_lines,
)
from compactctl.records import Record, replace
from compactctl.summaries.digest.facts import LineIndex, StateFact, speaker, title
from compactctl.summaries.digest.fragments import (
    DigestSection,
    Fragment,
    FragmentGroup,
    collect_fragments,
    list_entries,
)
from compactctl.summaries.digest.neighbors import find_neighbors
from compactctl.summaries.digest.render import (
    group_heading,
    list_row,
    quote_lines,
    with_gaps,
)
from compactctl.summaries.digest.selection import FragmentPool, Selection
from compactctl.summaries.document.templates import NINE, Template
from compactctl.summaries.extract.current_work import call_title
from compactctl.summaries.extract.entities import EntityDemand
from compactctl.summaries.extract.items import KEY_LINES, NAMES, SAID, SummaryItem
from compactctl.summaries.extract.passages import Passage
from compactctl.summaries.extract.sentences import without_marks

# Characters of a call above its quoted lines; paths are never cut.
_TITLE = 90
# Quoted lines of tools are at most 1/3 of the text: among more of them nobody finds anything else.
# Names are chosen for up to 45% of the budget, since those that occur in chosen lines are left out.
_LINES_PART = 3
_NAMES_PERCENT = 45
# Candidates that are weighed against one another, the best of many more. A summary that nobody set
# a size for has at most 8,000 tokens, in which a few hundred of them fit.
_MAX_LINES, _MAX_NAMES = 3_000, 1_500
# A line with more backslashes or quotation marks is data, as is one that begins as JSON.
_MAX_BACKSLASHES = 4
_MAX_QUOTES = 12
# Share of the demand for an entity that its bare name is worth; less than in a digest.
_NAMED = 0.4
# Names with less demand, in units of ``mean_top_demand``, merely happened to be shown.
_MIN_DEMAND = 0.1
# Tokens of a bullet or an indent with the line end, and characters of the same.
_LINE_TOKENS = 2
_MARGIN = 5


def fill_document(
    document: HandOver, items: Iterable[SummaryItem], template: Template = NINE
) -> HandOver:
    """Return a document with all sections of a template and their items."""
    by_section: dict[int, list[SummaryItem]] = {}
    for item in items:
        by_section.setdefault(template.section_for(item.section, item.topic), []).append(item)
    sections = (
        HandOverSection(
            section.heading,
            tuple(document_items(by_section.get(number, ()))),
            "" if number in by_section else template.empty,
        )
        for number, section in enumerate(template.sections, start=1)
    )
    return replace(document, sections=tuple(sections))


def document_items(items: Iterable[SummaryItem]) -> Iterator[HandOverItem]:
    """Yield items as a document holds them, grouped under their labels."""
    for item in sorted(items, key=lambda item: (item.label, item.section, item.position)):
        yield HandOverItem("\n".join(read_lines(item.text)), item.label, item.ref)


class SummaryMaterial(Record):
    """What a summary may hold.

    Attributes:
        passages: the source of quoted lines and names.
        items: items to choose from, by the fragment that represents each in the selection.
        covered: texts that need not be repeated: pinned items, and messages after the summary.
        demand: the entities of the passages that will be needed again.
    """

    passages: Sequence[Passage]
    items: Mapping[Fragment, SummaryItem]
    covered: Sequence[str]
    demand: EntityDemand


class SummaryDraft(Record):
    """A summary under construction: pinned items, and a selection that still grows."""

    document: HandOver
    template: Template
    pinned: Sequence[SummaryItem]
    material: SummaryMaterial
    selection: Selection

    def text(self) -> str:
        """Return the document of what is chosen so far."""
        fragments, passages = self.selection.fragments, self.material.passages
        item_of = self.material.items
        items = [*self.pinned, *(item_of[f] for f in fragments if f in item_of)]
        items += [*_name_items(fragments), *_said_items(fragments, passages)]
        room = len(self._with(items)) // (_LINES_PART - 1)
        return self._with([*items, *_line_items(fragments, passages, room)])

    def _with(self, items: Iterable[SummaryItem]) -> str:
        return fill_document(self.document, items, self.template).encode()


def select_content(
    material: SummaryMaterial, budget: int, count: Callable[[str], int]
) -> Selection:
    """Return an empty selection from items, lines and names for a summary of ``budget`` tokens."""
    passages, demand = material.passages, material.demand
    fragments = (*material.items, *_line_fragments(material), *_names(passages, demand))
    groups = dict.fromkeys(fragment.group for fragment in fragments)
    titles = {group: _title(group, passages) for group in groups}
    names = {group: demand.lexicon.entities(title) for group, title in titles.items()}
    pool = FragmentPool(
        fragments=fragments,
        neighbors=find_neighbors(passages, fragments),
        tokens=[_cost(fragment.text, count) for fragment in fragments],
        headings={group: (_cost(title, count), names[group]) for group, title in titles.items()},
        demand=demand.demand,
        demand_unit=demand.mean_top_demand,
        name_share=_NAMED,
        section_limits={"course": budget // _LINES_PART, "names": budget * _NAMES_PERCENT // 100},
    )
    return Selection(pool, (n for text in material.covered for n in demand.lexicon.entities(text)))


def _cost(text: str, count: Callable[[str], int]) -> int:
    return count(text) + _LINE_TOKENS if text else 0


def fragments_of(items: Iterable[SummaryItem], demand: EntityDemand) -> dict[Fragment, SummaryItem]:
    """Return items by the fragment that represents each; of equal items the last."""
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


def _line_fragments(material: SummaryMaterial) -> list[Fragment]:
    """Return the readable lines about entities, those with the most demand per character."""
    passages, demand = material.passages, material.demand
    covered = {without_marks(line) for text in material.covered for line in text.split("\n")}
    covered.update(item.text for item in material.items.values())
    readable = (
        replace(fragment, facts=())
        for fragment in collect_fragments(passages, {}, demand)
        if fragment.describes and not _is_data(fragment.text)
        if without_marks(fragment.text) not in covered
    )

    def rank(fragment: Fragment) -> float:
        return -sum(demand.demand[name] for name in fragment.describes) / len(fragment.text)

    best = heapq.nsmallest(_MAX_LINES, readable, key=rank)
    return [_with_speaker(fragment, passages) for fragment in best]


def _is_data(text: str) -> bool:
    is_json = text.lstrip().startswith(("{", "["))
    return is_json or text.count("\\") > _MAX_BACKSLASHES or text.count('"') > _MAX_QUOTES


def _with_speaker(fragment: Fragment, passages: Sequence[Passage]) -> Fragment:
    """Move a line of the agent to the group of what it said."""
    if passages[fragment.group.passage].kind != "reply":
        return fragment
    return replace(fragment, group=FragmentGroup("said", fragment.group.passage))


def _names(passages: Sequence[Passage], demand: EntityDemand) -> list[Fragment]:
    min_demand = _MIN_DEMAND * demand.mean_top_demand
    names = (
        entry
        for entry in list_entries(passages, demand.demand, demand.lexicon, None)
        if entry.group.section == "names" and demand.demand[entry.mentions[0]] >= min_demand
    )
    return heapq.nsmallest(_MAX_NAMES, names, key=lambda entry: -demand.demand[entry.mentions[0]])


def _title(group: FragmentGroup, passages: Sequence[Passage]) -> str:
    match group.section:
        case "items":
            return group.label.partition(" ")[2]
        case "said":
            return f"{passages[group.passage].ref} "
        case "course" if pair := passages[group.passage].pair:
            return call_title(pair, _TITLE)
        case "course":
            return heading(speaker(passages[group.passage]), title(passages[group.passage]))
        case _:
            return group_heading(group, passages)


def _said_items(
    fragments: Iterable[Fragment], passages: Sequence[Passage]
) -> Iterator[SummaryItem]:
    """Yield one item per passage for lines of the agent."""
    for group, lines in _by_group(fragments, "said").items():
        yield SummaryItem(
            section=4,
            label=SAID,
            ref=passages[group.passage].ref.name,
            text=_quoted(lines, passages).lstrip(),
            value=0.0,
            position=group.passage,
        )


def _line_items(
    fragments: Iterable[Fragment], passages: Sequence[Passage], room: int
) -> Iterator[SummaryItem]:
    """Yield one item per passage for the first chosen lines that fit in ``room`` characters."""
    shown: dict[FragmentGroup, list[Fragment]] = {}
    for fragment in fragments:
        group = fragment.group
        if group.section == "course":
            source = str(passages[group.passage].ref) + _title(group, passages)
            heading = 0 if group in shown else len(source) + _MARGIN
            room -= len(fragment.text) + _MARGIN + heading
            if room < 0:
                break
            shown.setdefault(group, []).append(fragment)
    for group, lines in shown.items():
        quoted = with_gaps(quote_lines(passages, lines))
        marked = (GAP if line is None else f"{QUOTE}{line}".rstrip() for line in quoted)
        yield SummaryItem(
            section=3,
            label=KEY_LINES,
            ref=passages[group.passage].ref.name,
            text="\n".join((_title(group, passages), *marked)),
            value=0.0,
            position=group.passage,
        )


def _quoted(lines: Sequence[Fragment], passages: Sequence[Passage]) -> str:
    quoted = with_gaps(quote_lines(passages, lines))
    return "\n".join(GAP if line is None else line for line in quoted)


def _by_group(
    fragments: Iterable[Fragment], section: DigestSection
) -> dict[FragmentGroup, list[Fragment]]:
    by_group: dict[FragmentGroup, list[Fragment]] = {}
    for fragment in fragments:
        if fragment.group.section == section:
            by_group.setdefault(fragment.group, []).append(fragment)
    return by_group


def _name_items(fragments: Sequence[Fragment]) -> Iterator[SummaryItem]:
    """Yield one item per folder for the chosen names that no chosen line describes."""
    described = {name for f in fragments if f.group.section != "names" for name in f.describes}
    names = [fragment for fragment in fragments if not described.issuperset(fragment.mentions)]
    by_folder = _by_group(names, "names")
    for position, group in enumerate(sorted(by_folder, key=lambda group: group.label)):
        text = list_row(group, by_folder[group])
        yield SummaryItem(section=2, label=NAMES, text=text, value=0.0, position=position)
