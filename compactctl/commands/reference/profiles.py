"""The profiles there are, and what one of them does."""

from dataclasses import dataclass

from compactctl.profiles.library import PROFILES, built_in, load_profile
from compactctl.profiles.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilesResult:
    """The built-in profiles, the default one first, or with ``named`` the one asked for."""

    profiles: tuple[Profile, ...]
    named: bool


def profiles(name: str | None = None) -> ProfilesResult:
    """List the built-in profiles, or look up one of them or a user's own.

    Raises UsageError when no profile has that name.
    """
    if name is not None:
        return ProfilesResult(profiles=(load_profile(name),), named=True)
    return ProfilesResult(profiles=tuple(map(built_in, PROFILES)), named=False)
