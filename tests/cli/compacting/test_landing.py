"""A compaction ends within 8% below the size that was asked for, whatever fills the session."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cli.asking import Ask
from examples import tries
from formats.claude_code import sessions as claude
from formats.codex import rollouts as codex
from formats.jsonl import write_lines
from hypothesis import given
from hypothesis import strategies as st

WORDS = ("berth", "quay", "tide", "moor", "buoy", "pilot", "draft", "hull", "wharf", "crane")


def text(random: Random, tokens: int) -> str:
    """Return lines of about as many tokens, no two alike."""
    lines = (
        f"{random.choice(WORDS)}_{random.randrange(10**5)} = {' '.join(random.choices(WORDS, k=8))}"
        for _ in range(max(1, tokens // 14))
    )
    return "\n".join(lines)


def codex_session(random: Random, injected: int, steps: Sequence[int]) -> list[dict[str, Any]]:
    """Return a session with large messages of the client before, between and after its steps."""
    settings_text = text(random, injected)
    return [
        codex.record("session_meta", id="s", base_instructions={"text": "You are Codex."}),
        codex.message("developer", f"<permissions instructions>\n{settings_text}</permissions>"),
        codex.message("user", f"# AGENTS.md instructions for /w\n{settings_text}"),
        codex.message("user", "Find out which berths are free."),
        codex.message("developer", text(random, injected)),
        *(
            record
            for n, size in enumerate(steps)
            for record in (codex.call(f"c{n}"), codex.output(f"c{n}", text(random, size)))
        ),
        codex.message("user", f"<skill>\n{text(random, injected)}\n</skill>"),
        codex.message("assistant", "Two berths are free."),
    ]


def claude_session(random: Random, injected: int, steps: Sequence[int]) -> list[claude.Record]:
    """Return a session in which the older answers were preceded by long reasoning."""
    records = [
        claude.attached("h", None, "hook_additional_context", content=[text(random, injected)]),
        claude.user("u", "h", "Find out which berths are free."),
        claude.attached("d", "u", "deferred_tools_delta", addedLines=[text(random, injected)]),
    ]
    sent = 20_000 + 2 * injected
    for n, size in enumerate(steps):
        thought = 800 if n < len(steps) // 2 else 0
        usage = {"input_tokens": sent, "output_tokens": thought + 30}
        inner = {"model": "claude-sonnet-4-5-20250929", "usage": usage}
        records.append(claude.called(f"c{n}", records[-1]["uuid"], f"f{n}", inner=inner))
        records.append(claude.answered(f"r{n}", f"c{n}", f"f{n}", text(random, size)))
        sent += thought + 30 + size
    return records


SESSIONS = st.tuples(
    st.integers(0, 2**32),
    st.integers(100, 3_000),
    st.lists(st.integers(400, 2_500), min_size=16, max_size=24),
)


def compacted(ask: Ask, path: Path, records: Sequence[object], *size: str) -> dict[str, Any]:
    write_lines(path, *records)
    found = ask("compact", path, "-n", "--json", "--stages", "distill", *size)
    document: dict[str, Any] = found.json
    return document


@pytest.mark.parametrize("make", [codex_session, claude_session])
@given(session=SESSIONS, share=st.sampled_from([0.5, 0.3, 0.1]))
@tries(20)
def test_a_share_of_the_conversation_is_kept(
    ask: Ask, tmp_path: Path, make: Any, session: Any, share: float
) -> None:
    seed, injected, steps = session
    records = make(Random(seed), injected, steps)
    document = compacted(ask, tmp_path / "run.jsonl", records, "--keep", str(share))
    conversation = document["conversation"]
    asked = share * conversation["tokensBefore"]
    assert conversation["tokensAfter"] <= asked
    assert conversation["tokensAfter"] >= 0.92 * asked - 20


@pytest.mark.each_choice
@pytest.mark.parametrize("make", [codex_session, claude_session])
@pytest.mark.parametrize("share", [0.7, 0.5, 0.3])
def test_the_request_has_the_size_asked_for(
    ask: Ask, tmp_path: Path, make: Any, share: float
) -> None:
    random = Random(3)
    path = tmp_path / "run.jsonl"
    records = make(random, 2_000, [random.randrange(400, 2_500) for _ in range(20)])
    before = compacted(ask, path, records, "--keep", "0.99")
    text_tokens = before["conversation"]["tokensAfter"]
    target = int(before["largestRequestTokens"] - (1 - share) * text_tokens)
    document = compacted(ask, path, records, "--target", str(target))
    assert 0.92 * target <= document["largestRequestTokens"] <= target
