"""No report of a real session is doubted, and none is believed that was made smaller."""

from pathlib import Path

import pytest
from false_usage import LIES, with_usage
from file_commands import load_file
from real.choice import each_file, name_of

from compactctl.commands.measuring.context_size import believed_reports, context_size
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.reading.transcript import parse, split
from compactctl.history.turns import split_conversations
from compactctl.history.usage.belief import ESTIMATE_ERROR, VOCABULARY_ERROR
from compactctl.store.files.source import split_lines

# Files with a report that is not believed, with the reason why it is false or looks so: none.
DOUBTED: dict[str, str] = {}
# From so many counted tokens between the first report and the last a lie can be told.
_ENOUGH = 10_000


@each_file
def test_no_report_is_doubted_whenever_it_is_the_newest(path: Path) -> None:
    transcript = load_file(path).transcript
    measured = measure(transcript, MeasureOptions())
    for messages in split_conversations(transcript.effective):
        ends = [index + 1 for index, message in enumerate(messages) if message.usage]
        for end in ends[:: max(1, len(ends) // 20)] + ends[-1:]:
            doubt = believed_reports(messages[:end], measured).doubt
            assert (doubt is None) == (name_of(path) not in DOUBTED), doubt


@pytest.mark.each_choice
@pytest.mark.parametrize("lie", LIES)
@each_file
def test_a_false_report_makes_no_context_smaller(path: Path, lie: str) -> None:
    true = load_file(path).transcript
    if len(split_conversations(true.effective)) != 1:
        pytest.skip("several conversations are measured by counting alone")
    known = believed_reports(true.effective, measure(true, MeasureOptions())).requests
    if not known:
        pytest.skip("nothing was reported in this file")
    lines, chosen = split(split_lines(with_usage(path.read_bytes(), LIES[lie])), str(path), None)
    transcript = parse(lines, chosen)
    measured = measure(transcript, MeasureOptions())
    size = context_size(transcript, measured)
    is_estimate = measured.counter.exactness == "estimate"
    error = ESTIMATE_ERROR if is_estimate else VOCABULARY_ERROR
    contents = sum(map(measured.framed.visible, transcript.effective))
    assert size.total > (1 - error) * min(size.counted, contents)
    if known[-1].contents - known[0].contents >= _ENOUGH:
        assert size.doubt.startswith("line "), size
