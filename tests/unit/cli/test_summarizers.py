"""Which options of a summarizer have an effect with which kind."""

from collections.abc import Iterator

import click
import pytest

from compactctl.cli.options.summaries import effective_summarizer
from compactctl.llm.summarizer_options import SummarizerKind, SummarizerOptions


@pytest.fixture(autouse=True)
def command() -> Iterator[None]:
    """Run inside a command on which nothing was typed: all values are those of settings."""
    with click.Context(click.Command("compact")):
        yield


@pytest.mark.parametrize(
    ("kind", "kept"),
    [("openai", ("url", "KEY", "small")), ("llm", ("", "", "small")), ("offline", ("", "", ""))],
)
def test_settings_without_an_effect_are_left_out(
    kind: SummarizerKind, kept: tuple[str, str, str]
) -> None:
    options = SummarizerOptions(kind=kind, base_url="url", key_variable="KEY", model="small")
    found = effective_summarizer(options)
    assert (found.base_url, found.key_variable, found.model) == kept
    assert found.kind == kind
