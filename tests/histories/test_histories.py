"""Generated histories: every state that a session ever was in is reached, or told to be lost.

A history begins with a small session of one format and goes on step by step: it is compacted in any
layout, its client continues it (a document is written anew by another serializer) or compacts it,
it is rewound by any route, one group is taken back, a run is killed between two writes, and an
archive or a line of the session is damaged. After each step

- the state of every chain of compactions that ever was in effect is reached by ``rewind --to``,
  ``--all`` and a plain ``rewind``, to another file and in place: the bytes that it ended with and
  exactly the lines that were added since; of a document, the records;
- ``log`` and ``verify`` agree: what is proven is reached;
- after a damage, no other bytes come back than before, what cannot be reached is told by all three
  commands, and nothing is lost that does not depend on what is damaged.

``python tests/histories/run.py --count 10000 -j 2`` runs many more.
"""

import re
from collections.abc import Mapping

import pytest
from examples import tries
from histories.drawn import History, failure_of, histories, shrunk
from histories.life import Step
from histories.talks import TALKS, Talk
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

# What is still to be mended, with a history that shows it.
KNOWN: Mapping[str, History] = {
    r"undoing operation … does not restore the recorded bytes": History.of(
        "openai-chat array", 3, 1, Step("compact", 998, 307), Step("append", 976, 36)
    ),
    r"verify exit …: … was edited since operation": History.of(
        "openai-chat array",
        1,
        1,
        Step("compact", 148, 52),
        Step("rewind", 291, 660),
        Step("append", 1, 905),
    ),
    r"log says": History.of(
        "neurolink array",
        1,
        1,
        Step("append", 951, 748),
        Step("compact", 358, 257),
        Step("compact", 250, 42),
        Step("rewind", 73, 998),
        Step("append", 750, 45),
    ),
}


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.name)
@given(data=st.data())
@settings(tries(50), phases=[Phase.generate])
def test_every_state_is_reached_or_told_to_be_lost(talk: Talk, data: st.DataObject) -> None:
    failure = failure_of(data.draw(histories(talk)))
    if failure is not None and not any(re.search(kind, failure.kind) for kind in KNOWN):
        pytest.fail(str(shrunk(failure)))


@pytest.mark.parametrize("kind", KNOWN)
def test_what_is_still_to_be_mended(kind: str) -> None:
    failure = failure_of(KNOWN[kind])
    assert failure is not None
    assert re.search(kind, failure.kind)
