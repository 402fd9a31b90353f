"""Which settings files are in effect, and what is said of those that cannot be read."""

from pathlib import Path

import pytest

from compactctl.errors import UsageError
from compactctl.store.settings import SettingsFile, find_settings, read_settings, user_settings

SHARED = "[tool.compactctl]\ntarget = '5k'\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project; above it is a settings file that it does not see."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "compactctl.toml").write_text("keep = '1%'\n")
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    (root / "deep" / "er").mkdir(parents=True)
    return root


def tables(start: Path) -> list[tuple[str, object, bool]]:
    return [
        (file.path.name, dict(file.table), file.is_project_file) for file in find_settings(start)
    ]


def test_the_nearest_file_of_the_project_comes_before_the_users(project: Path) -> None:
    assert tables(project / "deep" / "er") == []
    (project / "pyproject.toml").write_text(SHARED)
    shared = ("pyproject.toml", {"target": "5k"}, True)
    assert tables(project / "deep" / "er") == [shared]
    (project / "compactctl.toml").write_text("target = '6k'\n")
    assert tables(project) == [("compactctl.toml", {"target": "6k"}, True)]
    (project / "deep" / "pyproject.toml").write_text("[tool.other]\n")
    (project / "deep" / "compactctl.toml").write_text("\ufefftarget = '7k'\n")
    user = project.parent / "config" / "compactctl" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("target = '8k'\n")
    assert tables(project / "deep" / "er") == [
        ("compactctl.toml", {"target": "7k"}, True),
        ("config.toml", {"target": "8k"}, False),
    ]


def test_outside_of_a_project_the_search_goes_up_to_the_root(project: Path) -> None:
    (project / ".git").rmdir()
    assert tables(project / "deep") == [("compactctl.toml", {"keep": "1%"}, True)]
    (project / ".hg").touch()
    assert tables(project / "deep") == []


@pytest.mark.parametrize("text", ["", "[tool]\n", "[tool.compactctl-other]\n", "tool = 7\n"])
def test_a_shared_file_without_our_table_is_passed_over(project: Path, text: str) -> None:
    path = project / "pyproject.toml"
    path.write_text(text)
    assert tables(project) == []
    assert read_settings(path) == SettingsFile(path=path, table={})
    path.write_text("[tool]\ncompactctl = 7\n")
    assert tables(project) == []


def test_an_invalid_shared_file_matters_only_if_it_names_our_table(project: Path) -> None:
    path = project / "pyproject.toml"
    path.write_text("<<<<<<< compactctl\n")
    assert tables(project) == []
    path.write_text(f"<<<<<<<\n{SHARED}")
    with pytest.raises(UsageError, match="settings cannot be read"):
        find_settings(project)
    path.write_text("[tool . 'compactctl']\ntarget = \n")
    with pytest.raises(UsageError, match="settings cannot be read"):
        find_settings(project)
    path.unlink()
    path.mkdir()
    assert tables(project) == []


def test_a_shared_file_that_is_too_long_is_passed_over(project: Path) -> None:
    path = project / "pyproject.toml"
    text = "# compactctl\n"
    path.write_text(text + "#" * ((1 << 20) - len(text)))
    assert read_settings(path).table == {}
    path.write_text(text + "#" * ((1 << 20) - len(text) + 1))
    with pytest.raises(UsageError, match="more than 1,048,576 bytes, too many for settings"):
        read_settings(path)
    assert tables(project) == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"a = 1\n\nb = '\xff'\n", "line 3 is not UTF-8; save the file as UTF-8"),
        (b"\n'\xff'", "line 2 is not UTF-8; save the file as UTF-8"),
        (b"a = " + b"[" * 5_000, "nested too deeply; simplify it"),
        (b"a = \n", 'Invalid value (at line 1, column 5); write TOML, e.g. model = "o3"'),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "any.toml"
    path.write_bytes(data)
    with pytest.raises(UsageError) as raised:
        read_settings(path)
    assert str(raised.value) == f"{path}: settings cannot be read: {why}"
    with pytest.raises(UsageError, match=r"No such file or directory; name a readable file$"):
        read_settings(tmp_path / "none.toml")


def test_the_users_file_needs_an_absolute_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value, expected in (
        ("XDG_CONFIG_HOME", "/own", Path("/own/compactctl/config.toml")),
        ("XDG_CONFIG_HOME", "own", None),
        ("XDG_CONFIG_HOME", "", Path("/home/me/.config/compactctl/config.toml")),
    ):
        monkeypatch.setenv("HOME", "/home/me")
        monkeypatch.setenv(variable, value)
        assert user_settings() == expected
    monkeypatch.setenv("HOME", "me")
    assert user_settings() is None
