"""The program in a process of its own that may have only so much memory."""

import os
import resource
import subprocess
import sys
from pathlib import Path

# Seconds of CPU time. Before 3.14 Python may go round for ever when memory ends while an exception
# is passed on (python/cpython#132508): somebody has to end it then.
_PATIENCE = 60


def compactctl(
    folder: Path, *arguments: str, megabytes: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; ``megabytes`` of address space, any amount without it.

    One that is still at work long after its memory came to an end is killed.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if megabytes:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            resource.setrlimit(resource.RLIMIT_CPU, (_PATIENCE, _PATIENCE))

    return subprocess.run(
        [sys.executable, "-m", "compactctl", *arguments],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "XDG_CONFIG_HOME": "/nowhere",
            "XDG_CACHE_HOME": "/dev/null",
        },
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
