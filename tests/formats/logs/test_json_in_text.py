"""JSON inside a text is edited where it stands: no other byte changes, and all come back."""

import json
from pathlib import Path
from random import Random
from typing import Any

from examples import tries
from formats.jsonl import decoded, read, texts
from formats.squeeze import squeezed
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.apis.openai_chat import OpenAIChat
from compactctl.history.apply import net_edits
from compactctl.model.edit import Edit, Hide, Insert, Replace
from compactctl.model.message import GroupId, Message, MessageId, Synthetic
from compactctl.pipeline.inline import remove_groups
from compactctl.pipeline.layout import Layout, LayoutOptions, lay_out
from compactctl.pipeline.quoted_json import unescape
from compactctl.pipeline.spans import find_array, find_locations

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
MESSAGES = st.lists(TEXTS | st.sampled_from(['"\\/\n', "é☃🙂", "}],{"]), min_size=1, max_size=6)
GROUP = GroupId("g")
SHORT = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


WITH_ANY_EDITS = given(
    MESSAGES,
    st.lists(st.sampled_from(["kept", "hidden", "rewritten"]), min_size=6, max_size=6),
    st.integers(0, 2),
    st.randoms(use_true_random=False),
)


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
    transcript = OpenAIChat().read(decoded([line]))
    folded = net_edits(edits_of(transcript.effective, fates))
    style = LayoutOptions(layout=layout, operation="op")
    (made,) = lay_out([line], transcript, folded, OpenAIChat(), style)
    return made.data


@WITH_ANY_EDITS
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
        assert json.loads(unescape(new.pop(at), depth))["content"] == 'All of "it" ☃'
    before = [
        old[start:end]
        for (start, end), fate in zip(old_array.elements, fates, strict=False)
        if fate != "hidden"
    ]
    for was, now, fate in zip(before, new, left, strict=True):
        if fate == "kept":
            assert now == was
        else:
            start, end = find_locations(was, [("content",)], depth)[("content",)].span
            assert now.startswith(was[:start])
            assert json.loads(unescape(now, depth))["content"] == 'short "é"\n'
            assert was[end:].removesuffix(was[-1:])[:1] in now
    assert made[: array.elements[0][0] if array.elements else 0] in old
    assert made.endswith(old[old_array.elements[-1][1] :])


@WITH_ANY_EDITS
@tries(300)
def test_taking_back_what_was_written_inside_a_text_restores_every_byte(
    said: list[str], fates: list[str], depth: int, random: Random
) -> None:
    line = line_of(said, random, depth)
    made = new_line(line, fates, "inline")
    assert remove_groups([made], OpenAIChat().read(decoded([made])), {"g", "r"}) == (line,)


def spend_log(requests: int = 4) -> dict[str, Any]:
    """Return a row of LiteLLM's table of spend logs, as an export of its database has it."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief"}]
    for number in range(requests):
        messages += [
            {"role": "user", "content": f"Question {number}: " + "why is it so? " * 40},
            {"role": "assistant", "content": f'Answer {number}: "since é"\n' * 40},
        ]
    messages.append({"role": "user", "content": "And now?"})
    choice = {"index": 0, "message": {"role": "assistant", "content": "Done"}}
    response = {"id": "chatcmpl-1", "choices": [choice], "usage": {"prompt_tokens": 1_500}}
    return {
        "request_id": "chatcmpl-1",
        "call_type": "acompletion",
        "spend": 0.001,
        "model": "gpt-4o",
        "metadata": json.dumps({"user_api_key_alias": "ci"}),
        "messages": json.dumps(messages, ensure_ascii=False),
        "response": json.dumps(response),
        "proxy_server_request": "{}",
    }


def test_a_row_with_its_request_as_text_is_read_compacted_and_restored(tmp_path: Path) -> None:
    path = tmp_path / "spend.jsonl"
    path.write_text(json.dumps(spend_log()) + "\n" + json.dumps(spend_log(6)) + "\n")
    result = squeezed(path, ("summarize",), "split", tmp_path)
    assert result.compacted
    assert (result.format, result.outcome.before.messages) == ("openai-chat", 10 + 1 + 14 + 1)


def test_a_request_may_stand_in_a_text_in_a_text() -> None:
    log = spend_log()
    body = json.dumps({"model": "gpt-4o", "messages": log["messages"]})
    outer = json.dumps({"body": body, "headers": {}})
    row = {**log, "messages": "{}", "response": None, "proxy_server_request": outer}
    assert texts(read("openai-chat", row).effective) == texts(
        read("openai-chat", {**log, "response": None}).effective
    )


def test_an_answer_that_is_json_stays_the_text_that_it_is() -> None:
    asked = [{"role": "user", "content": "As JSON, please"}]
    row = {"input": asked, "output": '{"answer": 42}'}
    assert texts(read("openai-chat", row).effective) == ["As JSON, please", '{"answer": 42}']
