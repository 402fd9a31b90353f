"""References such as ``[L12]``, which digests print, are understood wherever a message is named."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample

REFERENCE = re.compile(r"^\[L(\d+)\] ", re.MULTILINE)


def ids_by_line(ask: Ask, path: Path) -> dict[int, str]:
    document = ask("view", path, "--json").json
    return {message["line"]: message["id"] for message in document["messages"]}


def explained(ask: Ask, path: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = ask("view", path, "--message", name, "--json").json
    return found


@pytest.fixture
def digested(ask: Ask, desk: Path) -> Path:
    out = desk.with_name("digested.jsonl")
    assert ask("compact", desk, "--keep", "10%", "-o", out).code == 0
    return out


def references(ask: Ask, path: Path) -> list[int]:
    found = REFERENCE.findall(ask("view", path, "--full").out)
    return [int(number) for number in found]


def test_a_digest_refers_to_lines_of_what_was_compacted(
    ask: Ask, desk: Path, digested: Path
) -> None:
    ids, lines = ids_by_line(ask, desk), references(ask, digested)
    assert len(lines) > 5
    for line in lines:
        assert explained(ask, digested, f"[L{line}]")["id"] == ids[line]


def test_after_a_second_compaction_they_still_do(ask: Ask, desk: Path, digested: Path) -> None:
    ids, again = ids_by_line(ask, desk), digested.with_name("again.jsonl")
    assert ask("compact", digested, "--keep", "5%", "-o", again).code == 0
    lines = references(ask, again)
    assert lines
    for line in lines:
        assert explained(ask, again, f"L{line}")["id"] == ids[line]


def test_a_conversation_is_referred_to_by_line(ask: Ask, session: Path) -> None:
    ids, digested = ids_by_line(ask, session), session.with_name("digested.jsonl")
    assert ask("compact", session, "--keep", "10%", "-o", digested).code == 0
    lines = references(ask, digested)
    assert len(lines) > 20
    for line in sorted(set(lines))[::10]:
        assert explained(ask, digested, f"L{line}")["id"] == ids[line]


def test_after_two_compactions_a_reference_names_a_message_of_either_state(
    ask: Ask, session: Path
) -> None:
    once, twice = session.with_name("once.jsonl"), session.with_name("twice.jsonl")
    assert ask("compact", session, "--keep", "30%", "-o", once).code == 0
    assert ask("compact", once, "--keep", "15%", "-o", twice).code == 0
    of_first, of_second = (ids_by_line(ask, session) for session in (session, once))
    lines = sorted(set(references(ask, twice)))[::3]
    assert len(lines) > 10
    for line in lines:
        meant = {of_first.get(line), of_second.get(line)}
        shown = ask("view", twice, "--message", f"L{line}", "--json")
        if shown.code == 0:
            assert shown.json["id"] in meant
        else:
            assert "means 2 messages; use an id: " in shown.err


@pytest.mark.parametrize("name", ["L9", "[L9]", "9"])
def test_every_command_understands_every_spelling(ask: Ask, desk: Path, name: str) -> None:
    plain = ids_by_line(ask, desk)[9]
    assert explained(ask, desk, name)["id"] == plain
    assert ask("view", desk, "--message", name).out == ask("view", desk, "--message", "9").out
    hide = ("compact", desk, "-n", "--json", "--widen", "--hide")
    hidden, same = (ask(*hide, f"{n}..{n}").json for n in (name, "9"))
    assert hidden["messagesHidden"] == same["messagesHidden"] > 0


@pytest.mark.parametrize("name", ["L9", "[L9]"])
def test_a_reference_protects_a_message(ask: Ask, desk: Path, name: str) -> None:
    def fates(*options: str) -> dict[int, dict[str, Any]]:
        shown = ask("compact", desk, "-n", "--json", "--explain", "--keep", "10%", *options)
        assert not shown.err.startswith("warning")
        return {row["line"]: row for row in shown.json["messages"]}

    assert fates()[9]["fate"] == "hidden"
    pinned = [row["line"] for row in fates("--pin", name).values() if "pinned" in row["reason"]]
    assert pinned == [9]
    frozen = fates("--freeze-before", name)
    assert {frozen[line]["fate"] for line in range(1, 9)} == {"kept"}


def test_what_is_hidden_already_is_not_confused_with_the_line_it_was_on(
    ask: Ask, digested: Path
) -> None:
    line = references(ask, digested)[0]
    found = ask("compact", digested, "-n", "--hide", f"L{line}..L{line}")
    assert (
        f"message L{line} is hidden already; compactctl view --all shows it"
        in found.err + found.out
    )


@pytest.mark.parametrize("name", ["L9999", "[M1]", "L", "[L9"])
def test_what_names_nothing_is_refused_with_what_would(ask: Ask, desk: Path, name: str) -> None:
    found = ask("view", desk, "--message", name)
    assert found.code == 2
    assert "write a line (158), a reference (L158) or an id" in found.err


def test_a_message_of_a_document_has_a_number(ask: Ask, sample: Sample) -> None:
    path = sample("anthropic-messages")
    messages = [json.loads(line) for line in path.read_text().splitlines()]
    document = path.with_suffix(".json")
    document.write_text(json.dumps(messages[0] if len(messages) == 1 else messages))
    found = explained(ask, document, "[M3]")
    assert found["id"] == explained(ask, document, found["id"])["id"]
