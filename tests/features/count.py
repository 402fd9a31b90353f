"""Counts one token for a word; ``--counter-cmd`` starts it."""

import json
import sys

for line in sys.stdin:
    print(len(json.loads(line).split()), flush=True)  # noqa: T201 - the answer of this program
