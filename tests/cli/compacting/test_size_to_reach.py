"""Down to which size a transcript is compacted, and what ``check`` says of it then."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample
from formats.claude_code.sessions import Record, said, user
from formats.jsonl import write_lines

# Windows in which it is time to compact these, by what the sizes refer to.
FULL = (
    ("claude-code-session", "90k", ()),
    ("codex-session", "46k", ()),
    ("codex-session", "42k", ("--fail-base", "available")),
    ("codex-session", "42k", ("--fail-base", "window")),
    ("openai-chat", "20k", ()),
    ("openai-chat", "17k", ("--fail-base", "window")),
    ("anthropic-messages", "24k", ()),
)


def document(ask: Ask, *arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = ask(*arguments, "--json").json
    return found


@pytest.mark.parametrize(("name", "window", "base"), FULL)
def test_what_was_compacted_needs_no_compaction(
    ask: Ask, excerpt: Sample, name: str, window: str, base: Sequence[str]
) -> None:
    path = excerpt(name)
    small = path.with_name("small.jsonl")
    assert ask("check", path, "--window", window, *base).code == 1
    told = document(ask, "compact", path, "-o", small, "--window", window, *base)
    assert told["fits"]
    assert told["targetTokens"] == told["fit"]["baseTokens"] // 2
    found = document(ask, "check", small, "--window", window, *base)
    assert not found["shouldCompact"]
    assert (found["fit"], found["level"]) == (told["fit"], told["level"])


def test_stage_by_stage_it_goes_until_nothing_is_due(ask: Ask, session: Path) -> None:
    told = document(ask, "compact", session, "-n", "--window", "80k", "--profile", "staged")
    assert told["targetTokens"] == int(told["fit"]["baseTokens"] * 0.8)


@pytest.mark.parametrize("share", ["0.5", "50%"])
def test_a_share_as_target_is_of_the_window(ask: Ask, sample: Sample, share: str) -> None:
    asked = ("compact", "-n", "--window", "40k", "--target", share)
    for name in ("codex-session", "openai-chat"):
        assert document(ask, *asked, sample(name))["targetTokens"] == 20_000


def test_a_share_as_target_is_of_what_a_system_leaves_for_input(ask: Ask, session: Path) -> None:
    asked = ("compact", session, "-n", "--window", "80k", "--target", "0.5")
    assert document(ask, *asked, "--profile", "agent-code")["targetTokens"] == 30_000


def test_the_default_profile_by_name_is_the_default(ask: Ask, sample: Sample) -> None:
    path = sample("openai-chat")
    named = ("--window", "20k", "--profile", "default")
    for asked in (("compact", "-n"), ("compact", "-n", "--target", "0.5"), ("check",)):
        assert document(ask, *asked, path, *named) == document(ask, *asked, path, *named[:2])


def test_tokens_as_target_may_be_more_than_the_reserve_leaves(ask: Ask, session: Path) -> None:
    asked = ("compact", session, "-n", "--window", "65k", "--stages", "dedup", "--target")
    assert document(ask, *asked, "60k")["targetTokens"] == 60_000
    assert document(ask, *asked, "90k")["targetTokens"] == 65_000


def test_without_a_target_the_limit_is_that_of_gates(ask: Ask, sample: Sample) -> None:
    path = sample("claude-code-session")
    asked = ("compact", path, "-n", "--stages", "dedup")
    first, *_ = ask(*asked).out.splitlines()
    assert first.endswith(" over 167,000, where Claude Code compacts")
    assert ask(*asked, "--require-fit").code == 5
    assert ask(*asked, "--require-fit", "--window", "300k").code == 0


def test_no_room_beside_the_answer_matters_where_nothing_refers_to_it(
    ask: Ask, sample: Sample
) -> None:
    asked = ("--max-tokens", "48000", "-n")
    assert ask("compact", sample("codex-session"), *asked, "--window", "48k").code == 0
    chat = sample("openai-chat")
    assert ask("compact", chat, *asked, "--window", "48k").code == 2
    assert ask("compact", chat, *asked, "--window", "48k", "--target", "5k").code == 0


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_the_model_is_known_when_no_answer_of_it_is_left(
    ask: Ask, tmp_path: Path, layout: str
) -> None:
    path, small = tmp_path / "run.jsonl", tmp_path / "small.jsonl"
    model = {"model": "claude-sonnet-4-5-20250929"}
    records: list[Record] = []
    for turn in range(6):
        before = f"a{turn - 1}" if turn else None
        records.append(user(f"u{turn}", before, "go on " * 50))
        records.append(said(f"a{turn}", f"u{turn}", "done " * 50))
        records[-1]["message"] |= model
    records.append(user("u6", "a5", "and now?"))
    write_lines(path, *records)
    how_much = ("--truncate-fraction", "1", "--truncate-keep-first", "0")
    asked = ("--stages", "truncate", "--keep-turns", "0", *how_much)
    told_before = document(ask, "compact", path, "-o", small, *asked, "--layout", layout)
    found = document(ask, "stats", small)
    roles = {message["role"] for message in document(ask, "view", small)["messages"]}
    assert "assistant" not in roles
    for name in ("model", "counter", "windowTokens"):
        assert found[name] == told_before[name]
    assert found["model"] == model["model"]


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_a_window_that_a_request_showed_is_known_when_that_is_gone(
    ask: Ask, tmp_path: Path, layout: str
) -> None:
    path, small = tmp_path / "run.jsonl", tmp_path / "small.jsonl"
    records: list[Record] = []
    for turn, sent in enumerate((180_000, 412_300, 90_000, 95_000)):
        before = f"a{turn - 1}" if turn else None
        records.append(user(f"u{turn}", before, "go on " * 50))
        records.append(said(f"a{turn}", f"u{turn}", "done " * 50))
        usage = {"input_tokens": sent, "output_tokens": 60}
        records[-1]["message"] |= {"model": "claude-opus-4-6", "usage": usage}
    write_lines(path, *records)
    how_much = ("--truncate-fraction", "1", "--truncate-keep-first", "0")
    asked = ("--stages", "truncate", "--keep-turns", "2", *how_much)
    assert document(ask, "compact", path, "-o", small, *asked, "--layout", layout)["windowTokens"]
    assert document(ask, "stats", small)["windowTokens"] == 1_000_000
    # And when that record is taken out in its turn.
    again = tmp_path / "again.jsonl"
    asked = ("--stages", "truncate", "--keep-turns", "1", *how_much)
    document(ask, "compact", small, "-o", again, *asked, "--layout", layout)
    assert document(ask, "stats", again)["windowTokens"] == 1_000_000


@pytest.mark.parametrize("size", [(), ("--keep", "50%"), ("--target", "5k")], ids=" ".join)
def test_what_is_not_due_misses_no_target(ask: Ask, desk: Path, size: tuple[str, ...]) -> None:
    """A gate for CI passes where ``check`` says that there is nothing to do, if all fits."""
    measured = ("--window", "32k")
    gate = (*measured, *size, "--if-needed", "--require-fit")
    assert ask("check", desk, *measured).code == 0
    outcome = ask("compact", desk, "-n", *gate)
    assert (outcome.code, " over " not in outcome.out) == (0, True), outcome.err
    assert ask("batch", desk, *gate).code == 0


def test_what_does_not_fit_fails_though_it_is_not_due(ask: Ask, desk: Path) -> None:
    gate = ("--window", "20k", "--if-needed", "--trigger", "turns>100", "--require-fit")
    assert ask("compact", desk, "-n", *gate).code == 5
    assert ask("batch", desk, *gate).code == 5
