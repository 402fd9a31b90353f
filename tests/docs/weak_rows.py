"""Find what the table of features says without showing it.

What the commands of a row consist of is taken away, one at a time: a whole command, a variable, an
option with its value, a stage of a list, a line of a file in TOML. Each time, something that the
row says must be missing; and each thing that it says must be missing at least once. What it names
must be in its commands, or in what it says that they show.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import click
from docs.feature_rows import ROOT, Row, evidence, missing_evidence, outcome

from compactctl.cli.group import LazyGroup, cli

# Options that may make no difference in a row that does not name them.
_EXEMPT: Mapping[str, str] = {
    "--dry-run": "prints the same, and writes nothing",
    "--output": "keeps results out of the folder of the inputs",
    "--counter": "keeps figures as they are when the default changes",
}
# Without it there is no document to look into, whatever the other options do.
_JSON = "--json"
_OPTION = re.compile(r"(?<![\w-])--(?:no-)?([a-z][a-z-]*)")
_LIST = r"((?:`[\w@-]+`(?:, | and )?)+)"


@dataclass(frozen=True, slots=True)
class Omission:
    """The commands of a row without one part of them, and the inputs that it was taken from."""

    part: str
    commands: tuple[str, ...]
    edits: tuple[tuple[str, str], ...] = ()
    is_exempt: bool = False


def unused_names(row: Row) -> Iterator[str]:
    """Yield options, stages, profiles, commands and JSON keys that a row names in vain."""
    here = re.sub(r"omitted: [^;]*", "", row.here)
    commands = " ".join(row.run)
    shown = " ".join(words for words, _ in evidence(row))
    for option in sorted(set(_OPTION.findall(here)) - set(_OPTION.findall(commands))):
        yield f"--{option}"
    for kind, texts in (
        ("stages?", f"{commands} {shown}"),
        ("profiles?", commands),
        ("JSON", shown),
    ):
        for names in re.findall(rf"\b{kind} {_LIST}", here):
            for name in re.findall(r"`([\w@-]+)`", names):
                if not re.search(rf"(?<![\w@-]){name}(?![\w@-])", texts):
                    yield name
    for words in re.findall(r"`compactctl ((?:[a-z]+ )?[a-z][a-z-]*)", here):
        if not re.search(rf"\bcompactctl (--config \S+ )?{words}\b", commands):
            yield f"compactctl {words}"


def weaknesses(row: Row) -> Iterator[str]:
    """Yield parts of a row's commands that it is shown without, and what it says in any case."""
    never_missing = [words for words, _ in evidence(row) if words != "exit 0"]
    has_parts = False
    for omission in omissions(row):
        missing = missing_evidence(row, outcome(omission.commands, tuple(row.same), omission.edits))
        if not missing and not omission.is_exempt:
            yield f"is shown without {omission.part}"
        if omission.part != _JSON:
            has_parts = True
            never_missing = [words for words in never_missing if words not in missing]
    if has_parts:
        yield from (f"says {words}, whatever is left out" for words in never_missing)


def omissions(row: Row) -> Iterator[Omission]:
    """Yield the commands of a row without each of their parts in turn."""
    for number, command in enumerate(row.run):
        before, after = row.run[:number], row.run[number + 1 :]
        if before or after:
            yield Omission(f"command {number + 1}", (*before, *after))
        for part, words, names in _shorter_commands(shlex.split(command)):
            exempt = any(name in _EXEMPT and name not in row.here for name in names)
            yield Omission(part, (*before, shlex.join(words), *after), is_exempt=exempt)
    for file in sorted(set(re.findall(r"[\w/-]+\.toml", " ".join(row.run)))):
        lines = (ROOT / file).read_text().splitlines(keepends=True)
        for number, line in enumerate(lines):
            if "=" in line:
                content = "".join((*lines[:number], *lines[number + 1 :]))
                yield Omission(f"{line.strip()} in {file}", tuple(row.run), ((file, content),))


def _shorter_commands(
    words: Sequence[str],
) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """Yield each part of a command, the command without it, and the option's names."""
    start = words.index("compactctl")
    for at in range(start):
        yield words[at], (*words[:at], *words[at + 1 :]), ()
    command: click.Command = cli
    at = start + 1
    while at < len(words):
        word, end = words[at], at + 1
        option = _option(command, word)
        if option is not None:
            end += 0 if option.is_flag else option.nargs
            yield " ".join(words[at:end]), (*words[:at], *words[end:]), option.opts
            if word == "--stages":
                stages = words[at + 1].split(",")
                for stage in stages if len(stages) > 1 else ():
                    others = ",".join(other for other in stages if other != stage)
                    yield f"stage {stage}", (*words[: at + 1], others, *words[end:]), ()
        elif isinstance(command, LazyGroup) and word in command.lines:
            command = command.get_command(click.Context(command), word) or command
        at = end


def _option(command: click.Command, word: str) -> click.Option | None:
    for option in command.params:
        if isinstance(option, click.Option) and word in (*option.opts, *option.secondary_opts):
            return option
    return None
