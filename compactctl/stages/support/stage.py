"""What every stage is made of."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
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
from compactctl.model.edit import Proposal, Skipped
from compactctl.model.message import GroupId
from compactctl.model.operation import ForeignSchema, OptionValue
from compactctl.model.validators import Validator, field_validators
from compactctl.tokens.meter import Meter

T = TypeVar("T")
_HELP = "help"


class StageOptions(Protocol):
    """The options of a stage: an instance of a frozen dataclass of ``option`` fields."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


Options = TypeVar("Options", bound=StageOptions)


def option(default: T, text: str) -> T:
    """Return a field of a stage's options that users can set.

    ``text`` is its help; names of other options stand in it in double backticks.
    """
    made: T = field(default=default, metadata={_HELP: text})
    return made


def option_help(each: Field[Any]) -> str:
    """Return the help of a stage's option."""
    text: str = each.metadata[_HELP]
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(Generic[Options]):
    """A stage's name, what it does in a sentence, its options and the function that proposes edits.

    A stage that ``repairs`` runs whatever the target is, and may make the context larger; one that
    ``only_trims_file`` changes no message, only what the file holds beside them.
    One that ``keeps_words`` keeps the words of people that last, whatever size is to be reached.
    ``figures`` is what it counts even where it did nothing, ``foreign_schemas`` what other systems
    call that. ``codebuddy_tier`` is which of Codebuddy's four tiers works as it does, 0 for none.
    """

    name: str
    title: str
    options: Callable[..., Options]
    propose: Callable[[ConversationView, Meter, Options], Proposal | Skipped]
    repairs: bool = False
    only_trims_file: bool = False
    keeps_words: bool = False
    figures: tuple[str, ...] = ()
    foreign_schemas: tuple[ForeignSchema, ...] = ()
    codebuddy_tier: int = 0


def within_target(stage: str, target: int) -> Skipped:
    """Refuse because the view is small enough as it is."""
    return Skipped(stage=stage, reason=f"already within the target of {target:,} tokens")


def without_target(stage: str) -> Skipped:
    """Refuse because the stage works towards a size, and none is given."""
    reason = "how much has to go is not known"
    return Skipped(stage=stage, reason=reason, detail="give a size to reach with --target")


def group_id(stage: str, options: StageOptions, ids: Iterable[str]) -> GroupId:
    """Derive the id of a group of edits from the stage, its options and the messages it edits.

    ``ids`` end with the texts written where these depend on more than options and messages.
    """
    content = "\n".join((stage, repr(sorted(asdict(options).items())), *ids))
    return GroupId(hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12])


OptionKind = Literal["switch", "count", "share", "text", "texts", "choice"]

_KINDS: Mapping[object, OptionKind] = {bool: "switch", int: "count", float: "share", str: "text"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionField:
    """One option of a stage; ``choices`` are the values that a choice has.

    ``read`` returns the value that a file gives it, or raises ValueError with what is wrong.
    """

    stage: str
    name: str
    kind: OptionKind
    read: Validator
    default: OptionValue
    help: str
    choices: tuple[str, ...] = ()


def options_of(stage: Stage[Any]) -> tuple[OptionField, ...]:
    """Return the options of a stage, in the order in which they are declared."""
    hints, defaults = get_type_hints(stage.options), stage.options()
    validators = field_validators(stage.options)
    return tuple(
        OptionField(
            stage=stage.name,
            name=each.name,
            kind=_kind(hints[each.name]),
            read=validators[each.name],
            default=getattr(defaults, each.name),
            help=option_help(each),
            choices=get_args(hints[each.name]) if _kind(hints[each.name]) == "choice" else (),
        )
        for each in fields(defaults)
    )


def _kind(hint: object) -> OptionKind:
    if get_origin(hint) is tuple:
        return "texts"
    return "choice" if get_origin(hint) is Literal else _KINDS[hint]
