"""Rules between options: which exclude each other, and which need another one to have an effect.

A term is the name of an option without dashes (``counter``), which means any value that switches
something on; one of its values (``layout=inline``, ``tags=false``); or all values but one
(``output!=-``).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product
from typing import Literal

import click

from compactctl.records import Record

OF_STAGES = "<options of stages>"
"""The term for every option of every stage."""

# What two options from one source do: contradict each other, or go together. "one way": a nearer
# first one overrules a farther second one, never the other way round.
Relation = Literal["contradict", "together", "one way"]


class Exclusive(Record):
    """Options that exclude each other: all ``terms``, or each of them and each of ``against``.

    ``commands`` are the commands with this rule; empty for all that have the options.
    """

    terms: tuple[str, ...]
    against: tuple[str, ...] = ()
    commands: frozenset[str] = frozenset()
    relation: Relation = "contradict"

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of terms that exclude each other."""
        if self.against:
            return tuple(product(self.terms, self.against))
        return tuple(combinations(self.terms, 2))


class Need(Record):
    """A term without effect unless one of ``needed`` is set, in ``commands`` or in all."""

    term: str
    needed: tuple[str, ...]
    commands: frozenset[str] = frozenset()


# Some contradictions are also checked by commands, for the library, which has no command line. Here
# the error can name the options and where they were set.
EXCLUSIVE = (
    Exclusive(terms=("counter", "counter-cmd", "chars-per-token")),
    Exclusive(terms=("target", "keep")),
    Exclusive(terms=("keep", "from-error")),
    Exclusive(terms=("summarizer", "summarizer-cmd", "summary-file")),
    Exclusive(terms=("template", "summarize-template")),
    # A profile says itself which stages run, when, and down to which size.
    Exclusive(
        terms=("profile",),
        against=("stages", "target", "keep", "trigger"),
        commands=frozenset({"compact", "batch", "check"}),
        relation="one way",
    ),
    # Both select the policies to evaluate.
    Exclusive(
        terms=("profile", "stages"), commands=frozenset({"eval"}), relation="together"
    ),
    # A plan and a range leave nothing to decide.
    Exclusive(terms=("plan", "hide"), commands=frozenset({"compact"})),
    Exclusive(terms=("plan",), against=("summary-file",), commands=frozenset({"compact"})),
    Exclusive(
        terms=("plan", "hide"),
        against=(
            "profile", "stages", "trigger", "if-needed", "target", "keep", "from-error",
            "protect-tool", "pin", "keep-turns", "freeze-before", "keep-prefix",
            "redo", "template", "summarizer", "summarizer-cmd", "summarizer-model",
            "base-url", "api-key-env", "allow-network", "summarizer-timeout", "summarizer-context",
            "on-summarizer-failure", "label-style", OF_STAGES,
        ),
        commands=frozenset({"compact"}),
    ),
    Exclusive(terms=("plan",), against=("at", "every", "keep"), commands=frozenset({"eval"})),
    Exclusive(terms=("at", "every")),
    Exclusive(
        terms=("native",),
        against=("in-place", "output", "layout=inline", "layout=messages", "tags=false", "redo"),
    ),
    Exclusive(terms=("in-place", "output")),
    Exclusive(
        terms=("layout=messages",),
        against=("in-place", "output!=-"),
        commands=frozenset({"compact"}),
    ),
    Exclusive(terms=("layout=inline", "redo")),
    Exclusive(terms=("jsonl", "json"), commands=frozenset({"view"})),
    Exclusive(terms=("jsonl", "full"), commands=frozenset({"view"}), relation="together"),
    Exclusive(terms=("archived", "all"), commands=frozenset({"view"}), relation="together"),
    Exclusive(
        terms=("message",),
        against=("archived", "all", "grep", "limit", "jsonl", "full"),
        commands=frozenset({"view"}),
    ),
    Exclusive(terms=("to", "group", "all"), commands=frozenset({"rewind"})),
    Exclusive(terms=("client", "group"), commands=frozenset({"rewind"})),
    Exclusive(terms=("aggregate", "proportional", "neurolink")),
    Exclusive(terms=("resume",), against=("cache=false", "messages-out", "rounds-out")),
)  # fmt: skip

NEEDS = (
    Need(term="redact", needed=("html",)),
    Need(term="mask-secrets=false", needed=("html",), commands=frozenset({"stats"})),
    Need(term="page", needed=("limit",), commands=frozenset({"view"})),
    Need(term="in-place", needed=("client", "group"), commands=frozenset({"rewind"})),
    Need(term="native", needed=("client", "group"), commands=frozenset({"rewind"})),
    Need(term="resume", needed=("out",)),
    Need(term="widen", needed=("hide",)),
    *(
        Need(term=term, needed=("message",), commands=frozenset({"view"}))
        for term in (
            "model",
            "window",
            "windows",
            "max-tokens",
            "counter",
            "counter-cmd",
            "chars-per-token",
            "image-tokens",
            "profile",
        )
    ),
)

# Option -> options that belong to its value: if another value overrules it, they have no effect
# either. An API key is meant for one server, and must not be sent to another one.
FOLLOWERS = {
    "summarizer": ("summarizer-model", "base-url", "api-key-env"),
    "base-url": ("api-key-env",),
}


PREFIX = "COMPACTCTL_"


def options_of(command: click.Command) -> Iterator[click.Option]:
    """Yield the options of a command that settings can set."""
    for option in command.params:
        if isinstance(option, click.Option) and option.expose_value:
            yield option


def flag_of(option: click.Option) -> str:
    """Return an option's long name without its dashes."""
    return max(option.opts, key=len).lstrip("-")


def variable_of(flag: str) -> str:
    """Return the environment variable that sets the option of this name."""
    return PREFIX + flag.upper().replace("-", "_")


SettingPlace = Literal["command line", "environment", "project", "user"]
PLACES: tuple[SettingPlace, ...] = ("command line", "environment", "project", "user")


class SettingSource(Record):
    """The source of a setting.

    ``file`` is a settings file, "" for other sources; ``table`` is the command whose table of the
    file it is in, "" for the top level.
    """

    place: SettingPlace
    file: str = ""
    table: str = ""

    @property
    def distance(self) -> tuple[int, bool]:
        """The distance from the command line; a command's table is nearer than the top level."""
        return PLACES.index(self.place), not self.table


TYPED = SettingSource(place="command line")
ENVIRONMENT = SettingSource(place="environment")


class Setting(Record):
    """A value for an option (its name without dashes), and its source.

    ``of_stage`` marks an option of a stage.
    """

    option: str
    value: object
    source: SettingSource
    of_stage: bool = False


class Overruled(Record):
    """A setting without effect, and the option that overrules it, "" if none does."""

    setting: Setting
    by: str


class Decision(Record):
    """The settings of a command that take effect, and those that do not, by option.

    ``complaint`` says what is wrong with them, "" if nothing is.
    """

    in_effect: Mapping[str, Setting]
    overruled: Mapping[str, Overruled]
    complaint: str = ""


def decide(command: str, settings: Iterable[Setting]) -> Decision:
    """Decide which of a command's settings, from all sources, take effect.

    Of several settings of one option, the nearest to the command line wins. It is dropped, with the
    settings that need it, if an option that excludes it is set nearer. Two that exclude each other
    in one source are an error. A setting that needs a missing option is ignored, unless it was
    typed.
    """
    in_effect: dict[str, Setting] = {}
    overruled: dict[str, Overruled] = {}
    deserted: dict[tuple[str, SettingPlace, str], str] = {}
    complaints: list[str] = []
    for setting in sorted(settings, key=_order):
        option, source = setting.option, setting.source
        rivals = tuple(_rivals(command, setting, in_effect.values()))
        nearer = (r.setting.option for r in rivals if _is_nearer(r.setting, setting))
        by = deserted.get((option, source.place, source.file)) or next(nearer, "")
        if option not in in_effect and not by:
            in_effect[option] = setting
            complaints += [_contradiction(r) for r in rivals if r.relation == "contradict"]
            continue
        if option not in in_effect:
            overruled.setdefault(option, Overruled(setting=setting, by=by))
        if option not in in_effect or in_effect[option].value != setting.value:
            for follower in FOLLOWERS.get(option, ()):
                deserted[follower, source.place, source.file] = by or option
    for setting, needed in tuple(_idle(command, in_effect)):
        if setting.source == TYPED:
            complaints.append(f"{_name(setting)} has no effect without --{needed}")
        else:
            overruled[setting.option] = Overruled(setting=in_effect.pop(setting.option), by="")
    return Decision(
        in_effect=in_effect,
        overruled={name: loser for name, loser in overruled.items() if name not in in_effect},
        complaint=next(iter(complaints), ""),
    )


class _Rival(Record):
    """A setting that excludes another one, the terms of both in the rule, and their relation."""

    setting: Setting
    pair: tuple[Setting, Setting]
    terms: tuple[str, str]
    relation: Relation


def _order(setting: Setting) -> tuple[tuple[int, bool], int]:
    """Return the sort key of a setting: near ones first, then those that others depend on."""
    leads = list(FOLLOWERS)
    rank = leads.index(setting.option) if setting.option in leads else len(leads)
    return setting.source.distance, rank


def _is_nearer(one: Setting, other: Setting) -> bool:
    return one.source.distance < other.source.distance


def _rivals(command: str, setting: Setting, others: Iterable[Setting]) -> Iterator[_Rival]:
    """Yield the settings that exclude this one and are at least as near."""
    rules = [rule for rule in EXCLUSIVE if not rule.commands or command in rule.commands]
    mentioning = [rule for rule in rules if _is_mentioned(setting, rule)]
    for other in others if mentioning else ():
        for rule in mentioning:
            for first, second in rule.pairs:
                is_second = matches(first, other) and matches(second, setting)
                is_first = matches(first, setting) and matches(second, other)
                if is_second or (is_first and rule.relation != "one way"):
                    pair = (other, setting) if is_second else (setting, other)
                    yield _Rival(
                        setting=other, pair=pair, terms=(first, second), relation=rule.relation
                    )


def _is_mentioned(setting: Setting, rule: Exclusive) -> bool:
    return any(matches(term, setting) for term in (*rule.terms, *rule.against))


def _idle(command: str, in_effect: Mapping[str, Setting]) -> Iterator[tuple[Setting, str]]:
    """Yield settings without effect, and the options they need."""
    for need in NEEDS:
        if need.commands and command not in need.commands:
            continue
        if any(matches(name, in_effect[name]) for name in need.needed if name in in_effect):
            continue
        for setting in in_effect.values():
            if matches(need.term, setting):
                yield setting, need.needed[0]


def matches(term: str, setting: Setting) -> bool:
    """Whether a setting matches a term of ``exclusive``."""
    if term == OF_STAGES:
        return setting.of_stage
    name, sign, expected = term.partition("=")
    if setting.option != name.removesuffix("!"):
        return False
    if not sign:
        return setting.value not in (None, False, "", (), [])
    value = str(setting.value).lower() if isinstance(setting.value, bool) else setting.value
    return (value == expected) != name.endswith("!")


def _contradiction(rival: _Rival) -> str:
    one, other = map(_name, rival.pair, rival.terms)
    names = f"{one} and {other} cannot be used together"
    source = rival.pair[1].source
    if not source.file:
        return names
    return f"{source.file}: {source.table and f'[{source.table}] '}{names}"


def _name(setting: Setting, term: str = "") -> str:
    """Return the name of a setting in its source, with its value if the term has one."""
    is_named = isinstance(setting.value, str) and term == f"{setting.option}={setting.value}"
    match setting.source.place:
        case "command line":
            name = f"--{'no-' if setting.value is False else ''}{setting.option}"
            return f"{name} {setting.value}" if is_named else name
        case "environment":
            name = variable_of(setting.option)
            return f"{name}={setting.value}" if is_named else name
        case _:
            return f'{setting.option} = "{setting.value}"' if is_named else setting.option
