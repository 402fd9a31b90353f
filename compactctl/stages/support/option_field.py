"""The options of a stage as people set them: of which kind each is, and what it takes."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from compactctl.model.operation import OptionValue
from compactctl.model.shapes import Shape, count, one_of, share, switch, text, texts
from compactctl.stages.support.stage import Stage, help_of

OptionKind = Literal["switch", "count", "share", "text", "texts", "choice"]

# Every count is at least 0, and every fraction a share.
_KINDS: Mapping[object, OptionKind] = {bool: "switch", int: "count", float: "share", str: "text"}
_SHAPES: Mapping[OptionKind, Shape] = {
    "switch": switch,
    "count": count,
    "share": share,
    "text": text,
    "texts": texts,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionField:
    """One option of a stage; ``choices`` are the values that a choice has."""

    stage: str
    name: str
    kind: OptionKind
    default: OptionValue
    help: str
    choices: tuple[str, ...] = ()

    def read(self, value: object) -> OptionValue:
        """Return the value that a file gives it. Raises ValueError with what is wrong with it."""
        shape = one_of(*self.choices) if self.kind == "choice" else _SHAPES[self.kind]
        found: OptionValue = shape(value)
        return found


def options_of(stage: Stage[Any]) -> tuple[OptionField, ...]:
    """Return the options of a stage, in the order in which they are declared."""
    hints, defaults = get_type_hints(stage.options), stage.options()
    return tuple(
        OptionField(
            stage=stage.name,
            name=each.name,
            kind=_kind(hints[each.name]),
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
