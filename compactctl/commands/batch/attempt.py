"""Work on a transcript that must not stop the work on others, whatever happens."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from compactctl.commands.batch.row import INTERNAL_ERROR, BatchRow, failed_row
from compactctl.commands.batch.time_limit import TOOK_TOO_LONG, TookTooLongError, time_limit
from compactctl.errors import CompactctlError, is_out_of_memory

Done = TypeVar("Done")

# As for disks.
OUT_OF_MEMORY = 74


def attempted(name: str, timeout: float | None, work: Callable[[], Done]) -> Done | BatchRow:
    """Return what ``work`` comes to, or the failed row of what is called ``name``.

    ``timeout`` is in seconds, None for any time.
    """
    try:
        with time_limit(timeout):
            return work()
    except TookTooLongError:
        why = f"{name}: took longer than {timeout:g} s; give it more with --timeout"
        return failed_row(name, "TookTooLong", why, TOOK_TOO_LONG)
    except CompactctlError as error:
        return failed_row(name, type(error).__name__, str(error), error.exit_code)
    except Exception as error:  # noqa: BLE001 - a bug that one file meets must not stop the others
        kind = type(error).__name__
        if is_out_of_memory(error):
            why = f"{name}: there is not enough memory; give batch fewer --jobs, or the file alone"
            return failed_row(name, kind, why, OUT_OF_MEMORY)
        return failed_row(name, kind, f"{name}: {_bug(error)}", INTERNAL_ERROR)


def _bug(error: Exception) -> str:
    """Say where the program failed, not on what: an error's message may quote the transcript."""
    *_, frame = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"
    return f"an internal error, {type(error).__name__} at {place}; please report it"
