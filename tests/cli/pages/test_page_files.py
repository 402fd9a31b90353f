"""Files of pages: what gives way to them, who may ask for them, and what they need."""

from pathlib import Path

import pytest
from cli.asking import Ask, Sample

REFUSED = "exists, and may not be compactctl's own output"


def test_its_own_page_gives_way_and_no_other(ask: Ask, desk: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert ask("stats", desk, "--html", page).code == 0
    first = page.read_bytes()
    assert ask("stats", desk, "--html", page).code == 0
    assert page.read_bytes() == first, "the same transcript gives the same page"
    assert ask("stats", desk, "--redact", "--html", page).code == 0
    page.write_bytes(first.replace(b"next", b"last", 1))
    changed = page.read_bytes()
    outcome = ask("stats", desk, "--html", page)
    assert outcome.code == 2
    assert REFUSED in outcome.err
    assert page.read_bytes() == changed
    assert ask("stats", desk, "--html", page, "--force").code == 0
    assert page.read_bytes() == first


@pytest.mark.parametrize("name", ["run.jsonl", "nowhere/page.html", "."])
def test_a_page_takes_no_place_that_is_taken(
    ask: Ask, desk: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = desk.rename("run.jsonl").read_bytes()
    outcome = ask("stats", "run.jsonl", "--html", name, "--force")
    assert outcome.code == 2
    assert outcome.out == ""
    assert Path("run.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--redact",), "--redact has no effect without --html"),
        (("--no-mask-secrets",), "--no-mask-secrets has no effect without --html"),
        (("--html", "-"), "--html: cannot write to standard output"),
    ],
)
def test_what_makes_no_sense_is_refused(
    ask: Ask, desk: Path, given: tuple[str, ...], said: str
) -> None:
    outcome = ask("stats", desk, *given)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


@pytest.mark.parametrize("setting", ['html = "page.html"', "redact = true", "mask-secrets = false"])
def test_a_project_asks_for_no_page(
    ask: Ask, sample: Sample, tmp_path: Path, setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compactctl.toml").write_text(f"[stats]\n{setting}\n")
    outcome = ask("stats", sample("openai-chat"))
    assert outcome.code == 2
    assert setting.partition(" ")[0] in outcome.err
    assert not (tmp_path / "page.html").exists()
