"""Rows of a batch: one that was measured, one that was compacted as well, and one that failed.

And what a report reads of such a row.
"""

from compactctl.commands.batch.report import ReportRow
from compactctl.commands.batch.row import BatchRow, RowFailure, RowMeasure, RowOutcome
from compactctl.commands.measuring.figures import (
    FaultFigure,
    Figures,
    FileFigures,
    SessionFacts,
)
from compactctl.commands.measuring.next_request import Totals
from compactctl.model.transcript import Unread

MEASURE = RowMeasure(
    format="codex",
    model="gpt-5",
    counter="o200k_base",
    exactness="exact",
    window=200,
    available=160,
    base="client",
    base_tokens=100,
)
FIGURES = Figures(
    totals=Totals(messages=4, tokens=90, largest_counted=60, unseen=20),
    is_doubted=False,
    turns=2,
    steps=2,
    categories={},
    tools={},
    reread=0,
    faults=(),
    orphans=0,
    tool_errors=0,
    file=FileFigures(n_lines=4, n_bytes=400, opaque_lines=0, unread=Unread()),
    session=SessionFacts(project=None, client_version=None, began=None, ended=None),
)
FAULTS = (
    FaultFigure(rule="text-empty", line=1_204, is_refused=True),
    FaultFigure(rule="call-without-result", line=88, is_refused=False),
)
ROW = BatchRow(path="a", measure=MEASURE, figures=FIGURES)
AFTER = RowOutcome(after=Totals(messages=2, tokens=40, largest_counted=30, unseen=10))
FAILURE = RowFailure(error_class="NoInputError", error="no such file", exit_code=66)
REPORTED = ReportRow(
    path="a",
    status="ok",
    exit_code=0,
    project="shop",
    model="gpt-5",
    counter="o200k_base",
    context=20_000,
    tokens=30_000,
    saved=10,
    reread=3_000,
    ended=1_700_000_000.0,
    error="",
    categories={"user": 30_000},
    tools={"Read": 6_000, "Bash": 3_000},
)
