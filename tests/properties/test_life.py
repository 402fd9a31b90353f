"""The life of one transcript in place: compacted, continued, rewound and meddled with at random."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from examples import tries
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from properties.halves import parted
from properties.jobs import LONG_TRANSCRIPTS, WAYS, Bench, Written, read
from properties.plans import PLANS, Plan

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.inspect.log import LogOptions, log
from compactctl.commands.inspect.view import ViewOptions, view
from compactctl.commands.reading.transcript import InputOptions, load, parse, split
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.commands.verify.verify import VerifyOptions, verify
from compactctl.errors import ChangedError, CompactctlError
from compactctl.pipeline.merge_for_view import DisplayedLine
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.files.source import digest_of, split_lines

PICK = st.integers(0, 1_000)


def told(lines: Iterable[DisplayedLine]) -> list[tuple[bytes, str | None, str | None]]:
    """Return what a view says of lines: their bytes, the group that hides them and its stage."""
    return [(line.data, line.hidden_by, line.stage) for line in lines]


class Life(RuleBasedStateMachine):
    """Whatever happens, ``rewind --all`` gives the first bytes and all that was appended."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.at = Bench(Path(self.folder.name), Path(self.folder.name) / "run.jsonl")
        self.states: dict[str, bytes] = {}

    @initialize(written=LONG_TRANSCRIPTS)
    def write(self, written: Written) -> None:
        """Begin with a transcript."""
        self.written = written
        self.expected = written.data
        self.at.path.write_bytes(written.data)
        self.format = read(self.at).format

    def teardown(self) -> None:
        """Go all the way back, at the end of every life."""
        with self.folder:
            if self.states:
                self.go_back()

    @property
    def archive(self) -> Archive:
        """The archive as it is now."""
        return Archive(archive_folder(self.at.path))

    @rule(way=WAYS)
    def compact(self, way: dict[str, Any]) -> None:
        """Compact in place."""
        before = self.at.path.read_bytes()
        result = compact(self.at.options(**way, in_place=True, format=self.format.name))
        if result.change.operation:
            self.states[result.change.operation] = self.at.path.read_bytes()
        assert result.compacted == (self.at.path.read_bytes() != before)

    @rule(plan=PLANS)
    def append(self, plan: Plan) -> None:
        """Continue the conversation, as a client does that knows nothing of the archive."""
        more = self.written.more(plan, self.expected[len(self.written.data) :])
        if more and self.at.path.read_bytes().endswith(b"\n"):
            with self.at.path.open("ab") as stream:
                stream.write(more)
            self.expected += more

    @precondition(lambda self: self.states)
    @rule()
    def rewind_last(self) -> None:
        """Undo the newest compaction in effect."""
        rewind(RewindOptions(input=InputOptions(path=str(self.at.path))))

    @precondition(lambda self: self.states)
    @rule()
    def go_back(self) -> None:
        """Undo all compactions."""
        rewind(RewindOptions(input=InputOptions(path=str(self.at.path)), all=True))
        assert self.at.path.read_bytes() == self.expected

    @precondition(lambda self: self.states)
    @rule(pick=PICK)
    def rewind_to(self, pick: int) -> None:
        """Go to any compaction there ever was, in effect or not."""
        operations = {o.id: o for o in self.archive.operations if o.kind == "compact"}
        chosen = operations[sorted(operations)[pick % len(operations)]]
        rewind(RewindOptions(input=InputOptions(path=str(self.at.path)), to=chosen.id))
        data = self.at.path.read_bytes()
        if chosen.id in self.states:
            state = self.states[chosen.id]
            assert data.startswith(state)
            assert self.expected.endswith(data[len(state) :])

    @precondition(lambda self: self.states)
    @rule(pick=PICK)
    def rewind_group(self, pick: int) -> None:
        """Bring one group back; it is gone from the log then, and no pair is parted."""
        groups = [
            g.id
            for e in log(LogOptions(input=InputOptions(path=str(self.at.path)))).operations
            if e.in_effect
            for g in e.groups
        ]
        if not groups:
            return
        chosen = groups[pick % len(groups)]
        before = self.at.path.read_bytes()
        try:
            rewind(RewindOptions(input=InputOptions(path=str(self.at.path)), group=chosen))
        except ChangedError:
            assert self.at.path.read_bytes() == before
            return
        entries = log(LogOptions(input=InputOptions(path=str(self.at.path)))).operations
        assert chosen not in [g.id for e in entries if e.in_effect for g in e.groups]
        lines, known = split(split_lines(self.expected), "the first state", self.format.name)
        first = parse(lines, known).effective
        assert parted(self.messages()) <= parted(first)

    @precondition(lambda self: self.states)
    @rule(pick=PICK)
    def edit_by_hand(self, pick: int) -> None:
        """Change a byte of what the archive knows: a known state is restored, or nothing."""
        data = self.at.path.read_bytes()
        known = min((o.after.n_bytes for o in self.archive.operations), default=0)
        at = pick % min(known, len(self.written.data))
        edited = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        self.at.path.write_bytes(edited)
        code = 0
        try:
            rewind(
                RewindOptions(
                    input=InputOptions(path=str(self.at.path)),
                    all=True,
                    output=OutputOptions(path=str(self.at.out)),
                )
            )
        except CompactctlError as error:
            code = error.exit_code
        # 7 and 4: an inline transcript is asked for its own originals, if it is still JSON.
        assert code in {0, 4, 7, 8}
        assert code or self.is_known(self.at.out.read_bytes())
        assert self.at.path.read_bytes() == edited
        assert self.verdict() in {"changed", "damaged"}
        self.at.path.write_bytes(data)

    @invariant()
    def can_be_viewed(self) -> None:
        """What is hidden can be shown with its group, among what is not."""
        if not hasattr(self, "format"):
            return
        read = InputOptions(path=str(self.at.path), format=self.format.name)
        shown = view(ViewOptions(input=read, what="all"))
        archived = view(ViewOptions(input=read, what="archived"))
        assert told(line for line in shown.lines if line.hidden_by) == told(archived.lines)
        visible = [line.data for line in shown.lines if not line.hidden_by]
        assert b"".join(visible) in (self.at.path.read_bytes(), b"".join(visible))

    @invariant()
    def can_be_verified(self) -> None:
        """Whatever has happened, every state that is left is proven."""
        if self.states:
            assert self.verdict() == "proven"

    def verdict(self) -> str:
        """Return what a verification comes to."""
        (found,) = verify(VerifyOptions(paths=(str(self.at.path),))).transcripts
        return found.verdict

    def is_known(self, data: bytes) -> bool:
        """Tell whether some operation began with this state."""
        states = [operation.before for operation in self.archive.operations]
        return any(digest_of(data[: state.n_bytes]) == state for state in states)

    def messages(self) -> Any:
        """Return the effective history now."""
        return load(
            InputOptions(path=str(self.at.path), format=self.format.name)
        ).transcript.effective


TestLife = Life.TestCase
TestLife.settings = settings(tries(12), stateful_step_count=8)
