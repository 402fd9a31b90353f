"""Lines that a container or a logger wrapped: read as if they were bare, and written like them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from examples import tries
from file_commands import load_file, rewind_file
from formats.jsonl import detected
from hypothesis import assume, given
from hypothesis import strategies as st
from properties.chats import lines_of, openai
from properties.jobs import WAYS, Bench, bench
from properties.plans import PLANS, Plan
from unit.commands.conversations import group_of, squeeze, turn

from compactctl.clients.fork import with_session_id
from compactctl.clients.records.decode import decode
from compactctl.commands.client_sessions.native import rules_of
from compactctl.commands.compact.compact import compact
from compactctl.commands.verify.verify import VerifyOptions, verify
from compactctl.errors import UsageError
from compactctl.store.archive.archive import archive_folder
from compactctl.store.files.source import split_lines

TIME = "2026-01-01T00:00:00.123456789Z"
SAID = '{"role":"user","content":"Say \\"hi\\" to é"}'
# Docker's json-file driver, Fluent Bit, CloudWatch, Elastic's common schema; the container runtime
# of Kubernetes, Docker Compose, Python's logging as it is and with a usual format, journald, and
# server-sent events.
WRAPPERS: dict[str, Callable[[str], str]] = {
    "docker": lambda line: json.dumps({"log": f"{line}\n", "stream": "stdout", "time": TIME}),
    "fluent": lambda line: json.dumps(
        {"date": 1767225600.0, "log": line, "kubernetes": {"pod_name": "gateway"}}
    ),
    "cloudwatch": lambda line: json.dumps(
        {"logStreamName": "a", "timestamp": 1, "message": line, "ingestionTime": 2, "eventId": "3"}
    ),
    "elastic": lambda line: json.dumps({"@timestamp": TIME, "message": line}, ensure_ascii=False),
    "kubernetes": lambda line: f"{TIME} stdout F {line}",
    "compose": lambda line: f"gateway-1  | {line}",
    "python": lambda line: f"INFO:root:{line}",
    "level": lambda line: f"2026-01-01 00:00:00,123 - gateway - INFO - {line}",
    "journald": lambda line: f"Jan 01 00:00:00 host gateway[12]: {line}",
    "events": lambda line: f"data: {line}",
}
EACH = pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)


@EACH
def test_the_layer_is_taken_off(wrap: Callable[[str], str]) -> None:
    assert decode(wrap(SAID).encode()) == ((json.loads(SAID),), None)
    assert detected(wrap(SAID).encode(), b"", wrap(SAID).encode()) == "openai-chat"


@pytest.mark.parametrize(
    "line",
    [
        'on and on"} {"role":"user","content":"torn"}',
        '{"role":"user","con{"role":"user","content":"torn"}',
        'and then {"role":"user","content":"torn in a word"}',
        "INFO: no record",
        "INFO: {no record}",
    ],
)
def test_what_is_torn_has_no_layer(line: str) -> None:
    assert decode(line.encode())[1] is not None


@pytest.mark.parametrize(
    "record",
    [
        {"log": SAID},
        {"role": "user", "content": "x", "log": SAID, "time": TIME},
        {"@timestamp": TIME, "message": "Server started"},
        {"@timestamp": TIME, "message": SAID[:20]},
        {"date": 1, "log": "[INFO] Server started"},
    ],
)
def test_any_other_record_stays_what_it_is(record: dict[str, Any]) -> None:
    assert decode(json.dumps(record).encode()) == ((record,), None)


def test_a_prefix_in_another_encoding_is_damage() -> None:
    line = "Mär 01 00:00:00 host: ".encode("latin-1") + SAID.encode()
    assert decode(line) == ((json.loads(SAID),), "a prefix that is not UTF-8")


def test_what_else_a_container_said_is_carried_as_text_that_is_not_json() -> None:
    said = WRAPPERS["docker"](SAID).encode()
    noise = [WRAPPERS["docker"](f"Started {number}").encode() for number in range(60)]
    assert detected(*noise, said) == "openai-chat"
    assert decode(noise[0]) == ((), "not JSON")


def _lines(bare: list[bytes], wrap: Callable[[str], str]) -> bytes:
    return b"".join(wrap(line.decode().rstrip("\n")).encode() + b"\n" for line in bare)


def _meant(line: bytes) -> Any:
    """Return a record without what names its operation and the bytes before it."""
    (record,), _ = decode(line)
    own = record.get("compactctl", {})
    for name in ("op", "bytes", "sha256"):
        own.pop(name, None)
    return record


def _compacted(at: Bench, way: dict[str, Any]) -> list[bytes]:
    if not compact(at.options(**way)).compacted:
        return []
    return list(split_lines(at.out.read_bytes()))


def _is_whole(line: bytes) -> bool:
    return line.startswith(b"{") and decode(line)[1] is None


@tries(60)
@given(plan=PLANS, way=WAYS, name=st.sampled_from(sorted(WRAPPERS)))
def test_wrapped_lines_are_compacted_as_bare_ones_and_restored(
    plan: Plan, way: dict[str, Any], name: str
) -> None:
    bare = [line for line in lines_of(openai, plan) if _is_whole(line)]
    assume(bare)
    wrapped = _lines(bare, WRAPPERS[name])
    with bench(b"".join(bare)) as at:
        wanted = _compacted(at, way)
    with bench(wrapped) as at:
        lines = _compacted(at, way)
        assert list(map(_meant, lines)) == list(map(_meant, wanted))
        layer = WRAPPERS[name]("|").encode().partition(b"|")[0]
        assert all(line.startswith(layer) for line in lines)
        if lines and way["tags"]:
            (found,) = verify(VerifyOptions(paths=(str(at.out),))).transcripts
            assert found.verdict == "proven"
            rewind_file(at.out)
            assert at.out.read_bytes() == wrapped


@pytest.mark.parametrize("name", ["docker", "kubernetes"])
def test_a_group_is_taken_back_from_inside_a_layer(name: str, tmp_path: Path) -> None:
    bare = [line.encode() for line in map(json.dumps, (each for n in range(4) for each in turn(n)))]
    path = tmp_path / "log.jsonl"
    path.write_bytes(_lines(bare, WRAPPERS[name]))
    group = group_of(squeeze(path, "prune", layout="inline"), "prune")
    squeeze(path, "truncate", layout="inline")
    # What is left is what the records themselves say.
    shutil.rmtree(archive_folder(path))
    rewind_file(path, group=group)
    (found,) = verify(VerifyOptions(paths=(str(path),))).transcripts
    assert found.verdict == "proven", found.findings
    rewind_file(path, all=True)
    assert path.read_bytes() == _lines(bare, WRAPPERS[name])


SESSION: dict[str, Any] = {
    "type": "user",
    "uuid": "u",
    "parentUuid": None,
    "sessionId": "old",
    "version": "2.1.0",
    "message": {"role": "user", "content": "Say hi"},
}


@EACH
def test_a_session_that_was_logged_is_renamed_where_it_says_its_name(
    wrap: Callable[[str], str],
) -> None:
    line = wrap(json.dumps(SESSION)).encode()
    renamed = with_session_id(line, ("sessionId",), "old", "new")
    assert decode(renamed)[0] == ({**SESSION, "sessionId": "new"},)
    assert with_session_id(renamed, ("sessionId",), "new", "old") == line


@EACH
def test_nothing_is_appended_to_a_session_that_was_logged(
    wrap: Callable[[str], str], tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(wrap(json.dumps(SESSION)) + "\n")
    loaded = load_file(path)
    assert loaded.format.name == "claude-code"
    with pytest.raises(UsageError, match="no client reads"):
        rules_of(loaded)
