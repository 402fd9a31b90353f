"""Every byte comes back: from the archive, from an inline file, forwards and backwards."""

from typing import Any

from examples import tries
from hypothesis import assume, given
from hypothesis import strategies as st
from properties.jobs import LONG_TRANSCRIPTS, WAYS, Written, bench, read
from properties.plans import LONG_PLANS, PLANS, Plan

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.reading.transcript import InputOptions
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.store.archive.archive import Archive, archive_folder


@tries(50)
@given(written=LONG_TRANSCRIPTS, way=WAYS)
def test_rewind_gives_the_bytes_back(written: Written, way: dict[str, Any]) -> None:
    with bench(written.data) as at:
        read(at)
        assume(compact(at.options(**way)).compacted)
        result = rewind(RewindOptions(input=InputOptions(path=str(at.out))))
        assert at.out.read_bytes() == written.data
        assert result.appended.carried == 0
        assert at.path.read_bytes() == written.data


@tries(30)
@given(written=LONG_TRANSCRIPTS, way=WAYS, second=WAYS)
def test_rewind_goes_to_every_state_and_back(
    written: Written, way: dict[str, Any], second: dict[str, Any]
) -> None:
    with bench(written.data) as at:
        read(at)
        states = {"first": written.data}
        for one in (way, second):
            result = compact(at.options(**one, in_place=True))
            states |= (
                {result.change.operation: at.path.read_bytes()} if result.change.operation else {}
            )
        assume(len(states) > 1)
        for name in [*states, *reversed(states), *states]:
            target = {"all": True} if name == "first" else {"to": name}
            rewind(RewindOptions(input=InputOptions(path=str(at.path)), **target))
            assert at.path.read_bytes() == states[name]


@tries(30)
@given(written=LONG_TRANSCRIPTS, way=WAYS, later=PLANS, latest=PLANS)
def test_what_was_appended_stays_at_the_end(
    written: Written, way: dict[str, Any], later: Plan, latest: Plan
) -> None:
    with bench(written.data) as at:
        more = written.more(later)
        most = written.more(latest, more)
        assume(more)
        read(at)
        assume(compact(at.options(**way)).compacted)
        compacted = at.out.read_bytes()
        assume(compacted.endswith(b"\n"))
        at.out.write_bytes(compacted + more)
        assert rewind(RewindOptions(input=InputOptions(path=str(at.out)))).appended.carried == len(
            more
        )
        assert at.out.read_bytes() == written.data + more
        assume(way["layout"] == "split")
        at.out.write_bytes(written.data + more + most)
        (operation,) = (o for o in Archive(archive_folder(at.out)).operations if o.kind != "rewind")
        rewind(RewindOptions(input=InputOptions(path=str(at.out)), to=operation.id))
        assert at.out.read_bytes() == compacted + more + most


@tries(25)
@given(written=LONG_TRANSCRIPTS, way=WAYS, later=LONG_PLANS, check=st.booleans())
def test_a_check_or_another_output_leaves_the_transcript_alone(
    written: Written, way: dict[str, Any], later: Plan, *, check: bool
) -> None:
    with bench(written.data) as at:
        read(at)
        assume(compact(at.options(**way)).compacted)
        at.out.write_bytes(at.out.read_bytes() + written.more(later))
        found = {path: path.read_bytes() for path in at.folder.rglob("*") if path.is_file()}
        elsewhere = None if check else str(at.folder / "elsewhere")
        rewind(
            RewindOptions(
                input=InputOptions(path=str(at.out)),
                check=check,
                output=OutputOptions(path=elsewhere),
            )
        )
        assert {path: path.read_bytes() for path in found} == found
        if elsewhere:
            assert (at.folder / "elsewhere").read_bytes() == written.data + written.more(later)
