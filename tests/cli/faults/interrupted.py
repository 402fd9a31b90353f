"""Runs the program and sends it a signal in the middle of its work on the disk.

``python interrupted.py SIGNAL OPERATION NUMBER ARGUMENTS…`` sends SIGNAL when the file system is
asked for the NUMBERth OPERATION (from 1), before it is carried out.
"""

import os
import signal
import sys

from compactctl.__main__ import main
from compactctl.store.files.filesystem import FileSystem


def interrupt(signal_number: int, operation: str, at: int) -> None:
    """Make the process send itself a signal at one call of a file system operation."""
    original = getattr(FileSystem, operation)
    calls = 0

    def counted(self: FileSystem, *arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal_number)
        return original(self, *arguments)

    setattr(FileSystem, operation, counted)


if __name__ == "__main__":
    # A shell starts what runs in its background with SIGINT ignored, and so everything below it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    sys.argv[1:] = sys.argv[4:]
    main()
