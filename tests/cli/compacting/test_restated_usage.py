"""The counts by which a client measures its context, after a compaction of it."""

import json
from pathlib import Path

import pytest
from cli.asking import Ask, Sample
from cli.compacting.recorded_sizes import CLIENTS, Json, in_pi, told_by
from false_usage import LIES, with_usage
from file_commands import load_file
from formats.pi import sessions as pi

from compactctl.records import replace

LESS = ("--stages", "truncate", "--target", "30k", "--keep-turns", "1")


EACH = pytest.mark.parametrize("client", CLIENTS)


def counts_of(client: str, path: Path) -> Json:
    """Return the counts by which the client measures, as its own code finds them."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    if client == "opencode":
        (document,) = records
        found = [m["info"].get("tokens") for m in document["messages"]]
    elif client == "codex":
        payloads = [record.get("payload", {}) for record in records]
        found = [(p.get("info") or {}).get("last_token_usage") for p in payloads]
    elif client == "gemini-cli":
        found = [record.get("tokens") for record in records]
    else:
        found = [r.get("message", {}).get("usage") for r in records]
    newest: Json = [each for each in found if each][-1]
    return newest


def compacted(ask: Ask, path: Path, *options: str) -> tuple[Path, Json]:
    outcome = ask("compact", path, *LESS, *options, "--json")
    assert outcome.code == 0, outcome.err
    found: Json = outcome.json
    return Path(found["output"]), found


@EACH
def test_the_client_finds_the_size_of_what_is_left(
    ask: Ask, sample: Sample, tmp_path: Path, client: str
) -> None:
    original = CLIENTS[client](sample, tmp_path)
    before = original.read_bytes()
    was = counts_of(client, original)
    small, told = compacted(ask, original)
    now = counts_of(client, small)
    assert told["restatedUsage"]["tokens"] == told_by(now) < told_by(was)
    assert told_by(now) <= told["largestRequestTokens"]
    # What the answer took and what anything cost is as it was.
    output = "output" if "output" in was else "output_tokens"
    assert (now[output], now.get("cost")) == (was[output], was.get("cost"))
    assert ask("rewind", small).code == 0
    assert small.read_bytes() == before


@EACH
def test_nothing_is_told_where_the_provider_reported_nothing(
    ask: Ask, sample: Sample, tmp_path: Path, client: str
) -> None:
    whole = CLIENTS[client](sample, tmp_path)
    silent = tmp_path / f"silent{whole.suffix}"
    silent.write_bytes(with_usage(whole.read_bytes(), LIES["zero"], in_sums=True))
    outcome = ask("compact", silent, "--stages", "truncate", "--keep", "30%", "--json")
    told = outcome.json
    assert told["restatedUsage"] is None
    assert b'"reported"' not in Path(told["output"]).read_bytes()


@EACH
def test_it_is_never_taken_for_what_the_provider_reported(
    ask: Ask, sample: Sample, tmp_path: Path, client: str
) -> None:
    original = CLIENTS[client](sample, tmp_path)
    reported = {m.usage for m in load_file(original).transcript.messages}
    small, told = compacted(ask, original)
    left = load_file(small).transcript.effective
    usages = {m.usage and replace(m.usage, is_before_edit=False) for m in left}
    assert {None} < usages <= reported
    size = ask("stats", small, "--json").json["estimatedInputTokens"]
    assert size == told["largestRequestTokens"]


@EACH
def test_a_second_run_changes_nothing_and_a_smaller_one_keeps_what_was_reported(
    ask: Ask, sample: Sample, tmp_path: Path, client: str
) -> None:
    original = CLIENTS[client](sample, tmp_path)
    small, _ = compacted(ask, original, "--in-place")
    once, counts = small.read_bytes(), counts_of(client, small)
    assert "nothing was changed" in ask("compact", small, *LESS, "--in-place").out
    assert small.read_bytes() == once
    usage = [m.usage for m in load_file(small).transcript.effective][-1]
    smaller = ("--stages", "limit", "--limit-max-tokens", "100", "--keep-turns", "0")
    assert ask("compact", small, *smaller, "--in-place").code == 0
    assert told_by(counts_of(client, small)) < told_by(counts)
    assert [m.usage for m in load_file(small).transcript.effective][-1] == usage


@pytest.mark.parametrize("options", [("--no-tags",), ("--layout", "inline")])
@EACH
def test_counts_stay_where_nobody_could_tell_them_from_reported_ones(
    ask: Ask, sample: Sample, tmp_path: Path, client: str, options: tuple[str, ...]
) -> None:
    original = CLIENTS[client](sample, tmp_path)
    was = counts_of(client, original)
    small, told = compacted(ask, original, *options)
    assert told["restatedUsage"] is None
    assert counts_of(client, small) == was


def test_what_still_holds_is_not_restated(ask: Ask, tmp_path: Path, sample: Sample) -> None:
    original = in_pi(sample, tmp_path)
    result = pi.answered("c", "the tide turns " * 5_000)
    newer = pi.chained(pi.called("c"), result, pi.said("So it does."), first=32, parent="e31")
    with original.open("a") as stream:
        stream.writelines(f"{json.dumps(each)}\n" for each in newer)
    left_alone = ("--freeze-before", "e32", "--keep-turns", "0", "--json")
    done = ask("compact", original, "--stages", "limit", "--limit-max-tokens", "100", *left_alone)
    found = done.json
    assert found["compacted"]
    assert found["restatedUsage"] is None


def with_reasoning_of_another(path: Path) -> None:
    """Let the reasoning of a rollout be sealed for another account, up to its last message."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    items = [r["payload"] for r in records if r["type"] == "response_item"]
    for number, item in enumerate(items):
        if item.get("role") == "assistant":
            item["id"] = f"item{number}"
        if "encrypted_content" in item:
            item["encrypted_content"] = "REDACTED"
    last = max(n for n, r in enumerate(records) if r["payload"].get("role") == "assistant")
    sealed = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "REDACTED"}
    records.insert(last, {**records[last], "payload": sealed})
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def test_a_repaired_rollout_is_as_large_as_its_compaction_says(ask: Ask, sample: Sample) -> None:
    """Without its reasoning the newest message loses its id, by which it could be found."""
    path = sample("codex-session")
    with_reasoning_of_another(path)
    told = ask("compact", path, "--stages", "repair,truncate", "--target", "12k", "--json").json
    after = ask("stats", told["output"], "--json").json["estimatedInputTokens"]
    assert after == told["largestRequestTokens"]
