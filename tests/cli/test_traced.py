"""What commands ask of the system, as strace sees it: no network, no home, and no file but theirs.

Each runs in a process of its own, in a folder with bundled transcripts. Attempts count, so that it
does not matter whether the machine would have let it.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os.path import normpath
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from cli.asking import SAMPLES
from examples import LONG
from sessions.bundled_home import fill_home

from compactctl.cli.group import COMMANDS, words_of

_PROGRAM = Path(sys.executable).with_name("compactctl")
_CALLS = (
    "socket,socketpair,connect,bind,open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,"
    "link,linkat,symlink,symlinkat,unlink,unlinkat,rmdir,truncate,chmod,fchmodat,chown,fchownat"
)
# A file for each process and thread, so that no call is written in two pieces.
_STRACE = ("strace", "-ff", "-qq", "-y", "-s", "4096", "-e", f"trace={_CALLS}", "-o")
# What a trace holds beside calls: signals, and how a process ended.
_NO_CALLS = {"---", "+++"}
_NETWORK = {"socket", "socketpair", "connect", "bind"}
_WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
# A path, behind the folder that it begins at where the call names one.
_PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"')
_DEVICES = {"/dev/null", "/dev/tty"}
_SEMAPHORES = "/dev/shm/sem."  # noqa: S108 - where the system keeps them


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A command line, what it is given on standard input, and what it may write.

    ``writes`` are beginnings of paths in its folder. With ``home``, clients have kept sessions in
    its home; otherwise there is none. With ``speaks``, it has processes or threads that speak to
    one another: by sockets that have a path, or none, and by semaphores.
    """

    line: str
    writes: tuple[str, ...] = ()
    stdin: str = ""
    home: bool = False
    speaks: bool = False
    code: int = 0


_SMALL = ("small.jsonl", ".small.jsonl.cctl")
_COMPACT = Line(line="compact run.jsonl --target 5k -o small.jsonl", writes=_SMALL)
_HOOK = '{"hook_event_name": "PreCompact", "transcript_path": "run.jsonl", "trigger": "auto"}'
# In the order in which one uses what others have written; other commands only read a transcript.
LINES: Mapping[str, Line] = {
    "sessions": Line(line="sessions", home=True),
    "rescue": Line(
        line="rescue 32ee9a45",
        writes=("home/.claude/projects/", "home/.local/state"),
        home=True,
    ),
    "stats": Line(line="stats run.jsonl --rounds --prices builtin"),
    "view": Line(line="view run.jsonl --full"),
    "compact": _COMPACT,
    "log": Line(line="log small.jsonl"),
    "verify": Line(line="verify small.jsonl"),
    "archive": Line(line="archive", home=True),
    "audit": Line(line="lab audit small.jsonl"),
    "rewind": Line(line="rewind small.jsonl", writes=_SMALL),
    "simulate": Line(line="lab simulate run.jsonl --profile spring-tokens"),
    "eval": Line(line="lab eval run.jsonl --keep 0.1 --stages distill"),
    "batch": Line(
        line="batch run.jsonl other.jsonl --jobs 2 --report rows.parquet",
        writes=("rows.parquet", ".rows.parquet.cctl", "cache"),
        speaks=True,
    ),
    "report": Line(line="report rows.parquet"),
    "cache": Line(line="show cache", writes=("cache/compactctl/results.sqlite3-",)),
    "stages": Line(line="show stages"),
    "profiles": Line(line="show profiles"),
    "models": Line(line="show models"),
    "settings": Line(line="show settings compact --all"),
    "integrate": Line(line="client integrate codex"),
    "hook": Line(line="client hook claude-code", stdin=_HOOK),
    "statusline": Line(line="client statusline", stdin='{"transcript_path": "run.jsonl"}'),
    "mcp": Line(line="client mcp", speaks=True),
    "overflow": Line(line="harness overflow 'prompt is too long: 201 tokens > 200 maximum'"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if shutil.which("strace") is None:
        if LONG and sys.platform == "linux":
            pytest.fail("the long run needs strace on Linux: install it")
        pytest.skip("strace is not installed")
    shutil.copy(SAMPLES / "openai-chat.jsonl", tmp_path / "run.jsonl")
    shutil.copy(SAMPLES / "neurolink.jsonl", tmp_path / "other.jsonl")
    return tmp_path


def test_a_compaction_writes_what_it_names_and_asks_no_network(folder: Path) -> None:
    assert violations(_COMPACT, folder) == []
    assert (folder / "small.jsonl").is_file()


@pytest.mark.long
def test_no_command_asks_for_a_network_a_home_or_a_file_of_others(folder: Path) -> None:
    others = {
        name: Line(line=f"{' '.join(words_of(name))} run.jsonl")
        for name in COMMANDS
        if name not in LINES
    }
    fill_home(folder / "home")
    assert {
        name: found
        for name, line in {**LINES, **others}.items()
        if (found := violations(line, folder))
    } == {}


def test_a_trace_shows_a_network_and_a_file(folder: Path) -> None:
    program = "import socket; socket.socket(); open('else', 'w'); open('run.jsonl')"
    found = list(traced([sys.executable, "-c", program], folder, Line(line="")))
    assert [text.partition("(")[0] for text in found] == ["socket", "openat"]
    assert "else" in found[1]


def violations(line: Line, folder: Path) -> list[str]:
    return list(traced([str(_PROGRAM), *shlex.split(line.line)], folder, line))


def traced(words: list[str], folder: Path, line: Line) -> Iterator[str]:
    """Run a program, and yield the calls that its line does not permit."""
    # Neither in the folder of the test nor long: paths of sockets are short.
    with TemporaryDirectory(prefix="t") as traces, TemporaryDirectory(prefix="t") as temporary:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / ("home" if line.home else "nobody")),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "TMPDIR": temporary,
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        run = subprocess.run(
            [*_STRACE, f"{traces}/of", *words],
            cwd=folder,
            env=environment,
            input=line.stdin.encode(),
            capture_output=True,
            check=False,
        )
        texts = [path.read_text() for path in Path(traces).iterdir()]
    assert run.returncode == line.code, (
        f"{run.stderr.decode()}\nis this how the command is called? {line}; see LINES"
    )
    calls = [text for each in texts for text in each.splitlines() if text[:3] not in _NO_CALLS]
    assert len(calls) > len(words), "a program opens the files that it consists of"
    own = (temporary, _SEMAPHORES) if line.speaks else ()
    permitted = tuple(str(folder / path) for path in (*line.writes, *own))
    for call in calls:
        name = call.partition("(")[0]
        is_local = line.speaks and "AF_UNIX" in call
        if not (is_local if name in _NETWORK else _is_permitted(call, folder, permitted)):
            yield call


def _is_permitted(call: str, folder: Path, permitted: tuple[str, ...]) -> bool:
    """Tell whether a call only reads, or writes nothing but what begins with these paths."""
    if call.startswith("open") and not _WRITES.search(call):
        return True
    paths = [normpath(folder / start / path) for start, path in _PATH.findall(call)]
    return bool(paths) and all(p in _DEVICES or p.startswith(permitted) for p in paths)
