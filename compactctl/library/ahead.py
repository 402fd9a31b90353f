"""Makes a cut in another process, while the loop waits for its model."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from msgspec import convert, to_builtins

from compactctl.library.loop_cut import LoopCut, cut_settings, cut_to
from compactctl.library.message_list import encode_messages
from compactctl.library.tracked import JsonMessage

_PACKAGES = str(Path(__file__).parents[2])


class CutAhead:
    """A cut of the first ``covered`` messages that ``make`` makes in a thread of its own."""

    def __init__(self, covered: int, make: Callable[[], LoopCut]) -> None:
        self.covered = covered
        self._future: Future[LoopCut] = Future()
        threading.Thread(target=self._run, args=(make,), daemon=True).start()

    @property
    def is_done(self) -> bool:
        """Whether ``result`` returns at once."""
        return self._future.done()

    def result(self) -> LoopCut | None:
        """Wait for the cut; None if it could not be made."""
        return None if self._future.exception() else self._future.result()

    def _run(self, make: Callable[[], LoopCut]) -> None:
        try:
            self._future.set_result(make())
        except Exception as error:  # noqa: BLE001 - the loop makes the cut itself then
            self._future.set_exception(error)


def cut_in_process(
    options: Mapping[str, Any], history: Sequence[JsonMessage], target: int
) -> LoopCut:
    """Return what ``cut_to`` makes of a history, from another process.

    Raises OSError, CalledProcessError and ValueError if that process fails.
    """
    request = {"options": options, "history": history, "target": target}
    path = os.pathsep.join(filter(None, (_PACKAGES, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(  # noqa: S603 - this interpreter and this file
        # Without the current folder, in which an agent may work on anything.
        [sys.executable, "-P", "-m", __name__],
        input=json.dumps(request, default=str).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        check=True,
    )
    return convert(json.loads(done.stdout), LoopCut)


def _main() -> None:
    request = json.load(sys.stdin.buffer)
    settings = cut_settings(request["options"], None)
    cut = cut_to(encode_messages(request["history"]), request["target"], settings)
    json.dump(to_builtins(LoopCut(messages=cut.messages, note=cut.note)), sys.stdout)


if __name__ == "__main__":
    _main()
