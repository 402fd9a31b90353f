"""Declares what users may set: a field of a record, with its help and who may set it.

::

    class StatsOptions(Record):
        top: int = ask(5, "Number of largest messages to list.", SHOWN, MAY, metavar="N")

The command line, settings files and the documentation get the option from the field.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Literal, TypeVar

from compactctl.records import Record, described

T = TypeVar("T")

PathBase = Literal["settings", "here"]
"""What a relative path in a settings file is relative to: the file, or where compactctl runs."""


class HelpSection(StrEnum):
    """The titles in the help of commands with many options, in order."""

    STATE = "Which messages"
    POLICY = "What to do"
    PLAN_FILES = "Plans in files"
    CUT = "Where to cut sessions"
    GATES = "Gates"
    PROTECTED = "What to leave alone"
    SUMMARIES = "Summaries"
    INPUT = "Input"
    MEASURED = "Measuring"
    SHOWN = "Display"
    PRIVACY = "Privacy"
    OUTPUT = "Where to write"
    OF_STAGES = "Stage options"


class ProjectRule(StrEnum):
    """Whether a project's settings file may set an option; if not, what it would do.

    A project often belongs to others. Its file may only choose how contexts are measured, and which
    stages run with which options.
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
    STATE, POLICY, PLAN_FILES, CUT, GATES, PROTECTED, SUMMARIES, INPUT, MEASURED, SHOWN, PRIVACY,
    OUTPUT, OF_STAGES,
) = HelpSection  # fmt: skip
MAY, WRITES, SUMMARIZES, READS, COUNTS, LOADS, ONE_RUN, ADDS_TEXT, NOT_JUDGED = ProjectRule


class Ask(Record):
    """How users are asked for a field. Its type says the rest.

    Attributes:
        default: its value unless it is set.
        help: what it does, in a sentence; it may end with the default, as in ``[default: none]``.
        section: the title that it stands under in help.
        project: whether a project's settings file may set it.
        flag: its name on the command line, unless that is the field's.
        short: a short name, such as ``-f``.
        path: set if the value names a file or a folder.
        allows_empty: whether the value may be an empty text.
        metavar: what help shows for the value.
        typed: the default as a user would type it, such as ``2G``; None if that is the same, or
            there is none.
        varies: set if another value may be used unless it is set, such as that of a profile.
        parse: returns the value for a text; raises UsageError.
        repeatable: ``parse`` returns one of the values of a tuple.
        check: raises UsageError for a text that is not a valid value.
        load: returns the value for a name or a file; raises UsageError.
        read: returns the value for a file; raises UsageError, which names the file.
        complete: the function of ``cli/options/completion`` that completes it.
    """

    default: object
    help: str
    section: HelpSection
    project: ProjectRule
    flag: str = ""
    short: str = ""
    path: PathBase | None = None
    allows_empty: bool = False
    metavar: str | None = None
    typed: str | None = None
    varies: bool = False
    parse: Callable[[str], object] | None = None
    repeatable: bool = False
    check: Callable[[str], object] | None = None
    load: Callable[[str], object] | None = None
    read: Callable[[str], object] | None = None
    complete: str = ""


def ask(
    default: T,
    help: str,
    section: HelpSection,
    project: ProjectRule,
    **how: Any,  # noqa: ANN401 - the other fields of Ask
) -> T:
    """Give a field a default, and ask users for its value."""
    return described(
        default, Ask(default=default, help=help, section=section, project=project, **how)
    )


def flag(
    help: str,
    section: HelpSection,
    project: ProjectRule,
    *,
    default: bool = False,
    **how: Any,  # noqa: ANN401 - the other fields of Ask
) -> bool:
    """Ask users for a field that is on or off: by ``--name``, or ``--name/--no-name`` as flag."""
    return ask(default, help, section, project, **how)
