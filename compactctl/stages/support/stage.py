"""The definition of a stage and its options, its skips, and the ids of its groups of edits."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import (
    Any,
    Generic,
    Literal,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from compactctl.history.conversation_view import ConversationView
from compactctl.model.bounds import Count, Share
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import GroupId
from compactctl.model.operation import ForeignSchema, OptionValue
from compactctl.records import Record, asdict, described
from compactctl.tokens.meter import Meter

T = TypeVar("T")


Options = TypeVar("Options", bound=Record)


def option(default: T, text: str) -> T:
    """Declare an option of a stage: a field with a default and a help text.

    The help names other options in double backticks.
    """
    return described(default, text)


class Stage(Record, Generic[Options]):
    """A stage of a compaction.

    Attributes:
        name: its name for users.
        title: what it does, in a sentence.
        options: the record of its options, each declared with ``option``.
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
    options: type[Options]
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


def group_id(stage: str, options: Record, ids: Iterable[str]) -> GroupId:
    """Derive the id of a group of edits from the stage, its options and the messages it edits.

    If the new texts depend on anything else, append them to ``ids``.
    """
    content = "\n".join((stage, repr(sorted(asdict(options).items())), *ids))
    return GroupId(hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12])


OptionKind = Literal["switch", "count", "share", "text", "texts", "choice"]

# A number of a stage is not negative, one with a fraction at most 1.
_BOUNDED: Mapping[object, object] = {int: Count, float: Share}
_KINDS: Mapping[object, OptionKind] = {bool: "switch", int: "count", float: "share", str: "text"}


class OptionField(Record):
    """One option of a stage.

    Attributes:
        stage: the name of the stage.
        name: the name of the option.
        kind: the kind of value that it takes.
        type: the type of its values, with bounds.
        default: its value unless set.
        help: its help text.
        choices: the valid values of a choice; () for other kinds.
    """

    stage: str
    name: str
    kind: OptionKind
    type: Any
    default: OptionValue
    help: str
    choices: tuple[str, ...] = ()


def options_of(stage: Stage[Any]) -> tuple[OptionField, ...]:
    """Return the options of a stage, in the order of declaration."""
    hints, defaults = get_type_hints(stage.options), stage.options()
    return tuple(
        OptionField(
            stage=stage.name,
            name=name,
            kind=_option_kind(hints[name]),
            type=_BOUNDED.get(hints[name], hints[name]),
            default=getattr(defaults, name),
            help=text,
            choices=get_args(hints[name]) if _option_kind(hints[name]) == "choice" else (),
        )
        for name, text in stage.options.descriptions.items()
    )


def _option_kind(hint: object) -> OptionKind:
    if get_origin(hint) is tuple:
        return "texts"
    return "choice" if get_origin(hint) is Literal else _KINDS[hint]
