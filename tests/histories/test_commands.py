"""Short histories with the bundled transcripts: the commands, and what comes back."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.asking import SAMPLES
from histories.damages import example
from histories.doing import ask, inside
from talks import TALKS, Record, Talk

OLDER = "2.0.76"
ID = "6f1d2c3b-aaaa-4bbb-8ccc-123456789abc"
FIRST, THEN = (
    ("--counter", "chars/4", "--stages", "truncate", "--keep", share) for share in ("60%", "20%")
)
OPEN = ("--native", "--while-open")


@pytest.fixture(autouse=True)
def _place(tmp_path: Path) -> Iterator[None]:
    """Be in a folder of its own, with a home in it."""
    with inside(tmp_path / "w"):
        yield


def copied(name: str) -> Path:
    return Path(shutil.copy(SAMPLES / f"{name}.jsonl", f"{name}.jsonl"))


def archives(path: Path) -> list[Path]:
    return sorted(Path(f"{path}.archive").glob("*.parquet"))


def claude_session(version: str = "") -> Path:
    """Put the bundled session of Claude Code into its store."""
    data = (SAMPLES / "claude-code-session.jsonl").read_bytes()
    old = re.search(rb'"sessionId": ?"([^"]+)"', data)
    assert old is not None
    data = data.replace(old[1], ID.encode())
    if version:
        data = re.sub(rb'"version": ?"[^"]+"', f'"version":"{version}"'.encode(), data)
    return stored(f"home/.claude/projects/-home-dev-quayside/{ID}.jsonl", data)


def codex_session() -> Path:
    """Put the bundled session of Codex into its store, as of a version that is proven."""
    head, *rest = (SAMPLES / "codex-session.jsonl").read_bytes().splitlines(keepends=True)
    meta = json.loads(head)
    meta["payload"] |= {"id": ID, "cli_version": "0.150.0"}
    name = f"rollout-2026-01-02T03-04-05-{ID}.jsonl"
    data = b"".join([json.dumps(meta).encode() + b"\n", *rest])
    return stored(f"home/.codex/sessions/2026/01/02/{name}", data)


def stored(place: str, data: bytes) -> Path:
    path = Path(place)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def done(*words: str) -> Record:
    told = ask(*words, "--json")
    assert told.code == 0, told.err
    return told.document


@pytest.mark.each_choice
@pytest.mark.parametrize("stage", ["prune", "strip", "distill"])
@pytest.mark.parametrize("is_empty", [False, True], ids=["no folder", "empty folder"])
@pytest.mark.parametrize(
    "name", ["claude-code-session", "codex-session", "gemini-cli-session", "openai-chat"]
)
def test_a_transcript_without_its_archive_is_damaged(
    name: str, stage: str, *, is_empty: bool
) -> None:
    result = done("compact", str(copied(name)), *example(stage), "--keep", "30%")
    assert result["compacted"]
    path = Path(result["output"])
    shutil.rmtree(f"{path}.archive")
    if is_empty:
        Path(f"{path}.archive").mkdir()
    assert ask("verify", str(path)).code == 7
    assert ask("log", str(path)).code == 6
    assert ask("rewind", str(path)).code == 6


def test_without_the_first_archive_the_state_behind_it_is_reached_and_no_other() -> None:
    path = copied("claude-code-session")
    first = done("compact", str(path), *FIRST, "--in-place")["operation"]
    middle = path.read_bytes()
    done("compact", str(path), *THEN, "--in-place")
    newest = path.read_bytes()
    archives(path)[0].unlink()
    told = ask("rewind", str(path), "--all")
    assert told.code == 6
    assert "has no archive 0001" in told.err
    assert path.read_bytes() == newest
    assert ask("log", str(path)).code == 6
    assert ask("verify", str(path)).code == 7
    done("rewind", str(path), "--to", first)
    assert path.read_bytes() == middle


def test_the_first_bytes_of_a_session_that_was_appended_to_come_back() -> None:
    path = claude_session(OLDER)
    before = path.read_bytes()
    done("compact", ID, *FIRST, *OPEN)
    done("rewind", ID, "--while-open")
    assert path.read_bytes().startswith(before)
    assert len(path.read_bytes()) > len(before)
    done("rewind", ID, "--all", "-o", "back.jsonl")
    assert Path("back.jsonl").read_bytes() == before


def test_a_session_that_is_closed_gets_its_old_length_back() -> None:
    path = claude_session(OLDER)
    before = path.read_bytes()
    done("compact", ID, *FIRST, *OPEN)
    done("rewind", ID, "--closed")
    assert path.read_bytes() == before


@pytest.mark.parametrize("to_file", [True, False], ids=["to a file", "in place"])
def test_all_is_undone_that_was_appended_and_that_was_replaced(*, to_file: bool) -> None:
    path = claude_session()
    before = path.read_bytes()
    done("compact", ID, *FIRST, *OPEN)
    done("compact", ID, *THEN, "--in-place")
    operations = done("log", ID)["operations"]
    assert [each["inEffect"] for each in operations] == [True, True]
    done("rewind", ID, "--all", *(("-o", "back.jsonl") if to_file else ("--closed",)))
    assert (Path("back.jsonl") if to_file else path).read_bytes() == before


@pytest.mark.parametrize("stage", ["truncate", "summarize"])
def test_a_second_append_has_nothing_to_do(stage: str) -> None:
    path = codex_session()
    words = ("compact", ID, "--counter", "chars/4", "--stages", stage, *OPEN)
    assert done(*words)["compacted"]
    after = path.read_bytes()
    assert not done(*words)["compacted"]
    assert path.read_bytes() == after


def test_an_archive_of_another_session_is_damage() -> None:
    path, other = copied("claude-code-session"), copied("openai-chat")
    for each in (path, other):
        done("compact", str(each), *THEN, "--in-place")
    shutil.copy(archives(other)[0], archives(path)[0])
    assert ask("verify", str(path)).code == 7
    assert ask("verify", str(path), "--repair").code == 7
    assert ask("rewind", str(path), "--all").code in {6, 7}


DOCUMENTS = {
    "agent-code": ("agent-code", "--window", "40k", "--target", "6000"),
    "openai-chat array": ("codebuddy", "--window", "5k"),
    "neurolink array": ("neurolink", "--window", "8k"),
    "roo": ("roo", "--window", "8k"),
}


@pytest.mark.parametrize("is_anew", [True, False], ids=["written anew", "text added"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_goes_on_and_is_compacted_again(name: str, *, is_anew: bool) -> None:
    talk = next(each for each in TALKS if each.name == name)
    path = Path(talk.path)
    path.write_bytes(talk.begin(25, 0))
    words = ("compact", str(path), "--profile", *DOCUMENTS[name], "--in-place")
    assert done(*words)["compacted"]
    path.write_bytes(continued(talk, path.read_bytes(), is_anew=is_anew))
    assert done(*words)["compacted"]
    done("rewind", str(path), "--all", "-o", "back.json")
    assert talk.records(Path("back.json").read_bytes()) == talk.records(talk.begin(40, 0))


def continued(talk: Talk, data: bytes, *, is_anew: bool) -> bytes:
    """Return a document with fifteen more turns."""
    records: list[Record] = []
    for number in range(25, 40):
        records += talk.turn(number, [*talk.records(data), *records])
    if is_anew:
        return talk.extended(data, records, 0)
    end = data.rstrip().rfind(b"]")
    more = json.dumps(records)[1:-1].encode()
    return data[:end].rstrip() + b",\n" + more + b"\n" + data[end:]
