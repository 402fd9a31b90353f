"""What shells offer for an option's value, with the text that some of them show beside it."""

from collections.abc import Callable

import click
import pytest
from click.shell_completion import CompletionItem

from compactctl.cli.options.completion import (
    complete_client,
    complete_format,
    complete_model,
    complete_profile,
    complete_stages,
)

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
        (complete_profile, "neuro", ["neurolink"]),
        (complete_stages, "prune,di", ["prune,distill"]),
        (complete_stages, "distill,di", []),
        (complete_model, "gpt-4.1-m", ["gpt-4.1-mini"]),
    ],
)
def test_names_are_offered_without_a_text(
    complete: Complete, incomplete: str, expected: list[str]
) -> None:
    assert offered(complete, incomplete) == [(name, None) for name in expected]
