"""JSON inside a text is edited where it stands: no other byte changes, and all come back."""

import json
from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

from examples import tries
from formats.jsonl import decoded
from hypothesis import given
from hypothesis import strategies as st

from compactctl.formats.openai_chat import OpenAIChat
from compactctl.formats.records.decode import Decoded
from compactctl.model.edit import Edit, Hide, Insert, Replace
from compactctl.model.message import GroupId, Message, MessageId, Synthetic
from compactctl.model.paths import json_in
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import fold
from compactctl.pipeline.inline import take_back
from compactctl.pipeline.layout import Layout, LayoutStyle, lay_out
from compactctl.pipeline.quoted import plain
from compactctl.pipeline.spans import find_array, find_places

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
MESSAGES = st.lists(TEXTS | st.sampled_from(['"\\/\n', "é☃🙂", "}],{"]), min_size=1, max_size=6)
GROUP = GroupId("g")
SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class _TextsRead:
    """Reads and writes chat messages in an array that is written as a text."""

    def __getattr__(self, name: str) -> Any:
        return getattr(OpenAIChat(), name)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        return OpenAIChat().read(replace(line, values=(_opened(line.values[0]),)) for line in lines)


def _opened(value: Any) -> Any:
    return {**value, "messages": json_in(json_in(value["messages"]))}


def spelled(text: str, random: Random) -> str:
    """Return a JSON string that says ``text``; each character is spelled in any of its ways."""
    return f'"{"".join(_letter(letter, random) for letter in text)}"'


def _letter(letter: str, random: Random) -> str:
    units = letter.encode("utf-16-be")
    escape = "".join(f"\\u{units[at]:02x}{units[at + 1]:02X}" for at in range(0, len(units), 2))
    ways = [escape, *([SHORT[letter]] if letter in SHORT else [])]
    ways += [letter] * 6 if letter >= " " and letter not in '"\\' else []
    return random.choice(ways)


def line_of(said: list[str], random: Random, depth: int) -> bytes:
    """Return a row whose messages stand in ``depth`` texts."""
    records = [{"role": ("user", "assistant")[at % 2], "content": t} for at, t in enumerate(said)]
    value = json.dumps(records, ensure_ascii=random.random() < 0.5)
    for _ in range(depth):
        value = spelled(value, random)
    return f'{{ "id":1,"messages" :{value}, "note":"\\u00e9\\/" }}\n'.encode()


def edits_of(messages: tuple[Message, ...], fates: list[str]) -> list[Edit]:
    """Return what makes each message ``kept``, ``hidden`` behind a summary, or ``rewritten``."""
    by_fate: dict[str, list[MessageId]] = {}
    for message, fate in zip(messages, fates, strict=False):
        by_fate.setdefault(fate, []).append(message.id)
    edits: list[Edit] = []
    hidden = by_fate.get("hidden", [])
    if hidden:
        text = 'All of "it" ☃'
        summary = Synthetic(id=MessageId("s"), kind="summary", role="user", text=text, group=GROUP)
        edits.append(Insert(before=hidden[0], message=summary))
        edits.append(Hide(ids=tuple(hidden), group=GROUP, kind="condense"))
    return edits + [
        Replace(id=name, part=0, text='short "é"\n', group=GroupId("r"))
        for name in by_fate.get("rewritten", [])
    ]


def new_line(line: bytes, fates: list[str], layout: Layout) -> bytes:
    """Return what edits make of a line."""
    transcript = _TextsRead().read(decoded([line]))
    folded = fold(edits_of(transcript.effective, fates))
    style = LayoutStyle(layout=layout, operation="op")
    (made,) = lay_out([line], transcript, folded, _TextsRead(), style)
    return made.data


@given(
    MESSAGES,
    st.lists(st.sampled_from(["kept", "hidden", "rewritten"]), min_size=6, max_size=6),
    st.integers(0, 2),
    st.randoms(use_true_random=False),
)
@tries(300)
def test_an_edit_inside_a_text_leaves_every_other_byte_alone(
    said: list[str], fates: list[str], depth: int, random: Random
) -> None:
    line = line_of(said, random, depth)
    made = new_line(line, fates, "split").decode()
    old, old_array = line.decode(), find_array(line.decode(), ("messages",))
    array = find_array(made, ("messages",))
    assert old_array.depth == array.depth == depth
    left = [fate for fate in fates[: len(said)] if fate != "hidden"]
    new = [made[start:end] for start, end in array.elements]
    if "hidden" in fates[: len(said)]:
        at = fates.index("hidden")
        assert json.loads(plain(new.pop(at), depth))["content"] == 'All of "it" ☃'
    before = [
        old[start:end]
        for (start, end), fate in zip(old_array.elements, fates, strict=False)
        if fate != "hidden"
    ]
    for was, now, fate in zip(before, new, left, strict=True):
        if fate == "kept":
            assert now == was
        else:
            start, end = find_places(was, [("content",)], depth)[("content",)].span
            assert now.startswith(was[:start])
            assert json.loads(plain(now, depth))["content"] == 'short "é"\n'
            assert was[end:].removesuffix(was[-1:])[:1] in now
    assert made[: array.elements[0][0] if array.elements else 0] in old
    assert made.endswith(old[old_array.elements[-1][1] :])


@given(
    MESSAGES,
    st.lists(st.sampled_from(["kept", "hidden", "rewritten"]), min_size=6, max_size=6),
    st.integers(0, 2),
    st.randoms(use_true_random=False),
)
@tries(300)
def test_taking_back_what_was_written_inside_a_text_restores_every_byte(
    said: list[str], fates: list[str], depth: int, random: Random
) -> None:
    line = line_of(said, random, depth)
    made = new_line(line, fates, "inline")
    assert take_back([made], _TextsRead().read(decoded([made])), {"g", "r"}) == (line,)
