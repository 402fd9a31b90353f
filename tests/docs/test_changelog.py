"""The changelog has the form of Keep a Changelog, and CI checks that a branch changes it."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from docs.generate import ROOT

from compactctl import __version__

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
HEADING = re.compile(r"## \[(?P<version>\d+\.\d+\.\d+)\] - (?P<date>\d{4}-\d\d-\d\d|unreleased)")
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
CI = ROOT / ".ci"
GIT = shutil.which("git") or "git"


def faults(changelog: str) -> Iterator[str]:
    """Yield what is wrong with the form of a changelog."""
    title, *sections = re.split(r"^(?=## )", changelog, flags=re.MULTILINE)
    if not title.startswith("# Changelog\n"):
        yield "the title is not # Changelog"
    headings = [section.partition("\n")[0] for section in sections]
    matches = [match for heading in headings if (match := HEADING.fullmatch(heading))]
    if len(matches) < len(headings) or not matches:
        yield "the heading of a version is not ## [1.2.3] - YYYY-MM-DD or ## [1.2.3] - unreleased"
    versions = [tuple(map(int, match["version"].split("."))) for match in matches]
    if any(newer <= older for newer, older in pairwise(versions)):
        yield "a version stands above a newer one"
    # "unreleased" is greater than any date.
    dates = [match["date"] for match in matches]
    if any(newer < older for newer, older in pairwise(dates)) or "unreleased" in dates[1:]:
        yield "a date stands above a later one"
    for heading, section in zip(headings, sections, strict=True):
        kinds = re.findall(r"^### (.*)$", section, re.MULTILINE)
        if kinds != sorted(set(kinds) & set(KINDS), key=KINDS.index):
            yield f"{heading}: the parts are not among {', '.join(KINDS)}, each once, in this order"
        if re.search(r"^### .*\n(?!\n- )", section, re.MULTILINE) or not kinds:
            yield f"{heading}: a part has no list"


def test_the_changelog_has_its_form() -> None:
    assert list(faults(CHANGELOG)) == []


NEWER = "## [0.2.0] - unreleased\n\n### Added\n\n- More.\n\n"
OLDER = "## [0.1.0] - 2026-01-02\n\n### Fixed\n\n- Less.\n"


WRONG = {
    "title": f"# News\n\n{NEWER}{OLDER}",
    "order": f"# Changelog\n\n{OLDER}\n{NEWER}",
    "second one unreleased": f"# Changelog\n\n{NEWER}{OLDER.replace('2026-01-02', 'unreleased')}",
    "dates": f"# Changelog\n\n{NEWER.replace('unreleased', '2025-12-31')}{OLDER}",
    "kind": f"# Changelog\n\n{NEWER.replace('Added', 'New')}{OLDER}",
    "no list": f"# Changelog\n\n{NEWER.replace('- More.', '')}{OLDER}",
    "heading": f"# Changelog\n\n{NEWER.replace('[0.2.0]', '0.2.0')}{OLDER}",
    "no version": "# Changelog\n",
}


@pytest.mark.parametrize("changelog", WRONG.values(), ids=WRONG)
def test_another_form_is_found(changelog: str) -> None:
    assert list(faults(f"# Changelog\n\n{NEWER}{OLDER}")) == []
    assert list(faults(changelog))


def test_the_changelog_has_the_version() -> None:
    assert f"## [{__version__}]" in CHANGELOG, (
        f"CHANGELOG.md: add a section ## [{__version__}], the version in compactctl/__init__.py"
    )


def git(folder: Path, *words: str) -> None:
    own = ("-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false")
    subprocess.run([GIT, *own, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, message: str, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{message}\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", message)


def check(folder: Path, base: str) -> subprocess.CompletedProcess[str]:
    words = [str(folder / ".ci" / "changelog"), base]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    """Return a repository in which a branch has left main, which has moved on."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(CI / "changelog", tmp_path / ".ci")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "Start", "compactctl/a.py", "CHANGELOG.md")
    git(tmp_path, "branch", "topic")
    commit(tmp_path, "Change both on main", "compactctl/b.py", "CHANGELOG.md")
    git(tmp_path, "checkout", "-q", "topic")
    return tmp_path


@pytest.mark.parametrize(
    ("message", "names", "exit_code"),
    [
        ("Change the package", ["compactctl/a.py"], 1),
        ("Say that it changed", ["compactctl/a.py", "docs/CHANGELOG.md"], 1),
        ("Change both", ["compactctl/a.py", "CHANGELOG.md"], 0),
        ("Change something else", ["docs/compactctl/a.md"], 0),
        ("Move a function\n\nChangelog: none", ["compactctl/a.py"], 0),
        ("Refuse the line\nChangelog: none\nin the middle", ["compactctl/a.py"], 1),
    ],
)
def test_a_branch_that_changes_the_package_changes_the_changelog(
    message: str, names: list[str], exit_code: int, branch: Path
) -> None:
    (branch / "docs" / "compactctl").mkdir(parents=True)
    commit(branch, message, *names)
    done = check(branch, "main")
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert ("Changelog: none" in done.stdout) == bool(exit_code)
    # In CI, the branch has been merged into its base.
    git(branch, "checkout", "-q", "main")
    git(branch, "merge", "-q", "-X", "theirs", "--no-edit", "topic")
    assert check(branch, "HEAD^1").returncode == exit_code


def test_an_unknown_base_is_an_error(branch: Path) -> None:
    commit(branch, "Change both", "compactctl/a.py", "CHANGELOG.md")
    assert check(branch, "nowhere").returncode not in {0, 1}


@pytest.mark.parametrize(
    ("tag", "date", "error"),
    [
        ("v9.9.9", "2026-01-02", f"the version is {__version__}, the tag v9.9.9"),
        (f"v{__version__}", "unreleased", f'no section "## [{__version__}] - YYYY-MM-DD"'),
    ],
)
def test_a_release_has_its_version_and_its_date(
    tag: str, date: str, error: str, tmp_path: Path
) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(CI / "release", tmp_path / ".ci")
    (tmp_path / "compactctl").mkdir()
    (tmp_path / "compactctl" / "__init__.py").write_text(f'__version__ = "{__version__}"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"## [{__version__}] - {date}\n")
    words = [str(tmp_path / ".ci" / "release"), tag]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert error in done.stdout
    assert not (tmp_path / "dist").exists()
