"""One transcript through all layouts, in place and into new files, back and forth: one history."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from examples import tries
from file_commands import rewind_file
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from properties.jobs import LAYOUTS
from unit.commands.conversations import jsonl, squeeze, turn

from compactctl.commands.inspect.log import LogEntry, LogOptions, log
from compactctl.commands.inspect.view import ViewOptions, view
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.verify.verify import VerifyOptions, verify
from compactctl.errors import ChangedError

STAGES = st.sampled_from([("prune",), ("truncate",), ("summarize",), ("prune", "truncate")])
PICK = st.integers(0, 1_000)


def claude(number: int) -> list[dict[str, Any]]:
    """Return a turn of a format whose records have ids and follow one another."""
    names = [f"{number}-{part}" for part in ("ask", "call", "result", "answer")]
    parents = [f"{number - 1}-answer" if number else None, *names]
    asked, called, found, answered = turn(number)
    read = called["tool_calls"][0]
    use = {"type": "tool_use", "id": read["id"], "name": "Read", "input": {"file_path": "a.py"}}
    got = {"type": "tool_result", "tool_use_id": read["id"], "content": found["content"]}
    contents = [asked["content"], [use], [got], [{"type": "text", "text": answered["content"]}]]
    roles = ["user", "assistant", "user", "assistant"]
    return [
        {
            "type": role,
            "uuid": name,
            "parentUuid": parent,
            "sessionId": "s",
            "timestamp": f"2026-01-01T00:{number:02}:00.000Z",
            "message": {"role": role, "content": content},
        }
        for role, name, parent, content in zip(roles, names, parents, contents, strict=False)
    ]


class Layouts(RuleBasedStateMachine):
    """``rewind --all`` gives the first bytes and what was appended; ``log`` knows every step."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "0.jsonl"
        self.states: dict[str, tuple[bytes, int]] = {}
        self.turns = 4

    @initialize(is_claude=st.booleans(), is_open=st.booleans())
    def write(self, *, is_claude: bool, is_open: bool) -> None:
        """Begin with a talk; its last line may be unterminated."""
        self.turn = claude if is_claude else turn
        talk = [record for number in range(4) for record in self.turn(number)]
        self.first = jsonl(talk).removesuffix(b"\n" if is_open else b"none")
        self.appended = b""
        self.path.write_bytes(self.first)

    def teardown(self) -> None:
        """Go all the way back, at the end of every life."""
        with self.folder:
            if self.entries():
                self.go_back()

    @rule(layout=LAYOUTS, stages=STAGES, is_new=st.booleans())
    def compact(self, layout: str, stages: tuple[str, ...], *, is_new: bool) -> None:
        """Compact in place, or into a new file, which takes the way back along."""
        before = self.in_effect()
        target = self.path.with_name(f"{int(self.path.stem) + 1}.jsonl") if is_new else self.path
        options = {"output": str(target)} if is_new else {}
        result = squeeze(self.path, *stages, layout=layout, **options)
        if is_new:
            self.path = target
            self.states = {name: self.states[name] for name in before if name in self.states}
        made = [result.change.operation] if result.change.operation else []
        self.states |= dict.fromkeys(made, (self.path.read_bytes(), len(self.appended)))
        assert self.in_effect() == [*before, *made]

    @rule()
    def append(self) -> None:
        """Continue as a client does, which ends an unterminated line first."""
        more = jsonl(self.turn(self.turns))
        self.turns += 1
        end = b"" if self.path.read_bytes().endswith(b"\n") else b"\n"
        with self.path.open("ab") as stream:
            stream.write(end + more)
        self.appended += more

    @precondition(lambda self: self.entries())
    @rule()
    def undo(self) -> None:
        """Undo the newest compaction in effect."""
        before = self.in_effect()
        self.go()
        assert self.in_effect() == before[:-1]

    @precondition(lambda self: self.entries())
    @rule()
    def go_back(self) -> None:
        """Undo all compactions."""
        self.go(all=True)
        end = b"\n" if self.appended and not self.first.endswith(b"\n") else b""
        assert self.path.read_bytes() == self.first + end + self.appended
        assert self.in_effect() == []

    @precondition(lambda self: self.entries())
    @rule(pick=PICK)
    def go_to(self, pick: int) -> None:
        """Go to any compaction there ever was, in effect or not."""
        names = sorted({entry.step.id for entry in self.compactions()})
        name = names[pick % len(names)]
        self.go(to=name)
        assert self.in_effect()[-1] == name
        if name in self.states:
            state, n_appended = self.states[name]
            assert self.path.read_bytes() == state + self.appended[n_appended:]

    @precondition(lambda self: self.entries())
    @rule(pick=PICK)
    def take_back_a_group(self, pick: int) -> None:
        """Bring one group back; it is gone from what is in effect then."""
        groups = self.groups()
        if not groups:
            return
        chosen = groups[pick % len(groups)]
        before = self.path.read_bytes()
        try:
            self.go(group=chosen)
        except ChangedError:
            assert self.path.read_bytes() == before
            return
        assert chosen not in self.groups()

    @invariant()
    def every_operation_is_listed(self) -> None:
        """What was made is in the log, and everything can be looked at."""
        if hasattr(self, "first"):
            assert set(self.states) <= {entry.step.id for entry in self.compactions()}
            assert view(ViewOptions(input=InputOptions(path=str(self.path)), what="all")).messages

    @invariant()
    def every_state_is_proven(self) -> None:
        """A verification finds nothing wrong, whatever has happened."""
        if hasattr(self, "first") and self.entries():
            (found,) = verify(VerifyOptions(paths=(str(self.path),))).transcripts
            assert found.verdict == "proven", found.findings

    def go(self, **where: Any) -> None:
        """Rewind as a check says it would, and find the way back."""
        before, left = self.path.read_bytes(), self.in_effect()
        checked = rewind_file(self.path, check=True, **where)
        assert self.path.read_bytes() == before
        done = rewind_file(self.path, **where)
        assert (checked.after, checked.undone) == (done.after, done.undone)
        assert tuple(self.in_effect()) == done.in_effect
        if done.redo_options is None:
            assert self.path.read_bytes() == before
            return
        _, *name = done.redo_options.split()
        there = self.path.with_name("there")
        way = {"to": name[0]} if name else {"all": True}
        again = rewind_file(self.path, output=str(there), force=True, **way)
        assert there.read_bytes() == before
        assert list(again.in_effect) == left

    def entries(self) -> tuple[LogEntry, ...]:
        """Return what the log lists."""
        return (
            log(LogOptions(input=InputOptions(path=str(self.path)))).operations
            if self.path.exists()
            else ()
        )

    def compactions(self) -> list[LogEntry]:
        """Return what the log lists but for rewinds."""
        entries = self.entries()
        return [each for each in entries if not each.operation or each.operation.kind == "compact"]

    def in_effect(self) -> list[str]:
        """Return the compactions in effect, oldest first."""
        effective = [each for each in self.compactions() if each.in_effect]
        found = {each.step.id: each.step.parent for each in effective}
        names: list[str] = []
        while len(names) < len(found):
            parent = names[-1] if names else None
            names.append(next(n for n, p in found.items() if (p if p in found else None) == parent))
        return names

    def groups(self) -> list[str]:
        """Return the groups in effect."""
        return [group.id for each in self.entries() for group in each.groups if group.in_effect]


TestLayouts = Layouts.TestCase
TestLayouts.settings = settings(tries(10), stateful_step_count=8)
