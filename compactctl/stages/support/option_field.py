"""The options of a stage as people set them: of which kind each is, and what it takes."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from compactctl.model.operation import OptionValue
from compactctl.model.shapes import Validator, field_validators
from compactctl.stages.support.stage import Stage, help_of

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
            help=help_of(each),
            choices=get_args(hints[each.name]) if _kind(hints[each.name]) == "choice" else (),
        )
        for each in fields(defaults)
    )


def _kind(hint: object) -> OptionKind:
    if get_origin(hint) is tuple:
        return "texts"
    return "choice" if get_origin(hint) is Literal else _KINDS[hint]
