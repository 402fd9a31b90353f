"""The work on a file is ended when it takes too long, whatever it is doing."""

import time
from functools import partial
from threading import Thread

import pytest

from compactctl.commands.batch.attempts import TookTooLongError, time_limit
from compactctl.commands.batch.pool import Pool


def test_what_is_done_in_time_is_not_disturbed() -> None:
    with time_limit(0.2):
        pass
    time.sleep(0.3)


def test_what_waits_is_woken() -> None:
    with pytest.raises(TookTooLongError), time_limit(0.1):
        time.sleep(60)


@pytest.mark.parametrize("seconds", [None, 0])
def test_without_a_limit(seconds: float | None) -> None:
    with time_limit(seconds):
        time.sleep(0.1)


def test_in_another_thread_there_is_none() -> None:
    done: list[bool] = []

    def work() -> None:
        with time_limit(0.01):
            time.sleep(0.1)
        done.append(True)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def stuck(name: str, seconds: float) -> str:
    """Do what no signal interrupts, as a library may."""
    with time_limit(seconds):
        if name != "stuck":
            return name
        while True:
            try:
                time.sleep(60)
            except TookTooLongError:
                continue


@pytest.mark.long
def test_a_worker_that_cannot_be_woken_is_ended() -> None:
    pool = Pool(partial(stuck, seconds=0.5), lambda name: f"{name} died")
    found = dict(pool.run(["one", "stuck", "two"], [1 << 22] * 3, 2))
    assert found == {0: "one", 1: "stuck died", 2: "two"}
