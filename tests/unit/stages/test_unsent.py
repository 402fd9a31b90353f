from typing import Any

from builders import conversation, user
from unit.stages.support.trials import meter, propose, skipped, view, words

from compactctl.model.edit import RemoveUnsent
from compactctl.model.transcript import RecordStats
from compactctl.model.unsent import UnsentKind
from compactctl.pipeline.run import StageStep, run
from compactctl.records import replace
from compactctl.stages.truncate import STAGE as TRUNCATE
from compactctl.stages.unsent import STAGE

UNSENT: dict[UnsentKind, RecordStats] = {
    "progress": RecordStats(count=1, n_bytes=90),
    "copies": RecordStats(count=12, n_bytes=3_000),
    "snapshots": RecordStats(count=2, n_bytes=400),
}
TALK = conversation(user("go"), user(words(50)), user("on"))
SEEN = view(TALK, unsent=UNSENT)


def test_what_the_client_undoes_its_changes_by_stays_unless_asked_for() -> None:
    (edit,) = propose(STAGE, SEEN).edits
    assert isinstance(edit, RemoveUnsent)
    assert edit.kinds == ("progress", "copies")
    (edit,) = propose(STAGE, SEEN, snapshots=True).edits
    assert isinstance(edit, RemoveUnsent)
    assert edit.kinds == ("progress", "copies", "snapshots")


def test_it_says_what_goes_and_how_much_that_is() -> None:
    proposal = propose(STAGE, SEEN)
    assert proposal.figures == {"unsentRecords": 13, "unsentBytes": 3_090}
    (note,) = proposal.notes
    assert note.startswith("never sent: 1 progress record (90 bytes), 12 copies of tool output")


def test_without_anything_to_take_out_it_says_which_option_finds_more() -> None:
    found = skipped(STAGE, replace(SEEN, unsent={"snapshots": UNSENT["snapshots"]}))
    assert found.detail == "--unsent-snapshots removes more"
    assert skipped(STAGE, replace(SEEN, unsent={})).detail == ""


def test_it_runs_within_the_target_and_leaves_the_messages() -> None:
    steps: list[StageStep[Any]] = [
        StageStep(stage=STAGE, options=STAGE.options()),
        StageStep(stage=TRUNCATE, options=TRUNCATE.options()),
    ]
    made = run(replace(SEEN, target=1_000), steps, meter())
    assert [record.outcome for record in made.stages] == ["applied", "not-needed"]
    assert made.view.messages == TALK
    assert made.view.unsent == {"snapshots": UNSENT["snapshots"]}
