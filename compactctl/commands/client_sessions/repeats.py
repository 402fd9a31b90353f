"""Sessions without what their client appended once more when it resumed them."""

from itertools import pairwise

from compactctl.commands.client_sessions.compactions import compactions_of
from compactctl.commands.client_sessions.places import current_state
from compactctl.commands.reading.transcript import TranscriptFile, parse
from compactctl.records import replace


def without_repeats(loaded: TranscriptFile) -> TranscriptFile:
    """Return a session as if its client had repeated nothing since it compacted.

    The digest stays that of the file.
    """
    if not loaded.format.repeats_session:
        return loaded
    compactions = compactions_of(current_state(loaded))
    ranges = [(c.line - 1, max(line for line, _ in c.records) + 1) for c in compactions]
    if not ranges:
        return loaded
    end = len(loaded.lines)
    lines = list(loaded.lines[: ranges[0][0]])
    for (start, stop), (following, _) in pairwise([*ranges, (end, end)]):
        lines += loaded.lines[start:stop]
        lines += loaded.format.said_since(lines, loaded.lines[stop:following])
    source = replace(loaded.source, lines=tuple(lines))
    return replace(loaded, source=source, transcript=parse(lines, loaded.format))
