"""``overflow`` on a terminal."""

from collections.abc import Iterator

from compactctl.profiles.overflow.overflow import Overflow
from compactctl.reports.rendering.screen import Accent, Fact, Facts, ScreenItem
from compactctl.reports.rendering.wording import tokens_text

_AGAIN = {
    True: "wait: the same request can succeed later",
    False: "the same request will fail again",
    None: "not known from this error",
}


def overflow_terminal(result: Overflow) -> Iterator[ScreenItem]:
    """Yield what to print: the verdict, then what else the error says."""
    if result.overflow:
        yield Accent("overflow: the context is longer than the model takes", "bold")
    else:
        yield Accent("no overflow: the error does not say that the context is too long", "bold")
    yield Facts(tuple(_overflow_facts(result)))


def _overflow_facts(result: Overflow) -> Iterator[Fact]:
    if result.overflow:
        yield Fact("provider", result.provider or "not named")
    for label, count in (
        ("sent", result.actual),
        ("allowed", result.limit),
        ("over by", result.gap),
    ):
        if count is not None:
            yield Fact(label, tokens_text(count))
    yield Fact("try again", _AGAIN[result.retryable])
    if result.pattern is not None:
        yield Fact("because of", f'"{result.pattern}"')
    if result.note:
        yield Fact("note", result.note)
