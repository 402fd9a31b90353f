"""The definition of a stage and its options, its skips, and the ids of its groups of edits."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, asdict, field, fields
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import GroupId
from compactctl.model.operation import ForeignSchema, OptionValue
from compactctl.model.validators import Validator, field_validators
from compactctl.records import dataclass
from compactctl.tokens.meter import Meter

T = TypeVar("T")
_HELP = "help"


class StageOptions(Protocol):
    """The options of a stage: an instance of a frozen dataclass of ``option`` fields."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Options = TypeVar("Options", bound=StageOptions)


def option(default: T, text: str) -> T:
    """Declare an option of a stage: a dataclass field with a default and a help text.

    The help names other options in double backticks.
    """
    value: T = field(default=default, metadata={_HELP: text})
    return value


def option_help(option_field: Field[Any]) -> str:
    """Return the help text of a field that was declared with ``option``."""
    text: str = option_field.metadata[_HELP]
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Generic[Options]):
    """A stage of a compaction.

    Attributes:
        name: its name for users.
        title: what it does, in a sentence.
        options: the dataclass of its options.
        propose: returns the edits for a view, or why there are none.
        example: options with which it has something to do in a few short messages; None if the
            default options do. The promises of all stages are tested with it.
        repairs: whether it runs even within the target, and may make the context larger.
        only_trims_file: whether it changes no message, only other records of the file.
        keeps_lasting_words: whether it keeps the user's words, as far as they take half of the
            target, and their rules in any case; see ``choose_words``.
        fills_target: whether it removes no more than the target requires.
        count_names: the names of its counts in reports, which are 0 if it did nothing.
        foreign_schemas: the records of other systems that its counts map to.
        codebuddy_tier: the tier of Codebuddy that it emulates (1 to 4), 0 for none.
    """

    name: str
    title: str
    options: Callable[..., Options]
    propose: Callable[[ConversationView, Meter, Options], Proposal | SkippedStage]
    example: Options | None = None
    repairs: bool = False
    only_trims_file: bool = False
    keeps_lasting_words: bool = False
    fills_target: bool = False
    count_names: tuple[str, ...] = ()
    foreign_schemas: tuple[ForeignSchema, ...] = ()
    codebuddy_tier: int = 0


def skip_within_target(stage: str, target: int) -> SkippedStage:
    """Skip a stage because the view is already within the target."""
    return SkippedStage(stage=stage, reason=f"already within the target of {target:,} tokens")


def skip_without_target(stage: str) -> SkippedStage:
    """Skip a stage that needs a target, because there is none."""
    reason = "no target size is set"
    return SkippedStage(stage=stage, reason=reason, detail="set one with --target")


def group_id(stage: str, options: StageOptions, ids: Iterable[str]) -> GroupId:
    """Derive the id of a group of edits from the stage, its options and the messages it edits.

    If the new texts depend on anything else, append them to ``ids``.
    """
    content = "\n".join((stage, repr(sorted(asdict(options).items())), *ids))
    return GroupId(hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12])


OptionKind = Literal["switch", "count", "share", "text", "texts", "choice"]

_KINDS: Mapping[object, OptionKind] = {bool: "switch", int: "count", float: "share", str: "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionField:
    """One option of a stage.

    Attributes:
        stage: the name of the stage.
        name: the name of the option.
        kind: the kind of value that it takes.
        validate: returns a value from a file as the option's type; raises ValueError if invalid.
        default: its value unless set.
        help: its help text.
        choices: the valid values of a choice; () for other kinds.
    """

    stage: str
    name: str
    kind: OptionKind
    validate: Validator
    default: OptionValue
    help: str
    choices: tuple[str, ...] = ()


def options_of(stage: Stage[Any]) -> tuple[OptionField, ...]:
    """Return the options of a stage, in the order of declaration."""
    hints, defaults = get_type_hints(stage.options), stage.options()
    validators = field_validators(stage.options)
    return tuple(
        OptionField(
            stage=stage.name,
            name=option_field.name,
            kind=_option_kind(hints[option_field.name]),
            validate=validators[option_field.name],
            default=getattr(defaults, option_field.name),
            help=option_help(option_field),
            choices=get_args(hints[option_field.name])
            if _option_kind(hints[option_field.name]) == "choice"
            else (),
        )
        for option_field in fields(defaults)
    )


def _option_kind(hint: object) -> OptionKind:
    if get_origin(hint) is tuple:
        return "texts"
    return "choice" if get_origin(hint) is Literal else _KINDS[hint]
