"""What somebody writes who adds a stage, a format, a command, an option and an output.

Each is what the contributing page asks for: new files, and text in files that are there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

STAGE_MODULE = '''"""Heads: keep the first words of long tool results."""

from collections.abc import Iterator

from compactctl.history.conversation_view import ConversationView
from compactctl.history.reads import stub_targets
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.records import Record
from compactctl.stages.support.replacement import (
    Rewrite,
    count_saved_tokens,
    iter_results,
    propose_rewrites,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter

NAME = "heads"


class HeadsOptions(Record):
    """How much of a tool result stays."""

    words: int = option(200, "Words of a tool result that stay.")


def propose(view: ConversationView, meter: Meter, options: HeadsOptions) -> Proposal | SkippedStage:
    """Propose to cut every tool result with more words."""
    rewrites = tuple(_rewrites(view, meter, options))
    if not rewrites:
        reason = f"no tool result that may be cut has more than {options.words:,} words"
        return SkippedStage(stage=NAME, reason=reason, detail="see --heads-words")
    note = f"tool results cut: {len(rewrites):,}"
    return propose_rewrites(view, rewrites, stage=NAME, options=options, note=note)


def _rewrites(view: ConversationView, meter: Meter, options: HeadsOptions) -> Iterator[Rewrite]:
    needed = stub_targets(view.messages, cwd=view.cwd)
    for part_index, part in iter_results(view):
        words = part.text.split()
        if len(words) <= options.words or part.media or part_index in needed:
            continue
        text = " ".join(words[: options.words])
        saved = count_saved_tokens(view, meter, part_index, text)
        if text and saved:
            reason = f"more than {options.words:,} words"
            yield Rewrite(part_index=part_index, text=text, tokens_saved=saved, reason=reason)


STAGE = Stage(
    name=NAME,
    title="keep the first words of long tool results",
    options=HeadsOptions,
    propose=propose,
    example=HeadsOptions(words=10),
)
'''

STAGE_SECTION = """## heads

Keeps the first words of every long tool result.

```console
$ compactctl compact sample_transcripts/codex-session.jsonl --stages heads --heads-words 50 -n
$ compactctl show stages heads
```

It does nothing when no tool result has more than `--heads-words`.

"""

FORMAT_MODULE = '''"""Lines of a made-up client, each with who speaks and what is said."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.format import Format
from compactctl.clients.records.chat_log import ChatLogReader, ConversationParser
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import json_text, object_or_empty, text_or_empty
from compactctl.clients.records.message_draft import MessageDraft, text_parts
from compactctl.clients.wrappings import KNOWN_WRAPPINGS
from compactctl.model.message import (
    CallId,
    JsonPath,
    Part,
    Role,
    Synthetic,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext

_ROLES: Mapping[str, Role] = {"person": "user", "agent": "assistant", "tool": "tool"}


class Murmur(Format):
    """Reads and writes lines with a ``speaker``."""

    name = "murmur"
    title = "Murmur"

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize lines with a speaker."""
        return any(record.get("speaker") in _ROLES for record in records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ChatLogReader(self.name, _Murmurs, wrappings=KNOWN_WRAPPINGS).read(lines)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a line of a person."""
        return {"speaker": "person", "said": message.text}


class _Murmurs(ConversationParser):
    """Parse lines; a call and its result have the same ``call``."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Parse a line; None for any other record."""
        role = _ROLES.get(text_or_empty(record.get("speaker")))
        return None if role is None else MessageDraft(role=role, parts=_parts(role, record, path))


def _parts(role: Role, record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    call_id, said = CallId(text_or_empty(record.get("call"))), record.get("said")
    tool = text_or_empty(record.get("tool"))
    if role == "tool":
        text = text_or_empty(said)
        return (ToolResultPart(call_id=call_id, tool=tool, text=text, path=(*path, "said")),)
    parts: tuple[Part, ...] = text_parts(said, (*path, "said"))
    if role == "user" or not call_id:
        return parts
    arguments = json_text(object_or_empty(record.get("input")))
    path = (*path, "input")
    return (*parts, ToolCallPart(call_id=call_id, tool=tool, arguments=arguments, path=path))
'''

TALK = '''"""A talk in lines of the made-up client."""

from typing import Any

from voices.place import Record, Talk


class MurmurTalk(Talk):
    """Lines with a speaker."""

    def say(self, words: str) -> None:
        self.records.append({"speaker": "person", "said": words})

    def step(self, tool: str, arguments: Record, result: Any, *, failed: bool = False) -> None:
        about = {"call": f"call{self.number()}", "tool": tool}
        self.records.append({"speaker": "agent", **about, "input": arguments})
        self.records.append({"speaker": "tool", **about, "said": result})
'''

FORMAT_SECTION = """## murmur

Lines of a made-up client, each with a `speaker` and what is `said`.

- Effective history: all lines with a speaker.
- A summary is written as a line of a person.

"""

USE_CASE = '''"""The turns of a transcript."""

from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.history.turns import find_turns
from compactctl.records import Record


class TurnsOptions(Record):
    """The transcript."""

    input: InputOptions


class TurnsResult(Record):
    """The number of turns in the transcript at ``path``."""

    path: str
    turns: int


def turns(options: TurnsOptions) -> TurnsResult:
    """Count the turns that the next request would send."""
    messages = load(options.input).transcript.effective
    return TurnsResult(path=options.input.path, turns=len(find_turns(messages)))
'''

VIEWS = '''"""The number of turns."""

from collections.abc import Iterator
from typing import Any

from compactctl.commands.inspect.turns import TurnsResult
from compactctl.views.encode import record


def turns_terminal(result: TurnsResult) -> Iterator[str]:
    """Yield the output."""
    yield f"{result.turns:,} turns"


def turns_document(result: TurnsResult) -> dict[str, Any]:
    """Return the number of turns."""
    return {"schema": "compactctl.turns/1", **record(result)}
'''

COMMAND_MODULE = '''"""``compactctl harness turns``."""

from compactctl.cli.command import command
from compactctl.cli.help import Help
from compactctl.cli.options.arguments import file_argument
from compactctl.cli.options.output import SHOWN_AS
from compactctl.cli.options.reading import FORMAT, LIMITS
from compactctl.commands.inspect.turns import TurnsOptions, TurnsResult, turns

_HELP = Help(
    """Count the turns of a transcript.

FILE is a transcript, a session (compactctl sessions), or - for standard input.
""",
    examples=("compactctl harness turns run.jsonl",),
)


@command(
    TurnsOptions, file_argument(), FORMAT, LIMITS, SHOWN_AS, help=_HELP, doing="reading",
)
def turns_command(options: TurnsOptions) -> TurnsResult:
    """Run ``compactctl harness turns``."""
    return turns(options)
'''

COMMAND_SECTION = """## compactctl harness turns

```console
$ compactctl harness turns --help
$ compactctl harness turns sample_transcripts/openai-chat.jsonl
```

"""

COMMAND_JSON = """## compactctl.turns/1

| field | type | meaning |
| --- | --- | --- |
| `schema` | string | this document |
| `path` | string | the transcript |
| `turns` | integer | turns that the next request would send |

"""

SAVES_NOTHING_ERROR = '''class SavesNothingError(CompactctlError):
    """No stage made the context smaller (``--require-savings``)."""

    exit_code = 1


'''

REQUIRE_SAVINGS = """    if draft.options.require_savings and not result.compacted:
        raise SavesNothingError(
            f"{draft.options.input.path}: no stage found anything to change, so that nothing was "
            "written; name other stages"
        )
"""

OUTPUT_MODULE = '''"""Documents as lines of a path and a value."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from compactctl.views.terminal.text import safe_text


def print_flat(document: Mapping[str, Any], *, error: bool = False) -> None:
    """Print a document."""
    for line in _lines("", document):
        click.echo(safe_text(line), err=error)


def _lines(path: str, value: object) -> Iterator[str]:
    match value:
        case dict():
            for key, inner in value.items():
                yield from _lines(f"{path}.{key}" if path else key, inner)
        case list():
            for index, inner in enumerate(value):
                yield from _lines(f"{path}.{index}", inner)
        case _:
            yield f"{path} = {value}"
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Text for a file, in front of some that occurs there once."""

    path: str
    before: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """New files by their paths, and lines in files that are there.

    ``what`` is the name of its row in the table of the contributing page.
    """

    what: str
    files: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[Line, ...] = ()

    @property
    def paths(self) -> set[str]:
        """The files that are written or changed."""
        return {*self.files, *(line.path for line in self.lines)}

    def write(self, root: Path) -> None:
        """Add it to a checkout."""
        for name, text in self.files.items():
            assert not (root / name).exists(), name
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        for line in self.lines:
            path = root / line.path
            text = path.read_text()
            assert text.count(line.before) == 1, f"{line.path}: {line.before!r} is not there once"
            path.write_text(text.replace(line.before, line.text + line.before))


STAGE = Addition(
    what="a stage",
    files={"compactctl/stages/heads.py": STAGE_MODULE},
    lines=(
        Line(path="compactctl/stages/registry.py", before="    images,\n", text="    heads,\n"),
        Line(
            path="compactctl/stages/registry.py",
            before="    images.STAGE,\n",
            text="    heads.STAGE,\n",
        ),
        Line(path="docs/stages.md", before="## images\n", text=STAGE_SECTION),
    ),
)

FORMAT = Addition(
    what="a client",
    files={
        "compactctl/clients/murmur/__init__.py": '"""Murmur sessions."""\n',
        "compactctl/clients/murmur/format.py": FORMAT_MODULE,
        "tests/voices/murmur.py": TALK,
    },
    lines=(
        Line(
            path="compactctl/clients/registry.py",
            before="from compactctl.clients.neurolink.format import",
            text="from compactctl.clients.murmur.format import Murmur\n",
        ),
        Line(
            path="compactctl/clients/registry.py",
            before="    NeuroLink(),\n",
            text="    Murmur(),\n",
        ),
        Line(
            path="docs/formats.md",
            before="| `spring-ai` |",
            text="| `murmur` | Murmur | one | a line of a person |\n",
        ),
        Line(path="docs/formats.md", before="## spring-ai\n", text=FORMAT_SECTION),
        Line(
            path="tests/voices/tables.py",
            before="from voices.place import",
            text="from voices.murmur import MurmurTalk\n",
        ),
        Line(
            path="tests/voices/tables.py",
            before='    "neurolink": NeuroLinkTalk,\n',
            text='    "murmur": MurmurTalk,\n',
        ),
    ),
)

COMMAND = Addition(
    what="a command",
    files={
        "compactctl/commands/inspect/turns.py": USE_CASE,
        "compactctl/views/results/turns.py": VIEWS,
        "compactctl/cli/turns.py": COMMAND_MODULE,
    },
    lines=(
        Line(
            path="compactctl/cli/group.py",
            before='"overflow", "prompt"',
            text='"turns", ',
        ),
        Line(
            path="compactctl/cli/command_index.py",
            before='    "verify": (',
            text='    "turns": ("turns", "Count the turns of a transcript."),\n',
        ),
        Line(
            path="compactctl/views/registry.py",
            before='    "ViewResult": ',
            text='    "TurnsResult": "results.turns:turns",\n',
        ),
        Line(
            path="docs/commands.md", before="## compactctl harness overflow\n", text=COMMAND_SECTION
        ),
        Line(path="docs/json.md", before="## compactctl.overflow/1\n", text=COMMAND_JSON),
    ),
)

OPTION = Addition(
    what="an option",
    lines=(
        Line(
            path="compactctl/commands/compact/result.py",
            before="    compare: bool = False\n",
            text='    require_savings: bool = flag("Exit 1 if nothing changes.", GATES, MAY)\n',
        ),
    ),
)

# What makes a gate of the option.
GATE = Addition(
    what="a gate, which is an option",
    lines=(
        Line(
            path="compactctl/commands/compact/summing_up.py",
            before="    if draft.options.require_fit and result.judgment.is_over",
            text=REQUIRE_SAVINGS,
        ),
        Line(
            path="compactctl/commands/compact/summing_up.py",
            before="\nfrom compactctl.history.apply import net_edits\n",
            text=", SavesNothingError",
        ),
        Line(path="compactctl/errors.py", before="class UsageError(", text=SAVES_NOTHING_ERROR),
        Line(
            path="docs/exit-codes.md",
            before="`--require-audit` and `--on-summarizer-failure fail`",
            text="`--require-savings` of `compact`; ",
        ),
    ),
)

OUTPUT = Addition(
    what="an output",
    files={"compactctl/views/flat.py": OUTPUT_MODULE},
    lines=(
        Line(
            path="compactctl/views/registry.py",
            before="}\n\n# By the name of the result's type.\n",
            text="""    "flat": Output(
        suffix="document",
        print="flat:print_flat",
        help="Print a line for every value of the JSON document.",
    ),
""",
        ),
    ),
)

ADDITIONS = (STAGE, FORMAT, COMMAND, OPTION, GATE, OUTPUT)
