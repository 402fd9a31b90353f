"""Usage that cannot be true: the same warning and the same answer in every command."""

from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask
from false_usage import LIES, with_usage

WARNING = "line 188: reported usage of 3 tokens is less than the 26,425 tokens counted"


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a session written behind a proxy that does not forward cache counts."""
    path = tmp_path_factory.mktemp("proxied") / "run.jsonl"
    data = (SAMPLES / "codex-session.jsonl").read_bytes()
    path.write_bytes(with_usage(data, LIES["three"]))
    return path


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("stats", ()),
        ("check", ()),
        ("compact", ("--dry-run",)),
        ("simulate", ("--profile", "default")),
        ("view", ("--message", "20")),
    ],
)
def test_every_command_warns_once(
    ask: Ask, proxied: Path, command: str, options: tuple[str, ...]
) -> None:
    outcome = ask(command, proxied, *options)
    assert outcome.err.count("warning: ") == outcome.err.count(WARNING) == 1


def test_gates_take_the_count(ask: Ask, proxied: Path) -> None:
    small = ("--window", "30k")
    assert ask("check", proxied, *small).code == 1
    assert ask("batch", proxied, "--no-cache", "--fail-over", "0.8", *small).code == 1
    assert ask("batch", proxied, "--no-cache", "--fail-on", "usage").code == 1
    assert ask("stats", proxied, "--fail-over", "0.8", *small).code == 1
    compact = ("compact", proxied, "--dry-run", "--if-needed", "--json", *small)
    found = ask(*compact).json
    assert found["tokensSaved"] > 0
    assert [WARNING in warning for warning in found["warnings"]] == [True]


def test_documents_name_what_is_doubted(ask: Ask, proxied: Path) -> None:
    for command in ("stats", "check"):
        found = ask(command, proxied, "--json").json
        assert WARNING in found["doubtedUsage"]
        assert found["estimatedInputTokens"] == 26_007


@pytest.mark.parametrize("command", ["stats", "check", "view"])
def test_screens_name_the_counter(ask: Ask, proxied: Path, command: str) -> None:
    options = {"view": ("--message", "20"), "stats": ("--details",)}.get(command, ())
    counter = ask("stats", proxied, "--json").json["counter"]
    lines = ask(command, proxied, *options).out.splitlines()
    assert [counter in line for line in lines if line.startswith("counted with")] == [True]


def test_the_file_to_look_at_is_named_as_it_is_typed(
    ask: Ask, proxied: Path, tmp_path: Path
) -> None:
    path = tmp_path / "my run.jsonl"
    path.write_bytes(proxied.read_bytes())
    assert f"see compactctl check '{path}'" in ask("batch", path).err
