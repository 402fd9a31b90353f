"""A session compacted in its client's store: a new session, with the old one as it was."""

import json
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import ANY
from uuid import UUID

import pyarrow as pa
import pytest
from cli.asking import Ask
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from sessions.homes import HOUR, Home, Said
from sessions.long_sessions import (
    EACH,
    SAID,
    SMALL,
    WRITERS,
    claude,
    codex,
    everything_below,
    forked,
)

from compactctl.clients.claude_code.store import NAME as CLAUDE_CODE
from compactctl.clients.fork import ForkedLines, ForkIdentity
from compactctl.clients.records.builder import uuid_for
from compactctl.clients.session import Session, SessionDetails, SessionEntry
from compactctl.clients.stores import fork_session
from compactctl.store.client_folders import UserEnvironment

SOMEWHAT_SMALLER = ("--stages", "truncate", "--target", "52k")


OLD = Said(name="old").id


def session_of(title: str) -> Session:
    entry = SessionEntry(client=CLAUDE_CODE, id=OLD, path=Path("p") / f"{OLD}.jsonl", modified=0)
    return Session(entry=entry, details=SessionDetails(title=title))


def fresh_of(bits: int, now: datetime | None = None) -> ForkIdentity:
    return ForkIdentity(
        random_bits=bits, now=now or datetime.now(UTC), machine=UserEnvironment(home=Path("h"))
    )


def id_of(fork: Path) -> str:
    if fork.name == "events.jsonl":
        return fork.parent.name
    if fork.name.startswith("session-"):
        return str(records_of(fork)[0]["sessionId"])
    return fork.stem[-36:]


def records_of(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def renamed(client: str, path: Path, own: str) -> list[dict[str, Any]]:
    """Return the records of a session as those of another id."""
    records = records_of(path)
    if client == "claude-code":
        for each in records:
            if each.get("sessionId") == SAID.id:
                each["sessionId"] = own
        title = {"type": "custom-title", "customTitle": "Tide windows (compacted)"}
        return [*records, {**title, "sessionId": own, "forkedFrom": {"sessionId": SAID.id}}]
    if client == "gemini-cli":
        records[0]["sessionId"] = records[-1]["$set"]["sessionId"] = own
        return [*records, {"$set": {"summary": "Tide windows (compacted)"}}]
    if client == "qwen-code":
        newest = records[-1]["uuid"]
        records = [{**each, "sessionId": own} for each in records]
        title = {"customTitle": "Tide windows (compacted)", "titleSource": "manual"}
        name = uuid_for(f"{own} Tide windows (compacted)")
        about: dict[str, Any] = {
            "uuid": name,
            "parentUuid": newest,
            "sessionId": own,
            "type": "system",
        }
        about["forkedFrom"] = {"sessionId": SAID.id}
        return [*records, {**about, "subtype": "custom_title", "systemPayload": title}]
    if client == "codex":
        records[0]["payload"] |= {"id": own, "forked_from_id": SAID.id, "timestamp": ANY}
    elif client == "copilot-cli":
        records[0]["data"]["sessionId"] = own
    else:
        records[0] |= {"id": own, "parentSession": str(path), "timestamp": ANY}
    return records


@EACH
def test_a_fork_is_a_session_and_the_original_is_as_it_was(
    home: Home, ask: Ask, client: str
) -> None:
    path = WRITERS[client](home)
    before = everything_below(home.root)
    result = forked(ask, SAID.id)
    fork = Path(result["output"])
    own = id_of(fork)
    assert result["forkedFrom"] == SAID.id != own
    after = everything_below(home.root)
    titles = home.root / ".codex" / "session_index.jsonl"
    if client == "codex":
        assert after[titles][0].startswith(before[titles][0])
        before[titles] = after[titles]
    assert before.items() <= after.items()
    beside = {fork.with_name("workspace.yaml")} if client == "copilot-cli" else set()
    assert set(after) - set(before) == {fork, *beside, *Path(result["archive"]).iterdir()}
    listed = {each["id"]: each for each in ask("sessions", "--json").json["sessions"]}
    assert set(listed) == {SAID.id, own}
    assert listed[own]["path"] == str(fork)
    assert listed[own]["project"] == SAID.project
    if client != "pi":
        assert listed[own]["title"] == "Tide windows (compacted)"
    assert fork.stat().st_size < path.stat().st_size


@EACH
def test_rewind_gives_the_whole_session_under_its_new_id(home: Home, ask: Ask, client: str) -> None:
    path = WRITERS[client](home)
    result = forked(ask, path)
    fork = Path(result["output"])
    compacted = fork.read_bytes()
    assert ask("rewind", fork).code == 0
    assert records_of(fork) == renamed(client, path, id_of(fork))
    assert ask("verify", home.root).code == 0
    assert ask("rewind", fork, "--to", result["operation"]).code == 0
    assert fork.read_bytes() == compacted


@EACH
def test_what_was_said_to_a_fork_survives_its_rewind(home: Home, ask: Ask, client: str) -> None:
    path = WRITERS[client](home)
    fork = Path(forked(ask, path)["output"])
    whole = renamed(client, path, id_of(fork))
    line = path.read_bytes().splitlines(keepends=True)[2]
    with fork.open("ab") as stream:
        stream.write(line)
    assert ask("rewind", fork).code == 0
    assert records_of(fork) == [*whole, json.loads(line)]


@pytest.mark.parametrize(
    ("client", "command"),
    [
        ("claude-code", "cd '/home/dev/quay side' && claude --resume {}"),
        ("codex", "codex resume {}"),
        ("pi", "cd '/home/dev/quay side' && pi --session {}"),
        ("copilot-cli", "copilot --resume={}"),
        ("gemini-cli", "cd '/home/dev/quay side' && gemini --resume {}"),
        ("qwen-code", "cd '/home/dev/quay side' && qwen --resume {}"),
    ],
)
def test_it_ends_with_the_command_that_goes_on(
    home: Home, ask: Ask, client: str, command: str
) -> None:
    path = WRITERS[client](home)
    result = forked(ask, path)
    expected = command.format(id_of(Path(result["output"])))
    assert result["continueWith"] == expected
    shown = ask("compact", path, *SMALL, "--force").err.splitlines()
    assert shown[-1].startswith(f"continue  {command.partition('{')[0]}")
    assert any(line == f"session   {SAID.id} (not changed)" for line in shown)
    in_place = forked(ask, path, "--in-place")
    assert in_place["continueWith"] == command.format(SAID.id)
    assert in_place["forkedFrom"] is None


def test_an_open_session_is_gone_on_with_in_its_client(home: Home, ask: Ask) -> None:
    path = claude(home)
    home.claude_is_open(SAID, os.getpid())
    result = forked(ask, path)
    assert result["continueWith"] == f"/resume {id_of(Path(result['output']))}"
    assert forked(ask, path, "--in-place")["continueWith"] == f"/resume {SAID.id}"


def test_a_transcript_outside_of_stores_is_gone_on_with_nowhere(
    home: Home, ask: Ask, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(claude(home).read_bytes())
    result = forked(ask, path)
    assert result["output"] == str(tmp_path / "run.compacted.jsonl")
    assert (result["continueWith"], result["forkedFrom"]) == (None, None)
    elsewhere = forked(ask, SAID.id, "-o", str(tmp_path / "small.jsonl"))
    assert (elsewhere["continueWith"], elsewhere["forkedFrom"]) == (None, None)


def test_where_a_fork_of_codex_lies(home: Home, ask: Ask) -> None:
    began = datetime.now().astimezone() - timedelta(milliseconds=1)
    fork = Path(forked(ask, codex(home))["output"])
    own = UUID(id_of(fork))
    made = datetime.fromtimestamp((own.int >> 80) / 1000).astimezone()
    assert began <= made <= datetime.now().astimezone()
    assert own.version == 7
    assert fork.name == f"rollout-{made:%Y-%m-%dT%H-%M-%S}-{own}.jsonl"
    assert fork.parent == home.root / ".codex/sessions" / f"{made:%Y/%m/%d}"


def test_both_ids_that_newer_versions_of_codex_write_are_new(home: Home, ask: Ask) -> None:
    path = codex(home)
    path.write_text(path.read_text().replace('{"id":', f'{{"session_id": "{SAID.id}", "id":', 1))
    fork = Path(forked(ask, path)["output"])
    meta = records_of(fork)[0]["payload"]
    assert meta["session_id"] == meta["id"] == id_of(fork)
    assert meta["forked_from_id"] == SAID.id


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Tides", "Tides (compacted)"),
        ("Tides (compacted)", "Tides (compacted 2)"),
        ("Tides (compacted 9)", "Tides (compacted 10)"),
        ("Tides (whole)", "Tides (compacted)"),
        ("", "(compacted)"),
        ("T" * 200, f"{'T' * 35}… (compacted)"),
    ],
)
def test_titles_of_forks_are_told_apart(title: str, expected: str) -> None:
    fork = fork_session(session_of(title), fresh_of(0))
    assert fork is not None
    (line,) = fork.trailing_lines
    assert json.loads(line)["customTitle"] == expected


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@EACH
def test_a_fork_of_what_was_compacted_takes_its_history_along(
    home: Home, ask: Ask, client: str, layout: str
) -> None:
    path = WRITERS[client](home)
    whole = path.read_bytes()
    in_place = ("--in-place", "--force", "--layout", layout, *SOMEWHAT_SMALLER)
    assert ask("compact", path, *in_place).code == 0
    small = path.read_bytes()
    fork = Path(forked(ask, path)["output"])
    assert path.read_bytes() == small
    assert ask("verify", home.root).code == 0
    assert ask("rewind", fork).code == 0
    assert records_of(fork) == renamed(client, path, id_of(fork))
    assert ask("rewind", "--all", fork).code == 0
    path.write_bytes(whole)
    assert records_of(fork) == renamed(client, path, id_of(fork))


@EACH
def test_no_session_is_compacted_in_a_way_that_its_client_passes_over(
    home: Home, ask: Ask, client: str
) -> None:
    path = WRITERS[client](home)
    before = everything_below(home.root)
    inline = ("--layout", "inline", *SMALL)
    for options in (("--in-place",), ("-o", path), ("--in-place", "--dry-run")):
        outcome = ask("compact", path, *inline, *options)
        assert outcome.code == 2
        assert "would send everything" in outcome.err
    assert everything_below(home.root) == before


def test_roo_code_honours_tags(home: Home, ask: Ask) -> None:
    path = home.roo(SAID)
    assert ask("compact", path, "--layout", "inline", "--in-place", *SMALL).code == 0


@EACH
def test_a_fork_of_a_fork(home: Home, ask: Ask, client: str) -> None:
    path = WRITERS[client](home)
    first = Path(ask("compact", path, *SOMEWHAT_SMALLER, "--json").json["output"])
    second = Path(forked(ask, first)["output"])
    assert ask("verify", home.root).code == 0
    assert len(ask("log", second, "--json").json["operations"]) == 2
    assert ask("rewind", "--all", second).code == 0
    named = second.read_bytes().splitlines()[-1 if client == "claude-code" else 0]
    assert id_of(second).encode() in named
    titled = client in {"claude-code", "gemini-cli", "qwen-code"}
    assert len(records_of(second)) == len(records_of(path)) + 2 * titled


def test_a_session_that_alone_holds_its_originals_is_not_forked(
    home: Home, ask: Ask, tmp_path: Path
) -> None:
    path, inside = claude(home), tmp_path / "inside.jsonl"
    assert ask("compact", path, "-o", inside, "--layout", "inline", *SOMEWHAT_SMALLER).code == 0
    path.write_bytes(inside.read_bytes())
    before = everything_below(home.root)
    outcome = ask("compact", path, *SMALL)
    assert outcome.code == 2
    assert "contains its originals (--layout inline) and cannot become a new session" in outcome.err
    assert everything_below(home.root) == before


@pytest.mark.parametrize("options", [("--dry-run",), ("--stages", "dedup")])
def test_nothing_is_written_where_nothing_is_to_be(
    home: Home, ask: Ask, options: tuple[str, ...]
) -> None:
    for write in WRITERS.values():
        path = write(home)
        before = everything_below(home.root)
        folders = {each for each in home.root.rglob("*") if each.is_dir()}
        assert ask("compact", path, *options).code == 0
        assert everything_below(home.root) == before
        assert {each for each in home.root.rglob("*") if each.is_dir()} == folders


def test_no_fork_is_made_for_other_clients_and_of_helpers(home: Home, ask: Ask) -> None:
    helpers = (claude(home, isSidechain=True), home.codex(SAID, source={"subagent": "review"}))
    for path in (*helpers, home.cline_task(SAID), home.roo(SAID)):
        before = everything_below(home.root)
        outcome = ask("compact", path, *SMALL)
        assert outcome.code == 2, path
        assert "write elsewhere with -o, or use --in-place" in outcome.err
        assert everything_below(home.root) == before


@pytest.mark.parametrize("client", ["codex", "pi"])
def test_a_session_that_does_not_begin_with_its_name_is_not_forked(
    home: Home, ask: Ask, client: str
) -> None:
    path = WRITERS[client](home)
    path.write_text("\n" + path.read_text())
    before = everything_below(home.root)
    outcome = ask("compact", SAID.id, *SMALL, "--format", client)
    assert outcome.code == 4
    assert "cannot become a new session" in outcome.err
    assert everything_below(home.root) == before


VALUES = st.recursive(
    st.sampled_from([OLD, f"{OLD}!", "\u00e9\ud800", "", 1, 1e400, None]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["sessionId", "id", "message"]), inner, max_size=3)
    ),
    max_leaves=8,
)
SPELLED = st.builds(
    lambda value, ascii_only, indent, end: json.dumps(
        value, ensure_ascii=ascii_only, separators=indent
    ).encode("utf-8", "surrogatepass") + end,
    VALUES, st.booleans(), st.sampled_from([(",", ":"), (" ,  ", " : ")]),
    st.sampled_from([b"\n", b"\r\n"]),
)  # fmt: skip
LINES = st.lists(SPELLED | st.binary(max_size=40).map(lambda data: data + b"\n"), max_size=6)


@tries(300)
@given(lines=LINES, bits=st.integers(0, (1 << 128) - 1))
def test_only_the_name_of_the_session_differs(lines: list[bytes], bits: int) -> None:
    fork = fork_session(session_of("Tides"), fresh_of(bits))
    assert fork is not None
    assert UUID(fork.id).version == 4
    made = ForkedLines(lines, fork)
    assert len(made) == len(lines) + 1
    assert list(made) == [made[at] for at in range(len(made))] == [*made[:-1], made[-1]]
    for old, new in zip(lines, made, strict=False):
        if new == old:
            assert not names(old)
        else:
            assert names(old)
            assert len(new) == len(old)
            assert new.replace(fork.id.encode(), OLD.encode()) == old
            assert json.loads(new)["sessionId"] == fork.id


def names(line: bytes) -> bool:
    """Tell whether a line is a record of the old session, as any reader of JSON would."""
    try:
        record = json.loads(line.decode())
    except ValueError:
        return False
    return isinstance(record, dict) and record.get("sessionId") == OLD


@given(
    bits=st.integers(0, (1 << 128) - 1),
    now=st.integers(0, 200 * 365 * 86_400).map(lambda each: datetime.fromtimestamp(each, UTC)),
)
def test_timed_ids(bits: int, now: datetime) -> None:
    made = UUID(fresh_of(bits, now).timed_id)
    assert (made.version, made.variant) == (7, UUID(int=0, version=4).variant)
    assert made.int >> 80 == now.timestamp() * 1000


def test_the_newest_is_the_fork(home: Home, ask: Ask) -> None:
    claude(home, Said(name="tides", age=HOUR))
    fork = Path(forked(ask, "latest")["output"])
    assert time.time() - fork.stat().st_mtime < HOUR
    assert ask("stats", "latest", "--json").json["path"] == str(fork)


def test_a_compressed_session_of_codex_is_read_and_compacted_as_a_plain_one(
    home: Home, ask: Ask
) -> None:
    path = codex(home)
    whole = path.read_bytes()
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(pa.Codec("zstd").compress(whole, asbytes=True))
    path.unlink()
    before = everything_below(home.root / ".codex" / "sessions")
    assert ask("stats", SAID.id).code == 0
    fork = Path(forked(ask, SAID.id)["output"])
    assert fork.suffix == ".jsonl"
    assert before.items() <= everything_below(home.root / ".codex" / "sessions").items()
    assert ask("rewind", fork).code == 0
    path.write_bytes(whole)
    assert records_of(fork) == renamed("codex", path, id_of(fork))


def test_a_title_stands_on_a_line_of_its_own(home: Home, ask: Ask) -> None:
    WRITERS["codex"](home)
    titles = home.root / ".codex" / "session_index.jsonl"
    before = titles.read_bytes().rstrip(b"\n")
    titles.write_bytes(before)
    forked(ask, SAID.id)
    lines = titles.read_bytes().splitlines()
    assert lines[:-1] == before.splitlines()
    assert all(json.loads(line) for line in lines)


@EACH
def test_sessions_made_of_one_session_have_titles_of_their_own(
    home: Home, ask: Ask, client: str
) -> None:
    if client == "pi":
        pytest.skip("pi's sessions have no title of their own")
    WRITERS[client](home)
    own = [id_of(Path(forked(ask, SAID.id, "--force")["output"])) for _ in range(3)]
    listed = {each["id"]: each for each in ask("sessions", "--json").json["sessions"]}
    assert [listed[each]["title"] for each in own] == [
        "Tide windows (compacted)",
        "Tide windows (compacted 2)",
        "Tide windows (compacted 3)",
    ]


def test_a_header_that_codex_wrote_again_names_the_new_session(home: Home, ask: Ask) -> None:
    path = WRITERS["codex"](home)
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([b"\xef\xbb\xbf", first, *others, first]))
    fork = Path(forked(ask, path)["output"])
    lines = fork.read_bytes().splitlines()
    headers = [json.loads(line) for line in lines if b"session_meta" in line]
    assert [header["payload"]["id"] for header in headers] == [fork.stem[-36:]] * 2


def test_the_last_record_of_a_fork_of_codex_has_a_number_if_others_have(
    home: Home, ask: Ask
) -> None:
    path = WRITERS["codex"](home)
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    numbered = [{**record, "ordinal": at} for at, record in enumerate(records[:-1])]
    path.write_text("\n".join(map(json.dumps, [*numbered, records[-1]])))
    fork = Path(forked(ask, path)["output"])
    assert json.loads(fork.read_bytes().splitlines()[-1])["ordinal"] == len(numbered)


@pytest.mark.parametrize(
    "behind", [b"", b'{"timestamp":"t","type":"event_ms', b"\0\0\0\n", b"[1]\n", b"5", b"null\n"]
)
def test_what_codex_cannot_parse_is_not_its_last_record(
    home: Home, ask: Ask, behind: bytes
) -> None:
    path = WRITERS["codex"](home)
    *records, last = (json.loads(line) for line in path.read_bytes().splitlines())
    numbered = [{**record, "ordinal": at} for at, record in enumerate(records)]
    giant = {**last, "padding": "x" * 70_000}
    path.write_bytes("".join(f"{json.dumps(r)}\n" for r in [*numbered, giant]).encode() + behind)
    fork = Path(forked(ask, path)["output"])
    (forked_last,) = (line for line in fork.read_bytes().splitlines() if b"padding" in line)
    assert json.loads(forked_last) == {**giant, "ordinal": len(numbered)}


def test_a_last_header_of_codex_gets_the_new_id_and_a_number(home: Home, ask: Ask) -> None:
    path = WRITERS["codex"](home)
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    numbered = [{**record, "ordinal": at} for at, record in enumerate(records)]
    copy = path.with_name("rollout-copy.jsonl")
    copy.write_text("".join(f"{json.dumps(each)}\n" for each in [*numbered, records[0]]))
    path.unlink()
    fork = Path(forked(ask, copy)["output"])
    last = json.loads(fork.read_bytes().splitlines()[-1])
    assert (last["payload"]["id"], last["ordinal"]) == (fork.stem[-36:], len(numbered))
