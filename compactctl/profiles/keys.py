"""Which keys a table of a profile may have."""

from collections.abc import Iterable

from compactctl.errors import UsageError, suggestion


def check_keys(table: Iterable[str], keys: Iterable[str], where: str) -> None:
    """Raise UsageError for the first key that is none of ``keys``; ``where`` names the table."""
    names = sorted(keys)
    for key in table:
        if key not in names:
            hint = suggestion(key, names, f"there are {', '.join(names)}")
            raise UsageError(f"{where} has no key {key!r}; {hint}")
