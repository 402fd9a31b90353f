"""Profiles, checks, recovery and simulation, as a user meets them."""

import json
import re
from pathlib import Path

import pytest
from cli.asking import Ask, Sample

from compactctl.profiles.registry import PROFILES


def test_profiles_are_listed_and_explained(ask: Ask) -> None:
    shown = ask("show", "profiles").out
    assert all(f"\n{name} " in shown for name in PROFILES)
    shown = ask("show", "profiles", "agent-code").out
    assert "free <= 13,000" in shown
    assert '"[Old tool result cleared]"' in shown


def test_a_profiles_file_can_be_taken_as_a_start(ask: Ask, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(ask("show", "profiles", "copilot", "--toml").out)
    theirs, own = (
        json.loads(ask("show", "profiles", name, "--json").out)["profiles"][0]
        for name in ("copilot", str(mine))
    )
    assert {**theirs, "name": ""} == {**own, "name": ""}


def test_a_profile_that_is_not_there_is_a_usage_error(ask: Ask, desk: Path) -> None:
    outcome = ask("compact", desk, "--profile", "neurolinck")
    assert outcome.code == 2
    assert "did you mean neurolink?" in outcome.err


def test_a_name_too_long_for_a_profile_is_a_usage_error(ask: Ask, desk: Path) -> None:
    outcome = ask("compact", desk, "--profile", "x" * 300)
    assert outcome.code == 2
    assert "cannot be read: " in outcome.err


def test_check_answers_by_exit_code(ask: Ask, desk: Path) -> None:
    assert ask("check", desk).code == 0
    assert ask("check", desk, "--trigger", "always").code == 1
    assert ask("check", desk, "--window", "8k").code == 1
    assert ask("check", desk, "--trigger", "turns>100 or tokens>=1000").code == 1


def test_check_speaks_as_the_system_does(ask: Ask, sample: Sample) -> None:
    path = sample("claude-code-session")
    # By default an extra that is installed counts, and gives other shares.
    counted = ("--counter", "o200k_base x1.18")
    told = ask("check", path, "--profile", "neurolink", "--window", "400k", *counted).out
    assert "Context: 69% used" in told
    told = ask("check", path, "--profile", "neurolink", "--window", "340k", *counted).out
    assert re.search(r"Context usage: 84% of window \([\d,]+ / 276,000 tokens\)\nAuto-comp", told)
    told = ask("check", path, "--profile", "agent-code", "--window", "255k", *counted).out
    assert re.search(r"Context \d% remaining; compaction is due", told)


def test_the_parts_of_a_request_add_up(ask: Ask, desk: Path, tmp_path: Path) -> None:
    (tmp_path / "system.md").write_text("You are a helpful assistant.")
    (tmp_path / "tools.json").write_text('[{"name": "search", "description": "finds"}]')
    (tmp_path / "notes.md").write_text("some notes")
    found = json.loads(
        ask(
            "check", desk, "--json",
            "--system", tmp_path / "system.md", "--tools", tmp_path / "tools.json",
            "--prompt", "Go on.", "--attach", tmp_path / "notes.md",
        ).out
    )  # fmt: skip
    parts = found["breakdown"]
    assert sum(parts.values()) == found["estimatedInputTokens"]
    assert all(parts[name] > 0 for name in parts)
    assert (found["shouldCompact"], found["withinBudget"]) == (False, True)


def test_if_needed_changes_nothing_when_compaction_is_not_due(ask: Ask, desk: Path) -> None:
    outcome = ask("compact", desk, "--stages", "prune,truncate", "--if-needed")
    assert outcome.code == 0
    assert "compaction is not due: 14,225 tokens, the trigger is ratio >= 0.8" in outcome.out
    assert not desk.with_name("openai-chat.compacted.jsonl").exists()
    due = ask("compact", desk, "--stages", "truncate", "--if-needed", "--trigger", "1000")
    assert due.code == 0
    assert desk.with_name("openai-chat.compacted.jsonl").exists()


def test_recovery_from_an_error_frees_more_than_was_too_much(ask: Ask, sample: Sample) -> None:
    path = sample("claude-code-session")
    error = "prompt is too long: 240,000 tokens > 200,000 maximum"
    found = json.loads(ask("compact", path, "-n", "--json", "--from-error", error).out)
    assert found["targetTokens"] == 95_200
    assert found["tokensSaved"] >= 44_000
    assert "summarize" not in found["stagesUsed"]


def test_recovery_works_without_figures(ask: Ask, sample: Sample) -> None:
    path = sample("claude-code-session")
    arguments = ("--from-error", "input is too long for this model", "--window", "1m")
    found = json.loads(ask("compact", path, "-n", "--json", *arguments).out)
    assert found["tokensSaved"] >= 20_000


def test_in_a_small_window_no_more_goes_than_that_of_a_full_one(ask: Ask, desk: Path) -> None:
    arguments = ("--from-error", "prompt is too long", "--window", "20k", "--max-tokens", "4000")
    found = json.loads(ask("compact", desk, "-n", "--json", *arguments).out)
    assert found["targetTokens"] == min(11_200, found["tokensBefore"] - 4_800)
    assert found["fits"]


@pytest.mark.parametrize(
    ("error", "what", "advice"),
    [
        ("429 rate limit exceeded", "rate limit or quota", "wait: the same request can succeed"),
        ("503 overloaded", "rate limit or quota", "too many requests at the moment: wait a few"),
        ("invalid api key", "not recognized as a context overflow", "compactctl check names"),
    ],
)
def test_an_error_about_something_else_is_refused(
    ask: Ask, desk: Path, error: str, what: str, advice: str
) -> None:
    outcome = ask("compact", desk, "--from-error", error)
    assert outcome.code == 2
    assert what in outcome.err
    assert advice in outcome.err


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        ("prompt is too long: 205,000 tokens > 200,000 maximum", 5, ""),
        ("rate limit exceeded, try again in 20s", 2, "this is a rate limit or quota error"),
        ("the disk is full", 2, "not recognized as a context overflow"),
    ],
)
def test_only_a_session_whose_context_is_too_long_is_rescued(
    ask: Ask, desk: Path, error: str, code: int, words: str
) -> None:
    outcome = ask("rescue", desk, "-n", "--from-error", error)
    assert (outcome.code, words in outcome.err) == (code, True), outcome.err


@pytest.mark.parametrize("profile", ["default", "staged", "cline", "claude-api"])
def test_simulation_tells_where_a_profile_compacts(ask: Ask, session: Path, profile: str) -> None:
    found = json.loads(
        ask("lab", "simulate", session, "--json", "--window", "80k", "--profile", profile).out
    )
    (replay,) = found["profiles"]
    assert replay["firings"]
    assert replay["sentTokens"] < found["sentTokens"]
    assert replay["finalTokens"] <= replay["peakTokens"] <= found["peakTokens"]
    for firing in replay["firings"]:
        assert firing["tokensAfter"] < firing["tokensBefore"]
        assert firing["path"] in {"foreground", "reactive"}
    assert [f["step"] for f in replay["firings"]] == sorted(f["step"] for f in replay["firings"])


def test_simulation_of_background_compaction_can_be_drawn(ask: Ask, session: Path) -> None:
    whys = set()
    for seed in range(2):
        outcome = ask(
            "lab",
            "simulate",
            session,
            "--json",
            "--window",
            "80k",
            "--profile",
            "copilot",
            "--seed",
            str(seed),
        )
        firing = json.loads(outcome.out)["profiles"][0]["firings"][0]
        whys.add(firing["why"])
        assert firing["path"] == "background"
    assert len(whys) > 1
    assert whys <= {f"ratio >= 0.{n}" for n in (78, 79, 80, 81, 82)}


def test_a_request_that_does_not_fit_is_a_reactive_compaction(ask: Ask, session: Path) -> None:
    arguments = ("--json", "--profile", "opencode", "--window", "64k")
    found = json.loads(ask("lab", "simulate", session, *arguments).out)
    assert "reactive" in {firing["path"] for firing in found["profiles"][0]["firings"]}


def test_the_answer_that_is_kept_counts_for_every_profile(ask: Ask, desk: Path) -> None:
    names = ("--profile", "neurolink", "--profile", "agent-code", "--profile", "codebuddy@code")
    arguments = (
        "lab",
        "simulate",
        desk,
        "--json",
        "--window",
        "100k",
        "--max-tokens",
        "10000",
        *names,
    )
    found = json.loads(ask(*arguments).out)
    available = [profile["availableInputTokens"] for profile in found["profiles"]]
    assert available == [90_000, 90_000, 75_000]


def test_simulation_of_an_empty_conversation(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"role": "user", "content": "hello"}\n')
    found = json.loads(ask("lab", "simulate", path, "--json").out)
    assert found["requestCount"] == 1
    assert all(replay["firings"] == [] for replay in found["profiles"])


def test_what_is_frozen_is_left_alone(ask: Ask, sample: Sample) -> None:
    path = sample("claude-code-session")
    arguments = ("-n", "--explain", "--json", "--stages", "dedup,prune,truncate")
    found = json.loads(ask("compact", path, *arguments, "--freeze-before", "200").out)
    fates = [row["fate"] for row in found["messages"] if row["fate"] != "written"]
    assert set(fates[:200]) == {"kept"}
    assert set(fates[200:]) == {"kept", "rewritten"}
    name = found["messages"][0]["id"]
    asked = ("compact", path, "-n", "--stages", "dedup", "--freeze-before")
    assert ask(*asked, name).code == 0
    assert ask(*asked, "nobody").code == 2


def test_a_summarizer_that_a_profile_names_is_used_or_told(
    ask: Ask, session: Path, tmp_path: Path
) -> None:
    path, profile = session, tmp_path / "mine.toml"
    profile.write_text('summarizationProvider = "vertex"\n')
    outcome = ask("compact", path, "-n", "--stages", "summarize", "--profile", profile)
    assert "the summary was not written by vertex" in outcome.err
    profile.write_text('summarizer = "openai"\nsummarizer_model = "small"\n')
    outcome = ask("compact", path, "--profile", profile)
    assert (outcome.code, "--base-url" in outcome.err) == (2, True)


def test_after_a_compaction_it_is_not_due(ask: Ask, desk: Path, tmp_path: Path) -> None:
    profile, out = tmp_path / "mine.toml", tmp_path / "out.jsonl"
    profile.write_text('base = "default"\ntrigger = "tokens >= 6000"\nstages = ["shorten"]\n')
    assert ask("check", desk, "--profile", profile).code == 1
    assert " over the target" not in ask("compact", desk, "--profile", profile, "-o", out).out
    assert ask("check", out, "--profile", profile).code == 0


def test_what_is_added_to_a_request_is_no_message_of_the_history(
    ask: Ask, desk: Path, tmp_path: Path
) -> None:
    (tmp_path / "tools.json").write_text('[{"name": "search", "description": "finds"}]')
    added = ("--tools", tmp_path / "tools.json", "--prompt", "And now?")
    plain, more = (
        json.loads(ask("check", desk, "--json", *options).out) for options in ((), added)
    )
    for name in ("messageCount", "turnCount"):
        assert plain[name] == more[name]


def test_after_an_overflow_what_was_too_much_has_to_go(ask: Ask, desk: Path) -> None:
    unknown = ("compact", desk, "-n", "--from-error", "prompt is too long")
    assert " over " in ask(*unknown).out.partition("\n")[0]
    assert ask(*unknown, "--require-fit").code == 5
    error = "prompt is too long: 21000 tokens > 16000 maximum"
    window = ("--profile", "neurolink", "--window", "20k", "--max-tokens", "4000")
    found = json.loads(ask("compact", desk, "-n", "--json", *window, "--from-error", error).out)
    counted = found["tokensBefore"]
    assert found["targetTokens"] == min(int(0.7 * 16_000), counted - 5_500)


def test_a_profile_without_room_does_not_stop_the_others(ask: Ask, desk: Path) -> None:
    outcome = ask("lab", "simulate", desk, "--window", "2")
    assert outcome.code == 0
    assert "not simulated: codebuddy@code: " in outcome.err
    assert ask("lab", "simulate", desk, "--window", "2", "--profile", "codebuddy@code").code == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[budget]\ndivide_by = 0\n", "must leave more than 0"),
        ('[budget]\ndivide_by = "two"\n', "is not a number"),
        ('stages = [{stage = "truncate", fraction = 5}]\n', "fraction = 5"),
        ("keepRecentRatio = 1.5\n", "keep_ratio = 1.5"),
        ("[contextCompaction]\ntresholdd = 0.5\n", "did you mean threshold?"),
    ],
)
def test_what_means_nothing_in_a_profile_is_refused(
    ask: Ask, tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "mine.toml").write_text(text)
    outcome = ask("show", "profiles", tmp_path / "mine.toml")
    assert outcome.code == 2
    assert why in outcome.err


def test_a_block_of_their_configuration_may_hold_more_than_compaction(
    ask: Ask, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(
        "[conversationMemory]\nmaxSessions = 50\n"
        "[conversationMemory.contextCompaction]\nthreshold = 0.5\n"
    )
    assert "ratio >= 0.5" in ask("show", "profiles", tmp_path / "mine.toml").out


@pytest.mark.parametrize("command", ["compact", "simulate"])
def test_a_profile_that_is_not_there_is_told_with_the_option(
    ask: Ask, desk: Path, command: str
) -> None:
    outcome = ask(command, desk, "--profile", "neurolinc")
    assert outcome.code == 2
    assert "--profile" in outcome.err
    assert "did you mean neurolink?" in outcome.err


def test_a_profile_says_what_it_changes_in_its_base(ask: Ask) -> None:
    shown = ask("show", "profiles", "neurolink@code").out
    changed = shown.partition("changes in neurolink\n")[2]
    assert re.search(r"\nsummarize.role +user instead of system\n", changed)
    assert re.search(r"\nwindows +of \d+ models; --toml lists them\n", changed)
    document = json.loads(ask("show", "profiles", "neurolink@code", "--json").out)["profiles"][0]
    assert document["base"] == "neurolink"
    keys = {change["key"] for change in document["changes"]}
    assert {"summarize.role", "windows.openai.gpt-5"} <= keys
    shown = ask("show", "profiles", "copilot").out
    assert "for gemini models\nrepair.enabled  on instead of off\n" in shown


def write_chat(path: Path) -> Path:
    records = (
        {"id": f"m{n}", "role": "assistant" if n % 2 else "user", "content": f"{n} {'word ' * 200}"}
        for n in range(12)
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_copilots_margin_is_left_beside_tools(ask: Ask, tmp_path: Path) -> None:
    chat, tools = write_chat(tmp_path / "chat.jsonl"), tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "t", "description": "d" * 3_966}]))
    measured = ("check", chat, "--profile", "copilot", "--window", "10000", "--counter", "chars/4")
    bare, beside = (
        json.loads(ask(*measured, "--json", *extra).out) for extra in ((), ("--tools", tools))
    )
    definitions = beside["breakdown"]["toolDefinitions"]
    assert definitions > 900
    assert bare["availableInputTokens"] == 10_000
    assert beside["availableInputTokens"] == definitions + (10_000 - definitions) * 9 // 10


def test_a_call_shows_that_there_are_tools(ask: Ask, desk: Path) -> None:
    measured = ("check", desk, "--profile", "copilot", "--window", "10000", "--json")
    assert json.loads(ask(*measured).out)["availableInputTokens"] == 9_000


@pytest.mark.parametrize(("model", "is_reminded"), [("gpt-4.1-mini", True), ("gpt-5", False)])
def test_copilots_rule_for_a_model_applies_by_itself(
    model: str, *, is_reminded: bool, ask: Ask, tmp_path: Path
) -> None:
    chat, out = write_chat(tmp_path / "chat.jsonl"), tmp_path / "out.jsonl"
    ask(
        "compact",
        chat,
        "--profile",
        "copilot",
        "--model",
        model,
        "--stages",
        "summarize",
        "-o",
        out,
    )
    assert ("Keep going" in ask("view", out, "--full").out) == is_reminded


def test_several_profiles_are_simulated_as_in_an_evaluation(ask: Ask, sample: Sample) -> None:
    path = sample("openai-chat")
    listed, repeated = (
        ask("lab", "simulate", path, "--window", "20k", "--json", *options).json
        for options in (
            ("--profile", "roo, opencode"),
            ("--profile", "roo", "--profile", "opencode"),
        )
    )
    assert listed == repeated
    refused = ask("lab", "simulate", path, "--profile", "roo,opncode")
    assert refused.code == 2
    assert "'opncode'; did you mean opencode?" in refused.err
