"""What belongs to the conversation, of which a share is kept, and what to the system prompt."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from formats.claude_code import sessions as claude
from formats.codex import rollouts as codex
from formats.jsonl import write_lines

TEXT = "The berth at the north quay is free from dawn until the tide turns. " * 20
SETTINGS = (
    "<permissions instructions>\nStay in the folder. " + TEXT + "</permissions instructions>",
    "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\n" + TEXT + "\n</INSTRUCTIONS>",
    "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>",
    "<model_switch>\n" + TEXT + "</model_switch>",
)


def claude_session(before: Any = None, after: Any = None) -> list[claude.Record]:
    """Return a session with attachments before and after its first prompt."""
    records = [claude.attached("first", None, **before)] if before else []
    records.append(claude.user("ask", "first" if before else None, "Look at the logs."))
    if after:
        records.append(claude.attached("later", "ask", **after))
    for n in range(12):
        parent = records[-1]["uuid"]
        records.append(claude.called(f"c{n}", parent, f"call{n}"))
        records.append(claude.answered(f"r{n}", f"c{n}", f"call{n}", f"{n} {TEXT}"))
    return records


def codex_session(first: str = "", later: str = "", role: str = "user") -> list[dict[str, Any]]:
    """Return a session with messages of the client before its first prompt and after it."""
    records = [codex.record("session_meta", id="s", base_instructions={"text": "You are Codex."})]
    records += [codex.message(role, first)] if first else []
    records.append(codex.message("user", "Look at the logs."))
    records += [codex.message(role, later)] if later else []
    for n in range(12):
        records += [codex.call(f"c{n}"), codex.output(f"c{n}", f"{n} {TEXT}")]
    return records


def keep(ask: Ask, path: Path, *records: object) -> tuple[dict[str, Any], str]:
    """Keep 30% of a session; return what is reported and the new file."""
    write_lines(path, *records)
    out = path.with_name("out.jsonl")
    found = ask("compact", path, "--keep", "30%", "--json", "-o", out)
    assert found.code == 0, found.err
    return found.json, out.read_text()


DEFINED = {"kind": "deferred_tools_delta", "addedLines": ["Berths", TEXT]}
LISTED = {"kind": "skill_listing", "content": "- moor: " + TEXT}
HOOK = {"kind": "hook_additional_context", "content": ["Speak up. " + TEXT]}


@pytest.mark.parametrize(
    "records",
    [
        *(codex_session(first=text) for text in SETTINGS[:3]),
        *(codex_session(later=text) for text in SETTINGS[:3]),
        *(codex_session(later=text, role="developer") for text in SETTINGS),
        codex_session(first="From a hook. " + TEXT, role="developer"),
        *(claude_session(before=attachment) for attachment in (DEFINED, LISTED, HOOK)),
        *(claude_session(after=attachment) for attachment in (DEFINED, LISTED)),
    ],
)
def test_the_system_prompt_is_neither_counted_nor_removed(
    ask: Ask, tmp_path: Path, records: list[dict[str, Any]]
) -> None:
    plain = codex_session() if "payload" in records[0] else claude_session()
    without, _ = keep(ask, tmp_path / "run.jsonl", *plain)
    with_it, text = keep(ask, tmp_path / "run.jsonl", *records)
    [added] = [json.dumps(r) for r in records if r not in plain and not parent_changed(r, plain)]
    assert added in text
    extra = with_it["tokensBefore"] - without["tokensBefore"]
    assert with_it["tokensAfter"] - without["tokensAfter"] == pytest.approx(extra, abs=30)


def parent_changed(record: dict[str, Any], plain: list[dict[str, Any]]) -> bool:
    return record.get("uuid") in {r.get("uuid") for r in plain if "uuid" in r}


@pytest.mark.parametrize(
    "records",
    [
        codex_session(later="From a hook. " + TEXT * 8, role="developer"),
        codex_session(later="<skill>\n" + TEXT * 8 + "</skill>"),
        claude_session(after=HOOK | {"content": [TEXT * 8]}),
        claude_session(after={"kind": "edited_text_file", "filename": "f", "snippet": TEXT * 8}),
    ],
)
def test_what_a_client_adds_later_is_counted_and_removed(
    ask: Ask, tmp_path: Path, records: list[dict[str, Any]]
) -> None:
    plain = codex_session() if "payload" in records[0] else claude_session()
    without, _ = keep(ask, tmp_path / "run.jsonl", *plain)
    with_it, text = keep(ask, tmp_path / "run.jsonl", *records)
    assert TEXT * 8 not in json.dumps(text)
    extra = with_it["tokensBefore"] - without["tokensBefore"]
    assert with_it["targetTokens"] - without["targetTokens"] == pytest.approx(0.3 * extra, abs=1)
    assert with_it["fits"]


def test_what_a_client_put_between_the_newest_steps_is_shortened(ask: Ask, tmp_path: Path) -> None:
    lines = "\n".join(f"./objects/{n:05}/part of a listing" for n in range(900))
    newest = codex.message("user", f"<user_shell_command>\n{lines}\n</user_shell_command>")
    records = [*codex_session(), newest]
    report, _ = keep(ask, tmp_path / "run.jsonl", *records)
    conversation = report["conversation"]
    asked = 0.3 * conversation["tokensBefore"]
    assert 0.92 * asked <= conversation["tokensAfter"] <= asked
