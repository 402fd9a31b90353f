"""Sessions of Claude Code behind a proxy: other models, other counts, other errors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample
from formats.claude_code import sessions as claude
from formats.jsonl import write_lines

Json = dict[str, Any]
Usage = Callable[[int, int, int], Json]

TOO_LONG = "prompt is too long: 205432 tokens > 200000 maximum"
# What a proxy makes of new, read and written tokens: its input holds those of the cache as well.
DOUBLED: dict[str, Usage] = {
    "what was read": lambda new, read, write: {
        "input_tokens": new + read,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
    },
    "what was read and written": lambda new, read, write: {
        "input_tokens": new + read + write,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
    },
}


def told(ask: Ask, *arguments: str | Path) -> Json:
    outcome = ask(*arguments, "--json")
    found: Json = outcome.json
    return found


def rewritten(path: Path, usage: Usage) -> Path:
    """Write a session with other reports; the lines stay as they are otherwise."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        counts = (record.get("message") or {}).get("usage")
        if counts:
            fields = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            new, read, write = (counts.get(field) or 0 for field in fields)
            counts.pop("cache_creation", None)
            counts |= usage(new, read, write)
    return write_lines(path, *records)


@pytest.mark.parametrize("usage", DOUBLED.values(), ids=DOUBLED)
def test_cached_tokens_that_a_proxy_counts_twice_count_once(
    ask: Ask, sample: Sample, usage: Usage
) -> None:
    path = sample("claude-code-session")
    right = told(ask, "stats", path)
    found = told(ask, "stats", rewritten(path, usage))
    assert found["windowTokens"] == right["windowTokens"] == 200_000
    assert found["estimatedInputTokens"] == pytest.approx(right["estimatedInputTokens"], rel=0.02)
    (warning,) = found["warnings"]
    assert "counts cached tokens twice" in warning
    assert right["warnings"] == []


def test_reports_that_grow_twice_as_fast_open_no_larger_window(ask: Ask, sample: Sample) -> None:
    doubled = rewritten(
        sample("claude-code-session"), lambda new, read, write: {
            "input_tokens": 2 * (new + read + write),
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
        },
    )  # fmt: skip
    found = told(ask, "stats", doubled)
    assert found["windowTokens"] == 200_000
    assert not found["fit"]["fits"]


@pytest.mark.parametrize(
    ("model", "version", "windows"),
    [
        ("gpt-5.5", "2.1.322", (200_000, 1_050_000)),
        ("gpt-5.5", "2.1.323", (1_000_000, 1_050_000)),
        ("deepseek-chat", "2.1.40", (200_000, 131_072)),
        ("our-deployment", "2.1.40", (200_000, 128_000)),
        ("claude-opus-4-8", "2.1.40", (None, 1_000_000)),
    ],
)
def test_claude_code_compacts_by_the_window_that_it_assumes(
    ask: Ask, tmp_path: Path, model: str, version: str, windows: tuple[int | None, int]
) -> None:
    client, window = windows
    path = tmp_path / "session.jsonl"
    answer = claude.said("a", "u", "Yes.", version=version, inner={"model": model})
    write_lines(path, claude.user("u", None, "Is it?"), answer)
    found = told(ask, "stats", path)
    fit, at = found["fit"], (client or window) - 33_000
    assert (found["windowTokens"], fit["clientWindowTokens"]) == (window, client)
    assert fit["compactsAtTokens"] == at
    # Gates are not later than they would be if the client knew the window.
    assert fit["baseTokens"] <= min(at, window)
    assert ("too late" in ask("stats", path).out) == (at > window)


def test_a_compaction_starts_from_what_the_provider_refused(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "refused.jsonl"
    body = "The tide turns twice a day. " * 2_000
    records = [claude.user("u", None, "Explain the tides.")]
    for n in range(12):
        call = claude.called(f"a{n}", records[-1]["uuid"], f"c{n}")
        records += [call, claude.answered(f"r{n}", f"a{n}", f"c{n}", f"{n} {body}")]
    inner = {"id": "e", "model": "<synthetic>", "content": [{"type": "text", "text": TOO_LONG}]}
    records.append(claude.record("assistant", "x", "r11", message=inner, isApiErrorMessage=True))
    write_lines(path, *records)
    before = path.read_bytes()
    assert ask("check", path).code == 1
    assert told(ask, "stats", path)["estimatedInputTokens"] == 205_432
    done = told(ask, "compact", path, "--stages", "truncate", "--keep", "60%", "--in-place")
    assert done["tokensBefore"] - done["tokensAfter"] > 0.3 * done["tokensBefore"]
    assert told(ask, "stats", path)["estimatedInputTokens"] == done["largestRequestTokens"]
    # What the provider counted beside the transcript is in the next request as well.
    assert done["largestRequestTokens"] > 205_432 - done["tokensBefore"]
    assert done["restatedUsage"] is None
    assert ask("rewind", path).code == 0
    assert path.read_bytes() == before


def test_a_request_that_was_refused_is_never_called_small(ask: Ask, tmp_path: Path) -> None:
    """Though the provider did not say how large it was, and little of it was counted."""
    path = tmp_path / "refused.jsonl"
    said = [{"type": "text", "text": "Prompt is too long"}]
    inner = {"id": "e", "model": "<synthetic>", "content": said}
    asked = claude.user("u", None, "Explain the tides.")
    refused = claude.record("assistant", "x", "u", message=inner, isApiErrorMessage=True)
    write_lines(path, asked, refused)
    shown = ask("stats", path).out
    assert "the provider refused the request as too large" in shown
    assert ": fits" not in shown
    done = ask("check", path)
    assert done.code == 1
    assert "compaction is due: the provider refused the request as too large" in done.out
    assert told(ask, "check", path)["fired"] == "refused"
