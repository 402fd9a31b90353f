"""What a provider or a client refuses is named, set right in a new session, and restorable."""

import json
from pathlib import Path

import pytest
from cli.asking import Ask, Outcome
from refusals.clients import read_file
from refusals.inputs import BESIDE, FAULTS, Fault, Input, sound_inputs
from refusals.oracle import Place, find_refusals
from refusals.talks import sound_talk

from compactctl.clients.registry import format_of
from compactctl.commands.reading.transcript import parse
from compactctl.tokens.meter import part_texts

SOUND = sound_inputs()
TEXTS = [
    block.get("text") or block["content"]
    for message in sound_talk()
    for block in message["content"]
    if block["type"] in ("text", "tool_result")
]

every_fault = pytest.mark.parametrize("fault", FAULTS, ids=[fault.label for fault in FAULTS])
# The next prompt of the user ends it.
ENDED = "ends-with-assistant"
OF_THE_USER = [fault for fault in FAULTS if fault.needs_user and fault.rule != ENDED]
every_fault_of_the_user = pytest.mark.parametrize(
    "fault", OF_THE_USER, ids=[fault.label for fault in OF_THE_USER]
)
REPAIRABLE = [fault for fault in FAULTS if not fault.needs_user]
every_repairable_fault = pytest.mark.parametrize(
    "fault", REPAIRABLE, ids=[fault.label for fault in REPAIRABLE]
)
every_sound_file = pytest.mark.parametrize("what", SOUND)


def written(fault: Fault) -> tuple[Path, Input]:
    """Write the faulty file into the test's folder."""
    case = fault.make()
    path = Path(case.name)
    path.write_bytes(case.faulty)
    return path, case


def sent(path: Path) -> str:
    """Return all that a file sends, as JSON."""
    return json.dumps(read_file(path).request.body)


def has_place(entry: dict[str, object], case: Input) -> bool:
    """Tell whether an entry of a report names the line, or the message of a document."""
    if case.place is None:
        return True
    if case.name.endswith(".jsonl"):
        return entry["line"] == case.place
    path = entry["path"]
    steps = path.split(".") if isinstance(path, str) else path
    assert isinstance(steps, list)
    numbers = [int(step) for step in steps if str(step).isdigit()]
    return numbers[:1] == [case.place]


@every_fault
def test_the_oracle_refuses_the_faulty_file_alone(fault: Fault, tmp_path: Path) -> None:
    case = fault.make()
    path = tmp_path / case.name
    path.write_bytes(case.sound)
    assert find_refusals(path) == []
    path.write_bytes(case.faulty)
    refusals = find_refusals(path)
    assert Place(fault.rule, case.place) in refusals
    assert {refusal.rule for refusal in refusals} <= {fault.rule, BESIDE.get(fault.rule)}


@every_fault
def test_check_names_the_rule_and_the_place(fault: Fault, ask: Ask) -> None:
    path, case = written(fault)
    outcome = ask("check", "--json", path)
    assert outcome.code == (0 if fault.fixed_since else 1), outcome
    faults = outcome.json["faults"]
    assert fault.rule in {entry["rule"] for entry in faults}
    assert {entry["rule"] for entry in faults} <= {fault.rule, BESIDE.get(fault.rule)}
    faults = [entry for entry in faults if entry["rule"] == fault.rule]
    assert any(has_place(entry, case) for entry in faults), faults
    versions = {entry["fixedByClientSince"] for entry in faults}
    if fault.fixed_since:
        assert versions == {fault.fixed_since}


@every_sound_file
def test_check_accepts_a_sound_file(what: str, ask: Ask) -> None:
    case = SOUND[what]()
    path = Path(case.name)
    path.write_bytes(case.faulty)
    assert find_refusals(path) == []
    # A document of a hundred pages does not fit into every window.
    outcome = ask("check", "--json", "--window", "1000000", path)
    assert outcome.json["faults"] == []
    assert outcome.code == 0


@every_fault_of_the_user
def test_rescue_says_what_only_the_user_can_do(fault: Fault, ask: Ask) -> None:
    path, case = written(fault)
    outcome = ask("rescue", path, "-o", "out.json", "-f")
    assert outcome.code == 5, outcome
    assert fault.rule in outcome.out + outcome.err
    assert not Path("out.json").exists()
    assert path.read_bytes() == case.faulty


@pytest.mark.parametrize("form", ["anthropic", "gemini"])
def test_the_next_prompt_ends_what_ends_with_an_answer(form: str, ask: Ask) -> None:
    (fault,) = [fault for fault in FAULTS if (fault.form, fault.rule) == (form, ENDED)]
    path, _ = written(fault)
    outcome = ask("rescue", path, "-o", "out.json", "-f")
    assert outcome.code == 0, outcome
    assert "the next prompt ends it" in outcome.out
    assert not Path("out.json").exists()


def test_check_takes_the_tools_that_are_given_for_those_of_the_request(ask: Ask) -> None:
    (fault,) = [fault for fault in FAULTS if fault.rule == "tools-defined"]
    path, _ = written(fault)
    tools = [{"name": "read_plan", "description": "Reads", "input_schema": {"type": "object"}}]
    Path("tools.json").write_text(json.dumps(tools))
    assert ask("check", path).code == 1
    assert ask("check", path, "--tools", "tools.json").code == 0


def test_check_takes_the_prompt_that_is_given_for_the_last_message(ask: Ask) -> None:
    for fault in [fault for fault in FAULTS if fault.rule == ENDED]:
        path, _ = written(fault)
        assert ask("check", path).code == 1
        assert ask("check", path, "--prompt", "Go on").code == 0


@every_repairable_fault
def test_rescue_writes_what_is_accepted(fault: Fault, ask: Ask) -> None:
    path, case = written(fault)
    texts = [words for words in TEXTS if words in sent(path)]
    # The client knows a session by the name of its file.
    new = Path("new") / case.name
    new.parent.mkdir()
    outcome = ask("rescue", path, "-o", new, "-f")
    assert outcome.code == 0, outcome
    assert find_refusals(new) == []
    assert [words for words in texts if words not in sent(new)] == []


@every_repairable_fault
def test_rewind_restores_every_byte(fault: Fault, ask: Ask) -> None:
    path, case = written(fault)
    new = Path("out" + path.suffix)
    outcome = ask("rescue", path, "-o", new, "-f")
    assert new.exists(), outcome
    assert new.read_bytes() != case.faulty
    assert ask("rewind", new, "-o", "back", "-f").code == 0
    assert Path("back").read_bytes() == case.faulty


@every_fault
def test_a_dry_run_of_rescue_writes_nothing(fault: Fault, ask: Ask) -> None:
    path, case = written(fault)
    outcome: Outcome = ask("rescue", "-n", path)
    assert outcome.code == (5 if fault in OF_THE_USER else 0), outcome
    assert path.read_bytes() == case.faulty
    assert [file for file in Path().iterdir() if file.name != "home"] == [path]


@pytest.mark.parametrize("form", ["anthropic", "claude-code", "cline", "chat"])
def test_a_note_in_place_of_an_image_is_not_what_the_user_said(form: str, ask: Ask) -> None:
    (fault,) = [
        fault
        for fault in FAULTS
        if (fault.form, fault.rule, fault.variant) == (form, "image-readable", "")
        and not fault.fixed_since
    ]
    path, case = written(fault)
    new = Path("new") / case.name
    new.parent.mkdir()
    assert ask("rescue", path, "-o", new, "-f").code == 0
    name = ask("stats", "--json", new).json["format"]
    data = new.read_bytes()
    lines = data.splitlines(keepends=True) if new.suffix == ".jsonl" else (data,)
    parts = [
        (message, part)
        for message in parse(lines, format_of(name)).effective
        for part in message.parts
    ]
    assert any("left out" in text for _, part in parts for text in part_texts(part))
    assert not any("left out" in message.words(part) for message, part in parts)


def test_a_full_session_is_repaired_too(ask: Ask) -> None:
    (fault,) = [f for f in FAULTS if f.label == "claude-code-text-empty"]
    path, _ = written(fault)
    error = "prompt is too long: 200005 tokens > 200000 maximum"
    new = Path("new.jsonl")
    outcome = ask("rescue", path, "--from-error", error, "-o", new, "-f")
    assert outcome.code == 0, outcome
    assert find_refusals(new) == []


def test_an_append_leaves_the_faults_and_says_so(ask: Ask) -> None:
    (fault,) = [f for f in FAULTS if f.label == "claude-code-text-empty"]
    path, _ = written(fault)
    outcome = ask("rescue", path, "--native")
    assert outcome.code == 5, outcome
    assert "which appending cannot fix; leave out --native" in outcome.out


def test_a_message_is_empty_only_if_all_of_it_was_read(ask: Ask) -> None:
    path = Path("request.json")
    empty = {"role": "user"}
    unread = {"role": "user", "content": {"data": ",".join(map(str, range(20_000)))}}
    messages = [empty, {"role": "assistant", "content": "Yes."}, unread]
    path.write_text(json.dumps({"model": "gpt-5", "messages": messages}, indent=1))
    outcome = ask("check", "--json", path)
    assert outcome.code == 4, outcome
    places = [(fault["rule"], fault["path"]) for fault in outcome.json["faults"]]
    assert places == [("message-empty", ["messages", 0])]
