"""The program in a process of its own that may have only so much memory."""

import os
import resource
import subprocess
import sys
from pathlib import Path


def compactctl(
    folder: Path, *arguments: str, megabytes: int = 0
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; ``megabytes`` of address space, any amount without it."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if megabytes:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

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
