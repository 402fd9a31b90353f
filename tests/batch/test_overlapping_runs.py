"""Runs that compact into one object at the same time: one wins, and the others leave nothing."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from itertools import count, product
from pathlib import Path
from typing import Self

import obstore
import pyarrow as pa
import pytest
from asked import asked
from batch.inputs import transcript, write
from batch.stores import BUCKET, Bucket, bucket_in_memory, bucket_on_server
from batch.turns import Run, carry_out, take_turns
from examples import LONG, tries
from file_commands import rewind_file
from formats.squeeze import plan
from hypothesis import given
from hypothesis import strategies as st
from library.loops import loop
from pyarrow import parquet

from compactctl.commands.batch import data_set, staging
from compactctl.commands.batch.batch import BatchOptions
from compactctl.commands.batch.one_file import run_file
from compactctl.commands.batch.tasks import FileTask, WorkedFile
from compactctl.commands.compact import draft
from compactctl.commands.inspect.log import LogOptions, log
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.reading.discover import FileChoice
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.reading.trees import InputFile
from compactctl.commands.verify.verify import VerifyOptions, verify
from compactctl.errors import ChangedError
from compactctl.model.operation import Digest
from compactctl.store.archive.archive_file import read_operation
from compactctl.store.archive.names import archive_folder
from compactctl.store.files.source import digest_of, split_lines


@dataclass(frozen=True)
class Job:
    """What a run does: its stage, and the file that it reads."""

    stage: str
    input: str = "a.jsonl"


DEDUP, SUMMARIZE, TRUNCATE, WINDOW = map(Job, ("dedup", "summarize", "truncate", "window"))
LONGER = Job("summarize", "longer.jsonl")
OTHER = Job("truncate", "other.jsonl")
JOBS = (DEDUP, SUMMARIZE, TRUNCATE, LONGER, OTHER)
TABLES = (Job("dedup", "a.parquet"), Job("summarize", "a.parquet"))
N_REQUESTS = 6
"""A run that finds nothing makes five: two that look, archive, README and output."""


NUMBERS = count()


@dataclass
class World:
    """A bucket, and the prefix in it that runs compact into one output below."""

    bucket: Bucket
    folder: Path
    output: str = "a.compacted.jsonl"
    name: str = field(default_factory=lambda: f"out{next(NUMBERS)}")
    copies: Iterator[int] = field(default_factory=count)

    def run(self, job: Job) -> Run:
        return Run(lambda: compact(self.folder / job.input, job.stage, f"{BUCKET}/{self.name}"))

    def alone(self, *jobs: Job) -> None:
        """Let runs compact one after another."""
        for job in jobs:
            run = self.run(job)
            run.finish()
            assert run.has_won, run.outcome

    def killed(self, job: Job, at: str) -> None:
        """Let a run be killed once it has made a request."""
        run = self.run(job)
        while run.step() and at not in run.requests:
            pass
        run.kill()

    def download(self) -> Path:
        """Copy everything; return the path of the output, which may be missing."""
        folder = self.folder / self.name / str(next(self.copies))
        for key in self.bucket.keys():  # noqa: SIM118 - not a mapping
            if key.startswith(f"{self.name}/"):
                copy = write(folder / key, self.bucket.get(key))
                copy.parent.chmod(0o700)
                copy.chmod(0o600)
        return folder / self.name / self.output


def output_of(job: Job) -> str:
    return f"a.compacted{Path(job.input).suffix}"


def compact(path: Path, stage: str, out: str) -> WorkedFile:
    options = asked(
        BatchOptions(files=FileChoice(paths=(str(path),)), compacts=True),
        plan=plan((stage,)),
        measure=MeasureOptions(counter="chars/4"),
        output=out,
    )
    output = f"{out}/{output_of(Job(stage, path.name))}"
    return run_file(
        options, FileTask(input=InputFile(path=str(path), below=path.name), output=output)
    )


@dataclass
class Expected:
    """What jobs write, each on its own: outputs and inputs by job."""

    folder: Path
    outputs: dict[Job, bytes] = field(default_factory=dict, repr=False)

    def output(self, job: Job) -> bytes:
        if job not in self.outputs:
            path, out = self.folder / job.input, self.folder / "alone" / job.stage / job.input
            out.mkdir(parents=True)
            compact(path, job.stage, str(out))
            self.outputs[job] = (out / output_of(job)).read_bytes()
        return self.outputs[job]

    def input(self, job: Job) -> bytes:
        return (self.folder / job.input).read_bytes()

    def outcome(self, job: Job) -> Digest:
        return digest_of(split_lines(self.output(job)))


class Clock(datetime):
    """A clock that is later each time, so that no two archives are the same."""

    ticks = count()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2026, 3, 1, tzinfo=tz) + timedelta(seconds=next(cls.ticks))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write(folder / "a.jsonl", transcript())
    write(folder / "longer.jsonl", transcript(8))
    write(folder / "other.jsonl", transcript(topic="lexer"))
    table = pa.table({"messages": [json.dumps(loop(20)), json.dumps(loop(1))]})
    parquet.write_table(table, folder / "a.parquet")
    return folder


@pytest.fixture(scope="module")
def expected(folder: Path) -> Expected:
    return Expected(folder)


@pytest.fixture(params=["memory", pytest.param("server", marks=pytest.mark.long)])
def bucket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    opened = bucket_in_memory if request.param == "memory" else bucket_on_server
    for module in (draft, data_set):
        monkeypatch.setattr(module, "datetime", Clock)
    with opened(monkeypatch) as opened_bucket:
        take_turns(monkeypatch)
        yield opened_bucket


def check(world: World, runs: Mapping[Run, Job], expected: Expected, *earlier: Job) -> None:
    """Check what is there: the output of a winner, all that it replaced, and nothing of losers."""
    for run in runs:
        rows = run.outcome.rows if run.outcome else ()
        assert run.was_killed or run.has_won or rows[0].exit_code == ChangedError.exit_code, rows
    winners = {job for run, job in runs.items() if run.has_won}
    killed = {job for run, job in runs.items() if run.was_killed}
    output = world.download()
    archives = archive_folder(output).rglob("*.parquet")
    outcomes = {read_operation(path).after for path in archives}
    assert outcomes <= {expected.outcome(job) for job in winners | killed | {*earlier}}
    assert outcomes >= {expected.outcome(job) for job in winners}
    if output.exists():
        data = output.read_bytes()
        jobs = (job for job in (*winners, *killed, *earlier) if expected.output(job) == data)
        check_restorable(output, expected.input(next(jobs)))
    else:
        assert not winners


def check_restorable(output: Path, original: bytes) -> None:
    """Check that an output leads back to the file that it was compacted from."""
    check_proven(output)
    result = log(LogOptions(input=InputOptions(path=str(output))))
    assert (result.exit_code, result.operations[-1].in_effect) == (0, True)
    back = output.with_name("back")
    rewind_file(output, all=True, output=back)
    assert back.read_bytes() == original
    rewind_file(output)
    assert output.read_bytes() == original
    check_proven(output)


def check_proven(output: Path) -> None:
    (verified,) = verify(VerifyOptions(paths=(str(output),))).transcripts
    assert verified.verdict == "proven", verified


def check_all(world: World, runs: Mapping[Run, Job], expected: Expected, *earlier: Job) -> None:
    """Check what is there, and that the next run goes on from it."""
    check(world, runs, expected, *earlier)
    last = Job("window", next(iter(runs.values())).input)
    following = world.run(last)
    following.finish()
    check(world, {**runs, following: last}, expected, *earlier)
    assert world.download().read_bytes() == expected.output(last)


def overlap(
    world: World, jobs: Sequence[Job], turns: Sequence[int], kills: Sequence[int] = ()
) -> dict[Run, Job]:
    """Let runs overlap; return them."""
    runs = {world.run(job): job for job in jobs}
    carry_out(tuple(runs), turns, kills)
    return runs


@pytest.mark.parametrize("jobs", [(DEDUP, SUMMARIZE), (SUMMARIZE, DEDUP), (DEDUP, DEDUP), TABLES])
def test_one_of_two_runs_wins(
    bucket: Bucket, folder: Path, expected: Expected, jobs: tuple[Job, Job]
) -> None:
    """Wherever the first stops, and the second, which goes on when the first has ended."""
    for first, second in product(range(N_REQUESTS), repeat=2):
        if LONG or (first + second) % 4 == 0:
            world = World(bucket, folder, output_of(jobs[0]))
            runs = overlap(world, jobs, [0] * first + [1] * second)
            assert any(run.has_won for run in runs)
            assert jobs[0] != jobs[1] or all(run.has_won for run in runs)
            check(world, runs, expected)


@pytest.mark.parametrize("job", [SUMMARIZE, TABLES[0]])
def test_a_killed_run_is_in_no_ones_way(
    bucket: Bucket, folder: Path, expected: Expected, job: Job
) -> None:
    """Neither in that of the same run nor of another one."""
    others = (job, Job("truncate", job.input))
    for n_requests, following in product(range(0, N_REQUESTS, 1 if LONG else 3), others):
        world = World(bucket, folder, output_of(job))
        killed = overlap(world, [job], [0] * n_requests, kills=[0])
        runs = killed | overlap(world, [following], [])
        check_all(world, runs, expected)


def test_a_run_whose_output_was_deleted_meanwhile_is_refused(
    bucket: Bucket, folder: Path, expected: Expected
) -> None:
    world = World(bucket, folder)
    world.alone(TRUNCATE)
    run = world.run(SUMMARIZE)
    while run.requests.count("put") < 2:
        run.step()
    obstore.delete(bucket.store, f"{world.name}/{world.output}")
    run.finish()
    assert run.outcome is not None
    assert run.outcome.rows[0].exit_code == ChangedError.exit_code
    check_all(world, {run: SUMMARIZE}, expected, TRUNCATE)


def earlier_version(world: World, killed: Job, *jobs: Job) -> None:
    """Let a run be killed, and others count on its archive, as earlier versions did."""
    world.killed(killed, "put")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "unrealized_archives", lambda *_: ())
        world.alone(*jobs)


def without_output(world: World, *jobs: Job) -> None:
    world.alone(*jobs)
    obstore.delete(world.bucket.store, f"{world.name}/{world.output}")


PASTS: dict[str, tuple[Callable[..., object], tuple[Job, ...]]] = {
    "nothing": (lambda _: None, ()),
    "an output": (World.alone, (TRUNCATE,)),
    "two outputs": (World.alone, (TRUNCATE, LONGER)),
    "outputs of two files": (World.alone, (TRUNCATE, OTHER)),
    "only the archive of an output": (without_output, (TRUNCATE,)),
    "a killed run": (lambda world, job: world.killed(job, "put"), (SUMMARIZE,)),
    "a run after a killed one": (
        lambda world, killed, job: [world.killed(killed, "put"), world.alone(job)],
        (SUMMARIZE, TRUNCATE),
    ),
    "a killed run after another": (
        lambda world, job, killed: [world.alone(job), world.killed(killed, "put")],
        (TRUNCATE, SUMMARIZE),
    ),
    "an earlier version": (earlier_version, (SUMMARIZE, TRUNCATE)),
}


@tries(100)
@given(st.sampled_from(sorted(PASTS)), st.data())
def test_any_past_and_any_order_of_requests(
    bucket: Bucket, folder: Path, expected: Expected, past: str, data: st.DataObject
) -> None:
    world = World(bucket, folder)
    set_up, earlier = PASTS[past]
    set_up(world, *earlier)
    jobs = data.draw(st.lists(st.sampled_from(JOBS), min_size=2, max_size=3), "jobs")
    indices = st.integers(0, len(jobs) - 1)
    turns = data.draw(st.lists(indices, max_size=12 * len(jobs)), "turns")
    kills = data.draw(st.lists(indices, unique=True), "kills")
    runs = overlap(world, jobs, turns, kills)
    assert kills or any(run.has_won for run in runs)
    check_all(world, runs, expected, *earlier)
