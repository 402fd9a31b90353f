"""A session in its client's store, compacted as a new one by a plan that stands in a file."""

from pathlib import Path

from cli.asking import Ask
from sessions.homes import Home
from sessions.long_sessions import EACH, SMALL, WRITERS


@EACH
def test_a_session_is_compacted_as_a_new_one_by_its_plan(
    ask: Ask, tmp_path: Path, home: Home, client: str
) -> None:
    path, plan = WRITERS[client](home), tmp_path / "plan.json"
    done = ask("compact", path, "-n", *SMALL, "--plan-out", plan)
    assert done.code == 0, done.err
    before = path.read_bytes()
    carried = ask("compact", path, "--plan", plan, "--json")
    assert carried.code == 0, carried.err
    document = carried.json
    assert document["forkedFrom"]
    assert document["messagesHidden"] == plan.read_text().count('"fate": "hidden"')
    assert path.read_bytes() == before
