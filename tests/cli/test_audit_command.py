"""``compactctl lab audit`` says what compactions lost, on a screen and as JSON, and gates."""

from pathlib import Path

import pytest
from cli.asking import Ask, Sample
from examples import LONG
from summarizers.talks import program
from unit.commands.client_sessions import clients


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_bytes(clients.claude_code())
    return path


def test_it_lists_what_was_lost_invented_and_looked_at_again(ask: Ask, session: Path) -> None:
    shown = ask("lab", "audit", session)
    assert shown.code == 0
    assert f"rule       L1  {clients.RULE}" in shown.out
    assert "read file  L2  src/settings.py (read)" in shown.out
    assert "number       1  4711" in shown.out
    assert "L8    L3" in shown.out
    assert "1 of 1 read afterwards" in shown.out


def test_a_gate_fails_and_says_which(ask: Ask, session: Path) -> None:
    shown = ask("lab", "audit", session, "--fail-on", "lost-rules, lost-files,invented")
    assert shown.code == 1
    assert shown.err.endswith("the audit failed: lost-rules, invented\n")
    assert ask("lab", "audit", session, "--fail-on", "lost-files").code == 0


def test_a_gate_that_there_is_not_is_a_usage_error(ask: Ask, session: Path) -> None:
    shown = ask("lab", "audit", session, "--fail-on", "lost-rule")
    assert shown.code == 2
    assert "did you mean lost-rules?" in shown.err


def test_the_document_holds_every_find(ask: Ask, session: Path) -> None:
    found = ask("lab", "audit", session, "--json", "--top", "0").json
    (compaction,) = found["compactions"]
    audit = compaction["audit"]
    assert (found["schema"], compaction["writer"]) == ("compactctl.audit/1", "claude-code")
    assert (compaction["line"], compaction["message"]) == (6, None)
    assert audit["known"]["rules"] == len(audit["lost"]["rules"]) == 1
    assert audit["lost"]["reads"][0]["again"] == {"line": 8, "message": None}
    assert audit["invented"] == [{"kind": "number", "text": "4711", "summaryLine": 1}]
    assert audit["rereads"][0]["seen"] == {"line": 3, "message": None}
    assert audit["rereadTokens"] == audit["lookTokens"] > 0


def test_of_a_sealed_summary_the_document_says_nothing(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "codex.jsonl"
    path.write_bytes(clients.codex_sealed())
    (compaction,) = ask("lab", "audit", path, "--json").json["compactions"]
    audit = compaction["audit"]
    assert compaction["verdict"] == "sealed"
    assert (audit["known"], audit["lost"], audit["invented"]) == (None, None, None)
    assert "encrypted or not in the file" in ask("lab", "audit", path).out
    assert ask("lab", "audit", path, "--fail-on", "unaudited").code == 1


def test_what_was_never_compacted_holds_nothing(ask: Ask, desk: Path) -> None:
    shown = ask("lab", "audit", desk)
    assert (shown.code, shown.out) == (0, f"{desk}: no compactions\n")


def test_standard_input_is_read(ask: Ask, session: Path) -> None:
    shown = ask("lab", "audit", "-", stdin=session.read_bytes())
    assert "standard input: 1 compaction" in shown.out


LOSSY = program('print("The settings were read, all of them, and nothing else was done so far.")')
SHORTEN = ("--stages", "summarize", "--keep-turns", "0", "--summarize-keep-min", "1",
           "--summarize-keep-ratio", "0.1", "--summarize-min-messages", "1")  # fmt: skip


def test_a_summary_by_somebody_else_is_audited_before_it_is_written(
    ask: Ask, session: Path, tmp_path: Path
) -> None:
    session.write_bytes(b"".join(session.read_bytes().splitlines(keepends=True)[:4]))
    output = tmp_path / "out.jsonl"
    asked = ("compact", session, *SHORTEN, "--summarizer-cmd", LOSSY, "-o", output)
    refused = ask(*asked, "--require-audit")
    assert refused.code == 1
    assert "the summary by command fails its audit (1 rule lost)" in refused.err
    assert not output.exists()
    done = ask(*asked, "--json")
    assert done.code == 0
    found = done.json
    (stage,) = found["stages"]
    assert [each["text"] for each in stage["audit"]["lost"]["rules"]] == [clients.RULE]
    assert "1 rule lost" in " ".join(found["warnings"])
    assert ask("lab", "audit", output, "--fail-on", "lost-rules").code == 1


def test_a_batch_refuses_it_as_well(ask: Ask, session: Path, tmp_path: Path) -> None:
    session.write_bytes(b"".join(session.read_bytes().splitlines(keepends=True)[:4]))
    asked = ("batch", session, *SHORTEN, "--summarizer-cmd", LOSSY, "--out", tmp_path / "out")
    refused = ask(*asked, "--require-audit", "--json")
    (row,) = refused.json["files"]
    assert (refused.code, row["status"]) == (1, "failed")
    assert "fails its audit (1 rule lost)" in row["error"]
    assert not list((tmp_path / "out").rglob("*.jsonl"))
    assert ask(*asked).code == 0


def test_a_built_in_summary_meets_the_same_demand(ask: Ask, session: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    session.write_bytes(b"".join(session.read_bytes().splitlines(keepends=True)[:4]))
    done = ask("compact", session, *SHORTEN, "--require-audit", "-o", output, "--json")
    assert (done.code, done.json["warnings"]) == (0, [])


@pytest.mark.each_choice
@pytest.mark.parametrize(
    "stage", ["summarize", "distill", "partial", "chunk", "recursive", "plain"]
)
@pytest.mark.parametrize(
    "name",
    ["anthropic-messages", "claude-code-session", "codex-session", "neurolink", "openai-chat",
     "openai-chat-conversations"],
)  # fmt: skip
def test_the_built_in_summaries_make_nothing_up(
    ask: Ask, sample: Sample, excerpt: Sample, name: str, stage: str
) -> None:
    path = (sample if LONG else excerpt)(name)
    output = path.with_name("out.jsonl")
    done = ask("compact", path, "--stages", stage, "-o", output, "--json")
    found = ask("lab", "audit", output, "--json").json["compactions"]
    own = [each for each in found if each["writer"] == "compactctl"]
    assert bool(own) == done.json["compacted"]
    assert [each["audit"]["invented"] for each in own] == [[]] * len(own)
