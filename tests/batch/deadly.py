"""Work for a pool that kills its process, waits for ever or fails."""

import gc
import os
import sys
import time
from pathlib import Path

from compactctl.commands.batch.pool import Pool

DEADLY = "deadly"


def shout(word: str) -> str:
    if word == DEADLY:
        os._exit(1)
    return word.upper()


def die_once(path: str) -> str:
    """Kill the process the first time; the file at ``path`` remembers that."""
    try:
        Path(path).touch(exist_ok=False)
    except FileExistsError:
        return "survived"
    os._exit(1)


def variable(name: str) -> str:
    return os.environ.get(name, "not set")


def looks_for_cycles(_: str) -> tuple[int, int, int]:
    return gc.get_threshold()


def process_id(_: str) -> int:
    return os.getpid()


def wait_for_ever(folder: str) -> None:
    """Leave a file named for this process while it waits."""
    mark = Path(folder, str(os.getpid()))
    try:
        # Inside, so that an interrupt right after it still takes it away.
        mark.touch()
        time.sleep(1_000)
    finally:
        mark.unlink(missing_ok=True)


def lament(word: str) -> str:
    return f"{word} killed its worker"


def main(folder: str) -> None:
    """Let two workers wait."""
    for _ in Pool(wait_for_ever, died=wait_for_ever).run([folder] * 2, [1, 1], workers=2):
        pass


if __name__ == "__main__":
    main(sys.argv[1])
