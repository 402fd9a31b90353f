"""Checks values in a project's settings file: they may name files of the project, not texts."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from compactctl.cli.precedence import variable_of
from compactctl.errors import UsageError, suggestion
from compactctl.store.settings import SettingsFile, user_settings

if TYPE_CHECKING:
    from compactctl.profiles.profile import Profile


# Every command starts through here: profiles, stages and counters are imported by what needs them.


def project_value(file: SettingsFile, key: str, value: object) -> object:
    """Return a project's value for an option; a file becomes its full path.

    Raises UsageError for a file outside the project's folder, and for one with settings that a
    project must not make.
    """
    if key not in _NAMING:
        return value
    if isinstance(value, list):
        return [_NAMING[key](file, str(name)) for name in value]
    return _NAMING[key](file, str(value))


def where_else(flag: str) -> str:
    """Return the sources in which an option may be set that a project must not set."""
    settings = user_settings()
    places = [f"on the command line (--{flag})", f"in the environment ({variable_of(flag)})"]
    if settings is not None:
        places.append(f"in your own settings ({settings})")
    return f"set it {', '.join(places[:-1])} or {places[-1]}"


def _profile(file: SettingsFile, name: str) -> str:
    from compactctl.profiles.registry import PROFILES, load_profile

    if name in PROFILES:
        return name
    if not (file.path.parent / name).is_file():
        hint = suggestion(name.lower(), PROFILES, f"profiles: {', '.join(PROFILES)}")
        raise UsageError(f"{file.path}: profile: no profile or file named {name!r}; {hint}")
    path = _inside(file, "profile", name)
    _check_profile(file, name, load_profile(path))
    return path


def _check_profile(file: SettingsFile, name: str, profile: "Profile") -> None:
    from compactctl.model.summary import EXTERNAL_SUMMARIZERS
    from compactctl.tokens.counters.selection import rank_file_of

    if profile.summarizer.name in EXTERNAL_SUMMARIZERS:
        why = "names a summarizer, which may run programs or send the conversation away"
        raise _refused(file, "profile", name, why)
    if rank_file_of(profile.counting.counter):
        raise _refused(file, "profile", name, "names a rank file")
    if place := next(_foreign_texts(profile), None):
        why = f"has a text of its own ({place}), which would go into a transcript or a prompt"
        raise _refused(file, "profile", name, why)


def _foreign_texts(profile: "Profile") -> Iterator[str]:
    """Yield where a profile gives a stage a text that no built-in profile contains."""
    from compactctl.profiles.registry import PROFILES, builtin_profile

    texts = list(_texts(profile))
    if not texts:
        return
    builtin = {text for name in PROFILES for _, text in _texts(builtin_profile(name))}
    yield from (place for place, text in texts if text not in builtin)


def _texts(profile: "Profile") -> Iterator[tuple[str, object]]:
    from compactctl.stages.registry import stage_named
    from compactctl.stages.support.stage import options_of

    for stage in (*profile.stages, *profile.overflow_stages, *profile.optional_stages):
        for option in options_of(stage_named(stage.name)):
            value = stage.options.get(option.name, option.default)
            if option.kind == "text" and value != option.default:
                yield f"{option.name} of {option.stage}", value
    for variant in profile.by_model.values():
        yield from _texts(variant)


def _windows(file: SettingsFile, name: str) -> str:
    from compactctl.commands.measuring.user_tables import read_windows
    from compactctl.tokens.counters.selection import rank_file_of

    path = _inside(file, "windows", name)
    if any(rank_file_of(row.counter) for row in read_windows(path).rows):
        raise _refused(file, "windows", name, "names a rank file")
    return path


def _counter(file: SettingsFile, name: str) -> str:
    from compactctl.tokens.counters.rank_file import path_and_pattern
    from compactctl.tokens.counters.selection import RANK_FILE, rank_file_of

    argument = rank_file_of(name)
    if not argument:
        return name
    whole = str(file.path.parent / argument)
    path, _ = path_and_pattern(whole)
    _check_inside(file, "counter", argument, path)
    return name.replace(f"{RANK_FILE}:{argument}", f"{RANK_FILE}:{whole}", 1)


def _template(file: SettingsFile, name: str) -> str:
    from compactctl.summaries.document.templates import TEMPLATES

    if name not in TEMPLATES:
        names = ", ".join(TEMPLATES)
        why = f"must be one of {names}; headings of a file would go into a transcript or a prompt"
        raise _refused(file, "template", name, why)
    return name


def _inside(file: SettingsFile, key: str, name: str) -> str:
    """Return the full path of a file in the project's folder."""
    path = file.path.parent / name
    _check_inside(file, key, name, path)
    return str(path)


def _check_inside(file: SettingsFile, key: str, name: str, path: Path) -> None:
    folder = file.path.parent.resolve()
    if Path(name).is_absolute() or not _resolved(path).is_relative_to(folder):
        raise _refused(file, key, name, "leads out of the project's folder")
    if not path.is_file():
        raise UsageError(f"{file.path}: {key}: no file named {name!r} in {folder}")


def _resolved(path: Path) -> Path:
    """Return a path with its links resolved; a path that cannot be resolved is returned as is."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path


def _refused(file: SettingsFile, key: str, name: str, why: str) -> UsageError:
    return UsageError(
        f"{file.path}: {key} = {name!r} {why}; a project's file may not set that; {where_else(key)}"
    )


_NAMING: dict[str, Callable[[SettingsFile, str], str]] = {
    "profile": _profile,
    "windows": _windows,
    "counter": _counter,
    "template": _template,
}
