"""No request of a real session that was answered is said not to fit."""

from pathlib import Path

import pytest
from file_commands import scan_file
from real.choice import each_file

from compactctl.commands.measuring.measure import window_of
from compactctl.model.transcript import Transcript
from compactctl.records import replace
from compactctl.tokens.models.lookup import resolve_model


def answered_requests(transcript: Transcript) -> dict[int, int]:
    """Return by line how large the requests were that the session's model answered."""
    return {
        message.line + 1: message.usage.context
        for message in transcript.messages
        if message.usage and message.model in (None, transcript.session.model)
    }


@each_file
def test_the_window_holds_every_request_before_it_is_known_to_be_answered(path: Path) -> None:
    transcript = scan_file(path)
    sizes = answered_requests(transcript)
    if not sizes:
        pytest.skip("nothing was reported in this file")
    # An answered request raises the window that it is held against, so none is reported here.
    unreported = tuple(replace(message, usage=None) for message in transcript.messages)
    window = window_of(
        replace(transcript, messages=unreported), resolve_model(transcript.session.model)
    )
    assert {line: size for line, size in sizes.items() if size > window.tokens} == {}, window
