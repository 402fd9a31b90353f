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
  commands (only ``verify`` and ``rewind`` notice a flipped byte), and nothing is lost that does not
  depend on what is damaged.

``python tests/histories/run.py --count 10000 -j 2`` runs many more.
"""

import pytest
from examples import tries
from histories.drawn import failure_of, histories, shrunk
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from talks import TALKS, Talk


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.name)
@given(data=st.data())
@settings(tries(20), phases=[Phase.generate])
def test_every_state_is_reached_or_told_to_be_lost(talk: Talk, data: st.DataObject) -> None:
    failure = failure_of(data.draw(histories(talk)))
    if failure is not None:
        pytest.fail(str(shrunk(failure)))
