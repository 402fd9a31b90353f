"""Where a report may be written."""

import re
from pathlib import Path

import pytest
from unit.commands.conversations import TALK, saved

from compactctl.commands.output_files import check_report
from compactctl.errors import UsageError


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return saved(tmp_path / "run.jsonl", TALK)


def test_a_new_file_may_be_written(session: Path) -> None:
    check_report(str(session.with_name("report.csv")), (str(session),), force=False)


@pytest.mark.parametrize("force", [False, True])
def test_an_input_is_never_overwritten(session: Path, force: bool) -> None:  # noqa: FBT001
    link = session.with_name("link.jsonl")
    link.symlink_to(session)
    for name in (session, link):
        with pytest.raises(UsageError, match="is an input or an output"):
            check_report(str(name), (str(session),), force=force)


def test_a_file_of_somebody_else_is_overwritten_only_by_force(session: Path) -> None:
    notes = session.with_name("notes.csv")
    notes.write_text("mine\n")
    with pytest.raises(UsageError, match=re.escape(str(notes))):
        check_report(str(notes), (str(session),), force=False)
    check_report(str(notes), (str(session),), force=True)


def test_a_folder_is_no_report(session: Path) -> None:
    with pytest.raises(UsageError):
        check_report(str(session.parent), (), force=True)
