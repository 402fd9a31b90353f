"""Adding a stage or a format is one file and its entry in a registry; nothing else names it.

A command is a file in each layer, and a line in the two tables of commands and of reports.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from docs.generate import ROOT

STAGE = '''"""Hush: hide nothing, say so."""

from dataclasses import dataclass

from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import SkippedStage
from compactctl.stages.support.stage import Stage, option
from compactctl.tokens.meter import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class HushOptions:
    """Options."""

    whisper: int = option(7, "How quietly.")


def hush(view: ConversationView, meter: Meter, options: HushOptions) -> SkippedStage:
    """Do nothing."""
    return SkippedStage(stage="hush", reason=f"hushed at {options.whisper}")


STAGE = Stage(name="hush", title="does nothing", options=HushOptions, propose=hush)
'''

FORMAT = '''"""Lines of a made-up client: an object with ``murmur`` each."""

from compactctl.formats.openai_chat import OpenAIChat


class Murmur(OpenAIChat):
    """As chat messages, known by another key."""

    name = "murmur"
    title = "Murmur"
    reads_arrays = False
    can_write_assistant = False

    def sniff(self, records):
        """Tell from the first records."""
        return any("murmur" in record for record in records)
'''

# The files of a command, by their paths.
COMMAND = {
    "commands/inspect/tide.py": '''"""Where the tide stands."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TideResult:
    """The height of the water, in metres."""

    metres: float


def tide(metres: float) -> TideResult:
    """Measure the water."""
    return TideResult(metres=metres)
''',
    "views/results/tide.py": '''"""Where the tide stands, as it is shown."""


def tide_terminal(result):
    """Yield the line."""
    yield f"the water stands at {result.metres} m"


def tide_document(result):
    """Return the document."""
    return {"schema": "compactctl.tide/1", "metres": result.metres}
''',
    "cli/tide.py": '''"""``compactctl tide``."""

from compactctl.cli.command import plain_command
from compactctl.cli.command import emit
from compactctl.cli.opt import MAY, MEASURED, opt
from compactctl.cli.options.output import SHOWN_AS
from compactctl.commands.inspect.tide import tide


@plain_command(
    opt("metres", MEASURED, MAY, "How high.", type=float, default=1.5),
    SHOWN_AS,
    help="Tell where the tide stands.",
)
def tide_command(*, metres: float, shown_as: str) -> None:
    """Run ``compactctl tide``."""
    emit(tide(metres), shown_as)
''',
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a copy of the package that may be added to."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(ROOT / "compactctl", tmp_path / "compactctl", ignore=ignored))


def add_entry(registry: Path, before: str, entry: str, imported: str) -> None:
    text = registry.read_text()
    assert text.count(before) == 1
    text = text.replace(before, f"    {entry},\n{before}")
    registry.write_text(text.replace("\nALL_", f"\n{imported}\n\nALL_", 1))


def run(package: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "compactctl", *arguments],
        cwd=package.parent,
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_stage_that_is_added_has_options_help_and_a_place_in_every_list(package: Path) -> None:
    (package / "stages" / "hush.py").write_text(STAGE)
    imported = "from compactctl.stages import hush"
    add_entry(package / "stages" / "registry.py", "    dedup.STAGE,\n", "hush.STAGE", imported)
    assert "does nothing" in run(package, "stages")
    assert "--hush-whisper" in run(package, "stages", "hush")
    sample = str(ROOT / "sample_transcripts" / "openai-chat.jsonl")
    given = ("--stages", "hush", "--hush-whisper", "3", "--dry-run", "--json")
    (stage,) = json.loads(run(package, "compact", sample, *given))["stages"]
    assert (stage["name"], stage["detail"]) == ("hush", "hushed at 3")


def test_a_format_that_is_added_is_recognised_and_can_be_forced(package: Path) -> None:
    (package / "formats" / "murmur.py").write_text(FORMAT)
    imported = "from compactctl.formats.murmur import Murmur"
    add_entry(package / "formats" / "registry.py", "    ClaudeCode(),\n", "Murmur()", imported)
    lines = [
        {"role": "user", "content": "Who goes there?", "murmur": 1},
        {"role": "assistant", "content": "A heron.", "murmur": 2},
    ]
    path = package.parent / "talk.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert json.loads(run(package, "stats", str(path), "--json"))["format"] == "murmur"
    assert "A heron." in run(package, "view", str(path), "--format", "murmur")


def test_a_command_that_is_added_is_listed_shown_and_set(package: Path) -> None:
    for name, text in COMMAND.items():
        (package / name).write_text(text)
    group, views = package / "cli" / "group.py", package / "views" / "registry.py"
    line = '            "stats": "Show where the context went.",\n'
    for table, before, added in (
        (group, line, '            "tide": "Tell where the tide stands.",\n'),
        (
            views,
            '    "LogResult": "results.log:log",\n',
            '    "TideResult": "results.tide:tide",\n',
        ),
    ):
        text = table.read_text()
        assert text.count(before) == 1
        table.write_text(text.replace(before, added + before))
    assert "Tell where the tide stands." in run(package, "--help")
    assert run(package, "tide") == "the water stands at 1.5 m\n"
    (package.parent / "compactctl.toml").write_text("[tide]\nmetres = 2.5\n")
    settings = ("--config", str(package.parent / "compactctl.toml"))
    assert json.loads(run(package, *settings, "tide", "--json"))["metres"] == 2.5
