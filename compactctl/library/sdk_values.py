"""What values of SDKs say: errors, and usage."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

# How many errors that caused one another are read.
_MAX_CAUSES = 5


def text_of_error(error: BaseException) -> str:
    """Return all that an error says, and those that it was raised from or groups.

    SDKs keep what the provider answered in the text, in ``body``, or in the text of a ``response``.
    """
    return "\n".join(dict.fromkeys(filter(None, _texts(error, _MAX_CAUSES))))


def _texts(error: BaseException, depth: int) -> Iterator[str]:
    response = getattr(error, "response", None)
    text = getattr(response, "text", None)
    values = (
        error,
        getattr(error, "body", None),
        text if isinstance(text, str) else response if isinstance(response, Mapping) else None,
        getattr(error, "code", None),
        getattr(error, "status_code", None),
        *getattr(error, "__notes__", ()),
    )
    yield from (str(value) for value in values if value)
    causes = (error.__cause__ or error.__context__, *getattr(error, "exceptions", ()))
    for cause in causes if depth else ():
        if isinstance(cause, BaseException):
            yield from _texts(cause, depth - 1)


def plain_usage(usage: object) -> object:
    """Return the usage of an answer as a mapping, whatever kind of object an SDK makes of it."""
    if isinstance(usage, Mapping):
        return usage
    for name in ("model_dump", "_asdict", "to_dict"):
        method = getattr(usage, name, None)
        if callable(method):
            return method()
    names = [*getattr(usage, "__slots__", ()), *getattr(usage, "__dict__", ())]
    return {name: getattr(usage, name, None) for name in names}


def plain_option(value: Any) -> Any:  # noqa: ANN401 - an option is any value
    """Return an option as JSON has it: any number, collection, path or object of an SDK."""
    if isinstance(value, Mapping):
        return {key: plain_option(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | Iterator):
        return [plain_option(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump()
    is_number = hasattr(value, "as_integer_ratio") and not isinstance(value, int | float)
    return float(value) if is_number else value
