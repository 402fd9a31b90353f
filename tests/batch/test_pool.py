"""Working in processes that may die."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from batch.deadly import (
    DEADLY,
    die_once,
    lament,
    looks_for_cycles,
    process_id,
    shout,
    variable,
)
from hypothesis import given
from hypothesis import strategies as st

from compactctl.__main__ import run
from compactctl.commands.batch.pool import SAFE_PATH, SERIAL_BYTES, Pool, chunks_of, workers_for

SAMPLES = Path(__file__).resolve().parents[2] / "sample_transcripts"

DEADLINE = 60


def words_of(words: list[str], sizes: list[int], workers: int) -> list[str]:
    done = dict(Pool(shout, lament).run(words, sizes, workers))
    return [done[index] for index in range(len(words))]


def test_each_item_gets_its_result() -> None:
    words = [f"word {n}" for n in range(7)]
    assert words_of(words, [1] * 7, workers=2) == [word.upper() for word in words]


def test_one_worker_means_this_process() -> None:
    assert dict(Pool(process_id, process_id).run(["a"], [1], workers=1)) == {0: os.getpid()}
    others = dict(Pool(process_id, process_id).run(["a", "b"], [1, 1], workers=2))
    assert os.getpid() not in others.values()


def test_workers_look_for_cycles_as_seldom_as_this_process() -> None:
    before = gc.get_threshold()
    gc.set_threshold(123_456, 7, 8)
    try:
        found = dict(Pool(looks_for_cycles, looks_for_cycles).run(["a", "b"], [1, 1], workers=2))
    finally:
        gc.set_threshold(*before)
    assert set(found.values()) == {(123_456, 7, 8)}


def test_workers_give_the_same_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("openai-chat", "neurolink"):
        shutil.copy(SAMPLES / f"{name}.jsonl", tmp_path)
    (tmp_path / "broken.jsonl").write_text('[{"role": "user", "content": "no')
    documents = []
    for jobs in ("1", "2"):
        assert run(["batch", str(tmp_path), "--json", "-j", jobs]) == 4
        documents.append(json.loads(capsys.readouterr().out))
    for row in (row for document in documents for row in document["files"]):
        assert row.pop("milliseconds") >= 0
    assert documents[0] == documents[1]


@pytest.mark.parametrize("sizes", [[1] * 6, [6_000_000] * 6], ids=["large chunks", "small chunks"])
def test_an_item_that_kills_its_worker_is_the_only_one_lost(sizes: list[int]) -> None:
    words = ["a", "b", DEADLY, "c", DEADLY, "d"]
    lost = f"{DEADLY} killed its worker"
    assert words_of(words, sizes, workers=2) == ["A", "B", lost, "C", lost, "D"]


def test_an_item_is_tried_again_before_it_is_lost(tmp_path: Path) -> None:
    path = str(tmp_path / "mark")
    assert dict(Pool(die_once, lament).run([path, path], [1, 9], workers=2)) == {
        0: "survived",
        1: "survived",
    }


def test_workers_run_no_module_of_the_working_folder(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("compactctl")
    for name in ("multiprocessing", "signal", "pickle", "struct", "socket", "orjson"):
        (tmp_path / f"{name}.py").write_text("open('run', 'w').close()\n")
    done = subprocess.run(
        [program, "batch", SAMPLES / "neurolink.jsonl", SAMPLES / "openai-chat.jsonl", "-j", "2"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("value", [None, "0"])
def test_workers_have_the_environment_of_the_user(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv(SAFE_PATH, raising=False)
    if value is not None:
        monkeypatch.setenv(SAFE_PATH, value)
    found = dict(Pool(variable, lament).run([SAFE_PATH] * 2, [1, 1], workers=2))
    assert set(found.values()) == {value or "not set"}
    assert os.environ.get(SAFE_PATH) == value


@given(st.lists(st.integers(0, 9_000_000)), st.integers(0, 8))
def test_there_is_always_a_worker_and_never_an_idle_one(sizes: list[int], jobs: int) -> None:
    workers = workers_for(jobs, sizes)
    assert 1 <= workers <= max(1, len(sizes))
    assert workers <= jobs or not jobs
    assert workers == 1 or jobs or sum(sizes) >= SERIAL_BYTES or len(sizes) > 500


def test_many_tiny_items_are_worth_several_workers_and_tasks() -> None:
    sizes = [80] * 10_000
    assert workers_for(0, sizes) == workers_for(0, [SERIAL_BYTES] * 10_000)
    chunks = [*chunks_of(sizes, 2)]
    assert [index for chunk in chunks for index in chunk] == [*range(10_000)]
    assert max(map(len, chunks)) <= 256


def test_few_tiny_items_stay_in_this_process() -> None:
    assert workers_for(0, [80] * 500) == 1


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("stop", ["ctrl-c", "kill"])
def test_no_worker_outlives_the_program(tmp_path: Path, stop: str) -> None:
    command = [sys.executable, "-m", "batch.deadly", str(tmp_path)]
    here = Path(__file__).resolve()
    path = os.pathsep.join([str(here.parents[1]), str(here.parents[2])])
    with subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as program:
        try:
            until(lambda: len(list(tmp_path.iterdir())) == 2)
            workers = [int(mark.name) for mark in tmp_path.iterdir()]
            if stop == "ctrl-c":
                os.killpg(program.pid, signal.SIGINT)
            else:
                program.kill()
            until(lambda: not any(map(is_running, workers)))
        finally:
            program.kill()
    if stop == "ctrl-c":
        assert not list(tmp_path.iterdir()), "the work was not ended in an orderly way"
