"""A client goes on with what ``rescue`` has set right, and asks for nothing that is refused."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from clients.asking import compactctl
from clients.desk import Client, Desk
from clients.given import model_of, placed, resumed_by
from clients.running import ALL_CLIENTS
from clients.stub import StubModel
from refusals.inputs import FAULTS, Fault
from refusals.oracle import Place, find_refusals
from refusals.talks import sound_talk

PROMPT = "And now, please?"
Rules = Mapping[str, Sequence[tuple[str, str]]]
# Rules with their variants. OpenCode is not here: it imports only sessions with every field that it
# exports.
SENT_ON: Rules = {
    "claude-code": (("result-first", ""), ("thinking-signature", "none"), ("image-bytes", "")),
    "codex": (("call-id-length", ""), ("reasoning-encrypted", "none"), ("item-value", "")),
    "copilot-cli": (("field-required", "path"),),
    "gemini-cli": (("call-without-result", "of two"), ("call-without-result", "")),
    "pi": (("result-without-call", ""), ("call-id-unique", ""), ("image-readable", "")),
}
"""Faults that the newest version of a client passes on, or with which it does not go on at all."""
FIXED: Rules = {
    "claude-code": (("call-id-unique", ""), ("parent-missing", "")),
    "copilot-cli": (("field-required", "summary"), ("call-without-result", "")),
}
"""Faults that it sets right by itself, some by leaving out what was said."""


def cases(*rules: Rules) -> list[object]:
    """Return the newest version of each client with each of its faults."""
    return [
        pytest.param(client, fault, id=f"{client.program}:{fault.label}")
        for client in ALL_CLIENTS
        if not client.program.endswith("-older")
        for fault in FAULTS
        if fault.form == client.name and not fault.fixed_since
        if any((fault.rule, fault.variant) in rule.get(client.name, ()) for rule in rules)
    ]


# Gemini's model stands in the address, and Copilot asks for any model by OpenAI's chat completions.
MODELS = {
    "gemini-cli": {"model": "gemini-2.5-pro"},
    "copilot-cli": {"model": "gpt-5"},
}
TEXTS = [
    block.get("text") or block["content"]
    for message in sound_talk()
    for block in message["content"]
    if block["type"] in ("text", "tool_result")
]


def send_prompt(client: Client, desk: Desk, session: str) -> list[Path]:
    """Go on with a session; return the requests that may call tools, as files."""
    desk.model.expect()
    client.say(desk, PROMPT, session=resumed_by(client, session), limit=None)
    requests = [request for request in desk.model.requests if request.get("tools")]
    paths = [desk.home / f"request-{number}.json" for number in range(len(requests))]
    for path, request in zip(paths, requests, strict=True):
        path.write_text(json.dumps(request | MODELS.get(client.name, {})))
    return paths


@pytest.fixture
def desk(tmp_path: Path, programs: Path, model: StubModel) -> Desk:
    """Return a desk with a home of its own."""
    return Desk(home=tmp_path / "home", programs=programs, model=model)


def put(client: Client, fault: Fault, desk: Desk) -> tuple[Desk, str]:
    """Put a faulty session where its client finds it; return which, and the desk with its model."""
    if not (desk.programs / client.program).exists():
        pytest.skip(f"{client.program} is not installed")
    session = placed(client, fault.make().faulty, desk)
    return replace(desk, asked=model_of(Path(session).read_bytes())), session


@pytest.mark.parametrize(("client", "fault"), cases(SENT_ON))
def test_the_faulty_session_is_refused(client: Client, fault: Fault, desk: Desk) -> None:
    desk, session = put(client, fault, desk)
    requests = send_prompt(client, desk, session)
    places: list[Place] = [place for path in requests for place in find_refusals(path)]
    assert not requests or fault.rule in {place.rule for place in places}


@pytest.mark.parametrize(("client", "fault"), cases(SENT_ON, FIXED))
def test_the_rescued_session_is_accepted(client: Client, fault: Fault, desk: Desk) -> None:
    desk, session = put(client, fault, desk)
    texts = [words for words in TEXTS if words in Path(session).read_text()]
    report = compactctl(desk, "rescue", session)["compact"]
    assert isinstance(report, dict)
    requests = send_prompt(client, desk, str(report["output"]))
    assert len(requests) == 1
    assert find_refusals(requests[0]) == []
    assert [words for words in texts if words not in requests[0].read_text()] == []
