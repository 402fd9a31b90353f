"""Whether a process that a client left the number of is still there."""

import os


def is_alive(pid: object) -> bool:
    """Tell whether there is a process with this number; False for anything else."""
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
