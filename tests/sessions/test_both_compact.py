"""A client's compaction on top of ours, and ours on top of a client's, in all layouts."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli.asking import Ask
from sessions.compacting_clients import BY_CLIENT, Compacting
from sessions.homes import Home
from sessions.long_sessions import SMALL
from sessions.read_files import APPENDED, PRUNE, SUMMARY, Appended, KeptSession, sent, told


@dataclass(frozen=True, kw_only=True)
class Kept(KeptSession):
    """A session of a client that also compacts by itself."""

    def compacted(self, layout: str, stages: tuple[str, ...]) -> "Kept":
        """Compact in a layout; return the session that goes on."""
        options = {"in place": ("--in-place",), "new session": ()}.get(
            layout, ("--native", *self.client.insists)
        )
        output = told(self.ask("compact", self.path, *stages, *options, "--json"))["output"]
        kept = Kept(client=self.client, path=Path(output), ask=self.ask)
        if layout == "native, undone":
            kept.goes_on(f"Undone at {len(kept.path.read_bytes())}.")
            told(self.ask("rewind", kept.path, *self.client.insists, "--json"))
        return kept

    @property
    def by_itself(self) -> Compacting:
        return BY_CLIENT[self.client.format]

    def by_client(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = told(self.ask("log", self.path, "--json"))["byClient"]
        return found

    def check_undone(self, wanted: list[bytes] | Counter[bytes]) -> None:
        """Check what is sent once the client's compactions are undone, in every way.

        If the order is not ``wanted``, more may be sent.
        """
        before, sent_before = self.path.read_bytes(), self.sent

        def check(path: Path) -> None:
            now = sent(path)
            if isinstance(wanted, Counter):
                assert not wanted - Counter(now)
            else:
                assert now == wanted

        undo = ("rewind", self.path, "--client", "--all", "--json")
        check(Path(told(self.ask(*undo))["output"]))
        copy = self.path.parents[6] / "copy.jsonl"
        redone = ("compact", self.path, "--redo", "--stages", "images", "-o", copy, "--json")
        told(self.ask(*redone))
        check(copy)
        told(self.ask(*undo, "--in-place"))
        check(self.path)
        told(self.ask("rewind", self.path, *self.client.insists, "--json"))
        assert self.sent == sent_before
        # A compaction that was undone by appending is gone, with what was appended.
        before_native = self.path.read_bytes()
        assert before_native == before or b"Undone" in before
        told(self.ask(*undo, "--native", *self.client.insists))
        assert self.path.read_bytes().startswith(before_native)
        check(self.path)


LAYOUTS = ("new session", "in place", "native", "native, undone")


@pytest.fixture(params=APPENDED, ids=lambda client: client.format)
def kept(request: pytest.FixtureRequest, home: Home, ask: Ask) -> Kept:
    client: Appended = request.param
    return Kept(client=client, path=client.session(home), ask=ask)


CODEX_PROMPTS = 5
STAGES = pytest.mark.parametrize("stages", [PRUNE, SUMMARY], ids=["prune", "summarize"])
EACH = pytest.mark.parametrize("layout", LAYOUTS)


@pytest.mark.each_choice
@STAGES
@EACH
def test_the_clients_on_top_of_ours(kept: Kept, layout: str, stages: tuple[str, ...]) -> None:
    kept = kept.compacted(layout, stages)
    kept.goes_on("And now?")
    before = kept.sent
    kept.by_itself.compact(kept.path)
    hidden = Counter(before) - Counter(kept.sent)
    [found] = kept.by_client()
    assert (found["messages"], found["inEffect"]) == (hidden.total(), True)
    kept.goes_on("And then?")
    kept.check_undone([*before, kept.sent[-1]])


@pytest.mark.each_choice
@STAGES
@EACH
def test_ours_on_top_of_the_clients(kept: Kept, layout: str, stages: tuple[str, ...]) -> None:
    before = kept.sent
    kept.by_itself.compact_half(kept.path)
    hidden = Counter(before) - Counter(kept.sent)
    summary = Counter(kept.sent) - Counter(before)
    kept = kept.compacted(layout, stages)
    kept.goes_on("And now?")
    [found] = kept.by_client()
    # What Codex kept is in its own record, so a rewritten one counts what ours hides there.
    is_rewritten = kept.client.format == "codex" and "native" not in layout
    prompts = CODEX_PROMPTS if is_rewritten and stages == SUMMARY else 0
    assert found["messages"] == hidden.total() + prompts
    kept.check_undone(Counter(kept.sent) - summary + hidden)


# Each client writes each layout in its own way, so that this tries all of them.
@EACH
def test_each_in_turn(kept: Kept, layout: str) -> None:
    first = kept.sent
    kept.by_itself.compact_half(kept.path)
    hidden = Counter(first) - Counter(kept.sent)
    kept = kept.compacted(layout, PRUNE)
    kept.goes_on("And now?")
    kept = kept.compacted(layout, SMALL)
    before = kept.sent
    kept.by_itself.compact(kept.path)
    kept.goes_on("And then?")
    newest = kept.sent[-1]
    assert Counter(before) - Counter(kept.sent)
    copy = kept.path.parents[6] / "newest.jsonl"
    told(kept.ask("rewind", kept.path, "--client", "-o", copy, "--json"))
    assert sent(copy) == [*before, newest]
    told(kept.ask("rewind", kept.path, "--client", "--all", "-o", copy, "--json"))
    assert not hidden + Counter([*before[-1:], newest]) - Counter(sent(copy))
