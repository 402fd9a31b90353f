"""A batch over sessions of clients."""

import shutil
from pathlib import Path

import pytest
from examples import LONG
from file_commands import rewind_file
from real.choice import FILES, TRIED, client_of, is_written, name_of
from transcripts import needs_real

from compactctl.commands.batch.batch import BatchOptions, BatchResult, batch
from compactctl.commands.batch.columns import row_values
from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.discover import FileChoice

PLAN = PlanOptions(keep=0.2)
# Each written session can be made smaller; some of the real ones hold too little for that.
CHANGES = {"written": {True}, "real": {True, False}}
KINDS = ["written", pytest.param("real", marks=(pytest.mark.long, needs_real))]


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


@pytest.fixture(scope="module")
def result(kind: str, tmp_path_factory: pytest.TempPathFactory) -> BatchResult:
    above = tmp_path_factory.mktemp("sessions")
    for path in FILES:
        if is_written(path) is (kind == "real"):
            continue
        if client_of(path) != "claude-code" if LONG else path not in TRIED:
            continue
        # Clients give all their sessions one name: each stands in a folder of its own.
        place = above / name_of(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    out = str(tmp_path_factory.mktemp("out"))
    options = BatchOptions(
        files=FileChoice(paths=(str(above),)),
        recipe=Recipe(plan=PLAN),
        output=OutputOptions(path=out),
        compacts=True,
        jobs=2,
    )
    return batch(options)


@pytest.mark.long
def test_every_session_is_compacted_or_has_nothing_to_compact(
    kind: str, result: BatchResult
) -> None:
    assert {row.is_changed for row in result.rows} == CHANGES[kind]
    assert result.exit_code == 0
    assert sum(row.saved or 0 for row in result.rows) > 0


def test_every_output_gives_the_input_back(result: BatchResult) -> None:
    changed = dict.fromkeys((row.data_set or row.path for row in result.rows), False)
    outputs = {}
    for row in result.rows:
        assert row.output is not None
        outputs[row.data_set or row.path] = Path(row.output.path)
        changed[row.data_set or row.path] |= row.is_changed
    for path, output in outputs.items():
        if changed[path]:
            rewind_file(output)
        assert output.read_bytes() == Path(path).read_bytes()


def test_categories_add_up_in_every_row(result: BatchResult) -> None:
    for row in result.rows:
        assert sum(row_values(row)["categories"].values()) == row.tokens
