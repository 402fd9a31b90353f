"""One rule for all outputs: what compactctl did not write is overwritten only by force."""

from pathlib import Path

import pytest
from cli.asking import Ask, Outcome, Sample, archives
from pyarrow import parquet

REFUSED = "exists, and may not be compactctl's own output"
SUMMARIZED = ("--stages", "summarize", "--counter", "chars/4")
LOG = "".join(f"line {n} of the log\n" for n in range(5_000)).encode()


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(outcome: Outcome) -> None:
    assert outcome.code == 2
    assert REFUSED in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_a_rewind_overwrites_no_foreign_file(
    ask: Ask, desk: Path, tmp_path: Path, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, notes = tmp_path / "small.jsonl", tmp_path / "notes.txt"
    ask("compact", desk, "--target", "5k", "--layout", layout, "-o", small)
    notes.write_text("mine")
    before = contents(tmp_path)
    refused(ask("rewind", small, "-o", notes))
    assert contents(tmp_path) == before
    monkeypatch.chdir(tmp_path)
    assert f" {notes.name}: exists" in ask("rewind", small, "-o", notes.name).err
    assert ask("rewind", small, "-o", notes, "--force").code == 0
    assert notes.read_bytes() == desk.read_bytes()
    assert ask("rewind", small, "-o", notes).code == 0, "what it wrote itself it may write again"


def test_a_rewind_overwrites_a_state_that_the_archive_keeps(
    ask: Ask, desk: Path, compacted: Path, tmp_path: Path
) -> None:
    restored = tmp_path / "restored.jsonl"
    operation = archives(compacted)[0].stem.split("-")[-1]
    assert ask("rewind", compacted, "-o", restored).code == 0
    assert ask("rewind", compacted, "--to", operation, "-o", restored).code == 0
    assert restored.read_bytes() == compacted.read_bytes()
    assert ask("rewind", compacted, "-o", restored).code == 0
    assert restored.read_bytes() == desk.read_bytes()


@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("way", ["same", "dots", "link"])
def test_an_output_that_is_the_input_is_work_in_place(
    ask: Ask, desk: Path, way: str, layout: str
) -> None:
    before = desk.read_bytes()
    link = desk.with_name("link.jsonl")
    link.symlink_to(desk)
    names = {"same": desk, "dots": desk.parent / "." / desk.name, "link": link}
    to_itself = ("-o", names[way])
    outcome = ask("compact", desk, "--target", "5k", "--layout", layout, *to_itself)
    assert outcome.code == 0
    small = desk.read_bytes()
    assert small != before
    outcome = ask("rewind", desk, *to_itself)
    assert outcome.code == 0
    assert desk.read_bytes() == before
    assert link.is_symlink()
    back = outcome.err.rpartition("redo      compactctl ")[2].split()
    assert ask(*back).code == 0
    assert desk.read_bytes() == small


def test_another_name_of_the_input_is_refused_as_in_place(ask: Ask, desk: Path) -> None:
    other = desk.with_name("other.jsonl")
    other.hardlink_to(desk)
    for way in (("--in-place",), ("-o", other)):
        outcome = ask("compact", desk, "--target", "5k", *way)
        assert outcome.code == 2
        assert "has hard links, which would keep the old content" in outcome.err
    assert other.samefile(desk)


def test_a_report_overwrites_only_reports_that_nobody_changed(
    ask: Ask, desk: Path, tmp_path: Path
) -> None:
    report, out = tmp_path / "report.parquet", tmp_path / "out"
    measure = ("batch", desk, "--report", report)
    report.write_text("mine")
    outcome = ask(*measure, "--out", out)
    refused(outcome)
    assert outcome.out == ""
    assert not list(out.rglob("*.jsonl")), "refused before any work is done"
    assert ask(*measure, "--force").code == 0
    assert ask(*measure).code == 0
    assert ask(*measure, "--model", "gpt-4o").code == 0
    table = parquet.read_table(report)
    parquet.write_table(table.append_column("note", [["mine"]]), report)
    refused(ask(*measure))
    parquet.write_table(table.drop_columns(["path"]), report)
    refused(ask(*measure))
    assert ask(*measure, "--force").code == 0


def test_an_inline_output_is_written_again_as_long_as_it_is_the_same(ask: Ask, desk: Path) -> None:
    compact = ("compact", desk, "--target", "5k", "--layout", "inline")
    assert ask(*compact).code == 0
    assert ask(*compact).code == 0
    refused(ask("compact", desk, "--target", "9k", "--layout", "inline"))


def test_a_copy_without_changes_gives_way_to_the_next_compaction(
    ask: Ask, desk: Path, compacted: Path
) -> None:
    small = compacted.read_bytes()
    assert ask("compact", desk, "--target", "50k", "-o", compacted).code == 0
    assert compacted.read_bytes() == desk.read_bytes()
    assert ask("compact", desk, "--stages", "summarize,truncate").code == 0
    assert compacted.read_bytes() == small
    assert ask("verify", compacted).code == ask("rewind", compacted).code == 0
    assert compacted.read_bytes() == desk.read_bytes()


@pytest.mark.parametrize(
    "later",
    [
        "compact FILE --target 5k -o OUT",
        "compact FILE --target 50k -o OUT",
        "rescue FILE --target 5k -o OUT",
        "tag FILE --truncate 4..9 --widen -o OUT",
        "batch FILE --keep 50% --out FOLDER",
        "compact FILE --target 5k -o OUT --force",
    ],
)
def test_what_gives_way_to_a_compaction_can_be_had_again(
    ask: Ask, desk: Path, tmp_path: Path, later: str
) -> None:
    out, summary = tmp_path / "out" / "openai-chat.compacted.jsonl", tmp_path / "summary.txt"
    out.parent.mkdir()
    summary.write_text("What I know of these messages, in my own words.")
    by_hand = ("--hide", "4..9", "--widen", "--summary-file", summary)
    assert ask("compact", desk, *by_hand, "-o", out).code == 0
    mine, (archive,) = out.read_bytes(), archives(out)
    places: dict[str, Path] = {"FILE": desk, "OUT": out, "FOLDER": out.parent}
    for _ in range(2):
        assert ask(*(places.get(word, word) for word in later.split())).code == 0
    assert out.read_bytes() != mine
    assert ask("rewind", out, "--to", archive.stem.split("-")[-1]).code == 0
    assert out.read_bytes() == mine
    assert ask("verify", out).code == 0


WITH_FOLDERS = (
    *("batch --html", "batch --report", "batch --junit", "batch --messages-out"),
    *("batch --rounds-out", "eval --html", "eval --report", "eval --plot"),
)


@pytest.mark.parametrize("output", WITH_FOLDERS)
def test_force_replaces_no_transcript_in_a_folder_that_is_read(
    ask: Ask, desk: Path, output: str
) -> None:
    before = contents(desk.parent)
    command, option = output.split()
    outcome = ask(command, desk.parent, option, desk, "--force")
    reasons = ("is an input or an output", "cannot write .jsonl; use parquet")
    assert (outcome.code, any(reason in outcome.err for reason in reasons)) == (2, True)
    assert contents(desk.parent) == before


def test_a_page_does_not_take_the_place_of_an_output_and_may_lie_beside_it(
    ask: Ask, desk: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    compact = ("batch", desk, "--keep", "50%", "--out", out)
    taken = out / "openai-chat.compacted.jsonl"
    assert ask(*compact, "--html", taken, "--force").code == 2
    assert ask(*compact, "--html", out, "--force").code == 2
    assert not taken.exists()
    assert ask(*compact, "--html", out / "page.html").code == 0


@pytest.mark.parametrize(
    "command",
    [
        *("compact FILE --target 5k -o", "compact FILE --target 5k --archived-out"),
        *("compact FILE --target 5k --html", "compact FILE --target 5k --plan-out"),
        *("rescue FILE --target 5k -o", "compact FILE --hide 4..9 --widen -o", "rewind SMALL -o"),
        *("stats FILE --html", "stats FILE --rounds-out", "batch FILE --report"),
        *("batch FILE --junit", "eval FILE --plot"),
    ],
)
def test_a_place_where_no_file_can_be_is_refused_before_any_work(
    ask: Ask, desk: Path, compacted: Path, command: str
) -> None:
    places: dict[str, Path] = {"FILE": desk, "SMALL": compacted}
    folder = desk.parent / "folder"
    folder.mkdir()
    before = contents(desk.parent)
    words = [places.get(word, word) for word in command.split()]
    for place in (folder, folder / "missing" / "out", archives(compacted)[0]):
        outcome = ask(*words, place, "--force")
        assert (outcome.code, outcome.err.count("\n")) == (2, 1), place
        assert contents(desk.parent) == before, place


def test_a_file_is_no_folder_for_outputs(ask: Ask, desk: Path) -> None:
    outcome = ask("batch", desk, "--keep", "50%", "--out", desk, "--force")
    assert (outcome.code, "is not a folder" in outcome.err) == (2, True)


@pytest.mark.parametrize("written", ["now", "by an older version"])
def test_compacting_to_the_same_sizes_again_damages_nothing(
    ask: Ask, desk: Path, compacted: Path, written: str
) -> None:
    sizes = ("6k", "7k", "5k", "6k", "8k", "5k")
    assert [ask("compact", desk, "--target", size).code for size in sizes] == [0] * len(sizes)
    for file in Path(f"{compacted}.archive").glob("displaced-*"):
        if written != "now":
            file.unlink()
    outcome = ask("verify", compacted)
    assert (outcome.code, "replaced" in outcome.out) == (0, written != "now")


@pytest.mark.parametrize("options", [("--target", "50k"), ("--target", "5k", "--layout", "inline")])
def test_what_an_archive_would_not_fit_is_not_written_beside_it(
    ask: Ask, sample: Sample, compacted: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    before = contents(tmp_path)
    outcome = ask("compact", sample("anthropic-messages"), *options, "-o", compacted)
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "has its own archive, which would no longer match" in outcome.err
    assert {path: data for path, data in contents(tmp_path).items() if path in before} == before
    assert ask("log", compacted).code == ask("rewind", compacted).code == 0


def test_a_spilled_output_overwrites_nothing_else(ask: Ask, tmp_path: Path) -> None:
    spill = ("harness", "limit-output", "--spill-dir", tmp_path)
    assert ask(*spill, stdin=LOG).code == 0
    (saved,) = tmp_path.iterdir()
    assert ask(*spill, stdin=LOG).code == 0
    saved.write_text("mine")
    refused(ask(*spill, stdin=LOG))
    assert saved.read_text() == "mine"


@pytest.mark.parametrize(
    "target",
    [("-o", "nowhere/out.jsonl"), ("-o", "."), ("-o", "mine.jsonl"), ("-o", "full"), ()],
    ids=" ".join,
)
def test_a_dry_run_refuses_what_the_run_would_refuse(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch, target: tuple[str, ...]
) -> None:
    monkeypatch.chdir(desk.parent)
    for name in ("mine.jsonl", "openai-chat.compacted.jsonl"):
        Path(name).write_text("mine")
    before = contents(desk.parent)
    Path("full").symlink_to("nowhere/out.jsonl")
    dry = ask("compact", desk, "--target", "5k", "-n", *target)
    assert (dry.code, dry.out) == (2, "")
    assert dry == ask("compact", desk, "--target", "5k", *target)
    assert contents(desk.parent) == before


def test_a_dry_run_makes_no_folder(ask: Ask, desk: Path) -> None:
    before = contents(desk.parent)
    assert ask("compact", desk, "--target", "5k", "-n").code == 0
    assert ask("batch", desk, "--target", "5k", "--out", desk.parent / "out", "-n").code == 0
    assert contents(desk.parent) == before


@pytest.mark.parametrize("option", ["--html", "--plan-out"])
def test_no_other_file_of_the_command_is_overwritten(
    ask: Ask, desk: Path, tmp_path: Path, option: str
) -> None:
    output, archived = tmp_path / "out.jsonl", tmp_path / "archived.jsonl"
    outputs = ("-o", output, "--archived-out", archived)
    for path in (desk, output, archived):
        outcome = ask("compact", desk, *SUMMARIZED, *outputs, option, path, "--force")
        assert outcome.code == 2, outcome.out
    assert not output.exists()
    # The name that is used without -o is another one's here.
    default = desk.with_name("openai-chat.compacted.jsonl")
    assert ask("compact", desk, *SUMMARIZED, option, default, "--force").code == 2
    named = ask("compact", desk, *SUMMARIZED, "-o", "-", "--layout", "inline", option, default)
    assert named.code == 0, named.err
    assert default.exists()
