"""What a check finds in our own output is said to be our fault, and nothing is written."""

from collections.abc import Iterator
from typing import Any

import pytest
from cli.asking import Ask
from sessions.homes import Home
from sessions.long_sessions import EACH, SAID, SMALL, WRITERS, everything_below

from compactctl.errors import INTERNAL_ERROR
from compactctl.pipeline import layout
from compactctl.pipeline.layout import NewLine

WAYS = {
    "new session": (),
    "in place": ("--in-place",),
    "another file": ("-o", "out.jsonl"),
    "inline": ("--layout", "inline", "-o", "-", "--force"),
}


def without_newest_answer(*given: Any, **options: Any) -> Iterator[NewLine]:
    """Lay out the new file as if the line of the newest text had been forgotten."""
    lines = list(_LAY_OUT(*given, **options))
    newest = max(n for n, line in enumerate(lines) if f"of {SAID.id}".encode() in line.data)
    yield from (line for n, line in enumerate(lines) if n != newest)


_LAY_OUT = layout.lay_out


@pytest.mark.parametrize("way", WAYS)
@EACH
def test_a_file_that_was_laid_out_wrong(
    home: Home, ask: Ask, monkeypatch: pytest.MonkeyPatch, client: str, way: str
) -> None:
    session = WRITERS[client](home)
    before = everything_below(home.root)
    monkeypatch.setattr("compactctl.commands.compact.draft.lay_out", without_newest_answer)

    outcome = ask("compact", session, *SMALL, *WAYS[way])

    assert outcome.code == INTERNAL_ERROR
    assert "compactctl made a mistake: the new file would not read back" in outcome.err
    assert "nothing was written, and this file is not at fault; please report this" in outcome.err
    assert everything_below(home.root) == before


def test_a_new_session_that_its_client_would_refuse(
    home: Home, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = WRITERS["copilot-cli"](home)
    before = everything_below(home.root)
    monkeypatch.setattr(
        "compactctl.clients.copilot_cli.format.CopilotCli.new_id", lambda *_: "summary"
    )

    outcome = ask("compact", session, *SMALL)

    assert outcome.code == INTERNAL_ERROR
    assert "Copilot CLI refuses the new session (user.message has no UUID as its id)" in outcome.err
    assert everything_below(home.root) == before


@EACH
def test_an_archive_that_does_not_restore_the_session(
    home: Home, ask: Ask, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    session = WRITERS[client](home)
    before = everything_below(home.root)
    monkeypatch.setattr(
        "compactctl.pipeline.archive_rows._RowsWithLines.__iter__", lambda _: iter(())
    )

    outcome = ask("compact", session, *SMALL)

    assert outcome.code == INTERNAL_ERROR
    assert "the new archive does not restore the transcript; nothing was written" in outcome.err
    left = everything_below(home.root)
    assert {path: left[path] for path in before} == before
    assert not [path for path in left if path not in before and path.suffix == ".jsonl"]
