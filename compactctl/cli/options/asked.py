"""Make options of the fields that records ask for."""

from collections.abc import Callable, Iterable, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
from msgspec import Meta

from compactctl.asks import Ask
from compactctl.cli.opt import FiniteRange, KnownName, Opt, ParsedText, ShareRange, opt
from compactctl.cli.options import completion
from compactctl.errors import UsageError
from compactctl.records import Record


def asked(kind: type[Record], *names: str, without: Sequence[str] = (), **helps: str) -> list[Opt]:
    """Return the options of these fields of a record, or of all but ``without``, in their order.

    ``helps`` are fields with another help in this command. The type of a field must not be a
    string. Raises TypeError for a field that users are not asked for.
    """
    if unknown := {*names, *without, *helps}.difference(kind.descriptions):
        raise TypeError(f"{kind.__name__} does not ask for {', '.join(sorted(unknown))}")
    chosen = (*names, *helps) or (name for name in kind.descriptions if name not in without)
    return [_asked(kind, name, helps.get(name)) for name in chosen]


def _asked(kind: type[Record], name: str, text: str | None) -> Opt:
    how: Ask = kind.descriptions[name]
    attributes = _value_attributes(kind.__annotations__[name], how)
    if how.flag:
        # Fields of two records may have the same name.
        attributes["name"] = how.flag.partition("/")[0].strip("-").replace("-", "_")
    if how.metavar:
        attributes["metavar"] = how.metavar
    if how.load or how.read:
        attributes["callback"] = _loader(how)
    if how.complete:
        attributes["shell_complete"] = getattr(completion, how.complete)
    return opt(
        name,
        how.section,
        how.project,
        text or how.help,
        flag=how.flag,
        short=how.short,
        path=how.path,
        allows_empty=how.allows_empty,
        **attributes,
    )


def _loader(how: Ask) -> Callable[..., object]:
    """Return a callback, which runs after a relative path of a settings file was resolved."""
    load: Any = how.load or how.read

    def names(values: Iterable[str]) -> list[str]:
        if how.metavar != "A,B,...":
            return [*values]
        return [name.strip() for text in values for name in text.split(",") if name.strip()]

    def loaded(
        context: click.Context, parameter: click.Parameter, value: str | tuple[str, ...] | None
    ) -> object:
        if context.resilient_parsing or value is None:
            return None
        try:
            return load(value) if isinstance(value, str) else tuple(map(load, names(value)))
        except UsageError as error:
            if how.read:
                raise
            raise click.BadParameter(str(error), context, parameter) from error

    return loaded


def _value_attributes(hint: object, how: Ask) -> dict[str, Any]:
    """Return what click has to know about the value of a field."""
    if hint is bool:
        return {"default": how.default} if "/" in how.flag else {"is_flag": True}
    attributes: dict[str, Any] = {"type": _value_type(hint, how)}
    if get_origin(hint) is tuple and (how.parse is None or how.repeatable):
        return attributes | {"multiple": True}
    default = _default(how)
    if isinstance(default, str | int | float):
        is_shown = default != "" and "[default: " not in how.help
        attributes |= {"default": default, "show_default": is_shown}
    return attributes


def _default(how: Ask) -> object:
    if how.typed is not None:
        return how.typed
    if how.varies or how.default in ("", ()):
        return None
    return ",".join(map(str, how.default)) if isinstance(how.default, tuple) else how.default


def _value_type(hint: Any, how: Ask) -> "click.ParamType[Any]":  # noqa: ANN401 - of a field
    if how.parse is not None:
        return ParsedText(how.parse)
    if how.check is not None:
        return KnownName(how.check)
    if get_origin(hint) in (Union, UnionType):
        # Users choose from the first of several types.
        hint = next(part for part in get_args(hint) if part is not NoneType)
    if get_origin(hint) is Literal:
        return click.Choice(get_args(hint))
    bounds = next((part for part in get_args(hint) if isinstance(part, Meta)), Meta(ge=0))
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if kind is int:
        return click.INT if bounds.ge is None else click.IntRange(min=int(bounds.ge))
    if kind is float and bounds.le is not None:
        return ShareRange(bounds.ge, bounds.le)
    if kind is float:
        return FiniteRange(min=0, min_open=True)
    return click.STRING
