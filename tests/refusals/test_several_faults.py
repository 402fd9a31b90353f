"""Several faults in one session are set right together."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp

import pytest
from cli.asking import Ask
from examples import tries
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals.inputs import NEEDS_USER, TALK_FAULTS, TalkFault
from refusals.oracle import find_refusals
from refusals.talks import FILE_NAMES, WRITERS, sound_talk

# What takes long to write again and again, and what moves all other messages.
LEFT_OUT = {"image-bytes", "request-bytes", "document-bytes", "first-user", "trailing-space"}
FAULTS = {
    form: {
        f"{rule} {variant}": fault
        for rule, variant, fault, forms in TALK_FAULTS
        if form in forms
        and NEEDS_USER.isdisjoint({rule, f"{rule} {variant}"})
        and rule not in LEFT_OUT
    }
    for form in WRITERS
}


def put(faults: Sequence[TalkFault], form: str) -> bytes | None:
    """Return a session with these faults, or None if one leaves no room for another."""
    messages = sound_talk()
    try:
        for fault in faults:
            fault(messages)
        return WRITERS[form](messages).data()
    except LookupError:
        return None


def _written(form: str, data: st.DataObject, at_least: int) -> tuple[Path, bytes]:
    """Write a session with that many faults, or up to two more, into a folder of its own."""
    rules = st.sampled_from(sorted(FAULTS[form]))
    names = st.lists(rules, min_size=at_least, max_size=at_least + 2, unique=True)
    session = put([FAULTS[form][name] for name in data.draw(names)], form)
    assume(session is not None)
    assert session is not None
    path = Path(mkdtemp(dir=".")) / FILE_NAMES[form]
    path.write_bytes(session)
    return path, session


@pytest.mark.parametrize("form", FAULTS)
@tries(60)
@given(data=st.data())
def test_several_faults_are_set_right_at_once(ask: Ask, form: str, data: st.DataObject) -> None:
    path, session = _written(form, data, at_least=2)
    folder = path.parent
    new = folder / "new" / path.name
    new.parent.mkdir()
    outcome = ask("rescue", path, "-o", new, "-f")
    assert outcome.code == 0, outcome
    assert find_refusals(new) == []
    assert ask("check", new).code == 0
    again = ask("compact", new, "--stages", "repair", "-o", folder / "again")
    assert again.code == 0, again
    assert (folder / "again").read_bytes() == new.read_bytes()
    assert ask("rewind", new, "-o", folder / "back").code == 0
    assert (folder / "back").read_bytes() == session


WAYS: Mapping[str, Sequence[str]] = {
    "inline": ("--layout", "inline"),
    "without tags": ("--no-tags",),
    "halves written": ("--repair-policy", "synth"),
}


@pytest.mark.parametrize("way", WAYS)
@tries(60)
@given(data=st.data())
def test_every_byte_comes_back_however_it_is_repaired(
    ask: Ask, way: str, data: st.DataObject
) -> None:
    form = data.draw(st.sampled_from(sorted(FAULTS)))
    path, session = _written(form, data, at_least=1)
    folder = path.parent
    new = folder / "new" / path.name
    new.parent.mkdir()
    outcome = ask("compact", path, "--stages", "repair", *WAYS[way], "-o", new)
    assert outcome.code == 0, outcome
    if new.read_bytes() != session:
        assert ask("rewind", new, "-o", folder / "back").code == 0
        assert (folder / "back").read_bytes() == session


@pytest.mark.parametrize("form", FAULTS)
@tries(20)
@given(data=st.data())
def test_a_plan_repairs_as_much(ask: Ask, form: str, data: st.DataObject) -> None:
    path, _ = _written(form, data, at_least=1)
    folder = path.parent
    new, plan = folder / "new" / path.name, folder / "plan.json"
    new.parent.mkdir()
    assert ask("compact", path, "--stages", "repair", "-n", "--plan-out", plan).code == 0
    outcome = ask("compact", path, "--plan", plan, "-o", new)
    assert outcome.code == 0, outcome
    assert find_refusals(new) == []
