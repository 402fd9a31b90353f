"""Controls keep what is given in its place, and part no tool pair that was whole."""

import pytest
from builders import assistant, call, conversation, message, result, result_part, system, user

from compactctl.commands.lab.eval_session import PrefixCompactor
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.history.pairs import find_orphans
from compactctl.history.turns import preamble
from compactctl.lab.controls import CONTROLS
from compactctl.model.message import ToolDefinitionPart
from compactctl.model.transcript import Transcript

DEFINES = ToolDefinitionPart(name="Search", text="Search the tracker. " * 20)
PREFIX = conversation(
    system("Be brief."),
    user("Find the slow query."),
    *(each for n in range(6) for each in (call(f"c{n}", "Bash"), result(f"c{n}", "row " * 60))),
    call("s", "ToolSearch", query="tracker"),
    message("tool", result_part("s", "1 tool"), DEFINES, immutable_reason="it defines tools"),
    *(each for n in range(6, 9) for each in (call(f"c{n}", "Bash"), result(f"c{n}", "row " * 60))),
    assistant("It is the third."),
)
EMPTY = Transcript(format="codex", messages=PREFIX, effective=PREFIX, n_lines=0, n_bytes=0)


def context(name: str, share: float) -> list[str]:
    options = MeasureOptions(counter="chars/4")
    measured = measure(EMPTY, options)
    size = measured.meter.total
    fixed = size(preamble(PREFIX))
    room = int(share * (size(PREFIX) - fixed))
    left = PrefixCompactor(EMPTY, measured, options, 0).control(name, PREFIX, room)
    assert not find_orphans(left)
    assert {message.id for message in preamble(PREFIX)} <= {message.id for message in left}
    # The call of the result that is given stays, even where there is no room for it.
    assert name not in {"newest", "random"} or size(left) - fixed <= room + size(PREFIX[14:15])
    return [message.id for message in left]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("name", CONTROLS)
def test_no_pair_is_parted_and_the_order_stays(name: str, share: float) -> None:
    ids = context(name, share)
    places = [int(name[1:]) for name in ids if name.startswith("m")]
    assert places == sorted(places)


def test_what_keeps_everything_changes_nothing() -> None:
    assert context("none", 0.1) == [message.id for message in PREFIX]
