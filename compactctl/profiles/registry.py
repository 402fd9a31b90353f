"""The built-in profiles, one TOML file each, and a user's own."""

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from compactctl.errors import UsageError, suggestion
from compactctl.profiles.parse import complete, parse_profile, parse_user_profile
from compactctl.profiles.profile import Profile

# In the order in which they are listed: our own, the five systems, their origins, and the
# way out of an overflow. A variant of a system stands behind an @: what its code does where its
# documentation says otherwise.
PROFILES = (
    "default",
    "staged",
    "neurolink",
    "codebuddy",
    "codebuddy@code",
    "agent-code",
    "spring-sliding",
    "spring-turns",
    "spring-tokens",
    "spring-recursive",
    "copilot",
    "roo",
    "opencode",
    "cline",
    "claude-api",
    "recovery",
)
DEFAULT_PROFILE = "default"
_OWN_PROFILES = (DEFAULT_PROFILE, "staged")
# What ``compact --from-error`` runs when nothing else is named.
RECOVERY_PROFILE = "recovery"
# A profile is read whole, and takes many times its size as a table.
_MAX_BYTES = 1 << 20


@cache
def builtin_profile(name: str) -> Profile:
    """Return a built-in profile. Raises UsageError for another name."""
    return parse_profile(complete(_table(name), _table), name, _text(name))


def emulates_system(profile: Profile | None) -> bool:
    """Tell whether it is another profile than our own, with rules of its own for sizes."""
    return profile is not None and profile.name not in _OWN_PROFILES


def load_profile(name: str) -> Profile:
    """Return the profile of that name, or read the file of that name.

    Raises:
        UsageError: it is neither, or the file holds no profile; says what is wrong where.
    """
    if name in PROFILES:
        return builtin_profile(name)
    path = Path(name)
    try:
        if not path.is_file():
            hint = suggestion(name.lower(), PROFILES, f"profiles: {', '.join(PROFILES)}")
            raise UsageError(f"there is no profile and no file {name!r}; {hint}")
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError(f"profile {name}: has more than {_MAX_BYTES:,} bytes; name another")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"profile {name}: cannot be read: {error}") from error
    return parse_user_profile(_parse_table(text, path), name, _table, text)


def _text(name: str) -> str:
    return (files("compactctl.profiles") / "systems" / f"{name}.toml").read_text(encoding="utf-8")


def _table(name: str) -> Mapping[str, Any]:
    if name not in PROFILES:
        known = ", ".join(PROFILES)
        raise UsageError(f"there is no profile {name!r} to build on; there are {known}")
    return tomllib.loads(_text(name))


def _parse_table(text: str, path: Path) -> Mapping[str, Any]:
    """Parse a user's file, JSON or TOML by its name."""
    try:
        table = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"profile {path}: not understood: {error}") from error
    if not isinstance(table, dict):
        raise UsageError(f"profile {path}: it holds no table")
    return table
