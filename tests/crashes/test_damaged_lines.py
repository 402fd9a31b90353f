"""One line of a session is damaged: every command does its work or says why not; nothing is lost.

COMPACTCTL_LONG_TESTS=1 tries each damage at each place of each session.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pytest
from crashes.damage import LINE_DAMAGES
from examples import LONG
from formats.squeeze import ALL, plan
from histories.doing import Told, ask, inside, restore
from properties.claude import claude_session
from properties.jobs import bench
from properties.plans import Step
from stage_examples import example_flags
from talks import TALKS, Talk

from compactctl.commands.compact.compact import compact
from compactctl.history.protection import ProtectOptions

TURNS = 2
_STAGES = ("repair", "unsent", *ALL)
_COMPACT = (
    "compact", "--counter", "chars/4", "--stages", ",".join(_STAGES), "--keep", "20%",
    "--keep-turns", "0", *(flag for stage in _STAGES for flag in example_flags(stage)),
)  # fmt: skip
_UNDO = ("rewind", "--client")
_OUT = ("-o", "out")
_NATIVE = ("--native", "--while-open")
# Commands that write; "look" writes nothing.
WAYS: Mapping[str, Sequence[str]] = {
    "look": (),
    "split": (*_COMPACT, *_OUT),
    "without tags": (*_COMPACT, *_OUT, "--no-tags"),
    "in place": (*_COMPACT, "--in-place"),
    "inline": (*_COMPACT, *_OUT, "--layout", "inline"),
    "native": (*_COMPACT, *_NATIVE),
    "new session": _COMPACT,
    "undo": (*_UNDO, *_OUT),
    "undo in place": (*_UNDO, "--in-place"),
    "undo native": (*_UNDO, *_NATIVE),
    "undo in a new session": _UNDO,
}
LOOKS = (
    ("view",),
    ("view", "--jsonl"),
    ("view", "--all", "--jsonl"),
    ("log",),
    ("stats", "--details"),
    ("check",),
)
# Done, or refused for a reason that the user can act on.
SAID = frozenset({0, 1, 2, 4, 7})


def ways() -> Iterator[tuple[Talk, str]]:
    """Yield the sessions, each with what is done to it; stored ones with what needs a store."""
    for talk in TALKS:
        for way in WAYS:
            possible = {"undo": talk.compaction, "native": talk.native, "session": talk.is_stored}
            needs_store = "session" in way or "native" in way
            if all(possible[part] for part in possible if part in way) and (
                needs_store or not talk.is_stored
            ):
                yield talk, way


def damaged(talk: Talk, damage: str) -> Iterator[bytes]:
    """Yield a session that its client compacted, if it can, with each time another line damaged.

    Tried are the lines at both ends, those of the compaction, and the ones beside them.
    """
    data = talk.begin(TURNS, 1)
    begin = end = data.count(b"\n")
    if talk.compaction is not None:
        data = talk.extended(data, talk.compaction(TURNS, talk.records(data)), 1)
        end = data.count(b"\n")
    lines = talk.extended(data, talk.added(data, TURNS + 1), 1).splitlines(keepends=True)
    last = len(lines) - 1
    places = {0, 1, begin // 2, begin - 1, *range(begin, end + 1), last - 1, last}
    for at in sorted(places) if last else (0,):
        yield b"".join([*lines[:at], LINE_DAMAGES[damage](lines[at]), *lines[at + 1 :]])


def said(*words: str, codes: frozenset[int] = SAID) -> Told:
    """Run a command, which must end with one of these codes."""
    told = ask(*words)
    assert told.code in codes, f"{' '.join(words)}: {told.why}"
    assert "please report" not in told.err, f"{' '.join(words)}: {told.why}"
    return told


def look(path: Path) -> None:
    for command, *options in LOOKS:
        said(command, str(path), *options)


def prompts_sent(path: str) -> set[str]:
    """Return what the user asked for, by the numbers of the turns."""
    return set(re.findall(r"part \d+:", said("view", path, "--jsonl", codes=frozenset({0})).out))


def change(talk: Talk, way: str, data: bytes) -> None:
    """Write something, look at it, and get every byte back."""
    command, *options = WAYS[way]
    before = prompts_sent(talk.path) if "undo" in way and talk.native else set()
    told = said(command, talk.path, *options, "--json")
    document = told.document if told.code == 0 else {}
    if not (document.get("compacted") or document.get("moved")):
        assert Path(talk.path).read_bytes() == data
        return
    path = Path(document["output"])
    said("view", str(path), "--all", "--jsonl", codes=frozenset({0}))
    if "undo" in way:
        assert before <= prompts_sent(str(path))
    said("log", str(path), codes=frozenset({0}))
    said("verify", str(path), codes=frozenset({0}))
    closed = ("--closed",) if "native" in way else ()
    said("rewind", str(path), "--all", *closed, codes=frozenset({0}))
    restored = path.read_bytes()
    is_new_session = talk.is_stored and not path.samefile(talk.path)
    assert restored == data or (is_new_session and talk.is_renamed(data, restored))


@pytest.mark.each_choice
@pytest.mark.parametrize("damage", LINE_DAMAGES)
@pytest.mark.parametrize(
    ("talk", "way"), [pytest.param(*each, id=f"{each[0].name} {each[1]}") for each in ways()]
)
def test_a_damaged_line_stops_no_command_and_every_byte_comes_back(
    talk: Talk, way: str, damage: str, tmp_path: Path
) -> None:
    sessions = list(damaged(talk, damage))
    chosen = sessions if LONG else [Random(f"{talk.name} {way} {damage}").choice(sessions)]
    with inside(tmp_path / "w"):
        for data in chosen:
            path = Path(talk.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            if way == "look":
                look(path)
            else:
                change(talk, way, data)
            restore({})


def test_what_a_record_on_a_damaged_line_follows_stays_in_the_file() -> None:
    prompts = [Step("prompt", number=0, size=5, style=0)] * 10
    progress = Step("noise", number=3, size=0, style=1)
    padded = Step("padded", number=0, size=0, style=0)
    data = claude_session((*prompts, progress, padded))

    with bench(data) as at:
        options = at.options(
            plan=plan(("unsent", "truncate")), protect=ProtectOptions(keep_turns=0), tags=False
        )
        assert compact(options).compacted
        assert at.out.read_bytes().splitlines()[-2:] == data.splitlines()[-2:]


# A client's summary and what the user asked for next; openai-chat records with tags of a client.
SUMMARY = {"role": "user", "content": "All is well.", "condenseId": "g"}
HIDDEN = {"role": "user", "content": "Watch the gate.", "condenseParent": "g"}
ASKED = {"role": "user", "content": "Now the sluice."}
ANSWERED = {"role": "assistant", "content": "It is open."}


def glued(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() for record in records) + b"\n"


@pytest.mark.parametrize(
    "lines",
    [
        (glued(HIDDEN), glued(ANSWERED), glued(SUMMARY, ASKED), glued(ANSWERED)),
        (glued({"messages": [ASKED, ANSWERED]}, {"messages": [HIDDEN, ANSWERED, SUMMARY]}),),
        (glued({"messages": [HIDDEN, ANSWERED, SUMMARY]}, {"messages": [ASKED, ANSWERED]}),),
    ],
    ids=["messages", "second document", "first document"],
)
def test_a_compaction_on_a_line_that_holds_more_is_not_undone(
    lines: Sequence[bytes], tmp_path: Path
) -> None:
    with inside(tmp_path / "w"):
        Path("run.jsonl").write_bytes(b"".join(lines))
        assert ask("log", "run.jsonl").code == 0
        told = ask("rewind", "run.jsonl", "--client", "-o", "out")
        assert told.code == 7
        assert "line 1" in told.err or "line 3" in told.err
        assert not Path("out").exists()


def test_what_hides_a_record_on_a_damaged_line_stays(tmp_path: Path) -> None:
    talk = next(each for each in TALKS if each.name == "openai-chat")
    with inside(tmp_path / "w"):
        path = Path("run.jsonl")
        path.write_bytes(talk.begin(6, 0))
        inline = ("--layout", "inline", "-o", "in.jsonl")
        truncate = ("--counter", "chars/4", "--stages", "truncate", "--keep", "60%")
        said("compact", "run.jsonl", *truncate, *inline, codes=frozenset({0}))
        lines = Path("in.jsonl").read_bytes().splitlines(keepends=True)
        at = next(at for at, line in enumerate(lines) if b"truncationParent" in line)
        lines[at] = b"\0\0" + lines[at]
        path.write_bytes(b"".join(lines))
        told = said("compact", "run.jsonl", "--counter", "chars/4", "--keep", "20%", "--json")
        assert told.document["compacted"]
        said("rewind", told.document["output"], "-o", "back.jsonl", codes=frozenset({0}))
        assert Path("back.jsonl").read_bytes() == path.read_bytes()
