"""What is written of a sound session is accepted, whatever the stages."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import pytest
from cli.asking import Ask
from examples import tries
from hypothesis import given
from hypothesis import strategies as st
from refusals.oracle import find_refusals
from refusals.talks import FILE_NAMES, WRITERS, long_talk
from stage_examples import example_flags

from compactctl.stages.registry import ALL_STAGES

STAGES = [stage.name for stage in ALL_STAGES]


@pytest.mark.parametrize("form", WRITERS)
@tries(40)
@given(
    stages=st.lists(st.sampled_from(STAGES), min_size=1, max_size=4, unique=True),
    keep=st.sampled_from([10, 30, 60]),
    keep_turns=st.integers(0, 2),
)
def test_a_compacted_session_is_accepted(
    ask: Ask, form: str, stages: Sequence[str], keep: int, keep_turns: int
) -> None:
    path = Path(FILE_NAMES[form])
    path.write_bytes(WRITERS[form](long_talk(4)).data())
    assert find_refusals(path) == []
    new = Path("out") / path.name
    new.parent.mkdir(exist_ok=True)
    options = ("--keep", f"{keep}%", "--keep-turns", str(keep_turns), "--counter", "chars/4")
    examples = chain.from_iterable(example_flags(stage) for stage in stages)
    outcome = ask(
        "compact", path, "--stages", ",".join(stages), *options, *examples, "-o", new, "-f"
    )
    assert outcome.code == 0, outcome
    assert find_refusals(new) == []
