"""Several inputs that are compacted to one output, one after another, to the same messages."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from examples import tries
from file_commands import load_file, rewind_file
from hypothesis import given
from hypothesis import strategies as st
from store.states import a_folder
from unit.commands.conversations import TALK, append, jsonl, log_of, said, squeeze, turns, words

from compactctl.commands.operations.find_history import archive_advice
from compactctl.commands.verify.verify import VerifyOptions, verify
from compactctl.model.message import ToolResultPart
from compactctl.store.archive.archive import archive_folder

Records = list[dict[str, Any]]


def document(records: Records) -> bytes:
    return json.dumps(records, indent=2).encode()


KINDS: dict[str, tuple[Callable[[Records], bytes], bool]] = {
    "lines": (jsonl, True),
    "lines without tags": (jsonl, False),
    "document": (document, True),
    "document without tags": (document, False),
}


class Inputs:
    """Three inputs in a folder, which differ in what pruning clears, and their one output."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.spell, self.tags = KINDS[kind]
        self.folder = folder
        self.output = folder / "new" / "output"
        self.output.parent.mkdir()
        self.talks = {name: _talk(name) for name in "abc"}

    def path(self, name: str) -> Path:
        return self.folder / name

    def data(self, name: str) -> bytes:
        return self.spell(self.talks[name])

    def compact(self, name: str) -> str:
        """Compact an input to the output, whatever is there; return the operation."""
        self.path(name).write_bytes(self.data(name))
        to_output: dict[str, Any] = {"output": str(self.output), "force": True, "tags": self.tags}
        return str(squeeze(self.path(name), "prune", **to_output).change.operation)

    def restored(self, **fields: Any) -> bytes:
        """Return what a rewind of the output to another file gives."""
        back = self.folder / "back"
        rewind_file(self.output, output=str(back), force=True, **fields)
        return back.read_bytes()


def _talk(name: str) -> Records:
    return [
        {**record, "content": f"{name} {words(30)}"} if record["role"] == "tool" else record
        for record in TALK
    ]


def verdict(path: Path) -> str:
    [transcript] = verify(VerifyOptions(paths=(str(path),))).transcripts
    return transcript.verdict


def in_effect(path: Path) -> list[str]:
    return [entry.step.id for entry in log_of(path).operations if entry.in_effect]


@pytest.fixture(params=KINDS)
def inputs(tmp_path: Path, request: pytest.FixtureRequest) -> Inputs:
    return Inputs(tmp_path, request.param)


@pytest.mark.parametrize("order", ["ab", "ba", "aba", "abcacb"])
def test_a_rewind_gives_the_input_that_was_compacted_last(inputs: Inputs, order: str) -> None:
    sent = []
    for name in order:
        operation = inputs.compact(name)
        sent.append(said(inputs.output))
        assert inputs.restored() == inputs.restored(all=True) == inputs.data(name)
        assert in_effect(inputs.output) == [operation]
        assert verdict(inputs.output) == "proven"
    assert sent == sent[:1] * len(order)
    rewind_file(inputs.output)
    assert inputs.output.read_bytes() == inputs.data(order[-1])


def test_an_input_that_is_shorter_already_counts_by_its_bytes(inputs: Inputs) -> None:
    inputs.compact("a")
    cleared = next(
        part.text
        for message in load_file(inputs.output).transcript.effective
        for part in message.parts
        if isinstance(part, ToolResultPart)
    )
    result = next(record for record in inputs.talks["b"] if record["role"] == "tool")
    result["content"] = cleared
    for name in "bab":
        inputs.compact(name)
        assert inputs.restored() == inputs.data(name)


def test_what_is_done_in_place_leads_back_to_the_same_input(inputs: Inputs) -> None:
    for name in "ab":
        inputs.compact(name)
    outcome = inputs.output.read_bytes()
    squeeze(inputs.output, "truncate")
    assert inputs.restored(all=True) == inputs.data("b")
    rewind_file(inputs.output)
    assert inputs.output.read_bytes() == outcome
    assert inputs.restored() == inputs.data("b")
    inputs.compact("a")
    assert inputs.restored() == inputs.data("a")
    rewind_file(inputs.output)
    inputs.compact("b")
    assert inputs.restored() == inputs.data("b")
    assert verdict(inputs.output) == "proven"


def test_a_rewind_to_the_operation_on_another_input_leads_back_to_that(inputs: Inputs) -> None:
    operations = {name: inputs.compact(name) for name in "ab"}
    for name in "aba":
        rewind_file(inputs.output, to=operations[name])
        assert in_effect(inputs.output) == [operations[name]]
        assert inputs.restored() == inputs.data(name)
        assert verdict(inputs.output) == "proven"


def test_what_was_added_to_an_outcome_is_carried_to_either_input(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path, "lines without tags")
    operations = {name: inputs.compact(name) for name in "ab"}
    more = append(inputs.output, turns(4))
    grown = inputs.output.read_bytes()
    for name in "ab":
        rewind_file(inputs.output, to=operations[name])
        assert inputs.output.read_bytes() == grown
        assert inputs.restored() == inputs.data(name) + more
    inputs.compact("a")
    assert inputs.restored() == inputs.data("a")
    rewind_file(inputs.output, to=operations["b"])
    assert inputs.output.read_bytes() == grown
    assert verdict(inputs.output) == "proven"


def test_a_document_that_its_client_wrote_anew_goes_back_to_the_newest_input(
    tmp_path: Path,
) -> None:
    inputs = Inputs(tmp_path, "document")
    for name in "aba":
        inputs.compact(name)
        records = json.loads(inputs.output.read_bytes()) + turns(4)
        inputs.output.write_text(json.dumps(records))
        assert json.loads(inputs.restored()) == inputs.talks[name] + turns(4)


def test_a_moved_transcript_is_told_from_another_with_the_same_messages(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path, "document")
    outputs = {name: inputs.output.with_name(name) for name in "abc"}
    for name, output in outputs.items():
        inputs.output = output
        inputs.compact(name)
    moved = outputs["b"].with_name("moved")
    moved.write_bytes(outputs["b"].read_bytes())
    source = load_file(moved).source
    assert archive_advice(source, str(moved)).startswith(f"{archive_folder(outputs['b'])} matches")


def test_a_lost_archive_of_the_first_input_is_reported(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path, "document")
    for name in "ab":
        inputs.compact(name)
    for archive in archive_folder(inputs.output).glob("*.parquet"):
        archive.unlink()
    [lost] = log_of(inputs.output).lost
    assert "has no archive 0001; put it back" in lost.why
    assert inputs.restored() == inputs.data("b")


STEPS = st.lists(st.sampled_from(["a", "b", "c", "rewind", "truncate"]), min_size=2, max_size=6)


@tries(25)
@given(st.sampled_from([*KINDS]), STEPS)
def test_whatever_is_done_every_state_comes_back(kind: str, steps: list[str]) -> None:
    with a_folder() as folder:
        inputs, before = Inputs(folder, kind), list[bytes]()
        for step in ("a", *steps):
            if step in inputs.talks:
                inputs.compact(step)
                before = [inputs.data(step)]
            elif step == "rewind" and before:
                rewind_file(inputs.output)
                assert inputs.output.read_bytes() == before.pop()
            elif step == "truncate" and before:
                state = inputs.output.read_bytes()
                squeeze(inputs.output, step)
                before += [state] if inputs.output.read_bytes() != state else []
            if before:
                assert inputs.restored() == before[-1]
                assert inputs.restored(all=True) == before[0]
            assert verdict(inputs.output) == "proven"
