"""Tables that people write: settings read key by key, and refused with where they stand."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from compactctl.errors import UsageError, suggestion

T = TypeVar("T")
Default = TypeVar("Default")


@dataclass(frozen=True, slots=True)
class SettingsTable:
    """The entries of a table; ``location`` is how complaints about them begin."""

    entries: Mapping[str, object]
    location: str = ""

    def get(self, key: str, validator: Callable[[object], T], default: Default) -> T | Default:
        """Return what stands under ``key``, ``default`` where nothing does.

        ``validator`` returns the value that is meant, or raises ValueError with what is wrong.
        Raises UsageError then.
        """
        if key not in self.entries:
            return default
        return validate_value(f"{self.location}{key} = ", validator, self.entries[key])


def validate_value(location: str, validator: Callable[[object], T], value: object) -> T:
    """Return the value that is meant. Raises UsageError, which begins with ``location``."""
    try:
        return validator(value)
    except ValueError as error:
        raise UsageError(f"{location}{value!r} {error}") from error


def check_keys(entries: Iterable[str], keys: Iterable[str], where: str, remark: str = "") -> None:
    """Raise UsageError for the first key that is not among ``keys``; ``where`` names the table.

    ``remark`` is what to think of where the key comes close to none.
    """
    names = sorted(keys)
    unlike = "; ".join(filter(None, (f"there are {', '.join(names)}", remark)))
    for key in entries:
        if key not in names:
            hint = suggestion(key, names, unlike)
            raise UsageError(f"{where} has no key {key!r}; {hint}")
