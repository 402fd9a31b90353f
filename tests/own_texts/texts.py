"""Hostile texts, and the digests and hand-overs that hold them."""

from typing import get_args

from hypothesis import strategies as st

from compactctl.model.own_texts import (
    REQUESTS,
    SPOKEN,
    DigestEntry,
    EntrySpeaker,
    HandOver,
    HandOverItem,
    HandOverSection,
    OwnDigest,
    read_lines,
)

OWN_LINES = (
    "## Course",
    "## Also named",
    "### 1. Goal",
    "[L7] user",
    "[L7] reported user",
    "reported agent",
    "[#1] operator",
    "[L7] Bash npm test",
    "> quoted",
    "| said",
    "- item",
    "  indented",
    "N/A",
    "(none)",
    "\u2026",
    "[end, 3 messages follow]",
    REQUESTS,
    "Digest of 3 earlier messages, made without a model (format 2): x",
    "Hand-over of 3 earlier messages, extracted without a model (format 2): x",
    "",
    " ",
    "[#] [L3] x",
)
"""Lines as the codec writes them."""

LINES = st.one_of(
    st.sampled_from(OWN_LINES),
    st.text(max_size=20).map(lambda text: read_lines(text)[0]),
    st.builds("{}{}".format, st.sampled_from(OWN_LINES), st.sampled_from(("", " ", "x", ":"))),
)
TEXTS = st.lists(LINES, max_size=5).map("\n".join)
TITLES = LINES.map(lambda line: " ".join(line.split()))
REFS = st.one_of(st.just(""), st.from_regex(r"[LM][1-9]\d{0,3}(\.[1-9])?(@[1-9])?", fullmatch=True))
COUNTS = st.integers(0, 10**9)
ROWS = st.lists(LINES.filter(bool), max_size=3).map(tuple)


@st.composite
def entries(draw: st.DrawFn) -> DigestEntry:
    speaker = draw(st.sampled_from(get_args(EntrySpeaker)))
    lines = draw(st.lists(st.one_of(st.none(), LINES), max_size=4))
    title = draw(TITLES) if speaker in {"answer", "file", "note", "tool"} else ""
    is_proven = speaker not in SPOKEN or draw(st.booleans())
    return DigestEntry(speaker, tuple(lines), title, draw(REFS), is_proven)


DIGESTS = st.builds(
    OwnDigest,
    count=COUNTS,
    following=COUNTS,
    is_in_place=st.booleans(),
    tasks=ROWS,
    files=ROWS,
    entries=st.lists(entries(), max_size=4).map(tuple),
    names=ROWS,
)
LABELS = st.sampled_from(("", REQUESTS, "Errors:", "Earlier summary [L3]:"))
ITEMS = st.lists(st.builds(HandOverItem, TEXTS, LABELS, REFS), max_size=4).map(
    lambda items: tuple(sorted(items, key=lambda item: item.label))
)


def _section(heading: str, items: tuple[HandOverItem, ...], empty: str) -> HandOverSection:
    return HandOverSection(heading, items, "" if items else empty)


SECTIONS = st.lists(
    st.builds(_section, TITLES.filter(bool), ITEMS, st.sampled_from(("", "N/A", "(none)"))),
    max_size=4,
).map(tuple)
DOCUMENTS = st.one_of(
    st.builds(
        HandOver,
        count=COUNTS,
        following=COUNTS,
        span=st.sampled_from(("", "L1 to L9")),
        sections=SECTIONS,
    ),
    st.builds(
        lambda count, following, items, tally: HandOver(
            count=count,
            following=following,
            sections=(HandOverSection("", items),) if items else (),
            is_short=not tally,
            tally=tally,
        ),
        COUNTS,
        COUNTS,
        ITEMS,
        st.one_of(st.none(), st.tuples(COUNTS, COUNTS, COUNTS)),
    ),
)
OWN_TEXTS = st.one_of(DIGESTS, DOCUMENTS)
