"""No request of a real session that was answered is said not to fit."""

from dataclasses import replace
from pathlib import Path

import pytest
from real.choice import each_file, needs_files

from compactctl.commands.measuring.measure import window_of
from compactctl.commands.reading.transcript import InputOptions, scan
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.tokens.models.lookup import resolve_model


def record_highs(transcript: Transcript) -> list[tuple[int, Message]]:
    """Return the answers to requests larger than all before them, with how many messages led on."""
    highest, found = 0, []
    for count, message in enumerate(transcript.messages, start=1):
        is_by = message.usage is not None and message.model in (None, transcript.session.model)
        if is_by and message.usage is not None and message.usage.context > highest:
            highest = message.usage.context
            found.append((count, message))
    return found


@needs_files
@each_file
def test_the_window_holds_every_request_from_its_answer_on(path: Path) -> None:
    transcript = scan(InputOptions(path=str(path)))
    highs = record_highs(transcript)
    if not highs:
        pytest.skip("nothing was reported in this file")
    model = resolve_model(transcript.session.model)
    for count, message in highs:
        known = replace(transcript, messages=transcript.messages[:count])
        assert message.usage is not None
        assert message.usage.context <= window_of(known, model).tokens
