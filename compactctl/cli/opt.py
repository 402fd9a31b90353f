"""Declares options: the field that one sets, its section in --help, and who may set it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from compactctl.asks import (
    ADDS_TEXT,
    MAY,
    NOT_JUDGED,
    OF_STAGES,
    HelpSection,
    PathBase,
    ProjectRule,
)
from compactctl.errors import UsageError
from compactctl.records import Record, asdict

if TYPE_CHECKING:
    from compactctl.stages.support.stage import OptionField


T = TypeVar("T", bound=Record)

BESIDE = ""
"""The place of options that set no field of the record: the command gets them beside it."""


class _NeedsValue(click.Parameter):
    """A parameter that takes no empty value, whether typed or set elsewhere.

    ``--pin "$PATTERN"`` with an unset variable names no pattern, and must not match everything.
    """

    allows_empty = False

    def consume_value(
        self, ctx: click.Context, opts: Mapping[str, Any]
    ) -> tuple[Any, ParameterSource]:
        """Return the value and its source. Raises click.BadParameter for an empty one."""
        value, source = super().consume_value(ctx, opts)
        if source is ParameterSource.DEFAULT or self.allows_empty or ctx.resilient_parsing:
            return value, source
        if "" in (value if isinstance(value, list | tuple) else (value,)):
            raise click.BadParameter("it is empty", ctx, self)
        return value, source


class NonEmptyOption(_NeedsValue, click.Option):
    """An option of click that takes no empty value."""


class Opt(NonEmptyOption):
    """An option that sets the field ``place`` of its command's record.

    ``path`` is set if the value names a file or a folder. ``name`` is click's, unless that is the
    place. Only with ``allows_empty`` may the value be empty.
    """

    def __init__(
        self,
        flags: list[str],
        *,
        place: str,
        section: HelpSection,
        project: ProjectRule,
        path: PathBase | None = None,
        name: str = "",
        allows_empty: bool = False,
        **attributes: Any,  # noqa: ANN401 - click's
    ) -> None:
        super().__init__([*flags, name or place.replace(".", "_")], **attributes)
        self.allows_empty = allows_empty
        self.place = place
        self.section = section
        self.project = project
        self.path = path


def opt(
    place: str,
    section: HelpSection,
    project: ProjectRule,
    help: str,
    *,
    flag: str = "",
    short: str = "",
    path: PathBase | None = None,
    **attributes: Any,  # noqa: ANN401 - click's
) -> Opt:
    """Return an option, named like its field unless it has a ``flag``."""
    flags = [short] if short else []
    flags.append(flag or f"--{place.rpartition('.')[2].replace('_', '-')}")
    return Opt(
        flags, place=place, section=section, project=project, path=path, help=help, **attributes
    )


def flag(
    place: str,
    section: HelpSection,
    project: ProjectRule,
    help: str,
    **attributes: Any,  # noqa: ANN401 - click's
) -> Opt:
    """Return an option without a value."""
    return opt(place, section, project, help, is_flag=True, **attributes)


def section_of(option: click.Option) -> HelpSection | None:
    """Return the title of an option's section, None for options about help."""
    return option.section if isinstance(option, Opt) else None


def project_rule(option: click.Option) -> ProjectRule:
    """Return whether a project's settings file may set an option."""
    return option.project if isinstance(option, Opt) else NOT_JUDGED


class StageOption(Opt):
    """An option of one stage: the ``field`` of its options that it sets.

    A project may set it unless it is text. An empty text means that the stage writes none, unless
    it writes none anyway.
    """

    def __init__(
        self,
        flag: str,
        *,
        field: "OptionField",
        **attributes: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(
            [flag],
            place=f"{field.stage}_{field.name}",
            section=OF_STAGES,
            project=ADDS_TEXT if field.kind == "text" else MAY,
            allows_empty=field.kind == "text" and field.default != "",
            **attributes,
        )
        self.field = field


class Arg(_NeedsValue, click.Argument):
    """An argument that sets the field ``place`` to the value that ``choose`` returns for the text.

    ``choose`` is called after the whole command line has been read. ``name`` is click's, unless it
    is the place.
    """

    def __init__(
        self,
        place: str,
        *,
        choose: Callable[[click.Context, Any], object] = lambda _, typed: typed,
        name: str = "",
        **attributes: Any,  # noqa: ANN401 - click's
    ) -> None:
        super().__init__([name or place.replace(".", "_")], **attributes)
        self.place = place
        self.choose = choose


class OptGroup:
    """Options that set one field: fields of its record, or a value that ``make`` returns.

    ``make`` gets the values by field name.
    """

    def __init__(
        self, place: str, *parts: "CommandPart", make: Callable[..., object] | None = None
    ) -> None:
        self.place = place
        self.parts = parts
        self.make = make

    def at(self, place: str) -> "OptGroup":
        """Return the same options for another field."""
        return OptGroup(place, *self.parts, make=self.make)


def beside(*parts: "CommandPart") -> OptGroup:
    """Return options whose values a command gets by name, in addition to its record."""
    return OptGroup(BESIDE, *parts)


CommandPart = Opt | Arg | OptGroup
"""What a command is declared with."""


def parameters(parts: Sequence[CommandPart]) -> Iterator[click.Parameter]:
    """Yield the parameters of a command in order."""
    for part in parts:
        if isinstance(part, OptGroup):
            yield from parameters(part.parts)
        else:
            yield part


def values_by_place(parts: Sequence[CommandPart], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a command's options, by the fields they set.

    ``values`` are click's, by the names of parameters.
    """
    placed: dict[str, Any] = {}
    for part in parts:
        if isinstance(part, Opt):
            if part.expose_value:
                placed[part.place] = values[str(part.name)]
        elif isinstance(part, Arg):
            typed = values[str(part.name)]
            placed[part.place] = part.choose(click.get_current_context(), typed)
        elif part.make:
            placed[part.place] = part.make(**values_by_place(part.parts, values))
        else:
            inner = values_by_place(part.parts, values)
            placed |= {f"{part.place}.{place}": value for place, value in inner.items()}
    return placed


def values_beside(placed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a command gets in addition to its record, by name."""
    return _inside(BESIDE, placed)


def build(kind: type[T], values: Mapping[str, object]) -> T:
    """Return a record from values by field; None leaves a field at its default.

    The types of its fields must not be strings.

    A nested record may be set as a whole and by single fields, which take precedence.
    """
    arguments: dict[str, object] = {}
    for name in kind.__struct_fields__:
        value: Any = values.get(name)
        inner = _inside(name, values)
        if inner:
            whole = {} if value is None else asdict(value)
            value = build(kind.__annotations__[name], whole | inner)
        if value is not None:
            arguments[name] = value
    return kind(**arguments)


def _inside(place: str, values: Mapping[str, object]) -> dict[str, object]:
    start = f"{place}."
    return {
        name.removeprefix(start): value for name, value in values.items() if name.startswith(start)
    }


def check_places(kind: type, parts: Sequence[CommandPart]) -> None:
    """Raise TypeError for a field that the record does not have."""
    for part in parts:
        if part.place == BESIDE:
            continue
        inner: Any = kind
        for name in part.place.split("."):
            types = inner.__annotations__
            if name not in types:
                raise TypeError(f"{inner.__name__} has no field {name!r} ({part.place})")
            inner = types[name]
        if isinstance(part, OptGroup) and part.make is None:
            check_places(inner, part.parts)


TYPED = "compactctl.typed"
"""In the context: the arguments of the command as they were typed."""


def is_typed(flag: str) -> bool:
    """Whether an option of the running command was typed on the command line."""
    context = click.get_current_context()
    names = (str(option.name) for option in context.command.params if flag in option.opts)
    return ParameterSource.COMMANDLINE in map(context.get_parameter_source, names)


class FiniteRange(click.FloatRange):
    """A finite number in a range; click would accept ``inf`` and ``nan``."""

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the number. Raises click.BadParameter for anything else."""
        number = float(super().convert(value, param, ctx))
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number


class ShareRange(FiniteRange):
    """A share, ``80%`` or ``0.8``.

    If shares over 100% are allowed, 80 without a percent sign would mean 8000%: numbers over 10 are
    errors.
    """

    _MOST = 10

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Return the share. Raises click.BadParameter for anything else."""
        # Help needs no fractions.
        from compactctl.model.numbers import exact

        text = str(value).strip()
        if text.endswith("%"):
            try:
                percent = float(text[:-1])
                # A fraction, since 0.7 / 100 is a little less than 0.007.
                share = float(exact(percent) / 100) if isfinite(percent) else percent
                return super().convert(share, param, ctx)
            except ValueError:
                self.fail(f"{text!r} is not a share; write it as 80% or 0.8", param, ctx)
        try:
            share = super().convert(float(text), param, ctx)
        except ValueError:
            self.fail(f"{text!r} is not a share; write it as 80% or 0.8", param, ctx)
        if share > self._MOST:
            self.fail(
                f"{text} would be {share:.0%}; write {share:g}% or {share / 100:g}", param, ctx
            )
        return share


class ParsedText(click.ParamType):  # type: ignore[type-arg]  # older click has no arguments
    """The value that ``parse`` returns for a text.

    Its UsageError is shown with the name of the option, and of the settings file it is from.
    """

    name = "text"

    def __init__(self, parse: Callable[[str], object]) -> None:
        self.parse = parse

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> object:
        """Return the parsed value. Raises click.BadParameter for an invalid text."""
        try:
            return self.parse(str(value))
        except UsageError as error:
            self.fail(str(error), param, ctx)


class KnownName(ParsedText):
    """A name that ``parse`` must accept; the value is the name."""

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Return the name. Raises click.BadParameter for an unknown one."""
        super().convert(value, param, ctx)
        return str(value)
