"""A client goes on with what ``rescue`` has set right: nothing is refused, and nothing is lost."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from clients.asking import compactctl
from clients.desk import Client, Desk
from clients.given import model_of, placed, resumed_by
from clients.running import ALL_CLIENTS
from clients.stub import StubModel
from refusals.inputs import EVENT, FAULTS, Fault
from refusals.oracle import find_refusals
from refusals.talks import WRITERS, claude_code, sound_talk
from transcripts import FOLDER, VARIABLE

PROMPT = "And now, please?"
ACCEPTED, CUT, REFUSED, SENT = "accepted", "cut", "refused", "sent"
_CLAUDE_CODE: Mapping[str, Sequence[str]] = {
    ACCEPTED: (
        "call-without-result of two",
        "call-without-result of a server",
        "result-without-call",
        "result-without-call beside text",
        "result-once",
        "surrogate",
        "text-empty blank",
        "message-empty",
        "header",
        "bom",
    ),
    CUT: ("call-without-result", "result-not-next", "call-id-unique", "parent-missing", "torn"),
    REFUSED: ("image-bytes",),
}
OUTCOMES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "claude": {
        **_CLAUDE_CODE,
        ACCEPTED: (*_CLAUDE_CODE[ACCEPTED], "text-empty", "text-empty cached"),
    },
    "claude-older": _CLAUDE_CODE,
    "codex": {
        ACCEPTED: (
            "call-without-result of two",
            "call-without-result",
            "result-without-call",
            "image-readable",
            "ordinal missing",
            "ordinal twice",
        ),
        CUT: ("field-type",),
        REFUSED: ("bom", "header", "ordinal missing at the end"),
    },
    "copilot": {
        ACCEPTED: (
            "call-without-result of two",
            "call-without-result",
            "field-value exit code",
            "field-value tokens",
            "field-required summary",
            "torn",
        ),
        REFUSED: ("field-required path",),
    },
    "gemini": {},
    "pi": {},
}
"""What becomes of the faults of a session, by program: the rules with their variants.

The client sets it right and sends every word, or it cuts words out, or it refuses to go on at all.
What is not here it sends with its fault. OpenCode is missing: it imports only sessions with every
field that it exports.
"""

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


def outcome_of(client: Client, fault: Fault) -> str:
    """Return what becomes of a fault."""
    name = f"{fault.rule} {fault.variant}".strip()
    outcomes = OUTCOMES[client.program]
    return next((outcome for outcome, names in outcomes.items() if name in names), SENT)


def cases() -> Iterator[object]:
    """Yield each client with each fault of its format; only one that matters tests a change."""
    for client in ALL_CLIENTS:
        if client.program not in OUTCOMES:
            continue
        faults = [fault for fault in FAULTS if fault.form == client.name and not fault.fixed_since]
        faults.sort(key=lambda fault: outcome_of(client, fault) == ACCEPTED)
        for number, fault in enumerate(faults):
            label = f"{client.program}:{outcome_of(client, fault)}:{fault.label}"
            marks = [pytest.mark.long] if number else []
            yield pytest.param(client, fault, id=label, marks=marks)


def put(client: Client, desk: Desk, fault: Fault) -> tuple[str, list[str]]:
    """Put a faulty session where its client finds it; return which, and which words are in it.

    Its header may be damaged, so it is that of the sound one that tells the place.
    """
    case = fault.make()
    session = Path(placed(client, case.sound, desk))
    here = {b"/home/dev/harbor": str(desk.project).encode(), b'"openai"': b'"stub"'}
    data = case.faulty
    for name, name_here in here.items():
        data = data.replace(name, name_here)
    session.write_bytes(data)
    text = session.read_text()
    return str(session), [words for words in TEXTS if words in text]


def rescue(desk: Desk, session: str, *options: str) -> str:
    """Return the new session that ``rescue`` writes."""
    report = compactctl(desk, "rescue", session, *options)["compact"]
    assert isinstance(report, dict)
    return str(report["output"])


def send_prompt(client: Client, desk: Desk, session: str) -> list[Path]:
    """Go on with a session; return the requests that may call tools, as files."""
    desk.model.expect()
    desk = replace(desk, asked=model_of(Path(session).read_bytes()))
    client.say(desk, PROMPT, session=resumed_by(client, session), limit=None)
    requests = [request for request in desk.model.requests if request.get("tools")]
    paths = [desk.home / f"request-{number}.json" for number in range(len(requests))]
    for path, request in zip(paths, requests, strict=True):
        path.write_text(json.dumps(request | MODELS.get(client.name, {})))
    return paths


def missing(texts: Sequence[str], request: Path) -> list[str]:
    """Return the words that are not in a request."""
    text = request.read_text()
    return [words for words in texts if words not in text]


@pytest.fixture
def desk(client: Client, tmp_path: Path, programs: Path, model: StubModel) -> Desk:
    """Return a desk with a home of its own, or skip what is not installed."""
    if not (programs / client.program).exists():
        pytest.skip(f"{client.program} is not installed")
    return Desk(home=tmp_path / "home", programs=programs, model=model)


every_case = pytest.mark.parametrize(("client", "fault"), [*cases()])


@every_case
def test_the_client_fails_at_the_faulty_session_or_sets_it_right(
    client: Client, fault: Fault, desk: Desk
) -> None:
    session, texts = put(client, desk, fault)
    requests = send_prompt(client, desk, session)
    outcome = outcome_of(client, fault)
    assert len(requests) == (0 if outcome == REFUSED else 1)
    for request in requests:
        rules = {refusal.rule for refusal in find_refusals(request)}
        assert rules == ({fault.rule} if outcome == SENT else set())
        assert bool(missing(texts, request)) == (outcome == CUT)


@every_case
def test_the_client_sends_the_rescued_session_whole(
    client: Client, fault: Fault, desk: Desk
) -> None:
    session, texts = put(client, desk, fault)
    (request,) = send_prompt(client, desk, rescue(desk, session))
    assert find_refusals(request) == []
    assert missing(texts, request) == []


Damage = Callable[[bytes], bytes]
DAMAGES: Mapping[str, Damage] = {
    "missing": lambda _: b"",
    "torn": lambda line: line[: len(line) // 2] + b"\n",
}
"""What becomes of the line of a record to which the next one hangs."""
CUT_SESSION = FOLDER / "claude-code" / "cli-5d107d-0.jsonl"

each_claude_code = pytest.mark.parametrize(
    "client",
    [client for client in ALL_CLIENTS if client.name == "claude-code"],
    ids=lambda client: client.program,
)


def whole_and_cut(damage: Damage) -> tuple[bytes, bytes]:
    """Return a session of Claude Code, and the same with a damaged record between two turns."""
    written = claude_code(sound_talk())
    answer, question = written.records[3:5]
    record = {key: answer[key] for key in answer.keys() - {"message", "requestId"}}
    record |= {"type": "system", "subtype": "turn_duration", "durationMs": 9_000}
    record |= {"uuid": EVENT, "parentUuid": answer["uuid"]}
    question["parentUuid"] = EVENT
    written.records.insert(4, record)
    whole = written.data()
    lines = whole.splitlines(keepends=True)
    lines[4] = damage(lines[4])
    return whole, b"".join(lines)


def sent_messages(client: Client, desk: Desk, session: str) -> list[object]:
    """Go on with a session of Claude Code; return the messages of the request."""
    (request,) = send_prompt(client, desk, session)
    messages: list[object] = json.loads(request.read_text())["messages"]
    return messages


@each_claude_code
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_cut_session_is_sent_whole_again(client: Client, damage: Damage, desk: Desk) -> None:
    whole, cut = whole_and_cut(damage)
    session = placed(client, cut, desk)
    rescued = rescue(desk, session)
    n_cut = len(sent_messages(client, desk, session))
    messages = sent_messages(client, desk, rescued)
    Path(session).write_bytes(whole)
    assert messages == sent_messages(client, desk, session)
    assert n_cut < len(messages)


@pytest.mark.skipif(
    not CUT_SESSION.is_file(), reason=f"no {CUT_SESSION.name}: {VARIABLE} can name its folder"
)
@each_claude_code
def test_a_real_cut_session_is_sent_whole_again(client: Client, desk: Desk) -> None:
    session = placed(client, CUT_SESSION.read_bytes(), desk)
    rescued = rescue(desk, session)
    assert len(sent_messages(client, desk, session)) == 5
    assert len(sent_messages(client, desk, rescued)) == 127


each_with_lines = pytest.mark.parametrize(
    "client",
    [client for client in ALL_CLIENTS if client.name in ("claude-code", "codex", "pi")],
    ids=lambda client: client.program,
)


@each_with_lines
def test_a_client_continues_from_an_earlier_line(client: Client, desk: Desk) -> None:
    written = WRITERS[client.name](sound_talk())
    session = placed(client, written.data(), desk)
    line = written.places[3, 0]
    (request,) = send_prompt(client, desk, rescue(desk, session, "--from", str(line)))
    words = [text for text in TEXTS if text in request.read_text()]
    assert words == TEXTS[: TEXTS.index("Berth 4 is free.") + 1]
    assert find_refusals(request) == []
