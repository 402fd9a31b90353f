"""Shows and clears the user's cache."""

from compactctl.records import Record
from compactctl.store.cache import CacheState, cache_path, cache_state, clear_cache
from compactctl.store.client_folders import this_machine
from compactctl.store.files.filesystem import disk_errors


class CacheResult(Record):
    """The state of the cache, before it was ``cleared``."""

    state: CacheState
    cleared: bool


def cache(*, clear: bool = False) -> CacheResult:
    """Return the state of the cache, and clear it if asked to. Raises DiskError if that fails."""
    path = cache_path(this_machine())
    state = cache_state(path)
    if clear:
        with disk_errors(path, "the cache is unchanged"):
            clear_cache(path)
    return CacheResult(state=state, cleared=clear)
