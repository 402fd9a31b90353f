"""Load profiles: built-in ones from ``systems``, one TOML file each, and users' files.

A new built-in profile is a file there and its name in ``PROFILES``. The source of each number is
beside it, and ``differs`` says what it does otherwise than its system.
"""

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from compactctl.errors import UsageError, suggestion
from compactctl.profiles.parse import parse_profile, parse_user_profile
from compactctl.profiles.profile import Profile
from compactctl.profiles.variants import extend

# In the order of listings: compactctl's own, the systems that it emulates, and recovery from a
# context overflow. NAME@code follows a system's code where its documentation differs.
PROFILES = (
    "default",
    "staged",
    "neurolink",
    "neurolink@code",
    "codebuddy",
    "codebuddy@code",
    "agent-code",
    "agent-code@code",
    "spring-sliding",
    "spring-sliding@code",
    "spring-turns",
    "spring-tokens",
    "spring-tokens@code",
    "spring-recursive",
    "spring-recursive@code",
    "copilot",
    "roo",
    "opencode",
    "cline",
    "claude-api",
    "recovery",
)
DEFAULT_PROFILE = "default"
_COMPACTCTL_PROFILES = (DEFAULT_PROFILE, "staged")
# The default of ``compact --from-error``.
RECOVERY_PROFILE = "recovery"
# A profile is read whole, and its table takes many times that size in memory.
_MAX_BYTES = 1 << 20


@cache
def builtin_profile(name: str) -> Profile:
    """Return a built-in profile. Raises UsageError for an unknown name."""
    text = _builtin_text(name)
    return parse_profile(tomllib.loads(text), name, _builtin_table, text)


def emulates_system(profile: Profile | None) -> bool:
    """Whether a profile emulates another system, whose rules for sizes then apply."""
    return profile is not None and profile.name not in _COMPACTCTL_PROFILES


def load_profile(name: str) -> Profile:
    """Return a built-in profile by its name, or load one from a file.

    Raises:
        UsageError: there is no such profile or file, or the file is invalid; the message says why.
    """
    if name in PROFILES:
        return builtin_profile(name)
    path = Path(name)
    try:
        if not path.is_file():
            hint = suggestion(name.lower(), PROFILES, f"profiles: {', '.join(PROFILES)}")
            raise UsageError(f"no profile or file named {name!r}; {hint}")
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError(f"profile {name}: has more than {_MAX_BYTES:,} bytes; name another")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"profile {name}: cannot be read: {error}") from error
    return parse_user_profile(_parse_table(text, path), name, _builtin_table, text)


def _builtin_text(name: str) -> str:
    if name not in PROFILES:
        names = ", ".join(PROFILES)
        raise UsageError(f"no profile named {name!r} to extend; profiles: {names}")
    return (files("compactctl.profiles") / "systems" / f"{name}.toml").read_text(encoding="utf-8")


def _builtin_table(name: str) -> Mapping[str, Any]:
    """Return the table of a built-in profile, with that of its own base filled in."""
    table = tomllib.loads(_builtin_text(name))
    return extend(table, _builtin_table(table["base"])) if "base" in table else table


def _parse_table(text: str, path: Path) -> Mapping[str, Any]:
    """Parse a user's file: JSON if its name ends with .json, else TOML."""
    try:
        table = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"profile {path}: not understood: {error}") from error
    if not isinstance(table, dict):
        raise UsageError(f"profile {path}: contains no table")
    return table
