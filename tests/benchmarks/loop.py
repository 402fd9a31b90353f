"""Replays recorded sessions as an agent loop that compacts its messages before each request.

    python tests/benchmarks/loop.py [PATH…] [--targets 12k 30k 128k] [--every 1]
    python tests/benchmarks/loop.py [PATH…] --files [--sizes "--keep 30%"]

The paths are sessions of Claude Code and Codex, or folders of them; without any, those are taken
that the tests find. Each becomes plain messages: the user's words, answers, calls and results. One
step is a response with its results, or a message of the user. A target of 128k or more is a window
of that size, without a target, unless ``--stages`` names stages (``distill:form=digest``).

After every compaction the list is checked: no line is quoted twice; there is one text of ours at
most, which counts no fewer messages than before; every line and rule of the user is there, unless
their words exceed half of the room; and another compaction changes nothing. With ``--files``, ten
parts of the file are appended and compacted through the command line, in place and into new files,
with tags and without, and the references of the last text are followed.

Prints a line per replay and a total, and exits with 1 if a check fails. Of a session nothing is
printed but its name and numbers.
"""

import argparse
import io
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # This folder has files named like folders of the tests.
    sys.path.pop(0)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from transcripts import FOLDER, VARIABLE

from compactctl import compact_messages, load
from compactctl.__main__ import run
from compactctl.clients.registry import format_named
from compactctl.commands.reading.transcript import parse
from compactctl.errors import CompactctlError
from compactctl.history.pairs import PartIndex, tool_pairs
from compactctl.history.turns import find_steps
from compactctl.model.message import (
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    media_of,
    media_text,
)
from compactctl.model.own_texts import (
    ANSWERS,
    GAP,
    INSTRUCTIONS,
    REFERENCE,
    REQUESTS,
    SET_RULES,
    HandOver,
    OwnDigest,
    OwnText,
    find_own_texts,
    read_lines,
)
from compactctl.summaries.extract.items import REPLIES, SAID
from compactctl.summaries.extract.user_words import find_rules
from compactctl.tokens.models.token_sizes import parse_window

Chat = dict[str, Any]
OPENAI, ANTHROPIC = FORMATS = ("openai-chat", "anthropic-messages")
CLIENTS = ("claude-code", "codex")
DEFAULT = "default"
STAGES = (DEFAULT, "distill:form=digest", "summarize")
COUNTER = "chars/4"
WINDOW = 128_000
"""From this size on, a target is a window, unless stages are named."""
PARTS = 10
IN_PLACE, NEW_FILES = WAYS = ("in-place", "new-files")
# Below these, a hand-over quotes messages.
_QUOTING = {ANSWERS, INSTRUCTIONS, REQUESTS, SAID, REPLIES, SET_RULES}
# Compacted, nothing to do, and a target out of reach.
_USUAL_CODES = {0, 5}
# The rules of an earlier text get so many tokens however small the room is.
_MIN_RULES = 400
_MARK = re.compile(rf"^(?:\| ?|- (?:\[(?:{REFERENCE}|#)\] )?)")
_QUOTES = re.compile(r"(?:> )*")
_OMITTED = re.compile(rf"\[{GAP}\]|{GAP}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step adds to the list, by format, and the words of the user in it."""

    messages: Mapping[str, tuple[Chat, ...]]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a list is compacted: the stages, "default" for those of the default profile, and a size.

    A stage has its options behind a colon, as in ``distill:form=digest``.
    """

    format: str
    stages: str
    size: int

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of ``compact_messages``."""
        keywords = {"format": self.format, "model": "gpt-4.1", "counter": COUNTER}
        size = {"window" if self.is_window else "target": self.size}
        stages = [stage.partition(":") for stage in self.stages.split(",") if stage != DEFAULT]
        names = {"stages": [name for name, _, _ in stages]} if stages else {}
        options = {name: dict([text.split("=")]) for name, _, text in stages if text}
        return {**keywords, **size, **names, "stage_options": options}

    @property
    def is_window(self) -> bool:
        """Whether the size is a window; stages that are named take it as a target."""
        return self.size >= WINDOW and self.stages == DEFAULT

    @property
    def due(self) -> int:
        """The size from which on the list is compacted."""
        return self.size // 4 if self.is_window else self.size

    def __str__(self) -> str:
        """Return how a line calls it."""
        return f"{self.format:18} {self.stages:19} {self.size:>7,}"


@dataclass(frozen=True, slots=True)
class Spoken:
    """The texts of the user and the operator: their lines, and all of it on one line."""

    lines: frozenset[str]
    text: str

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Spoken":
        """Read texts, which may be ours; in those, quotations of others do not count."""
        plain = [line.strip() for text in texts for line in read_lines(text)]
        bare = [_MARK.sub("", line).strip() for line in plain]
        return cls(frozenset((*plain, *bare)), _on_one_line((*plain, *bare)))


@dataclass(slots=True)
class Told:
    """What the user said so far, each line and rule with the step that said it."""

    lines: dict[str, int] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)
    chars: int = 0

    def add(self, step: Step, number: int, setting: Setting, readable: Spoken) -> None:
        """Add a step, without what does not show in this format that it is the user's."""
        for text in step.words:
            lines = (line.strip() for line in read_lines(text))
            rules = (_on_one_line([rule]) for rule in find_rules(text))
            self.lines |= {n: number for n in lines if n in readable.lines and n not in self.lines}
            self.rules |= {n: number for n in rules if n in readable.text and n not in self.rules}
        self.lines.pop("", None)
        self.lines.pop(GAP, None)
        self.chars += sum(map(len, texts_of(step.messages[setting.format], "user")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was found after one compaction.

    Attributes:
        step: the number of the newest step.
        depth: how many marks of quotations stand before a line beside those of its original.
        texts: texts of ours in the list; ``count`` is the number of messages they stand for.
        missing: messages that neither are in the list nor count as hidden.
        lost: lines and rules of the user that have to be there and are not; ``granted`` those that
            need not.
        own: tokens of texts of ours, ``size`` those of the list, ``limit`` their maximum.
        is_stable: another compaction changes nothing.
        seconds: time of the call.
    """

    step: int
    depth: int
    texts: int
    count: int
    missing: int
    lost: Mapping[str, int]
    granted: Mapping[str, int]
    own: int
    size: int
    limit: int
    is_stable: bool
    seconds: float


def main() -> None:
    """Replay the sessions named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--targets", nargs="*", type=parse_window, default=[12_000, 30_000, WINDOW])
    parser.add_argument("--formats", nargs="*", default=FORMATS, choices=FORMATS)
    parser.add_argument("--stages", nargs="*", default=STAGES)
    parser.add_argument("--every", type=int, default=1, help="compact at every nth step")
    parser.add_argument("--files", action="store_true", help="grow files instead")
    parser.add_argument("--sizes", nargs="*", type=str.split, default=[["--keep", "30%"]])
    parser.add_argument("--ways", nargs="*", default=WAYS, choices=WAYS)
    given = parser.parse_args()
    paths = list(find_paths(given.paths))
    if not paths:
        print(f"skipped: no sessions; name some, or their folder in {VARIABLE}")
        return
    failures: Counter[str] = Counter()
    for path in paths:
        if given.files:
            ways = product(given.sizes, given.stages, ("--tags", "--no-tags"), given.ways)
            lines = (grow(path, *way) for way in ways)
        else:
            settings = product(given.formats, given.stages, given.targets)
            steps = list(read_steps(path))
            lines = (
                replay(steps, Setting(format=format, stages=stages, size=size), given.every)
                for format, stages, size in settings
            )
        for line, failed in lines:
            print(f"{path.stem[:32]:32} {line}", flush=True)
            failures.update(failed)
    print(f"{len(paths)} sessions; replays that fail: {dict(failures) or 'none'}")
    sys.exit(bool(failures))


def find_paths(given: Sequence[Path]) -> Iterator[Path]:
    """Yield the sessions in files and folders."""
    for path in given or [FOLDER / client for client in CLIENTS]:
        yield from sorted(path.glob("*.jsonl")) if path.is_dir() else filter(Path.exists, [path])


def read_steps(path: Path, *, whole: bool = False) -> Iterator[Step]:
    """Yield the steps of the main conversation of a session.

    With ``whole``, those before a compaction by the client are among them, and its summaries not.
    """
    transcript = load(path)
    messages = [
        message
        for message in (transcript.messages if whole else transcript.effective)
        if not (message.conversation or message.origin.is_subagent)
        and not (whole and message.origin.is_summary)
    ]
    steps = {step[0]: step for step in find_steps(messages)}
    answers = {call: result for result, call in tool_pairs(messages).items()}
    inside = {index for step in steps.values() for index in step}
    for index in range(len(messages)):
        if index in steps:
            yield from _response(messages, steps[index], answers)
        elif index not in inside:
            yield from _speech(messages[index])


def _response(
    messages: Sequence[Message], indices: Sequence[int], answers: Mapping[PartIndex, PartIndex]
) -> Iterator[Step]:
    """Yield a response with the results of its calls, and then what the user added to these.

    A call without a result is left out, as is reasoning.
    """
    parts = {
        PartIndex(index, position): part
        for index in indices
        if messages[index].role == "assistant"
        for position, part in enumerate(messages[index].parts)
    }
    text = "\n\n".join(part.text for part in parts.values() if isinstance(part, TextPart)).strip()
    calls = []
    words = []
    for at, part in parts.items():
        if isinstance(part, ToolCallPart) and at in answers:
            answered = messages[answers[at].message]
            result = answered.parts[answers[at].part]
            calls.append((f"call-{at.message}-{at.part}", part, result))
            words.append(answered.words(result))
    if text or calls:
        yield Step(
            messages={OPENAI: _in_openai(text, calls), ANTHROPIC: _in_anthropic(text, calls)},
            words=tuple(filter(None, words)),
        )
    for index in indices:
        if messages[index].role == "user":
            yield from _speech(messages[index])


Calls = Sequence[tuple[str, ToolCallPart, Part]]


def _in_openai(text: str, calls: Calls) -> tuple[Chat, ...]:
    asked = [
        {
            "id": id_,
            "type": "function",
            "function": {"name": call.tool, "arguments": _as_json(call.arguments)},
        }
        for id_, call, _ in calls
    ]
    answer = {"role": "assistant", "content": text or None}
    results = [
        {"role": "tool", "tool_call_id": id_, "content": _result_text(result)}
        for id_, _, result in calls
    ]
    return ({**answer, "tool_calls": asked} if asked else answer, *results)


def _in_anthropic(text: str, calls: Calls) -> tuple[Chat, ...]:
    asked = [
        {"type": "tool_use", "id": id_, "name": call.tool, "input": _arguments(call.arguments)}
        for id_, call, _ in calls
    ]
    said = [{"type": "text", "text": text}] if text else []
    results = [
        {"type": "tool_result", "tool_use_id": id_, "content": _result_text(result)}
        for id_, _, result in calls
    ]
    answer = {"role": "assistant", "content": [*said, *asked]}
    return (answer, {"role": "user", "content": results}) if results else (answer,)


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"text": text}
    return value if isinstance(value, dict) else {"text": text}


def _as_json(text: str) -> str:
    """Return arguments as they are if they are an object, as those of functions are."""
    value = _arguments(text)
    return json.dumps(value, ensure_ascii=False) if value == {"text": text} else text


def _result_text(part: Part) -> str:
    text = part.text if isinstance(part, ToolResultPart) else ""
    return "\n".join(filter(None, (text, *map(media_text, media_of(part))))) or "(no output)"


def _speech(message: Message) -> Iterator[Step]:
    """Yield what the user or the operator wrote, or a client as a summary."""
    is_summary = message.origin.is_summary
    texts = [
        part.text if is_summary else message.words(part)
        for part in message.parts
        if isinstance(part, TextPart)
    ]
    texts = [text for text in texts if text.strip()]
    words = () if is_summary or message.role == "system" else tuple(texts)
    if message.starts_turn:
        texts += [media_text(media) for part in message.parts for media in media_of(part)]
    if texts:
        content = texts[0] if len(texts) == 1 else [{"type": "text", "text": t} for t in texts]
        chat: Chat = {"role": message.role, "content": content}
        # The API of Anthropic has no such role.
        others = () if message.role == "system" else (chat,)
        yield Step(messages={OPENAI: (chat,), ANTHROPIC: others}, words=words)


def replay(steps: Sequence[Step], setting: Setting, every: int) -> tuple[str, list[str]]:
    """Run the loop; return the line about it, and the checks that fail."""
    try:
        checks = list(run_loop(steps, setting, every))
    except CompactctlError as error:
        return f"{setting}: {type(error).__name__}: {error}", ["error"]
    return f"{setting}: {describe(checks, len(steps))}", list(failed_checks(checks))


def run_loop(steps: Sequence[Step], setting: Setting, every: int) -> Iterator[Check]:
    """Feed the steps into a list, and compact it whenever it is too large."""
    session = [message for step in steps for message in step.messages[setting.format]]
    readable = Spoken.of(_words_read(session, setting.format))
    quoted = "\n".join(line for line in lines_of(session) if "> " in line)
    preamble = _tokens([m for m in session[:1] if m["role"] == "system"])
    told, messages, fed = Told(), list[Chat](), 0
    for number, step in enumerate(steps, start=1):
        told.add(step, number, setting, readable)
        messages += step.messages[setting.format]
        fed += len(step.messages[setting.format])
        if _tokens(messages) <= setting.due or number % every:
            continue
        started = time.perf_counter()
        compacted = compact_messages(messages, **setting.keywords)
        seconds = time.perf_counter() - started
        if list(compacted) == messages:
            continue
        messages = list(compacted)
        size = compacted.limit // 2 if setting.is_window else setting.size
        lost, granted = _lost(messages, told, size - preamble)
        ours = [text for text in texts_of(messages) if find_own_texts(text).texts]
        found = [own for text in ours for own in find_own_texts(text).texts]
        yield Check(
            step=number,
            depth=max(
                (quotation_depth(line, quoted) for text in ours for line in read_lines(text)),
                default=0,
            ),
            texts=len(found),
            count=sum(own.count for own in found),
            missing=fed - len(messages) + len(ours) - sum(own.count for own in found),
            lost=lost,
            granted=granted,
            own=sum(map(len, ours)) // 4,
            size=compacted.tokens,
            limit=compacted.limit,
            is_stable=list(compact_messages(messages, **setting.keywords)) == messages,
            seconds=seconds,
        )


def _lost(messages: Sequence[Chat], told: Told, room: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the lines and rules that are missing, and those that may be, in ``room`` tokens.

    The words may have half of it, the rules in an earlier text half of that.
    """
    spoken = Spoken.of(texts_of(messages))
    lines = {line: step for line, step in told.lines.items() if line not in spoken.lines}
    rules = {rule: step for rule, step in told.rules.items() if rule not in spoken.text}
    may_cut = told.chars // 4 > room // 2 and GAP in spoken.lines
    may_cut_rules = sum(map(len, told.rules)) // 4 > max(room // 4, _MIN_RULES)
    lost = ({} if may_cut else lines) | ({} if may_cut and may_cut_rules else rules)
    return lost, {told: step for told, step in (lines | rules).items() if told not in lost}


def _words_read(messages: Sequence[Chat], format: str) -> list[str]:
    """Return what the program takes for the words of the user in plain messages."""
    lines = (json.dumps(message).encode() + b"\n" for message in messages)
    read = parse(lines, format_named(format)).messages
    return [message.words(part) for message in read for part in message.parts]


def texts_of(messages: Iterable[Chat], *roles: str) -> list[str]:
    """Return the texts of roles, by default of all but the agent and tools."""
    return [
        text
        for message in messages
        if message["role"] in (roles or ("user", "system"))
        for text in _content_texts(message["content"])
    ]


def _content_texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if block["type"] == "text":
            yield block["text"]


def lines_of(values: Iterable[Any]) -> Iterator[str]:
    """Yield the lines of all strings in JSON values, and of those in the arguments of a call."""
    stack = list(values)
    while stack:
        match stack.pop():
            case str(text):
                yield from read_lines(text)
            case {"arguments": str(text), **others}:
                stack += [text, _arguments(text), others]
            case dict(items):
                stack += items.values()
            case list(items):
                stack += items
            case _:
                pass


def _tokens(messages: Iterable[Chat]) -> int:
    return sum(len(json.dumps(message, ensure_ascii=False)) for message in messages) // 4


def quotation_depth(line: str, quoted: str) -> int:
    """Count the marks of quotations before a line that its original does not have."""
    marks = (_QUOTES.match(line) or [""])[0]
    is_verbatim = _OMITTED.split(line[2:])[0].rstrip() in quoted
    return min(len(marks) // 2, 1) if is_verbatim else len(marks) // 2


def _on_one_line(texts: Iterable[str]) -> str:
    return " ".join(" ".join(texts).split()).casefold()


def failed_checks(checks: Sequence[Check]) -> Iterator[str]:
    """Yield the names of the checks that failed."""
    failed = {
        "depth": any(check.depth > 1 for check in checks),
        "texts": any(check.texts > 1 for check in checks),
        "count": any(after.count < before.count for before, after in pairwise(checks)),
        "lost": any(check.lost for check in checks),
        "unstable": not all(check.is_stable for check in checks),
    }
    return (name for name, is_failed in failed.items() if is_failed)


def describe(checks: Sequence[Check], steps: int) -> str:
    """Return the figures of a replay, those of failed checks with the step they failed at first."""
    if not checks:
        return f"{steps:>5} steps, never compacted"
    fallen = [after.step for before, after in pairwise(checks) if after.count < before.count]
    lost = [step for check in checks for step in check.lost.values()]
    figures = (
        f"{steps:>5} steps {len(checks):>4} times",
        f"depth {max(check.depth for check in checks)}",
        f"texts {max(check.texts for check in checks)}",
        f"for {checks[-1].count:,} messages" + _first("fell", fallen),
        f"missing {min(c.missing for c in checks)} to {max(c.missing for c in checks)}",
        f"lost {len({line for check in checks for line in check.lost})}"
        + _first("told", lost)
        + _first("lost", [check.step for check in checks if check.lost]),
        f"cut {max(len(check.granted) for check in checks)}",
        f"own {max(check.own / check.limit for check in checks):.0%}",
        f"list {max(check.size / check.limit for check in checks):.0%}",
        f"over {sum(check.size > check.limit for check in checks)}",
        "stable" + _first("not", [check.step for check in checks if not check.is_stable]),
        f"{max(check.seconds for check in checks):.2f} s",
    )
    return "  ".join(figures)


def _first(what: str, steps: Sequence[int]) -> str:
    return f" ({what} {len(steps)}x, first at step {min(steps)})" if steps else ""


def grow(
    path: Path, size: Sequence[str], stages: str, tags: str, way: str
) -> tuple[str, list[str]]:
    """Append the parts of a file one by one, compacting it each time, and follow references."""
    options = [*size, tags, "--counter", COUNTER, *_stage_options(stages)]
    with tempfile.TemporaryDirectory() as folder:
        grown, codes = _grow(path, Path(folder), options, way)
        texts, tally = _follow(grown)
    failed = ["codes"] if codes.keys() - _USUAL_CODES else []
    failed += ["texts"] if len(texts) > 1 else []
    failed += ["references"] if any(key != "held" for key in tally) else []
    line = (
        f"{' '.join(size):12} {stages:19} {tags:9} {way:10} exit codes {dict(codes)}  "
        f"texts {len(texts)} for {sum(own.count for own in texts):,} messages  "
        f"references {tally.total()} {dict(tally)}"
    )
    return line, failed


def _stage_options(stages: str) -> Iterator[str]:
    """Yield what the command line calls stages."""
    if stages != DEFAULT:
        yield from ("--stages", re.sub(":[^,]*", "", stages))
        for name, option in re.findall(r"([^,]+):([^,]*)", stages):
            yield from ("--set", f"{name}.{option}")


def _grow(path: Path, folder: Path, options: Sequence[str], way: str) -> tuple[Path, Counter[int]]:
    """Return the file after the last part, and the exit codes."""
    with path.open("rb") as file:
        records = list(file)
    size = -(-len(records) // PARTS)
    grown, codes = folder / "0.jsonl", Counter[int]()
    for number in range(PARTS):
        with grown.open("ab") as file:
            file.writelines(records[number * size : (number + 1) * size])
        output = grown if way == IN_PLACE else folder / f"{number + 1}.jsonl"
        where = ["--in-place"] if way == IN_PLACE else ["-o", str(output)]
        codes[ask("compact", str(grown), *where, *options)[0]] += 1
        grown = output if output.exists() else grown
    return grown, codes


def _follow(path: Path) -> tuple[list[OwnText], Counter[str]]:
    """Return our texts, and where their references lead: to what they quote, or not."""
    found = [
        own
        for message in _view(path)
        for part in message["parts"]
        if part["kind"] == "text" and message["role"] != "assistant"
        for own in find_own_texts(part["text"]).texts
    ]
    quoted: dict[str, list[str]] = {}
    for ref, line in (quotation for own in found for quotation in _quotations(own)):
        quoted.setdefault(ref, []).append(line)
    quoted.pop("", None)
    every = list(_view(path, "--all"))
    return found, Counter(_trace(path, ref, lines, every) for ref, lines in quoted.items())


def _view(path: Path, *options: str) -> Iterator[dict[str, Any]]:
    code, out = ask("view", str(path), "--json", "--full", *options)
    yield from [] if code else json.loads(out)["messages"]


def _quotations(own: OwnText) -> Iterator[tuple[str, str]]:
    """Yield the references of a text, each with what is quoted first, "" if nothing is."""
    match own:
        case OwnDigest():
            for entry in own.entries:
                yield entry.ref, next((line for line in entry.lines if line and line.strip()), "")
        case HandOver():
            for item in own.items:
                yield item.ref, item.text.partition("\n")[0] if item.label in _QUOTING else ""
        case _:
            return


def _trace(path: Path, ref: str, lines: Sequence[str], messages: Sequence[dict[str, Any]]) -> str:
    """Return "held" if a reference leads to all lines behind it, "elsewhere" if not to all of them.

    It is "unknown" if it leads nowhere. A call and its result are one; a message may be there
    twice, whole and shortened.
    """
    code, out = ask("view", str(path), "--message", ref, "--json")
    if code:
        return "unknown"
    name = json.loads(out)["id"]
    named = [part for message in messages if message["id"] == name for part in message["parts"]]
    calls = {part["callId"] for part in named if part["kind"] == "tool_call"}
    parts = (part for message in messages for part in message["parts"])
    pairs = (part for part in parts if part.get("callId") in calls)
    text = _on_one_line(lines_of((*named, *pairs)))
    return "held" if all(_is_quoted(line, text) for line in lines) else "elsewhere"


def _is_quoted(line: str, text: str) -> bool:
    """Whether a text has a line up to its first omission, without the name of the argument."""
    pieces = (_on_one_line([piece]) for piece in _OMITTED.split(line))
    piece = next(filter(None, pieces), "")
    value = piece.partition(": ")[2] or piece
    return piece in text or value in text


def ask(*arguments: str) -> tuple[int, str]:
    """Run a command line; return its exit code and what it prints."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        return run(arguments), out.getvalue()


if __name__ == "__main__":
    main()
