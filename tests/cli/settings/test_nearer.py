"""Of options that exclude one another the nearer one counts, as if it were alone."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import click
import pytest
from cli.asking import SAMPLES, Ask

from compactctl.asks import MAY
from compactctl.cli.group import Commands, cli, words_of
from compactctl.cli.opt import StageOption, project_rule
from compactctl.cli.precedence import (
    EXCLUSIVE,
    FOLLOWERS,
    NEEDS,
    OF_STAGES,
    PLACES,
    Exclusive,
    Setting,
    SettingSource,
    decide,
    flag_of,
    options_of,
    variable_of,
)

COMMANDS = Commands()
OPTIONS = {name: {flag_of(o): o for o in options_of(COMMANDS[name])} for name in COMMANDS}
OVERFLOW = "prompt is too long: 250000 tokens > 200000 maximum"
Value = str | bool
# Values of options that take no other ones.
VALUES = {
    "counter": "o200k_base", "counter-cmd": "cat", "chars-per-token": "4.0", "target": "5k",
    "keep": "30%", "from-error": OVERFLOW, "stages": "dedup", "profile": "roo", "trigger": "60k",
    "keep-prefix": "0.1", "template": "six", "summarize-template": "ten", "at": "0.5",
    "hide": "2..3", "message": "9", "freeze-before": "2", "archive": str(SAMPLES),
}  # fmt: skip
ARGUMENTS = {
    "sessions": [], "stages": [], "profiles": [],
    "models": [], "integrate": ["claude-code"], "statusline": [], "cache": [], "settings": [],
    "archive": [],
    "batch": ["runs", "--out", "out"],
}  # fmt: skip
FILE, OWN_FILE = "compactctl.toml", "config.toml"
SOURCES = tuple(
    SettingSource(place=place, file=file, table=table)
    for place in PLACES
    for file, table in (
        [("f.toml", "compact"), ("f.toml", "")] if place in {"project", "user"} else [("", "")]
    )
)


def commands_of(rule: Exclusive) -> Iterator[str]:
    for name, options in OPTIONS.items():
        known = {*options, OF_STAGES} if name in rule.commands or not rule.commands else set()
        terms = {term.partition("=")[0].rstrip("!") for term in (*rule.terms, *rule.against)}
        if len(terms & known) > 1:
            yield name


def pairs() -> Iterator[tuple[str, str, str, Exclusive]]:
    """Yield every command with every pair of terms that exclude each other in it."""
    for rule in EXCLUSIVE:
        for command in commands_of(rule):
            for one, other in rule.pairs:
                if all(option_of(command, term) for term in (one, other)):
                    yield command, one, other, rule


def option_of(command: str, term: str) -> click.Option | None:
    options = OPTIONS[command]
    if term == OF_STAGES:
        return next((o for o in options.values() if isinstance(o, StageOption) and o.is_flag), None)
    return options.get(term.partition("=")[0].rstrip("!"))


def value_of(option: click.Option, term: str) -> Value:
    name, sign, value = term.partition("=")
    if sign and not name.endswith("!"):
        return {"true": True, "false": False}.get(value, value)
    if option.is_flag:
        return True
    if isinstance(option.type, click.Choice):
        return str(option.type.choices[0])
    return VALUES.get(flag_of(option), "1")


PAIRS = {f"{c} {one} {other}": (c, one, other, rule) for c, one, other, rule in pairs()}


def setting(command: str, term: str, source: SettingSource) -> Setting:
    option = option_of(command, term)
    assert option is not None
    of_stage = isinstance(option, StageOption)
    value = value_of(option, term)
    return Setting(option=flag_of(option), value=value, source=source, of_stage=of_stage)


def test_every_rule_is_about_options_that_there_are() -> None:
    where = "compactctl/cli/precedence.py: "
    for rule in EXCLUSIVE:
        for term in (*rule.terms, *rule.against):
            assert any(option_of(name, term) for name in commands_of(rule)), (
                f"{where}no command of the rule {rule} has {term}"
            )
    known = {name for options in OPTIONS.values() for name in options}
    needs = {name for need in NEEDS for name in (need.term.partition("=")[0], *need.needed)}
    assert needs - known == set(), f"{where}NEEDS names options that no command has"
    followers = {*FOLLOWERS, *(each for group in FOLLOWERS.values() for each in group)}
    assert followers - known == set(), f"{where}FOLLOWERS names options that no command has"


@pytest.mark.parametrize("name", PAIRS)
def test_the_nearer_of_two_is_decided_for_from_every_pair_of_sources(name: str) -> None:
    command, one, other, rule = PAIRS[name]
    for near, far in combinations(SOURCES, 2):
        for first, second in ((one, other), (other, one)):
            nearer, farther = setting(command, first, near), setting(command, second, far)
            alone = decide(command, (nearer,))
            both = decide(command, (farther, nearer))
            assert both.complaint == alone.complaint
            if rule.relation != "one way" or first == one:
                assert both.in_effect == alone.in_effect
            else:
                assert {*both.in_effect} == {nearer.option, farther.option}


@pytest.mark.parametrize("name", PAIRS)
def test_two_of_one_source_contradict_each_other_and_both_are_named(name: str) -> None:
    command, one, other, rule = PAIRS[name]
    for source in SOURCES:
        two = (setting(command, one, source), setting(command, other, source))
        complaint = decide(command, two).complaint
        if rule.relation != "contradict":
            assert "contradict" not in complaint
            continue
        assert "cannot be used together" in complaint
        for each in two:
            said = variable_of(each.option) if source.place == "environment" else each.option
            assert said in complaint
        assert source.file in complaint


class Bench:
    """Finds out what a command is asked for, by its settings from all sources."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / "work" / ".git").mkdir(parents=True)
        (folder / "own" / "compactctl").mkdir(parents=True)
        self.files = {
            "project": folder / "work" / FILE,
            "user": folder / "own" / "compactctl" / OWN_FILE,
        }
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "own"))
        monkeypatch.chdir(folder / "work")
        self.patch = monkeypatch

    def asked(self, command: str, *settings: tuple[str, str]) -> dict[str, object]:
        """Return the parameters with these terms set, each with its value in one place."""
        arguments = [*words_of(command), *ARGUMENTS.get(command, ["run.jsonl"])]
        terms = {term for term, _ in settings}
        if command == "rewind" and terms <= {"in-place", "native", "output"}:
            arguments.append("--client")
        if command == "view" and terms & {"counter", "counter-cmd", "chars-per-token"}:
            arguments += ["--message", "9"]
        with self.patch.context() as patch:
            for file in self.files.values():
                file.unlink(missing_ok=True)
            for term, place in settings:
                option = option_of(command, term)
                assert option is not None
                value, flag = value_of(option, term), flag_of(option)
                if place == "command line":
                    arguments += _typed(option, value)
                elif place == "environment":
                    patch.setenv(variable_of(flag), str(value))
                else:
                    with self.files[place].open("a") as stream:
                        stream.write(f"{flag} = {_toml(option, value)}\n")
            return self.read(arguments)

    def read(self, arguments: list[str]) -> dict[str, object]:
        """Return the parameters of a command line."""
        with cli.make_context("compactctl", list(arguments)) as context:
            command: click.Command | None = cli
            while isinstance(command, click.Group):
                _, command, arguments = command.resolve_command(context, arguments)
            assert command is not None
            return dict(command.make_context(command.name, arguments, parent=context).params)


def _typed(option: click.Option, value: Value) -> list[str]:
    if option.is_flag:
        return [max(option.opts if value else option.secondary_opts, key=len)]
    return [max(option.opts, key=len), str(value)]


def _toml(option: click.Option, value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(option.type, click.types.IntParamType | click.types.FloatParamType):
        return value
    return f'"{value}"'


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def check_alone(bench: Bench, name: str, near: str, far: str) -> None:
    """Compare what a command is asked for with two settings and with the nearer one alone."""
    command, one, other, rule = PAIRS[name]
    terms = [(one, other)] if rule.relation == "one way" else [(one, other), (other, one)]
    for first, second in terms:
        of_project = {near: first, far: second}.get("project")
        option = option_of(command, of_project) if of_project else None
        if option is not None and project_rule(option) is not MAY:
            continue
        both = bench.asked(command, (first, near), (second, far))
        assert both == bench.asked(command, (first, near)), (first, second)


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_typed_is_as_if_alone(bench: Bench, name: str) -> None:
    check_alone(bench, name, "command line", "user")


@pytest.mark.long
@pytest.mark.parametrize("places", tuple(combinations(PLACES, 2)), ids=str)
@pytest.mark.parametrize("name", PAIRS)
def test_what_stands_nearer_is_as_if_alone(
    bench: Bench, name: str, places: tuple[str, str]
) -> None:
    check_alone(bench, name, *places)


OWN = (
    ('counter = "o200k_base"', ("stats", "--chars-per-token", "4")),
    ('stages = "dedup"', ("compact", "-n", "--profile", "roo")),
    ('stages = "nonsense"', ("compact", "-n", "--profile", "roo")),
    ('target = "2k"', ("compact", "-n", "--profile", "roo")),
    ('profile = "gone.toml"', ("compact", "-n", "--profile", "roo", "--stages", "dedup")),
    (
        'summarizer = "openai"\nsummarizer-model = "m"\nbase-url = "http://127.0.0.1:9/v1"',
        ("compact", "-n", "--stages", "summarize", "--keep", "30%", "--summarizer", "offline"),
    ),
    (
        'summarizer = "openai"\nsummarizer-model = "m"\napi-key-env = "KEY"',
        ("compact", "-n", "--stages", "summarize", "--keep", "30%", "--summarizer-cmd", "cat"),
    ),
    ('base-url = "http://127.0.0.1:9/v1"\nsummarizer-model = "m"', ("compact", "-n")),
    ("mask-secrets = false", ("stats",)),
    ("redact = true", ("stats",)),
    ("in-place = true", ("view",)),
    ("resume = true", ("batch",)),
    ("[view]\npage = 2", ("view",)),
)


@pytest.mark.parametrize(("own", "command"), OWN, ids=repr)
def test_a_loser_changes_nothing(
    ask: Ask, bench: Bench, own: str, command: tuple[str, ...]
) -> None:
    name, *options = command
    path = SAMPLES / "openai-chat.jsonl"
    alone = ask(name, path, *options)
    bench.files["user"].write_text(own)
    both = ask(name, path, *options)
    assert (alone.code, both.code, both.err) == (0, 0, alone.err)
    without_ids = [line for line in alone.out.splitlines() if " in " not in line]
    assert [line for line in both.out.splitlines() if " in " not in line] == without_ids


ELSEWHERE = (
    ('layout = "messages"', "batch"),
    ('fail-on = "orphans"', "audit"),
    ('fail-on = "lost-rules"', "batch"),
    ('profile = ["roo", "cline"]', "stats"),
    ('keep = "0.5,0.3"', "compact"),
    ('client = "codex"', "rewind"),
    ("limit = 0", "view"),
    ("top = 0", "report"),
)


@pytest.mark.parametrize(("own", "command"), ELSEWHERE)
def test_a_value_for_another_command_is_passed_over(bench: Bench, own: str, command: str) -> None:
    arguments = [*words_of(command), *ARGUMENTS.get(command, ["run.jsonl"])]
    alone = bench.read(arguments)
    bench.files["user"].write_text(f"{own}\n")
    assert bench.read(arguments) == alone


def test_a_key_is_for_the_server_that_it_was_set_with() -> None:
    own, typed = SOURCES[-1], SOURCES[0]
    settings = (
        Setting(option="base-url", value="https://a", source=own),
        Setting(option="api-key-env", value="KEY", source=own),
    )
    other = Setting(option="base-url", value="https://b", source=typed)
    assert "api-key-env" in decide("compact", settings).in_effect
    assert "api-key-env" not in decide("compact", (*settings, other)).in_effect
    same = Setting(option="base-url", value="https://a", source=typed)
    assert "api-key-env" in decide("compact", (*settings, same)).in_effect


def test_a_profile_from_farther_away_goes_with_stages() -> None:
    profile = Setting(option="profile", value="roo", source=SOURCES[-1])
    stages = Setting(option="stages", value="dedup", source=SOURCES[0])
    assert {*decide("compact", (profile, stages)).in_effect} == {"profile", "stages"}


@pytest.mark.parametrize("name", [n for n in OPTIONS if n not in {"config", "mcp", "hook"}])
def test_no_flag_among_the_settings_keeps_a_command_from_being_read(
    bench: Bench, name: str
) -> None:
    for flag, option in OPTIONS[name].items():
        for value in (True, False) if option.is_flag else ():
            bench.files["user"].write_text(f"{flag} = {str(value).lower()}\n")
            bench.read([*words_of(name), *ARGUMENTS.get(name, ["run.jsonl"])])
