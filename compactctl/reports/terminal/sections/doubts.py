"""What is not known of the size of a request, on a terminal: the same lines wherever it is told."""

from collections.abc import Iterator

from compactctl.commands.sizing.context_size import ContextSize
from compactctl.history.usage.health import Health
from compactctl.reports.rendering.screen import Fact, TextStyle
from compactctl.reports.rendering.text import line_text, plural
from compactctl.reports.rendering.wording import tokens_text

_VERDICTS: dict[str, tuple[str, TextStyle]] = {
    "as expected": ("as expected", ""),
    "other tokens": ("the counter is not the model's, or content is missing", "yellow"),
}


def request_text(tokens: int, unreported: str) -> str:
    """Return the size of a request; ``unreported`` tells why there is more, if there is."""
    return f"{tokens_text(tokens)} or more" if unreported else tokens_text(tokens)


def unread_facts(unread: str) -> Iterator[Fact]:
    """Yield what text was not read, as ``unread_text`` says it, if that was much."""
    if unread:
        yield Fact("incomplete", line_text(unread), "bold red")


def doubt_facts(size: ContextSize) -> Iterator[Fact]:
    """Yield what a client sends beside what is counted, where that is not known."""
    yield from _unreported(size)
    if size.range is not None:
        least, most = size.range
        yield Fact("", f"between {least:,} and {most:,}: {size.unsure}")


def _unreported(size: ContextSize) -> Iterator[Fact]:
    if not size.unreported:
        return
    reported = "no reported usage is believed" if size.doubt else "nothing was reported"
    what = f"{reported}: what {size.unreported} sends beside is not known"
    if size.usual is not None:
        usual = size.usual
        beside = f"{usual.usual:,}, in nine of ten sessions {usual.least:,} to {usual.most:,}"
        what = f"{what}, usually {beside}"
        yield Fact(
            "", f"about {size.total + usual.usual:,} with system prompt and tools (estimate)"
        )
    yield Fact("", what)


def health_facts(found: Health | None) -> Iterator[Fact]:
    """Yield how the counts compare with what was reported between requests, if anything was."""
    if found is None:
        return
    if found.verdict == "too few":
        steps = "step with enough in it" if found.steps == 1 else "steps with enough in them"
        yield Fact("health check", f"{found.steps:>11,} {steps}: too few to check the counts by")
    elif found.verdict == "content missing":
        figure = f"{found.missing:>11,} of {found.checked:,} large steps were reported"
        text = f"{figure} with much more than is in the file: content is missing"
        yield Fact("health check", text, "yellow")
    else:
        steps = plural(found.steps, "step")
        figure = f"{found.ratio:>11.2f} reported for each counted token, over {steps}"
        verdict, style = _VERDICTS[found.verdict]
        yield Fact("health check", f"{figure}: {verdict}", style)
