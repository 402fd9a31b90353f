"""What the five systems' documents tell from beginning to end, typed as a user would type it.

Figures are those of the documents, counted as they count.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from compactctl.__main__ import run

Json = Mapping[str, Any]
Record = dict[str, Any]


class Desk:
    """A folder with a conversation in NeuroLink's form, and what is typed there."""

    def __init__(self, folder: Path, captured: pytest.CaptureFixture[str]) -> None:
        self.folder, self._captured = folder, captured
        self.talk, self.output = folder / "talk.jsonl", folder / "talk.compacted.jsonl"

    def holds(self, *records: Record) -> None:
        lines = (json.dumps({"id": f"m{n}", **record}) for n, record in enumerate(records))
        self.talk.write_text("".join(f"{line}\n" for line in lines))

    def typed(self, *words: object, code: int = 0) -> str:
        assert run(list(map(str, words))) == code
        return self._captured.readouterr().out

    def told(self, command: str, *words: object, code: int = 0) -> Json:
        found: Json = json.loads(
            self.typed(*command.split(), self.talk, *words, "--json", code=code)
        )
        return found

    def compacted(self, *words: object) -> Json:
        return self.told("compact", *words, "--output", self.output)

    def seen(self, *words: object) -> str:
        return self.typed("view", self.output, "--full", *words)

    def is_taken_back(self) -> bool:
        self.typed("rewind", self.output, "--all")
        return self.output.read_bytes() == self.talk.read_bytes()


@pytest.fixture
def desk(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capfd)


def said(role: str, text: str, chars: int = 0) -> Record:
    repeated = (text * (chars // len(text) + 1))[:chars] if chars else text
    return {"role": role, "content": repeated}


def exchange(number: int, chars: int) -> Sequence[Record]:
    return (
        said("user", f"Question {number}: why? ", chars),
        said("assistant", f"Answer {number}: so. ", chars),
    )


def ran(tool: str, chars: int, **args: str) -> Sequence[Record]:
    call = {"role": "tool_call", "tool": tool, "content": "", "args": args}
    return call, {**said("tool_result", "output line\n", chars), "tool": tool}


def outcomes(found: Json) -> dict[str, str]:
    return {stage["name"]: stage["outcome"] for stage in found["stages"]}


# --- NeuroLink: a threshold, four stages, tags, the way back

GPT_4O = ("--profile", "neurolink", "--counter", "neurolink", "--model", "gpt-4o")


def test_neurolink_prunes_old_tool_results_and_that_is_enough(desk: Desk) -> None:
    desk.holds(said("user", "Go"), *(each for _ in range(20) for each in ran("run", 20_000)))
    check = desk.told("check", *GPT_4O, code=1)
    assert (check["availableInputTokens"], check["shouldCompact"]) == (83_200, True)
    found = desk.compacted(*GPT_4O)
    assert found["as"]["neurolink"]["stagesUsed"] == ["prune"]
    assert (found["stages"][0]["replaced"], found["stages"][0]["tokensSaved"]) == (13, 74_659)
    assert desk.seen().count("[Tool result cleared]") == 13
    assert desk.is_taken_back()


def test_neurolink_goes_through_its_stages_and_truncates_where_no_summary_is_written(
    desk: Desk,
) -> None:
    reads = [each for _ in range(2) for each in ran("read_file", 30_000, path="a.py")]
    desk.holds(
        *exchange(0, 200),
        *(each for _ in range(12) for each in ran("run", 10_000)),
        *(each for n in range(1, 60) for each in exchange(n, 900)),
        *reads,
        *exchange(60, 20_000),
    )
    found = desk.compacted(*GPT_4O, "--target", "10000", "--prune-protect-tokens", "20000",
                           "--summarizer-cmd", "false")  # fmt: skip
    assert found["stagesUsed"] == ["prune", "deduplicate", "truncate"]
    assert outcomes(found)["summarize"] == "skipped"
    marker = "[Earlier conversation history was truncated to fit within context limits]"
    assert marker in desk.seen()
    assert '"truncationParent"' in desk.seen("--archived", "--jsonl")
    assert desk.is_taken_back()


def test_neurolink_summarizes_and_a_summary_is_taken_back_by_its_tag(desk: Desk) -> None:
    desk.holds(*(each for n in range(10) for each in exchange(n, 5_000)))
    found = desk.compacted(*GPT_4O, "--target", "20000")
    assert found["stagesUsed"] == ["summarize"]
    assert found["messagesHidden"] == 14  # 20 messages without max(4, 30%) of them
    group = found["stages"][2]["group"]
    assert f'"condenseId":"{group}"' in desk.seen("--jsonl").replace(" ", "")
    desk.typed("rewind", desk.output, "--group", group)
    assert "Question 0: why?" in desk.seen()
    assert "Previous conversation summary" not in desk.seen()


def test_neurolink_s_own_tags_are_removed_group_by_group(
    desk: Desk, capfd: pytest.CaptureFixture[str]
) -> None:
    summary = {**said("system", "So far: a1."), "condenseId": "c1", "metadata": {"isSummary": True}}
    marker = {**said("system", "[cut]"), "truncationId": "t1", "isTruncationMarker": True}
    desk.holds(
        {**said("user", "a1"), "condenseParent": "c1"},
        summary,
        {**said("user", "b1"), "truncationParent": "t1"},
        {**said("assistant", "b2"), "truncationParent": "t1"},
        marker,
        said("user", "c"),
    )
    assert run(["rewind", str(desk.talk), "--group", "none"]) == 2
    assert "there are c1, t1" in capfd.readouterr().err
    shown = {"t1": ["m1", "m2", "m3", "m5"], "c1": ["m0", "m4", "m5"]}
    for group, left in shown.items():
        desk.typed("rewind", desk.talk, "--group", group, "-o", desk.output, "--force")
        found = json.loads(desk.typed("view", desk.output, "--json"))
        assert [message["id"] for message in found["messages"]] == left
        tags = {key for line in desk.output.read_text().splitlines() for key in json.loads(line)}
        assert tags & ({"truncationParent", "condenseParent"}) == (
            {"condenseParent"} if group == "t1" else {"truncationParent"}
        )
        assert desk.is_taken_back()


# --- Codebuddy: the first tier that fits wins

CODEBUDDY = ("--profile", "codebuddy", "--counter", "chars/4")
FAILS_ONCE = "sh -c 'cat > /dev/null; test -e asked && {}; touch asked; exit 1'"
_HALF = "echo The person asked eight questions one after the other and each was answered: so."


def test_codebuddy_strips_large_tool_results_first(desk: Desk) -> None:
    desk.holds(
        said("user", "Go"), *ran("run", 60_000), *(m for n in range(3) for m in exchange(n, 40))
    )
    found = desk.compacted(*CODEBUDDY, "--window", "16k")
    assert found["as"]["codebuddy"]["tier"] == 1
    assert "[Tool result truncated — originally 60000 chars]" in desk.seen()
    assert desk.is_taken_back()


def test_codebuddy_summarizes_chunks_of_twelve_thousand_tokens(desk: Desk) -> None:
    desk.holds(*(each for n in range(200) for each in exchange(n, 2_000)))
    check = desk.told("check", *CODEBUDDY, "--window", "128k", code=1)
    assert check["as"]["codebuddy"]["warningLevel"] == "critical"
    chunks = desk.told(
        "harness chunks", "--counter", "chars/4", "--window", "128k", "--keep-turns", "0"
    )
    assert chunks["conversations"][0]["limitTokens"] == 12_000
    found = desk.compacted(*CODEBUDDY, "--window", "128k")
    assert found["as"]["codebuddy"]["tier"] == 2
    assert (found["as"]["codebuddy"]["originalCount"], found["messagesHidden"]) == (400, 396)
    assert desk.seen().count("Question 199: why?") > 0
    assert desk.is_taken_back()


def test_codebuddy_summarizes_half_where_a_chunk_fails(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk.folder)
    desk.holds(*(each for n in range(8) for each in exchange(n, 2_000)))
    summarizer = FAILS_ONCE.format(f"{_HALF} && exit 0")
    found = desk.compacted(*CODEBUDDY, "--window", "8k", "--summarizer-cmd", summarizer)
    assert found["as"]["codebuddy"]["tier"] == 3
    assert found["messagesHidden"] == 6
    assert "[Earlier conversation summary — 6 messages compacted]" in desk.seen()
    assert desk.is_taken_back()


def test_codebuddy_tells_the_shape_without_a_model(desk: Desk) -> None:
    desk.holds(*(each for n in range(60) for each in exchange(n, 400)))
    found = desk.compacted(*CODEBUDDY, "--window", "12k", "--summarizer-cmd", "false")
    assert found["as"]["codebuddy"]["tier"] == 4
    assert (
        "[Conversation context — 116 earlier messages removed to fit context window]" in desk.seen()
    )
    assert desk.is_taken_back()


# --- agent-code: 20K for the answer, 13K before that; three strategies; the reactive path

AGENT_CODE = ("--profile", "agent-code", "--counter", "bytes/4", "--model", "claude-sonnet-4-5")


@pytest.mark.parametrize(("tokens", "is_due"), [(166_999, False), (167_000, True)])
def test_agent_code_fires_at_167k_of_200k(desk: Desk, tokens: int, *, is_due: bool) -> None:
    desk.holds(said("user", "u", tokens * 4))
    check = desk.told("check", *AGENT_CODE, "--window", "200k", code=int(is_due))
    assert check["as"]["agent-code"]["should_compact"] is is_due


def test_agent_code_clears_all_but_the_newest_two_results(desk: Desk) -> None:
    desk.holds(said("user", "Go"), *(each for _ in range(40) for each in ran("Bash", 20_000)))
    found = desk.compacted(*AGENT_CODE, "--window", "200k")
    assert found["stagesUsed"] == ["microcompact"]
    assert desk.seen().count("[Old tool result cleared]") == 38
    assert desk.is_taken_back()


def test_agent_code_collapses_the_middle_where_no_summary_is_written(desk: Desk) -> None:
    desk.holds(*(each for n in range(40) for each in exchange(n, 10_000)))
    found = desk.compacted(*AGENT_CODE, "--window", "200k", "--summarizer-cmd", "false")
    assert found["stagesUsed"] == ["context-collapse"]
    assert "[Earlier messages collapsed to fit context window]" in desk.seen()
    assert "Question 0: why?" in desk.seen()
    assert "Question 39: why?" in desk.seen()
    assert desk.is_taken_back()


def test_agent_code_reacts_to_an_error_413_without_a_summary(desk: Desk) -> None:
    desk.holds(*(each for n in range(40) for each in exchange(n, 10_000)))
    error = "prompt is too long: 205000 tokens > 200000 maximum"
    found = desk.compacted(*AGENT_CODE, "--window", "200k", "--from-error", error)
    assert list(outcomes(found)) == ["microcompact", "context-collapse"]
    assert found["stagesUsed"] == ["context-collapse"]
    assert found["tokensSaved"] >= 5_500  # what was too much, and a tenth of it
    assert desk.is_taken_back()


# --- Spring AI Session: windows that begin with a turn


def test_spring_keeps_the_last_ten_whole_turns(desk: Desk) -> None:
    desk.holds(*(each for n in range(21) for each in exchange(n, 100)))
    assert desk.told("check", "--profile", "spring-turns", code=1)["fired"] == "turns > 20"
    found = desk.compacted("--profile", "spring-turns")
    assert found["as"]["spring-ai-session"]["eventsRemoved"] == 22
    assert "Question 10:" not in desk.seen()
    assert "Question 11:" in desk.seen()
    assert desk.is_taken_back()


def test_spring_moves_a_cut_inside_of_a_turn_forward(desk: Desk) -> None:
    desk.holds(*(each for n in range(1, 4) for each in exchange(n, 200)))
    found = desk.compacted("--profile", "spring-sliding", "--window-max", "3")
    assert found["as"]["spring-ai-session"]["eventsRemoved"] == 4
    assert "Question 3:" in desk.seen()
    assert "Answer 2:" not in desk.seen()
    assert desk.is_taken_back()


def test_spring_keeps_what_fits_into_four_thousand_tokens(desk: Desk) -> None:
    desk.holds(*(each for n in range(10) for each in exchange(n, 2_000)))
    found = desk.compacted("--profile", "spring-tokens", "--counter", "chars/4")
    assert found["tokensBefore"] == 10_000
    assert found["messagesHidden"] == 12  # 8 messages of 500 tokens stay
    assert desk.is_taken_back()


def test_spring_puts_a_question_and_its_answer_in_place_of_older_turns(desk: Desk) -> None:
    desk.holds(*(each for n in range(25) for each in exchange(n, 800)))
    found = desk.compacted("--profile", "spring-recursive")
    assert found["as"]["spring-ai-session"]["eventsRemoved"] == 40
    assert re.search(
        r"^── line 1 · user · summary · .*\nSummarize the conversation we had so far\.",
        desk.seen(),
        re.MULTILINE,
    )
    unchanged = desk.told(
        "compact", "--profile", "spring-recursive", "--summarizer-cmd", "false", "-n"
    )
    assert unchanged["compacted"] is False
    assert desk.is_taken_back()


def test_spring_takes_any_text_for_a_summary_that_is_not_blank(desk: Desk) -> None:
    desk.holds(*(each for n in range(25) for each in exchange(n, 800)))
    said_by_model = "The user asked about Java and got answers; nothing is left open so far."
    by_model = ("--summarizer-cmd", f"echo {said_by_model}")
    found = desk.compacted("--profile", "spring-recursive", *by_model)
    assert found["as"]["spring-ai-session"]["eventsRemoved"] == 40
    assert said_by_model in desk.seen()
    skips = ("--stages", "recursive", "--on-summarizer-failure", "skip", "-n")
    refused = desk.told("compact", *skips, *by_model)
    assert refused["compacted"] is False


def test_spring_replaces_an_earlier_summary_and_does_not_count_it_as_removed(desk: Desk) -> None:
    earlier = {**said("user", "So far: a1."), "condenseId": "c1", "metadata": {"isSummary": True}}
    desk.holds(earlier, *(each for n in range(25) for each in exchange(n, 800)))
    found = desk.compacted("--profile", "spring-recursive")
    assert found["messagesHidden"] == 41
    assert found["as"]["spring-ai-session"]["eventsRemoved"] == 40
    assert desk.is_taken_back()


# --- Copilot Chat: priorities, then a summary in full, then a simple one

COPILOT = ("--profile", "copilot", "--counter", "chars/4", "--window", "20k")


def test_copilot_prunes_by_priority_and_then_summarizes_in_full(desk: Desk) -> None:
    desk.holds(*(each for n in range(40) for each in exchange(n, 2_000)))
    assert desk.told("check", *COPILOT, code=1)["availableInputTokens"] == 20_000
    found = desk.compacted(*COPILOT)
    assert found["stagesUsed"] == ["prioritize", "summarize"]
    shown = desk.seen()
    assert "<conversation-summary>" in shown
    assert "### 8. Continuation Plan" in shown
    assert "are kept word for word in" in shown
    assert desk.is_taken_back()


def test_copilot_falls_back_to_a_simple_description(desk: Desk) -> None:
    desk.holds(*(each for n in range(40) for each in exchange(n, 2_000)))
    found = desk.compacted(*COPILOT, "--summarizer-cmd", "false")
    assert found["stagesUsed"] == ["prioritize", "plain"]
    assert found["fits"]
    assert desk.is_taken_back()
