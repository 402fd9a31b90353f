"""A program that runs beside a test."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def running(code: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run Python code until the block ends, from its first line of output on."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
