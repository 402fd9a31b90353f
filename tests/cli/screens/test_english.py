"""What is shown reads as English: nothing "is no trigger", it "is not a trigger"."""

import re
from pathlib import Path

import compactctl

PACKAGE = Path(compactctl.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
# "There is no X" is right, and so is a comparison, as in "is no longer there".
STUMBLE = re.compile(
    r"(?<![Tt]here )\b(?:is|are|was|were|be) no (?!longer|larger|smaller|fewer)[a-z]+"
)


def test_what_a_thing_is_not_is_said_with_not() -> None:
    found = {
        f"{source.relative_to(PACKAGE.parent)}:{number}: {match[0]}"
        for source in SOURCES
        for number, line in enumerate(source.read_text().splitlines(), start=1)
        for match in STUMBLE.finditer(line)
    }
    assert not found, "write what it is, or that it is not so: 'is not a trigger'"
