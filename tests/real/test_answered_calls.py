"""A result is read as that of the call that it answers, by what both say of a missing file."""

import re
from pathlib import Path

from file_commands import scan_file
from real.choice import WRITTEN, each_of

# Each session reads some files of a folder that the invented project does not have.
_MISSING = re.compile(r"does not exist: \S+/(legacy/\w+\.py)")


@each_of(WRITTEN)
def test_a_result_answers_the_call_for_its_file(path: Path) -> None:
    messages = scan_file(path).messages
    calls = {(m.conversation, call.call_id): call.arguments for m in messages for call in m.calls}
    pairs = [
        (missing[1], calls[m.conversation, result.call_id])
        for m in messages
        for result in m.results
        if (missing := _MISSING.search(result.text))
    ]
    assert pairs
    assert [name for name, arguments in pairs if name not in arguments] == []
