"""Batches over object stores give what they give over files, and overwrite nobody's objects."""

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from batch.inputs import bytes_below, transcript, write
from batch.stores import (
    BUCKET,
    Bucket,
    Proxy,
    bucket_in_memory,
    bucket_on_server,
    server_port,
    use_server,
)

from compactctl.__main__ import run
from compactctl.commands.batch import one_file
from compactctl.commands.batch.attempts import TOOK_TOO_LONG
from compactctl.errors import NoInputError, UsageError
from compactctl.store.files import objects
from compactctl.store.files.filesystem import DiskError

SESSIONS = {
    "runs/a.jsonl": transcript(topic="parser"),
    "runs/deep/b c#1.jsonl": transcript(40, topic="lexer"),
    "runs/deep/ü.jsonl": transcript(topic="printer"),
}


@pytest.fixture(params=["memory", pytest.param("server", marks=pytest.mark.long)])
def bucket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    opened = bucket_in_memory if request.param == "memory" else bucket_on_server
    with opened(monkeypatch) as opened_bucket:
        for key, data in SESSIONS.items():
            opened_bucket.put(key, data)
        yield opened_bucket


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the same files as the bucket."""
    for key, data in SESSIONS.items():
        write(tmp_path / "logs" / key, data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(text: str, root: str) -> list[dict[str, object]]:
    """Return the rows of a batch, with their paths below this root."""
    files = json.loads(text.replace(f'"{root}/', '"'))["files"]
    return [{**row, "milliseconds": 0} for row in files]


def batch(*arguments: str) -> int:
    return run(["batch", "--json", "-j", "1", *arguments])


@pytest.mark.usefixtures("bucket", "folder")
@pytest.mark.parametrize("plan", [(), ("--keep", "50%")], ids=["measured", "compacted"])
def test_the_rows_are_those_of_files(
    capsys: pytest.CaptureFixture[str], plan: tuple[str, ...]
) -> None:
    assert batch(f"{BUCKET}/runs", *plan) == 0
    remote = rows(capsys.readouterr().out, BUCKET)
    assert batch("logs/runs", *plan) == 0
    assert remote == rows(capsys.readouterr().out, "logs")


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("runs/a.jsonl", ["runs/a.jsonl"]),
        ("runs/", ["runs/a.jsonl", "runs/deep/b c#1.jsonl", "runs/deep/ü.jsonl"]),
        ("runs/*.jsonl", ["runs/a.jsonl"]),
        ("runs/**/*c#*", ["runs/deep/b c#1.jsonl"]),
        ("r*/d*", ["runs/deep/b c#1.jsonl", "runs/deep/ü.jsonl"]),
    ],
)
def test_paths_name_objects_as_they_name_files(
    bucket: Bucket, capsys: pytest.CaptureFixture[str], path: str, names: list[str]
) -> None:
    bucket.put("runs/notes.txt", b"not a transcript")
    bucket.put("runs/a.compacted.jsonl", b"ours")
    assert batch(f"{BUCKET}/{path}") == 0
    assert [row["path"] for row in rows(capsys.readouterr().out, BUCKET)] == names


@pytest.mark.usefixtures("bucket")
@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("batch s3://logs/none", 3, "s3://logs/none: no such object, and none below it"),
        ("stats s3://logs/none.jsonl", 3, "s3://logs/none.jsonl: no such object"),
        ("stats s3://", 3, "s3://: names no bucket; write s3://BUCKET/KEY"),
        ("stats s3://logs/runs/", 3, "s3://logs/runs/: names no object; name one below it, or use"),
        ("stats s3://logs/a//b", 3, 'the key a//b has an empty part, "." or ".."; rename it'),
        ("batch s3://logs/a/../b", 3, 'the key a/../b has an empty part, "." or ".."; rename it'),
        ("compact s3://logs/runs/a.jsonl", 2, "name an output file with -o, or use batch --out"),
        ("compact s3://logs/runs/a.jsonl --in-place", 2, "name an output file with -o"),
        ("compact s3://logs/runs/a.jsonl -n --in-place", 2, "name an output file with -o"),
        ("compact s3://logs/runs/a.jsonl -n --native", 2, "--native appends to a file; name one"),
        ("stats s3://logs/runs/a.jsonl --html s3://logs/a.html", 2, "s3://logs/a.html: cannot be"),
        ("batch s3://logs/runs --html s3://logs/a.html", 2, "s3://logs/a.html: pages cannot be"),
        (
            "verify s3://logs/runs/a.jsonl",
            2,
            "copy it and its archives, s3://logs/runs/a.jsonl.archive/, to",
        ),
        (
            "rewind s3://logs/runs/a.jsonl",
            2,
            "copy it and its archives, s3://logs/runs/a.jsonl.archive/, to",
        ),
        (
            "log s3://logs/runs/a.jsonl",
            2,
            "copy it and its archives, s3://logs/runs/a.jsonl.archive/, to",
        ),
        (
            "batch s3://logs/runs --report s3://logs/runs/a.jsonl --force",
            2,
            "s3://logs/runs/a.jsonl: is an input or an output",
        ),
    ],
)
def test_what_cannot_be_done_is_said(
    capsys: pytest.CaptureFixture[str], command: str, code: int, message: str
) -> None:
    assert run(command.split()) == code
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("bucket")
def test_commands_that_read_take_urls(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("stats", "check", "view", "explain"):
        outputs = []
        for path in (f"{BUCKET}/runs/a.jsonl", "logs/runs/a.jsonl"):
            run([command, path])
            outputs.append(capsys.readouterr().out.replace(f"{BUCKET}/", "logs/"))
        assert outputs[0] == outputs[1]
    compact = ["compact", f"{BUCKET}/runs/a.jsonl", "--keep", "50%"]
    assert run([*compact, "-n"]) == 0
    # The command to type next names a file, without which it would be refused.
    assert capsys.readouterr().err.rstrip().endswith("--keep 50% -o a.compacted.jsonl")
    assert sorted(path.name for path in folder.iterdir()) == ["logs"]
    assert run([*compact, "-o", "out.jsonl"]) == 0
    assert run(["rewind", "out.jsonl", "-o", "back.jsonl"]) == 0
    assert (folder / "back.jsonl").read_bytes() == SESSIONS["runs/a.jsonl"]


def test_a_store_without_its_package_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    assert run(["stats", "gs://elsewhere/a.jsonl"]) == 2
    assert "object stores need the package obstore; type: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("url", "variables", "message"),
    [
        ("s3://b", {"AWS_ACCESS_KEY_ID": "a"}, "(Missing SecretAccessKey); set AWS_ACCESS_KEY_ID"),
        ("s3://b", {"AWS_ENDPOINT_URL": "localhost:9000"}, "is no URL; write http:// or https://"),
        ("gs://b", {"GOOGLE_APPLICATION_CREDENTIALS": "none.json"}, "from none.json: No such file"),
        ("az://b", {}, "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"),
    ],
)
def test_settings_of_a_store_that_cannot_be_used_are_usage_errors(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    url: str,
    variables: dict[str, str],
    message: str,
) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for command in ("stats", "batch"):
        objects._open_store.cache_clear()
        assert run([command, f"{url}/a.jsonl"]) == UsageError.exit_code
        assert message in one_line(capsys)


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the only line on standard error."""
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Return a server that is to answer every request with a fault."""
    with Proxy(target=0) as server:
        use_server(monkeypatch, server.port)
        yield server
    objects._open_store.cache_clear()


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        (
            "401",
            "",
            "access denied (401 Unauthorized); check the credentials and their permissions",
        ),
        ("403", "<Message>No.</Message>", "access denied (No); check the credentials and their"),
        ("400", "<Message>Expired.\n</Message>", "was refused (Expired); check the region and the"),
        ("301", "", "the bucket is in another region; set AWS_REGION"),
        ("404", "<Code>NoSuchBucket</Code>", "no such bucket; check its name and the region"),
        (
            "405",
            "",
            "the store failed (405 Method Not Allowed); check the connection and try again",
        ),
    ],
)
def test_what_a_store_answers_is_explained_in_one_line(
    refusing: Proxy, capsys: pytest.CaptureFixture[str], status: str, reason: str, message: str
) -> None:
    refusing.fault = lambda _: status
    refusing.reason = reason.encode()
    # A key must not be taken for a part of the answer.
    key = "403 credential - status code: 404.jsonl"
    assert run(["stats", f"{BUCKET}/{key}"]) == NoInputError.exit_code
    line = one_line(capsys)
    assert line.startswith(f"compactctl: {BUCKET}/{key}: ")
    assert message in line


def test_a_store_that_does_not_answer_meets_the_time_limit(
    refusing: Proxy, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"{BUCKET}/a.jsonl"
    refusing.fault = lambda head: "200" if head.startswith(b"HEAD") else "stall"
    assert batch(url, "--timeout", "0.2") == TOOK_TOO_LONG
    assert "took longer than 0.2 s" in capsys.readouterr().out


@pytest.mark.usefixtures("bucket")
def test_no_room_for_a_copy_is_an_error_of_the_disk(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(objects, "copyfileobj", fail)
    assert batch(f"{BUCKET}/runs/a.jsonl", "--no-cache") == DiskError.exit_code
    assert (
        "copied to a temporary file (No space left on device); free some" in capsys.readouterr().out
    )


def below(bucket: Bucket, prefix: str) -> dict[str, bytes]:
    return {
        key.removeprefix(prefix): bucket.get(key)
        for key in bucket.keys()  # noqa: SIM118 - not a mapping
        if key.startswith(prefix)
    }


def test_outputs_and_archives_are_those_of_files(bucket: Bucket, folder: Path) -> None:
    plan = ("--keep", "50%")
    assert batch(f"{BUCKET}/runs", *plan, "--out", f"{BUCKET}/out") == 0
    remote = below(bucket, "out/")
    assert batch("logs/runs", *plan, "--out", "out") == 0
    local = bytes_below(folder / "out")
    # A lock is of no use in a store, and archives record when they were written.
    assert remote.keys() == {name for name in local if not name.endswith("/lock")}
    outputs = [name for name in remote if name.endswith(".jsonl")]
    assert len(outputs) == len(SESSIONS)
    assert {name: remote[name] for name in outputs} == {name: local[name] for name in outputs}
    for name, data in remote.items():
        write(folder / "copy" / name, data)
    assert run(["rewind", "copy/deep/b c#1.compacted.jsonl", "-o", "back.jsonl"]) == 0
    assert (folder / "back.jsonl").read_bytes() == SESSIONS["runs/deep/b c#1.jsonl"]


@pytest.mark.usefixtures("bucket")
def test_no_command_is_shown_that_objects_do_not_take(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [f"{BUCKET}/runs/a.jsonl", "--keep", "50%", "--out", f"{BUCKET}/out"]
    assert run(["batch", "-j", "1", *arguments]) == 0
    assert "wrote 1 transcript\n" in capsys.readouterr().err


def test_texts_name_the_object_and_not_its_copy(bucket: Bucket) -> None:
    hint = ("--stages", "summarize", "--set", "summarize.archive-hint=true")
    assert batch(f"{BUCKET}/runs/deep/ü.jsonl", *hint, "--out", f"{BUCKET}/out") == 0
    text = bucket.get("out/ü.compacted.jsonl").decode()
    assert f'in \\"{BUCKET}/out/ü.compacted.jsonl.archive\\"' in text
    assert "compactctl view --archived 'ü.compacted.jsonl'" in text


def test_a_second_batch_replaces_its_own_output_and_keeps_the_archive(bucket: Bucket) -> None:
    arguments = (f"{BUCKET}/runs/a.jsonl", "--out", f"{BUCKET}/out")
    assert batch(*arguments, "--keep", "80%") == 0
    first = below(bucket, "out/")
    assert batch(*arguments, "--keep", "40%") == 0
    second = below(bucket, "out/")
    assert first["a.compacted.jsonl"] != second["a.compacted.jsonl"]
    archives = {name for name in first if ".archive/0" in name}
    assert archives <= second.keys()
    assert all(first[name] == second[name] for name in archives)


def test_what_another_program_wrote_is_left_alone(
    bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket.put("out/a.compacted.jsonl", b"mine\n")
    assert batch(f"{BUCKET}/runs/a.jsonl", "--keep", "50%", "--out", f"{BUCKET}/out") == 2
    assert "s3://logs/out/a.compacted.jsonl: exists" in capsys.readouterr().out
    assert below(bucket, "out/") == {"a.compacted.jsonl": b"mine\n"}


def test_resuming_writes_only_what_is_missing(
    bucket: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (f"{BUCKET}/runs", "--keep", "50%", "--out", f"{BUCKET}/out")
    assert batch(*arguments) == 0
    capsys.readouterr()
    whole = below(bucket, "out/")
    import obstore

    obstore.delete(bucket.store, "out/a.compacted.jsonl")
    archive = next(name for name in whole if "b c#1" in name and name.endswith(".parquet"))
    obstore.delete(bucket.store, f"out/{archive}")
    before = {item["path"]: item for page in obstore.list(bucket.store) for item in page}
    assert batch(*arguments, "--resume") == 0
    after = {item["path"]: item for page in obstore.list(bucket.store) for item in page}
    assert after.keys() - before.keys() == {"out/a.compacted.jsonl", f"out/{archive}"}
    assert {key: item["e_tag"] for key, item in before.items()} == {
        key: after[key]["e_tag"] for key in before
    }


def test_an_output_of_an_object_that_was_written_anew_is_not_written_again(bucket: Bucket) -> None:
    arguments = (f"{BUCKET}/runs", "--keep", "50%", "--out", f"{BUCKET}/out")
    assert batch(*arguments) == 0
    bucket.put("runs/a.jsonl", transcript(topic="scanner"))
    assert batch(*arguments) == 0
    whole = below(bucket, "out/")
    assert len([name for name in whole if "a.compacted" in name and name.count("/") > 1]) == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_file, "run_staged", None)
        assert batch(*arguments, "--resume") == 0
    assert below(bucket, "out/") == whole


def test_reports_go_to_the_store(bucket: Bucket, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"--report": "r.parquet", "--junit": "j.xml", "--messages-out": "m.parquet"}
    to_store = [f"{option}={BUCKET}/{name}" for option, name in files.items()]
    assert batch(f"{BUCKET}/runs", *to_store) == 0
    assert set(files.values()) <= set(bucket.keys())
    assert f"wrote {BUCKET}/r.parquet (3 rows)" in capsys.readouterr().err
    assert run(["report", f"{BUCKET}/r.parquet"]) == 0
    assert capsys.readouterr().out.startswith("3 files: 3 ok")
    assert batch(f"{BUCKET}/runs", f"--report={BUCKET}/r.parquet") == 0
    bucket.put("j.xml", b"mine")
    assert batch(f"{BUCKET}/runs", f"--junit={BUCKET}/j.xml") == 2
    assert bucket.get("j.xml") == b"mine"
    assert "s3://logs/j.xml: exists" in capsys.readouterr().err


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Bucket, Proxy]]:
    """Return a bucket with a session, and a proxy that all requests go through."""
    with bucket_on_server(monkeypatch) as opened:
        opened.put("a.jsonl", SESSIONS["runs/a.jsonl"])
        with Proxy(server_port()) as faulty:
            use_server(monkeypatch, faulty.port)
            yield opened, faulty


@pytest.mark.long
@pytest.mark.parametrize("what", ["500", "cut", "stall"])
@pytest.mark.parametrize("method", ["HEAD", "GET", "PUT"])
def test_a_fault_that_passes_is_not_noticed(
    proxy: tuple[Bucket, Proxy], monkeypatch: pytest.MonkeyPatch, what: str, method: str
) -> None:
    monkeypatch.setattr(objects, "READ_TIMEOUT", "1s")
    bucket, faulty = proxy
    faults = FirstTime(method.encode(), what)
    faulty.fault = faults
    assert batch(f"{BUCKET}/a.jsonl", "--keep", "50%", "--out", f"{BUCKET}/out") == 0
    assert faults.n_hits
    assert "out/a.compacted.jsonl" in bucket.keys()  # noqa: SIM118


@pytest.mark.long
@pytest.mark.parametrize("what", ["500", "cut", "stall", "drop"])
def test_a_fault_that_stays_fails_the_file_and_leaves_nothing_half_written(
    proxy: tuple[Bucket, Proxy],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    what: str,
) -> None:
    monkeypatch.setattr(objects, "READ_TIMEOUT", "1s")
    bucket, faulty = proxy
    faulty.fault = lambda head: what if head.startswith(b"PUT") else "pass"
    arguments = (f"{BUCKET}/a.jsonl", "--keep", "50%", "--out", f"{BUCKET}/out")
    assert batch(*arguments) == DiskError.exit_code
    assert "the store failed" in capsys.readouterr().out
    assert not any(key.endswith(".jsonl") for key in below(bucket, "out/"))
    faulty.fault = lambda _: "pass"
    assert batch(*arguments) == 0


@pytest.mark.long
def test_an_output_that_cannot_be_replaced_stays_whole_and_the_next_run_goes_on(
    proxy: tuple[Bucket, Proxy], tmp_path: Path
) -> None:
    bucket, faulty = proxy
    arguments = (f"{BUCKET}/a.jsonl", "--out", f"{BUCKET}/out")
    assert batch(*arguments, "--keep", "80%") == 0
    faulty.fault = lambda head: (
        "500" if head.startswith(b"PUT /logs/out/a.compacted.jsonl ") else "pass"
    )
    assert batch(*arguments, "--keep", "20%") == DiskError.exit_code
    assert len([key for key in bucket.keys() if ".archive/0002-" in key]) == 1  # noqa: SIM118
    check_restorable(bucket, tmp_path / "failed")
    faulty.fault = lambda _: "pass"
    for keep in ("20%", "40%"):
        assert batch(*arguments, "--keep", keep) == 0
        check_restorable(bucket, tmp_path / keep)


def check_restorable(bucket: Bucket, folder: Path) -> None:
    """Check a copy of an output and its archives."""
    for name, data in below(bucket, "out/").items():
        write(folder / name, data)
    output = str(folder / "a.compacted.jsonl")
    assert run(["verify", "--repair", output]) == 0
    assert run(["rewind", "--all", output]) == 0
    assert Path(output).read_bytes() == SESSIONS["runs/a.jsonl"]


class FirstTime:
    """A fault at the first request of a method."""

    def __init__(self, method: bytes, what: str) -> None:
        self._method, self._what = method, what
        self.n_hits = 0

    def __call__(self, head: bytes) -> str:
        if not head.startswith(self._method) or self.n_hits:
            return "pass"
        self.n_hits += 1
        return self._what
