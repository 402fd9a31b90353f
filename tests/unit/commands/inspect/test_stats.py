"""What is counted beside a transcript, and what a strict reading refuses."""

from pathlib import Path

import pytest
from file_commands import stats_of_file
from formats.claude_code.sessions import response_line, said, user
from unit.commands.conversations import FAST, saved

from compactctl.commands.inspect.stats import StatsResult
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.measuring.next_request import ExtraOptions
from compactctl.errors import NotUnderstoodError

SAID = [{"role": "user", "content": "word " * 40}]
TEXT = "four" * 10
TOOLS = '[{"type": "function", "function": {"name": "read", "description": "Reads a file."}}]'


def measured(path: Path, measure: MeasureOptions = FAST, **extras: object) -> StatsResult:
    """Measure with texts in files for ``system``, ``tools`` and ``attach``."""
    files = {name: path.with_name(name) for name in ("system", "tools", "attach") if name in extras}
    for name, file in files.items():
        file.write_text(str(extras[name]))
    named = {name: str(file) for name, file in files.items()}
    attached = (named.pop("attach"),) if "attach" in named else ()
    prompt = {"prompt": str(extras["prompt"])} if "prompt" in extras else {}
    options = ExtraOptions(**named, **prompt, attach=attached)
    return stats_of_file(path, measure=measure, extras=options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", SAID)


def test_each_text_beside_the_transcript_is_counted_once(path: Path) -> None:
    assert measured(path).size.counted == 50
    system = measured(path, system=TEXT)
    assert (system.size.counted, system.counts.messages, system.counts.turns) == (60, 2, 1)
    assert (system.extras.prompt, system.extras.files, system.extras.system_frame) == (0, 0, 0)
    tools = measured(path, tools=TOOLS)
    assert tools.size.counted > 60
    prompt = measured(path, prompt=TEXT)
    assert (prompt.size.counted, prompt.counts.turns, prompt.extras.prompt) == (60, 2, 10)
    file = measured(path, attach=TEXT)
    assert (file.size.counted, file.counts.turns, file.extras.files) == (60, 1, 10)
    assert measured(path, system=TEXT, prompt=TEXT).usage.tokens == 70


def test_the_system_of_a_counter_frames_its_own_prompts(path: Path) -> None:
    plain = measured(path, MeasureOptions(counter="neurolink"), attach=TEXT)
    assert (plain.extras.system_frame, plain.extras.prompt) == (0, 0)
    framed = measured(path, MeasureOptions(counter="neurolink"), system=TEXT, prompt="")
    assert (framed.extras.system_frame, framed.extras.prompt) == (4, 4)
    assert framed.size.frames - plain.size.frames == 8


def test_a_system_prompt_explains_part_of_what_was_reported(tmp_path: Path) -> None:
    usage = {"input_tokens": 15_010, "output_tokens": 50}
    inner = {"model": "claude-opus-4-6", "usage": usage}
    answer = response_line("b", "a", {"type": "text", "text": "Done."}, "", inner=inner)
    path = saved(tmp_path / "run.jsonl", [user("a", None, "Run it."), answer])
    plain, explained = measured(path), measured(path, system="four" * 1_000)
    assert plain.size.overhead > 10_000
    assert plain.size.overhead - explained.size.overhead == pytest.approx(1_000, rel=0.05)
    assert explained.usage.tokens == plain.usage.tokens
    everything = measured(path, system="four" * 20_000)
    assert everything.size.overhead == 0


def test_a_prompt_that_is_given_is_no_longer_unreported(tmp_path: Path) -> None:
    path = saved(tmp_path / "run.jsonl", [user("a", None, "Go."), said("b", "a", "Done.")])
    assert measured(path).size.unreported == "Claude Code"
    given = measured(path, system=TEXT)
    assert (given.size.unreported, given.size.usual) == ("", None)
    assert measured(path, prompt=TEXT).size.unreported == "Claude Code"


@pytest.mark.parametrize(
    ("broken", "shown"),
    [
        (1, "run.jsonl: line 2: not JSON; leave"),
        (5, "line 6: not JSON; leave"),
        (6, "line 6: not JSON and 1 more; leave"),
    ],
)
def test_a_strict_reading_names_the_first_lines_that_it_refuses(
    path: Path, broken: int, shown: str
) -> None:
    with path.open("a") as stream:
        stream.write("{broken\n" * broken)
    assert measured(path).counts.messages == 1
    with pytest.raises(NotUnderstoodError) as raised:
        stats_of_file(path, strict=True)
    assert shown in str(raised.value)
    assert str(raised.value).count("line ") == min(5, broken)
