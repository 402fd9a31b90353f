"""What a batch remembers: the same rows without reading, and never a wrong one."""

import json
import os
import signal
import sqlite3
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

import pytest
from batch.inputs import bytes_below, run, transcript, write
from file_commands import compact_file
from forked import ended, started

from compactctl.__main__ import run as run_program
from compactctl.commands.batch import batch as module
from compactctl.commands.batch import row_cache
from compactctl.commands.batch.batch import BatchOptions, BatchRow
from compactctl.commands.batch.columns import row_values
from compactctl.commands.batch.one_file import run_file
from compactctl.commands.batch.tasks import FileTask, WorkedFile
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.discover import FileChoice
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import UsageError
from compactctl.profiles.profile import Profile
from compactctl.profiles.registry import load_profile
from compactctl.records import Record, asdict, replace
from compactctl.store import cache as results
from compactctl.store.cache import ResultCache, cache_state
from compactctl.tokens.models.user_models import parse_user_models

T = TypeVar("T", bound=Record)

PLAN = PlanOptions(stages=("dedup", "truncate"))


@pytest.fixture(autouse=True)
def cache_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for number in range(5):
        write(Path(f"in/{number}.jsonl"), transcript(2 + number))
    return tmp_path / "cache" / "compactctl" / "results.sqlite3"


@pytest.fixture
def worked_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that the files are put on that are really worked on."""
    paths: list[str] = []

    def counted(options: BatchOptions, task: FileTask) -> WorkedFile:
        paths.append(task.input.path)
        return run_file(options, task)

    monkeypatch.setattr(module, "run_file", counted)
    return paths


def test_what_has_not_changed_is_not_read_again(worked_on: list[str]) -> None:
    first = run("in")
    assert len(worked_on) == 5
    assert run("in") == first
    assert len(worked_on) == 5


def test_a_file_is_the_same_by_any_name(worked_on: list[str]) -> None:
    first = run("in")
    Path("link").symlink_to("in")
    for name in (str(Path("in").resolve()), "in/../in", "link"):
        found = run(name)
        assert [row.path for row in found.rows] == [f"{name}/{n}.jsonl" for n in range(5)]
        assert [replace(row, path="") for row in found.rows] == [
            replace(row, path="") for row in first.rows
        ]
    assert len(worked_on) == 5


@pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 there")
def test_a_file_whose_name_is_not_utf_8_is_not_read_again(worked_on: list[str]) -> None:
    Path("in/0.jsonl").rename("in/caf\udce9.jsonl")
    first = run("in")
    assert run("in") == first
    assert len(worked_on) == 5


def test_a_cache_that_others_may_write_to_is_not_used(
    cache_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("in")
    cache_file.parent.chmod(0o777)
    assert run("in").warnings
    assert run_program(["batch", "in"]) == 0
    assert "other users may write to it, so nothing is cached" in capsys.readouterr().err


def test_every_change_of_a_file_is_seen(worked_on: list[str]) -> None:
    run("in")
    with Path("in/0.jsonl").open("ab") as stream:
        stream.write(transcript(topic="more"))
    time_before = Path("in/1.jsonl").stat().st_mtime_ns
    data = Path("in/1.jsonl").read_bytes()
    Path("in/1.jsonl").write_bytes(data.replace(b"Question 0", b"Answer   0"))
    os.utime("in/1.jsonl", ns=(time_before, time_before))
    write(Path("new"), transcript(9))
    Path("new").replace("in/2.jsonl")
    worked_on.clear()
    found = run("in")
    assert worked_on == ["in/0.jsonl", "in/1.jsonl", "in/2.jsonl"]
    assert found.rows == run("in", cached=False).rows


@pytest.mark.parametrize(
    "other",
    [
        {"measure": MeasureOptions(model="gpt-4.1")},
        {"measure": MeasureOptions(window=32_000)},
        {"measure": MeasureOptions(counter="chars/4")},
        {"plan": PLAN},
        {"input": InputOptions(format="claude-code")},
        {"input": InputOptions(strict=True)},
    ],
)
def test_other_options_are_another_question(other: dict[str, Any], worked_on: list[str]) -> None:
    run("in")
    worked_on.clear()
    found = run("in", **other)
    assert len(worked_on) == 5
    assert found.rows == run("in", **other, cached=False).rows


# Options by their places that no row depends on: which files there are, how they are gone through,
# and what is held against a row that is known.
OUTSIDE_OF_ROWS = {
    "files.paths", "files.files_from", "files.include", "files.exclude", "files.shard",
    "output.force", "gates.fail_over", "gates.fail_over_tokens", "gates.fail_on", "gates.baseline",
    "gates.tolerance", "verify_cache", "resume", "jobs", "engine", "timeout", "show_all",
    "details.messages", "details.rounds", "written_paths",
}  # fmt: skip


def places(record: Record, above: str = "") -> Iterator[str]:
    """Yield the places of all options in a record and in those that it holds."""
    for name, value in asdict(record).items():
        if isinstance(value, Record):
            yield from places(value, f"{above}{name}.")
        else:
            yield f"{above}{name}"


def changed(record: T, place: str) -> T:
    name, _, below = place.partition(".")
    value = changed(getattr(record, name), below) if below else "changed"
    return replace(record, **{name: value})


def test_a_row_depends_on_every_option_but_these(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_cache, "_rank_files", lambda _: [])
    for compacts in (True, False):
        options = BatchOptions(files=FileChoice(), compacts=compacts)
        without = {
            place
            for place in places(options)
            if row_cache.fingerprint(changed(options, place)) == row_cache.fingerprint(options)
        }
        # What makes a context smaller says nothing about files that are only measured.
        making = {place for place in places(options) if place.startswith("recipe.")}
        making -= {place for place in making if place.startswith("recipe.measure.")}
        assert without == OUTSIDE_OF_ROWS | (set() if compacts else making)


def test_gates_are_held_against_what_is_known(worked_on: list[str]) -> None:
    run("in")
    worked_on.clear()
    assert run("in", fail_over_tokens=100).totals.statuses["over limit"] == 5
    assert run("in").totals.statuses["over limit"] == 0
    assert not worked_on


def test_what_failed_is_tried_again(worked_on: list[str]) -> None:
    write(Path("in/bad.jsonl"), b"\x00\x01")
    run("in")
    worked_on.clear()
    assert run("in").totals.statuses["failed"] == 1
    assert worked_on == ["in/bad.jsonl"]


def test_a_summarizer_of_the_user_s_is_asked_again(worked_on: list[str]) -> None:
    from compactctl.llm.summarizer_options import SummarizerOptions

    asks = SummarizerOptions(kind="command", command="cat")
    run("in", plan=PLAN, summarizer=asks)
    run("in", plan=PLAN, summarizer=asks)
    assert len(worked_on) == 10


LETTERS = [bytes([letter]) for letter in range(256)]


def write_ranks(*more: bytes) -> None:
    """Write a rank file of all bytes and ``more`` tokens, which leaves its size as it is."""
    tokens = [*LETTERS, *more]
    lines = (f"{b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens))
    Path("my.ranks").write_text("".join(lines))


def write_profile() -> Profile:
    Path("mine.toml").write_text('base = "default"\ncounter = "file:my.ranks"\n')
    return load_profile("mine.toml")


@pytest.mark.parametrize(
    "measured",
    [
        lambda: MeasureOptions(counter="file:my.ranks"),
        lambda: MeasureOptions(counter="file:my.ranks#cl100k_base x1.2"),
        lambda: MeasureOptions(profile=write_profile()),
        lambda: MeasureOptions(
            model="mine-1",
            user_models=parse_user_models(
                {"mine": {"window": "100k", "counter": "file:my.ranks"}}, "models.toml"
            ),
        ),
    ],
    ids=["counter", "pattern", "profile", "table of models"],
)
def test_a_changed_rank_file_is_another_question(measured: Callable[[], MeasureOptions]) -> None:
    write_ranks(b"th", b"he")
    before = run("in", measure=measured()).rows
    write_ranks(b"Qu", b"ue")
    after = run("in", measure=measured()).rows
    assert before != after
    assert after == run("in", measure=measured(), cached=False).rows


def test_a_compaction_without_its_archive_is_another_question(worked_on: list[str]) -> None:
    """Summaries are made from the originals in the archive, where there is one."""
    compact_file("in/3.jsonl", in_place=True, plan=PLAN)
    run("in", plan=PLAN)
    run("in")
    Path("in/3.jsonl.archive").rename("elsewhere")
    worked_on.clear()
    run("in", plan=PLAN)
    assert worked_on == ["in/3.jsonl"]
    run("in")
    assert worked_on == ["in/3.jsonl"]


COUNT = "import sys\nfor line in sys.stdin: print(7, flush=True)"


def counting_by_a_program() -> MeasureOptions:
    Path("count.py").write_text(COUNT)
    return MeasureOptions(counter_cmd=f"{sys.executable} count.py")


def test_a_program_that_counts_is_asked_again(worked_on: list[str]) -> None:
    asked = counting_by_a_program()
    assert run("in", measure=asked).rows == run("in", measure=asked).rows
    assert len(worked_on) == 10


def test_every_process_has_its_own_program_that_counts() -> None:
    asked = counting_by_a_program()
    rows = run("in", measure=asked, jobs=2).rows
    assert rows == run("in", measure=asked).rows
    counter = f"cmd:{Path(sys.executable).name} count.py"
    assert {row_values(row)["counter"] for row in rows} == {counter}


def test_a_program_that_does_not_count_is_told_before_the_first_file(worked_on: list[str]) -> None:
    with pytest.raises(UsageError, match="--counter-cmd false: ended with exit code 1"):
        run("in", measure=MeasureOptions(counter_cmd="false"))
    assert not worked_on


def test_verified_against_the_bytes(worked_on: list[str], cache_file: Path) -> None:
    first = run("in")
    forge(
        cache_file,
        lambda row: {**row, "sha256": "0" * 64, "figures": {**row["figures"], "messages": 1}},
    )
    worked_on.clear()
    assert run("in", verify_cache=True).rows == first.rows
    assert len(worked_on) == 5


def forge(path: Path, change: Any) -> None:
    with sqlite3.connect(path) as found:
        for key, value in found.execute("SELECT key, value FROM result").fetchall():
            text = json.dumps([change(row) for row in json.loads(value)])
            found.execute("UPDATE result SET value = ? WHERE key = ?", (text, key))


@pytest.mark.parametrize("data", [b"", b"no database at all" * 99, b"SQLite format 3\x00torn"])
def test_a_cache_that_cannot_be_read_is_empty(data: bytes, cache_file: Path) -> None:
    expected = run("in", cached=False).rows
    cache_file.parent.mkdir(parents=True)
    cache_file.write_bytes(data)
    assert run("in").rows == expected
    assert run("in").rows == expected
    assert cache_state(cache_file).results == 5


def test_a_folder_that_cannot_be_made(cache_file: Path) -> None:
    Path("cache").write_text("a file")
    assert run("in").rows == run("in", cached=False).rows
    assert cache_state(cache_file).results == 0


@pytest.mark.parametrize(
    "values",
    ["[1, 2", "[3]", '[{"path": "in/0.jsonl", "status": "ok", "messages": 1}]'],
    ids=["torn", "no row", "of an earlier version"],
)
def test_values_that_mean_nothing(values: str, cache_file: Path, worked_on: list[str]) -> None:
    expected = run("in")
    with sqlite3.connect(cache_file) as found:
        found.execute("UPDATE result SET value = ?", (values,))
    worked_on.clear()
    assert run("in") == expected
    assert len(worked_on) == 5


def test_it_is_private(cache_file: Path) -> None:
    run("in")
    assert cache_file.stat().st_mode & 0o777 == 0o600
    assert cache_file.parent.stat().st_mode & 0o777 == 0o700


def test_the_oldest_go_when_there_are_too_many(
    cache_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "MAX_ROWS", 4)
    with ResultCache(cache_file) as cache:
        for number in range(6):
            cache.put(bytes([number]), str(number))
    assert cache_state(cache_file).results == 4


def test_several_processes_at_once(cache_file: Path) -> None:
    with ExitStack() as stack:
        outputs = [stack.enter_context(TemporaryFile()) for _ in range(4)]
        command = ("batch", "in", "-j", "1", "--json")
        children = [in_a_process(command, output.fileno()) for output in outputs]
        assert [ended(child) for child in children] == [0] * 4
        found = [json.loads(os.pread(output.fileno(), 99_999, 0))["totals"] for output in outputs]
    assert all(each == found[0] for each in found)
    assert cache_state(cache_file).results == 5


def test_shown_and_cleared(cache_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("in")
    assert run_program(["show", "cache"]) == 0
    assert capsys.readouterr().out.startswith(f"{cache_file} (5 results, ")
    assert run_program(["batch", "--clear-cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cleared"]
    assert not list(cache_file.parent.iterdir())
    assert run_program(["show", "cache"]) == 0


def test_a_batch_that_writes_is_gone_on_with(worked_on: list[str]) -> None:
    first = run("in", output="out", plan=PLAN)
    tree = bytes_below(Path("out"))
    Path("out/3.compacted.jsonl").unlink()
    Path("out/1.compacted.jsonl").write_bytes(b"changed\n")
    worked_on.clear()
    found = run("in", output="out", plan=PLAN, resume=True, force=True)
    assert worked_on == ["in/1.jsonl", "in/3.jsonl"]
    assert found.rows == first.rows
    assert bytes_below(Path("out")).keys() == tree.keys()


def test_an_output_of_a_file_that_was_written_anew_is_not_written_again(
    worked_on: list[str],
) -> None:
    run("in", output="out", plan=PLAN)
    write(Path("in/1.jsonl"), transcript(topic="scanner"))
    first = run("in", output="out", plan=PLAN)
    worked_on.clear()
    assert run("in", output="out", plan=PLAN, resume=True).rows == first.rows
    assert worked_on == []


@pytest.mark.parametrize("damage", ["removed", "emptied", "cut off", "swapped"])
def test_what_cannot_be_restored_is_not_done(damage: str, worked_on: list[str]) -> None:
    first = run("in", output="out", plan=PLAN)
    archive, other, *_ = sorted(Path("out").glob("*/0001-*.parquet"))
    data = archive.read_bytes()
    if damage == "removed":
        archive.unlink()
    else:
        altered = {"emptied": b"", "cut off": data[:-9], "swapped": other.read_bytes()}[damage]
        archive.write_bytes(altered)
    worked_on.clear()
    found = run("in", output="out", plan=PLAN, resume=True, force=True)
    assert worked_on == [f"in/{archive.parent.name[0]}.jsonl"]
    if damage == "removed":
        assert found.rows == first.rows
        assert run_program(["verify", "out"]) == 0
    else:
        # What it would overwrite may be all that is left of an original.
        codes = [row.exit_code for row in found.rows if row.status == "failed"]
        assert codes in ([6], [7])


def test_without_resume_everything_is_written_anew(worked_on: list[str]) -> None:
    run("in", output="out", plan=PLAN)
    run("in", output="out", plan=PLAN)
    assert len(worked_on) == 10


@pytest.mark.parametrize("options", [{}, {"output": "out", "cached": False}])
def test_there_is_nothing_to_go_on_with(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--resume needs --out and the cache"):
        run("in", resume=True, **options)


def in_a_process(command: Sequence[str], output: int | None = None) -> int:
    """Start the program without input and errors; return the number of its process."""
    with Path(os.devnull).open("r+b", buffering=0) as nowhere:
        none = nowhere.fileno()
        return started(command, Path.cwd(), dict(os.environ), (none, output or none, none))


@pytest.mark.long
@pytest.mark.parametrize("n_written", [1, 5, 10])
def test_killed_and_gone_on_with(n_written: int) -> None:
    for number in range(12):
        write(Path(f"in/{number:02}.jsonl"), transcript(40 + number))
    expected = run("in", output="whole", plan=PLAN)
    command = ("batch", "in", "--out", "out", "--stages", "dedup,truncate", "-j", "1", "--resume")
    child = in_a_process(command)
    while len([*Path("out").glob("*.jsonl")]) < n_written:
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
    os.kill(child, signal.SIGKILL)
    ended(child)
    assert ended(in_a_process(command)) == 0
    found = run("in", output="out", plan=PLAN, resume=True)
    assert contents(Path("out")) == contents(Path("whole"))
    assert list(map(without_place, found.rows)) == list(map(without_place, expected.rows))


def without_place(row: BatchRow) -> BatchRow:
    assert row.output is not None
    return replace(row, output=replace(row.output, path="", archive=None))


def contents(folder: Path) -> dict[str, bytes]:
    """Return the transcripts below a folder, without archives, which hold the time."""
    return {name: data for name, data in bytes_below(folder).items() if name.endswith(".jsonl")}
