"""What real clients compacted is sent again once it is undone, and all of it can be had back."""

from pathlib import Path

from file_commands import load_file, rewind_file
from real.choice import each_file

from compactctl.commands.client_sessions.compactions import compactions_of
from compactctl.commands.client_sessions.places import current_state


@each_file
def test_everything_is_sent_again_and_rewound_exactly(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    loaded = load_file(copy)
    found = compactions_of(current_state(loaded))
    result = rewind_file(copy, client=True, all=True, in_place=True)
    assert result.by_client == found
    assert result.moved is bool(found)
    if not found:
        return
    hidden = {name for each in found for name in each.hidden if each.what != "cleared"}
    now = load_file(copy).transcript
    assert len(now.effective) >= len(loaded.transcript.effective)
    sent = {message.id for message in now.effective}
    # Some compactions only clear results, whose messages were sent all along.
    assert not hidden or len(hidden & sent) > len(hidden) * 0.8
    assert not [each for each in compactions_of(current_state(load_file(copy))) if each.in_effect]
    rewind_file(copy)
    assert copy.read_bytes() == path.read_bytes()
