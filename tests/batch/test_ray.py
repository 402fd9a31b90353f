"""Batches on a Ray cluster give what they give on one machine, whatever dies."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from batch.deadly import DEADLY, die_once, lament, shout
from batch.inputs import bytes_below, transcript, write

from compactctl.__main__ import run
from compactctl.commands.batch.attempts import TookTooLongError, time_limit
from compactctl.commands.batch.ray_pool import RayPool

pytestmark = [
    pytest.mark.long,
    # Sockets and threads that Ray leaves to the end of the process.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start a cluster of two nodes with a CPU each."""
    # Before Ray is imported, which reads it.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray: Any = pytest.importorskip("ray", reason="the extra ray is not installed")
    nodes: Any = pytest.importorskip("ray.cluster_utils").Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1}
    )
    nodes.add_node(num_cpus=1)
    ray.init(
        address=nodes.address,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(TESTS)}},
    )
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with sessions, as the working folder."""
    for number in range(6):
        write(tmp_path / "runs" / f"{number}.jsonl", transcript(20 + number, topic=f"t{number}"))
    write(tmp_path / "runs" / "broken.jsonl", b'[{"role": "user", "content": "no')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def same_but_for_time(text: str) -> object:
    document = json.loads(text)
    for row in document["files"]:
        row["milliseconds"] = 0
    return document


@pytest.mark.usefixtures("cluster", "folder")
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--keep", "50%"),
        ("--fail-over-tokens", "1k", "--fail-on", "orphans"),
        ("--exclude", "broken*", "--keep", "50%", "--require-fit"),
    ],
    ids=" ".join,
)
def test_rows_and_exit_codes_are_those_of_one_machine(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    documents, codes = [], []
    for engine in ("local", "ray"):
        codes.append(run(["batch", "runs", "--no-cache", "--json", "--engine", engine, *options]))
        documents.append(same_but_for_time(capsys.readouterr().out))
    assert codes[0] == codes[1]
    assert documents[0] == documents[1]


@pytest.mark.usefixtures("cluster")
def test_outputs_are_those_of_one_machine_and_can_be_resumed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["batch", "runs", "--exclude", "broken*", "--keep", "50%", "--json"]
    for engine in ("local", "ray"):
        report = f"--junit={engine}.xml"
        assert run([*arguments, "--out", engine, "--engine", engine, report]) == 0
    outputs = [
        {name: data for name, data in bytes_below(folder / engine).items() if name.endswith("l")}
        for engine in ("local", "ray")
    ]
    assert len(outputs[0]) == 6
    assert outputs[0] == outputs[1]
    (folder / "ray" / "3.compacted.jsonl").unlink()
    times = {path: path.stat().st_mtime_ns for path in (folder / "ray").glob("*.jsonl")}
    capsys.readouterr()
    assert run([*arguments, "--out", "ray", "--engine", "ray", "--resume"]) == 0
    assert (folder / "ray" / "3.compacted.jsonl").exists()
    assert times == {path: path.stat().st_mtime_ns for path in times}


@pytest.mark.usefixtures("cluster")
def test_an_item_that_kills_its_worker_is_the_only_one_lost() -> None:
    words = ["a", "b", DEADLY, "c", DEADLY, "d"]
    done = dict(RayPool(shout, lament).run(words, [1] * 6, 2))
    lost = f"{DEADLY} killed its worker"
    assert [done[index] for index in range(6)] == ["A", "B", lost, "C", lost, "D"]


@pytest.mark.usefixtures("cluster")
def test_an_item_whose_worker_died_once_is_tried_again(tmp_path: Path) -> None:
    marks = [str(tmp_path / name) for name in "ab"]
    assert dict(RayPool(die_once, lament).run(marks, [1, 1], 2)) == {0: "survived", 1: "survived"}


def wait_for_node(path: str) -> str:
    """Wait as long as the node may be killed."""
    Path(path).touch()
    time.sleep(1)
    return path


def test_what_a_lost_node_did_is_done_by_the_others(cluster: Any, tmp_path: Path) -> None:
    node = cluster.add_node(num_cpus=2)
    paths = [str(tmp_path / str(number)) for number in range(8)]
    results = RayPool(wait_for_node, lament).run(paths, [1] * 8, 4)
    done = [next(results)]
    cluster.remove_node(node, allow_graceful=False)
    done.extend(results)
    assert dict(done) == dict(enumerate(paths))


def fail(_: str) -> str:
    raise ValueError("a bug")


@pytest.mark.usefixtures("cluster")
def test_an_exception_of_the_work_is_raised_here() -> None:
    with pytest.raises(ValueError, match="a bug"):
        dict(RayPool(fail, lament).run(["a"], [1], 1))


def stuck(word: str) -> str:
    """Do what no signal interrupts, as a library may."""
    with time_limit(0.5, in_cluster=True):
        while word == DEADLY:
            with suppress(TookTooLongError):
                time.sleep(60)
        return word


@pytest.mark.usefixtures("cluster")
def test_a_worker_that_cannot_be_interrupted_is_ended() -> None:
    done = dict(RayPool(stuck, lament).run(["a", DEADLY, "b"], [1 << 22] * 3, 2))
    assert done == {0: "a", 1: f"{DEADLY} killed its worker", 2: "b"}


@pytest.mark.usefixtures("cluster")
def test_a_file_that_takes_too_long_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(folder / "large" / "a.jsonl", transcript(3_000))
    arguments = ["batch", "large", "--no-cache", "--json", "--engine", "ray", "--timeout", "0.1"]
    assert run(arguments) == 75
    (row,) = json.loads(capsys.readouterr().out)["files"]
    assert row["errorClass"] == "TookTooLong"


def started(*arguments: str, folder: Path, **variables: str) -> "subprocess.Popen[bytes]":
    """Start a batch with a cluster of its own."""
    command = [sys.executable, "-m", "compactctl", "batch", "--engine", "ray", *arguments]
    environment = {**os.environ, "RAY_ADDRESS": "local", **variables}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_an_interrupt_ends_the_batch_and_its_cluster(folder: Path) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    for number in range(40):
        write(folder / "many" / f"{number}.jsonl", transcript(3_000, topic=f"t{number}"))
    with started("many", "--no-cache", "--keep", "30%", "--out", "out", folder=folder) as process:
        wait_until(lambda: (folder / "out").exists() and any((folder / "out").glob("*.jsonl")))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted" in errors
    assert b"Traceback" not in errors
    for output in (folder / "out").glob("*.jsonl"):
        shutil.copy(output, folder / "copy.jsonl")
        assert run(["rewind", str(output), "-o", "-", "--force"]) == 0


def test_a_node_without_memory_fails_its_files_and_not_the_batch(folder: Path) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    write(folder / "large" / "a.jsonl", transcript(20_000))
    # Ray ends tasks while more of the machine's memory than this is in use.
    variables = {"RAY_memory_usage_threshold": "0.001", "RAY_memory_monitor_refresh_ms": "50"}
    with started("large", "--no-cache", "--json", folder=folder, **variables) as process:
        output, errors = process.communicate(timeout=300)
    assert process.returncode == 70, errors
    (row,) = json.loads(output)["files"]
    assert row["errorClass"] == "WorkerDied"
    assert "out of memory" in row["error"]


def wait_until(is_true: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.1)
