"""An option, declared once: the field it sets, its section of the help, and who may set it."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Literal, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

PathBase = Literal["settings", "here"]
"""What a relative path in a settings file is relative to: the file, or where compactctl runs."""


class HelpSection(StrEnum):
    """The titles in the help of commands with many options, in their order."""

    STATE = "Which messages, or which state"
    POLICY = "Profile and stages"
    PLAN_FILES = "Plans in files"
    SIZE = "When, and how small"
    CUT = "Where a session is cut"
    GATES = "Gates and questions"
    SPAN = "Which messages"
    PROTECTED = "What stays"
    SUMMARIES = "Summaries"
    PRIVACY = "What others get to see"
    OUTPUT = "Where to write"
    INPUT = "What is read"
    MEASURED = "How it is measured"
    SHOWN = "What is shown"
    OF_STAGES = "Options of stages"


class ProjectRule(StrEnum):
    """Whether a project's settings file may set an option; if not, what it does instead.

    A project is often somebody else's. Its file may choose how things are measured and which stages
    run with which options, nothing else.
    """

    MAY = ""
    WRITES = "says where or whether something is written"
    SUMMARIZES = "says who writes summaries, or what leaves this machine"
    READS = "says what else is read"
    COUNTS = "says which program counts"
    LOADS = "says how much of this machine may be used"
    ONE_RUN = "is about a single run"
    ADDS_TEXT = "puts text into a transcript or a prompt"
    NOT_JUDGED = "has not been judged yet and may write, run or read anything"


(
    STATE, POLICY, PLAN_FILES, SIZE, CUT, GATES, SPAN, PROTECTED, SUMMARIES, PRIVACY, OUTPUT,
    INPUT, MEASURED, SHOWN, OF_STAGES,
) = HelpSection  # fmt: skip
MAY, WRITES, SUMMARIZES, READS, COUNTS, LOADS, ONE_RUN, ADDS_TEXT, NOT_JUDGED = ProjectRule


class Opt(click.Option):
    """An option that sets the field ``place`` of what its command is asked for.

    ``path`` is given where the value names a file or a folder.
    """

    def __init__(
        self,
        flags: list[str],
        *,
        place: str,
        section: HelpSection,
        project: ProjectRule,
        path: PathBase | None = None,
        **attributes: Any,  # noqa: ANN401 - click's
    ) -> None:
        super().__init__([*flags, place.replace(".", "_")], **attributes)
        self.place = place
        self.section = section
        self.project = project
        self.path = path

    def __call__(self, function: F) -> F:
        """Add the option to a command, as click's decorators do."""
        added = (*getattr(function, "__click_params__", ()), self)
        function.__click_params__ = list(added)  # type: ignore[attr-defined]
        return function


def opt(
    place: str,
    section: HelpSection,
    project: ProjectRule,
    help: str,  # noqa: A002 - click's
    *,
    flag: str = "",
    short: str = "",
    path: PathBase | None = None,
    **attributes: Any,  # noqa: ANN401 - click's
) -> Opt:
    """Return an option, named as its field is unless its ``flag`` is given."""
    flags = [short] if short else []
    flags.append(flag or f"--{place.rpartition('.')[2].replace('_', '-')}")
    return Opt(
        flags, place=place, section=section, project=project, path=path, help=help, **attributes
    )


def flag(
    place: str,
    section: HelpSection,
    project: ProjectRule,
    help: str,  # noqa: A002 - click's
    **attributes: Any,  # noqa: ANN401 - click's
) -> Opt:
    """Return an option that takes no value."""
    return opt(place, section, project, help, is_flag=True, **attributes)


def section_of(option: click.Option) -> HelpSection:
    """Return the title below which an option stands; what click adds itself is about showing."""
    return option.section if isinstance(option, Opt) else SHOWN


def project_rule(option: click.Option) -> ProjectRule:
    """Return whether a project's settings file may set an option."""
    return option.project if isinstance(option, Opt) else NOT_JUDGED
