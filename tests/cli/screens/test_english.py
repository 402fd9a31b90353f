"""What is shown reads as English: nothing "is no trigger", it "is not a trigger"."""

import re
from pathlib import Path

import compactctl

SOURCES = sorted(Path(compactctl.__file__).parent.rglob("*.py"))
# "There is no X" is right, and so is a comparison, as in "is no longer there".
STUMBLE = re.compile(
    r"(?<![Tt]here )\b(?:is|are|was|were|be) no (?!longer|larger|smaller|fewer)[a-z]+"
)


def test_what_a_thing_is_not_is_said_with_not() -> None:
    found = {
        f"{source.name}: {match[0]}"
        for source in SOURCES
        for match in STUMBLE.finditer(source.read_text())
    }
    assert not found, "write what it is, or that it is not so: 'is not a trigger'"
