"""JSON documents: one per command, with a schema name, complete and safe to be shown."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask, Sample
from formats.jsonl import write_lines

NAME = re.compile(r"[a-z]+(?:[A-Z0-9][a-z0-9]*)*")
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]|##\\[|^\\s*::", re.MULTILINE)
# Objects whose names are data: categories, kinds of records, options, tags in the file, and the
# names of other systems.
DATA = {"breakdown", "metadata", "categories", "options", "tags", "as"}
VERSIONS = {"batch": 2, "stats": 2, "check": 2, "compact": 2}


def document(ask: Ask, *arguments: str | Path) -> dict[str, Any]:
    outcome = ask(*arguments, "--json")
    found = outcome.json
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    "command", ["stats", "compact", "view", "log", "rewind", "verify", "batch"]
)
def test_a_document_names_its_schema(ask: Ask, compacted: Path, command: str) -> None:
    found = document(ask, command, compacted)
    assert found["schema"] == f"compactctl.{command}/{VERSIONS.get(command, 1)}"
    assert next(iter(found)) == "schema"


@pytest.mark.parametrize(
    "command", ["stats", "compact", "view", "log", "rewind", "verify", "batch"]
)
def test_names_are_in_camel_case(ask: Ask, compacted: Path, command: str) -> None:
    names = list(_names(document(ask, command, compacted)))
    assert len(names) > 3
    wrong = [name for name in names if not NAME.fullmatch(name)]
    assert wrong == [], f"compactctl/views: keys in the document of {command} are in camelCase"


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield name
            if name not in DATA:
                yield from _names(each)
    elif isinstance(value, list):
        for each in value:
            yield from _names(each)


def test_the_categories_add_up(ask: Ask, desk: Path) -> None:
    found = document(ask, "stats", desk)
    assert sum(found["breakdown"].values()) == found["totalTokens"] > 0
    assert found["countedTokens"] == found["totalTokens"]


def test_the_savings_add_up(ask: Ask, desk: Path) -> None:
    found = document(ask, "compact", desk, "--target", "5k", "-n")
    assert found["tokensBefore"] - found["tokensAfter"] == found["tokensSaved"] > 0
    assert sum(stage["tokensSaved"] for stage in found["stages"]) == found["tokensSaved"]
    assert found["stagesUsed"] == ["distill"]


def test_explain_adds_every_message(ask: Ask, desk: Path) -> None:
    found = document(ask, "compact", desk, "--target", "5k", "-n", "--explain")
    messages = found["messages"]
    kept = [each for each in messages if each["fate"] != "written"]
    assert len(kept) == found["messagesBefore"] == 39
    assert sum(each["tokensAfter"] for each in messages) == found["tokensAfter"]


def test_a_batch_has_a_row_per_file_and_sums(ask: Ask, desk: Path, tmp_path: Path) -> None:
    found = document(ask, "batch", desk, tmp_path / "missing.jsonl", "--stages", "truncate")
    assert [row["status"] for row in found["files"]] == ["ok", "failed"]
    assert found["exitCode"] == found["files"][1]["exitCode"] == 3
    assert found["totals"]["saved"] == found["files"][0]["saved"] > 0


def test_lines_that_are_not_understood_are_listed(ask: Ask, sample: Sample) -> None:
    found = document(ask, "stats", sample("damaged"))
    assert [each["line"] for each in found["file"]["notUnderstood"]][:3] == [3, 4, 5]


def test_errors_leave_standard_output_empty(ask: Ask, tmp_path: Path) -> None:
    outcome = ask("stats", tmp_path / "missing.jsonl", "--json")
    assert outcome.out == ""
    assert outcome.code == 3


def test_what_a_terminal_obeys_is_escaped(ask: Ask, tmp_path: Path) -> None:
    text = "\x1b[31m \x9b31m \u202e ##[error]boom\n::error::boom \ud800"
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({"role": "user", "content": text}) + "\n")
    outcome = ask("view", path, "--json")
    assert outcome.json["messages"][0]["parts"][0]["text"] == text
    assert OBEYED.search(outcome.out) is None


def test_what_other_systems_call_it_stands_under_one_key(ask: Ask, sample: Sample) -> None:
    found = document(ask, "compact", sample("openai-chat"), "-n", "--target", "5k")
    theirs = {name for record in found["as"].values() for name in record}
    shared = theirs & set(found)
    assert shared == set(found["as"]["neurolink"])
    assert all(found["as"]["neurolink"][name] == found[name] for name in shared)


def test_results_are_told_as_other_systems_tell_them(ask: Ask, session: Path) -> None:
    stages = "repair,dedup,prune,strip,summarize,truncate"
    found = document(
        ask, "compact", session, "-n", "--stages", stages, "--prune-min-savings", "10000000"
    )
    by_name = {stage["name"]: stage for stage in found["stages"]}
    neurolink = {name: by_name[name]["as"]["neurolink"] for name in by_name if name != "strip"}
    removed = by_name["truncate"]["hidden"] + by_name["summarize"]["hidden"]
    assert found["as"]["codebuddy"] == {
        "compacted": True,
        "originalCount": found["messagesBefore"],
        "finalCount": found["messagesAfter"],
        "originalTokens": found["tokensBefore"],
        "finalTokens": found["tokensAfter"],
        "tier": 1,
        "warningLevel": "none",
    }
    saved = found["tokensSaved"]
    assert found["as"]["agent-code"] == {"snipped_count": removed, "tokens_freed": saved}
    assert found["as"]["spring-ai-session"] == {
        "eventsRemoved": removed,
        "tokensEstimatedSaved": saved,
    }
    assert found["messagesHidden"] == removed > 0
    assert by_name["strip"]["as"] == {}
    assert neurolink == {
        "repair": {"repaired": False, "orphanedCallsFixed": 0, "orphanedResultsFixed": 0},
        # What it would rewrite is summarized.
        "dedup": {"deduplicated": False, "filesDeduped": 0},
        "prune": {"pruned": False, "tokensSaved": 0},
        "summarize": {"summarized": True},
        "truncate": {"truncated": True, "messagesRemoved": by_name["truncate"]["hidden"]},
    }
    assert by_name["summarize"]["summaryText"].startswith("[Previous conversation summary]")
    (alone,) = document(ask, "compact", session, "-n", "--stages", "dedup")["stages"]
    files = alone["as"]["neurolink"].pop("filesDeduped")
    assert files == alone["filesDeduped"] > 0
    assert alone["as"] == {"neurolink": {"deduplicated": True}}


def test_a_check_is_told_as_other_systems_tell_it(ask: Ask, sample: Sample) -> None:
    found = document(ask, "check", sample("claude-code-session"))
    assert found["as"]["agent-code"] == {
        "percent_left": 0,
        "is_above_warning": True,
        "is_above_error": True,
        "should_compact": True,
        "is_blocking": True,
    }
    assert found["as"]["codebuddy"] == {"warningLevel": "over"}


def test_a_repair_tells_what_it_fixed(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "orphan.jsonl"
    orphan = {"role": "tool", "tool_call_id": "x", "content": "a result of nothing"}
    records = [{"role": "user", "content": "hello"}, orphan, {"role": "assistant", "content": "hi"}]
    write_lines(path, *records)
    (stage,) = document(ask, "compact", path, "-n", "--stages", "repair")["stages"]
    fixed = {"orphanedCallsFixed": 0, "orphanedResultsFixed": 1}
    assert stage["as"]["neurolink"] == {"repaired": True, **fixed}
    assert stage["orphanedResultsFixed"] == 1
