"""Holds still what differs from one run to the next: the clock, new ids, the version.

Import this before anything of the package: its modules take the clock as they find it. What it
imports from elsewhere comes first, since that takes the real one.
"""

import datetime as dt
import os
import pkgutil
import random
import sys
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

for name in ("jinja2", "pyarrow.dataset", "pyarrow.parquet", "rich.progress", "tiktoken"):
    import_module(name)

_BEGIN = 1_790_000_000
_Moment = dt.datetime


class _Clock:
    """The time of the step that runs, and how many ids it has made."""

    def __init__(self) -> None:
        self.step = 0
        self.ids = 0

    def now(self) -> float:
        """Return seconds since 1970; steps are an hour apart."""
        return float(_BEGIN + 3_600 * self.step)

    def bits(self, count: int) -> int:
        """Return other bits than before, at most 256, for the id of a new session."""
        self.ids += 1
        digest = sha256(f"{self.step} {self.ids}".encode()).digest()
        return int.from_bytes(digest) & (1 << count) - 1


CLOCK = _Clock()


class _AnyMoment(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _Moment)


class _Still(_Moment, metaclass=_AnyMoment):
    """A datetime whose ``now`` is that of the step; its instances are plain ones."""

    def __new__(cls, *values: Any, **named: Any) -> Any:
        return _Moment(*values, **named)

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:
        return _Moment.fromtimestamp(CLOCK.now(), tz)


def hold_still() -> None:
    """Import the program with a clock that stands; processes that are forked keep that."""
    stop_clock()
    import compactctl

    real = time.monotonic, time.perf_counter
    # Libraries wait by this clock: only the program's modules get one that stands.
    time.monotonic = time.perf_counter = lambda: 0.0
    for module in pkgutil.walk_packages(compactctl.__path__, "compactctl."):
        with suppress(ImportError):
            import_module(module.name)
    time.monotonic, time.perf_counter = real
    # This is what the program's own workers begin with, instead of all that it is run by here.
    sys.modules["__main__"] = sys.modules[__name__]


def stop_clock() -> None:
    """Let it be the same time whenever anything asks, and new ids be the same ones."""
    import compactctl

    compactctl.__version__ = "0.0.0"
    setattr(dt, "datetime", _Still)  # noqa: B010 - a type is not for assigning, mypy says
    setattr(time, "time", CLOCK.now)  # noqa: B010
    setattr(random.SystemRandom, "getrandbits", lambda _, count: CLOCK.bits(count))  # noqa: B010
    os.environ["TZ"] = "UTC"
    time.tzset()
    os.umask(0o022)


def warm_up() -> None:
    """Build the vocabularies that most command lines need, once for all of them."""
    from compactctl.__main__ import run

    chat = str(Path(__file__).resolve().parents[2] / "sample_transcripts" / "openai-chat.jsonl")
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        for counter in ("o200k_base", "cl100k_base"):
            run(["stats", chat, "--counter", counter])


if __name__ == "__mp_main__":
    stop_clock()
