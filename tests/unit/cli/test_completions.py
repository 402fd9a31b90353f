"""What shells offer for an option's value, with the text that some of them show beside it."""

from collections.abc import Callable

import click
import pytest
from click.shell_completion import CompletionItem, get_completion_class

from compactctl.cli.group import cli
from compactctl.cli.options.completion import (
    complete_client,
    complete_format,
    complete_model,
    complete_profile,
    complete_stages,
)
from compactctl.cli.shells import register_completion

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def offered(complete: Complete, incomplete: str) -> list[tuple[str, str | None]]:
    context = click.Context(click.Command("stats"))
    items = complete(context, click.Option(["--value"]), incomplete)
    return [(item.value, item.help) for item in items if item.type == "plain"]


def test_clients_are_offered_with_their_titles() -> None:
    assert offered(complete_client, "cl") == [("claude", "Claude Code"), ("cline", "Cline")]


@pytest.mark.parametrize(
    ("complete", "incomplete", "expected"),
    [
        (complete_format, "codex", ["codex"]),
        (complete_profile, "neuro", ["neurolink", "neurolink@code"]),
        (complete_stages, "prune,di", ["prune,distill"]),
        (complete_stages, "distill,di", []),
        (complete_model, "gpt-4.1-m", ["gpt-4.1-mini"]),
    ],
)
def test_names_are_offered_without_a_text(
    complete: Complete, incomplete: str, expected: list[str]
) -> None:
    assert offered(complete, incomplete) == [(name, None) for name in expected]


@pytest.mark.parametrize(
    ("line", "word", "expected"),
    [
        ("compactctl sess", "sess", ["plain,sessions"]),
        ("compactctl show stages dis", "dis", ["plain,distill"]),
        ("compactctl show stages dedup,dis", "dedup,dis", ["plain,dedup,distill"]),
        (
            "compactctl show profiles neurol",
            "neurol",
            ["file,neurol", "plain,neurolink", "plain,neurolink@code"],
        ),
        ("compactctl report ru", "ru", ["file,ru"]),
        ("compactctl report ", "", ["file,"]),
        ("compactctl compact run.jsonl --summary-file=r", "--summary-file=r", ["file,r"]),
        ("compactctl stats --nothing", "--nothing", []),
    ],
)
def test_bash_is_offered_what_fits_the_word_before_the_cursor(
    monkeypatch: pytest.MonkeyPatch, line: str, word: str, expected: list[str]
) -> None:
    register_completion()
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", word)
    bash = get_completion_class("bash")
    assert bash is not None
    offered = bash(cli, {}, "compactctl", "_COMPACTCTL_COMPLETE").complete()
    assert offered.splitlines() == expected
