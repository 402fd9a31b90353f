"""Sets right what a transcript reports, before anything is measured by it."""

from collections.abc import Callable
from dataclasses import replace

from compactctl.history.usage.counted_twice import counted_once
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript


def with_usage_once(transcript: Transcript) -> Transcript:
    """Return a transcript whose reports count no token twice, with a warning where some did."""
    found, growth = counted_once(transcript, lambda: _size(transcript.model))
    if growth is None:
        return transcript
    warning = (
        f"the reported usage counts cached tokens twice ({growth:.2f} reported for each counted "
        "token), as some proxies write it; each is counted once"
    )
    return replace(found, warnings=(*found.warnings, warning))


def _size(name: str | None) -> Callable[[Message], float]:
    """Return how a model's messages are measured; the user's own table is not asked."""
    from compactctl.tokens.counters.choose import counter_for
    from compactctl.tokens.framing import FramedMeter, framing_for
    from compactctl.tokens.meter import Meter
    from compactctl.tokens.models.lookup import resolve_model

    model = resolve_model(name)
    counter = counter_for(model)
    return FramedMeter(Meter(counter), framing_for(model, counter)).whole
