"""The profiles there are, and what one of them does."""

from collections.abc import Sequence

from compactctl.profiles.library import PROFILES, built_in, load_profile
from compactctl.profiles.profile import Profile


def listed() -> Sequence[Profile]:
    """Return the built-in profiles, the default one first."""
    return [built_in(name) for name in PROFILES]


def explained(name: str) -> Profile:
    """Return a built-in profile or a user's own. Raises UsageError when there is none."""
    return load_profile(name)
