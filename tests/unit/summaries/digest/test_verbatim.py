"""What is shown of a text is verbatim, with marks exactly where something is missing."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from builders import assistant, call, conversation, result, user
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from unit.stages.support.trials import meter

from compactctl.model.message import Message
from compactctl.model.summary import SummaryRequest
from compactctl.stages.support.replacement import reword_long_texts
from compactctl.summaries.digest.digest import DigestRequest, write_digest
from compactctl.summaries.digest.in_place import InPlaceRequest, distill_in_place
from compactctl.summaries.document.offline import write_offline_summary
from compactctl.summaries.extract.items import KEY_LINES
from compactctl.tokens.counters.counter import Exactness
from compactctl.tokens.meter import Meter

GAP = "…"
WORDS = st.sampled_from(
    [
        "soil_sensor",
        "rain_gauge",
        "reads",
        "too",
        "high",
        "now",
        "because",
        "port",
        "80",
        "is",
        "shut",
    ]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)
# Words that repeat, so that a piece often occurs twice in its line.
LONG_LINES = st.lists(SENTENCES, min_size=12, max_size=60).map("; ".join)
JSON_LINES = st.lists(st.fixed_dictionaries({"gauge": SENTENCES, "n": st.integers(0, 9)}),
                      min_size=9, max_size=20).map(json.dumps)  # fmt: skip
LINES = st.lists(
    st.one_of(
        SENTENCES, SENTENCES, LONG_LINES, JSON_LINES, st.sampled_from(["", "{", "\t\tend", "- a"])
    ),
    min_size=2,
    max_size=25,
)


class Text(NamedTuple):
    """A text, and its lines as they are quoted."""

    text: str
    lines: Sequence[str]


def same(lines: Sequence[str]) -> Text:
    return Text("\n".join(lines), lines)


def numbered(lines: Sequence[str], start: int) -> Text:
    return Text("\n".join(f"{n:>6}→{line}" for n, line in enumerate(lines, start)), lines)


TEXTS = st.one_of(
    LINES.map(same),
    LINES.map(lambda lines: Text("\r\n".join(lines), lines)),
    LINES.map(lambda lines: same([f"{n}. {line}" for n, line in enumerate(lines, 1)])),
    LINES.map(lambda lines: same([f"{1000 + 7 * n}\t{line}" for n, line in enumerate(lines)])),
    LINES.map(lambda lines: same([f"{80 * n}: {line}" for n, line in enumerate(lines, 1)])),
)
RESULTS = st.one_of(TEXTS, st.builds(numbered, LINES, st.integers(1, 900)))


def fits(lines: Sequence[str], shown: Sequence[str], *, with_ends: bool) -> bool:
    """Whether what is shown of some lines is verbatim, with a mark for each gap and no other."""
    lines = [re.sub(r"\s+$", "", line) for line in lines]
    shown = [re.sub(r"\s+$", "", line) for line in shown]
    # The rows behind which the next shown line may stand.
    ends, is_marked = {0}, False
    if not with_ends:
        ends = set(range(len(lines) + 1))
    for number, line in enumerate(shown):
        if line == GAP:
            if is_marked or (not with_ends and number in {0, len(shown) - 1}):
                return False
            is_marked = True
            continue
        ends = {
            row + 1
            for end in ends
            for row in (range(end + 1, len(lines)) if is_marked else range(end, end + 1))
            if row < len(lines) and is_line(line, lines[row])
        }
        is_marked = False
    if with_ends:
        return any(end < len(lines) if is_marked else end == len(lines) for end in ends)
    return bool(ends)


def is_line(shown: str, line: str) -> bool:
    """Whether a shown line is a whole one, or pieces of it with a mark for each that is missing."""
    if GAP not in shown:
        return shown == line
    pieces = [re.escape(piece.strip()) for piece in shown.split(GAP)]
    return re.fullmatch(r"\s*" + r".*\S.*".join(pieces), line) is not None


class Talk(NamedTuple):
    """A conversation that shows three texts: what is written, what a command shows, what is said.

    Attributes:
        messages: its messages.
        lines: the lines that may be quoted below the heading of each message, by its number.
    """

    messages: tuple[Message, ...]
    lines: dict[int, Sequence[str]]


@st.composite
def talks(draw: st.DrawFn) -> Talk:
    written, output, said = draw(TEXTS), draw(RESULTS), draw(TEXTS)
    messages = conversation(
        user("Look at the soil_sensor."),
        call("w", "Write", file_path="a.py", content=written.text),
        result("w", "File written."),
        call("b", "Bash", command="cat b.txt"),
        result("b", output.text),
        assistant(said.text),
        user("Go on with rain_gauge and soil_sensor."),
    )
    first, *others = written.lines
    return Talk(
        messages,
        {2: [f"content: {first}", *others, "File written."], 4: output.lines, 6: said.lines},
    )


def quoted_blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines below each heading of a digest, without the mark of a quotation."""
    for block in re.finditer(r"^\[L(\d+)\] .*\n((?:(?:>|…).*\n)+)", f"{text}\n", re.MULTILINE):
        lines = block[2].splitlines()
        yield int(block[1]), [re.sub(r"^> ?", "", line) for line in lines]


class QuarterCounter:
    id = "quarters"
    exactness: Exactness = "estimate"

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [len(text) // 4 + 1 for text in texts]


@tries(60)
@given(talk=talks(), budget=st.integers(60, 1_500))
def test_a_digest_is_verbatim(talk: Talk, budget: int) -> None:
    request = DigestRequest(messages=talk.messages, budget=budget)
    digest = write_digest(request, Meter(QuarterCounter())).text
    # The heading names the file, not the whole command.
    lines = {**talk.lines, 4: ("command: cat b.txt", *talk.lines[4])}
    for number, shown in quoted_blocks(digest):
        assert fits(lines[number], shown, with_ends=False), (number, shown)


@tries(60)
@given(talk=talks(), budget=st.integers(200, 1_500))
def test_a_document_is_verbatim(talk: Talk, budget: int) -> None:
    request = SummaryRequest(messages=talk.messages, budget=budget)
    text = write_offline_summary(request, lambda text: len(text) // 4 + 1).text
    key_lines = text.partition(f"{KEY_LINES}\n")[2].partition("\n###")[0]
    for block in re.finditer(r"^- \[L(\d+)\] .*\n((?:  .*\n)+)", f"{key_lines}\n", re.MULTILINE):
        shown = [line.removeprefix("  ") for line in block[2].splitlines()]
        assert all(line == GAP or re.match(r">(?: |$)", line) for line in shown)
        shown = [re.sub(r"^> ?", "", line) for line in shown]
        assert fits(talk.lines[int(block[1])], shown, with_ends=False), shown


@tries(60)
@given(talk=talks(), budget=st.integers(60, 1_500))
def test_messages_in_place_are_verbatim(talk: Talk, budget: int) -> None:
    request = InPlaceRequest(
        digest=DigestRequest(messages=talk.messages, budget=budget),
        units=((0,), (1, 2), (3, 4), (5,), (6,)),
        immutable=frozenset(),
        reword=lambda part, reword: reword_long_texts(part, 20, reword),
    )
    distilled = distill_in_place(request, meter())
    first, *others = talk.lines[2][:-1]
    sources = {1: [first.removeprefix("content: "), *others], 4: talk.lines[4], 5: talk.lines[6]}
    for index, text in distilled.changed.items():
        if index.message in sources:
            content = json.loads(text)["content"] if index.message == 1 else text
            shown = content.split("\n")
            assert fits(sources[index.message], shown, with_ends=True), (index, shown)
    for number, shown in quoted_blocks(distilled.text):
        assert fits(talk.lines[number], shown, with_ends=False), (number, shown)
