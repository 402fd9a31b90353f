"""Gives memory back to the system between two halves of a large task."""

import ctypes


def release_memory() -> None:
    """Return what was let go of, where the C library can do that (glibc).

    Otherwise it stays with the process: the second half is loaded on top of the gaps that the
    first has left.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
