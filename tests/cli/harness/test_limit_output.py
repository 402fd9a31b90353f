"""``limit-output``: any text in, at most so much out, and nothing lost on the way."""

import hashlib
import json
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.commands.harness.limit_output import LimitOutputOptions, limit_output
from compactctl.stages.support.cutting import line_count

LOG = "".join(f"line {n} of the log\n" for n in range(5_000)).encode()


def saved_at(folder: Path, data: bytes) -> Path:
    return folder / f"{hashlib.sha256(data).hexdigest()[:32]}.txt"


@pytest.mark.parametrize("data", [b"", b"short", b"a\r\nb", "é☃🙂\n".encode()])
def test_what_is_within_the_limits_comes_out_as_it_went_in(
    ask: Ask, tmp_path: Path, data: bytes
) -> None:
    outcome = ask("harness", "limit-output", "--spill-dir", tmp_path, stdin=data)
    assert (outcome.code, outcome.out.encode(), outcome.err) == (0, data, "")
    assert list(tmp_path.iterdir()) == []


def test_on_a_runner_no_line_of_an_output_is_a_command_but_a_document_has_it_as_it_was(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "::error::no such file\n"
    assert ask("harness", "limit-output", stdin=line.encode()).out == line
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert ask("harness", "limit-output", stdin=line.encode()).out == f"\\{line}"
    document = ask("harness", "limit-output", "--json", stdin=line.encode()).out
    assert json.loads(document)["content"] == line


def test_what_is_over_is_cut_at_both_ends(ask: Ask) -> None:
    shown = ask("harness", "limit-output", stdin=LOG).out
    assert line_count(shown) == 2_000
    assert shown.startswith("line 0 of the log\n")
    assert shown.endswith("line 4999 of the log\n")
    assert f"\n[Output truncated from {len(LOG)} bytes to " in shown


@pytest.mark.parametrize(
    ("options", "first", "last"),
    [
        (("--direction", "head"), "line 0 of the log", "gone"),
        (("--direction", "tail"), "gone", "line 4999 of the log"),
        (("--head-ratio", "0"), "gone", "line 4999 of the log"),
    ],
)
def test_which_end_stays_is_chosen(
    ask: Ask, options: tuple[str, ...], first: str, last: str
) -> None:
    lines = ask(
        "limit-output", "-", "--max-lines", "6", "--marker", "[{omitted} gone]", *options, stdin=LOG
    ).out.splitlines()
    shown = ["gone" if line.endswith(" gone]") else line for line in lines]
    assert len(shown) == 6
    assert shown.count("gone") == 1
    assert (shown[0], shown[-1]) == (first, last)


def test_the_whole_output_is_saved_for_its_owner(ask: Ask, tmp_path: Path) -> None:
    folder = tmp_path / "outputs" / "today"
    shown = ask(
        "harness", "limit-output", "--max-bytes", "500", "--spill-dir", folder, stdin=LOG
    ).out
    place = saved_at(folder, LOG)
    assert place.read_bytes() == LOG
    assert place.stat().st_mode & 0o077 == 0
    assert f" bytes]\nFull output saved to: {place}\n" in shown
    assert len(shown.encode()) <= 500
    assert (
        ask("harness", "limit-output", "--max-bytes", "500", "--spill-dir", folder, stdin=LOG).out
        == shown
    )
    assert list(folder.iterdir()) == [place]


def test_bytes_that_are_no_text_stay_as_they_are(tmp_path: Path) -> None:
    data = bytes(range(256)) * 40
    (tmp_path / "output").write_bytes(data)
    options = LimitOutputOptions(
        path=str(tmp_path / "output"), max_bytes=1_000, spill_dir=str(tmp_path / "saved")
    )
    result = limit_output(options)
    assert len(result.data) <= 1_000
    assert data.startswith(result.data.split(b"\n[Output")[0])
    assert saved_at(tmp_path / "saved", data).read_bytes() == data
    assert result.original_size == len(data)


def test_the_document_has_the_fields_of_neurolink(ask: Ask, tmp_path: Path) -> None:
    found = ask(
        "harness",
        "limit-output",
        "--max-lines",
        "9",
        "--spill-dir",
        tmp_path,
        "--json",
        stdin=LOG,
    ).json
    assert found.pop("content").count("\n") == 9
    assert found == {
        "schema": "compactctl.limit-output/1",
        "truncated": True,
        "savedPath": str(saved_at(tmp_path, LOG)),
        "originalSize": len(LOG),
    }
    assert ask("harness", "limit-output", "--json", stdin=b"hi \xff").json == {
        "schema": "compactctl.limit-output/1",
        "content": "hi \udcff",
        "truncated": False,
        "savedPath": None,
        "originalSize": 4,
    }


def test_an_output_that_cannot_be_saved_is_told(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    outcome = ask("harness", "limit-output", "--spill-dir", tmp_path / "taken", stdin=LOG)
    assert (outcome.code, outcome.out) == (74, "")
    assert outcome.err == (
        f"compactctl: {tmp_path / 'taken'}: File exists; the full output was not saved; name "
        "another folder with --spill-dir\n"
    )


def test_a_missing_file_is_told(ask: Ask, tmp_path: Path) -> None:
    assert ask("harness", "limit-output", tmp_path / "missing").code == 3
