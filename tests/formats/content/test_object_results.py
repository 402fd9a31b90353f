"""Results that are not texts: counted without the data in them, and rewritten as text."""

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from formats.agent_code.sessions import TALK as AGENT_CODE
from formats.agent_code.sessions import session as agent_code_session
from formats.anthropic_talk import TALK as ANTHROPIC
from formats.claude_code.sessions import answered, called, said, user
from formats.codex.rollouts import call, message, output, record
from formats.content.block_kinds import PICTURE
from formats.copilot_cli import sessions as copilot
from formats.gemini_cli.talks import SESSION, apart
from formats.jsonl import decoded, raw_lines
from formats.logs import contents, converse
from formats.logs import response_items as responses
from formats.logs import ui_messages as ui
from formats.neurolink_talk import TALK as NEUROLINK
from formats.openai_talk import TALK as OPENAI
from formats.opencode.sessions import session as opencode_session
from formats.spring_ai.events import event, talk
from formats.written import STUB, load

from compactctl.clients.detection import detect
from compactctl.history.apply import net_edits
from compactctl.history.pairs import find_orphans
from compactctl.model.edit import Replace
from compactctl.model.message import GroupId, JsonPath
from compactctl.model.transcript import Transcript
from compactctl.pipeline.layout import LayoutOptions, lay_out

TALKS: Mapping[str, list[Any]] = {
    "anthropic-messages": ANTHROPIC,
    "openai-chat": OPENAI,
    "codex": [
        record("session_meta", base_instructions={"text": "base"}),
        message("user", "one"),
        call("a"),
        output("a", "1"),
        message("assistant", "done"),
    ],
    "claude-code": [
        user("u", None, "one"),
        called("a", "u", "c"),
        answered("r", "a", "c"),
        said("e", "r", "done"),
    ],
    "gemini-cli": [SESSION, *apart()],
    "spring-ai": talk(event),
    "agent-code": [agent_code_session(*AGENT_CODE)],
    "neurolink": NEUROLINK,
    "copilot-cli": copilot.session(
        copilot.prompt("one"), copilot.called("c"), copilot.answered("c"), copilot.said("done")
    ),
    "opencode": [opencode_session()],
    "bedrock-converse": converse.talk(1),
    "gemini-api": contents.talk(1),
    "ai-sdk": ui.talk(1),
    "openai-responses": responses.talk(1),
}
ROWS = {"rows": list(range(40))}
# A list whose first item only looks like a text.
MIXED = [{"type": "not_known_yet", "text": '"rows":[0,1,2'}, {"type": "text", "text": "and more"}]
SHOT = {**ROWS, "shot": {"data": PICTURE, "mimeType": "image/png"}}


SCALARS = (0, 5, 2.5, True, False, None, ["x", 3, True])

LISTS = ("anthropic-messages", "openai-chat", "codex", "claude-code", "agent-code")


def put(record: Any, path: JsonPath, value: object) -> None:
    for step in path[:-1]:
        record = record[step]
    record[path[-1]] = value


def with_results(name: str, value: object) -> tuple[Transcript, list[bytes]]:
    """Return a talk, and its lines with a value as the content of each result."""
    records = copy.deepcopy(TALKS[name])
    whole = load(raw_lines(*records))
    for sent in whole.effective:
        for part in sent.results:
            put(records[sent.line], part.path, value)
    return whole, raw_lines(*records)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in TALKS for value in (ROWS, SHOT)),
        *((name, MIXED) for name in LISTS),
    ],
    ids=lambda each: each if isinstance(each, str) else str(each)[-30:],
)
def test_a_result_that_is_an_object_is_counted_and_rewritten(name: str, value: Any) -> None:
    whole, lines = with_results(name, value)
    before = load(lines)
    results = [part for one in before.effective for part in one.results]
    assert len(results) == sum(len(one.results) for one in whole.effective) > 0
    assert all('"rows":[0,1,2' in part.text.replace("\\", "") for part in results)
    assert not any(PICTURE in part.text for part in results)
    assert {len(part.media) for part in results} == {1 if value is SHOT else 0}
    assert written_over(lines, before) == {STUB}


@pytest.mark.parametrize("value", SCALARS, ids=repr)
@pytest.mark.parametrize("name", TALKS)
def test_a_result_that_is_a_number_or_nothing_keeps_its_call(name: str, value: Any) -> None:
    whole, lines = with_results(name, value)
    before = load(lines)
    (text,) = {part.text for one in before.effective for part in one.results}
    assert (before.format, before.unread.n_bytes) == (whole.format, whole.unread.n_bytes)
    assert find_orphans(before.effective) == find_orphans(whole.effective)
    if isinstance(value, list):
        assert all(word in text for word in ("x", "3", "true"))
    else:
        assert text == ("" if value is None else json.dumps(value))
        assert written_over(lines, before) == {STUB}


def written_over(lines: list[bytes], before: Transcript) -> set[str]:
    """Return the results of a file in which every result was replaced by a stub."""
    edits = [
        Replace(id=one.id, part=at, text=STUB, group=GroupId("e1"))
        for one in before.effective
        for at, part in enumerate(one.parts)
        if part in one.results
    ]
    style = LayoutOptions(layout="split", operation="op1")
    new = lay_out(lines, before, net_edits(edits), detect(decoded(lines), "test"), style)
    again = load([line.data for line in new])
    assert PICTURE not in json.dumps([line.data.decode() for line in new])
    return {part.text for one in again.effective for part in one.results}
