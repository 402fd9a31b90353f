"""Measurements without a transcript."""

from compactctl.clients.sizes import client_sizes
from compactctl.commands.measuring.measure import Measurement
from compactctl.tokens.budget import Budget
from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.fit import Limits, limits_of
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import resolve_model
from compactctl.tokens.overhead import RequestMeter, overhead_for

CLAUDE = client_sizes("claude-code").rule()
BUDGET = Budget(window=200_000, output_reserve=64_000, source="as named", max_output=64_000)
LIMITS = limits_of(BUDGET, CLAUDE)


def measured(
    model: str = "gpt-4.1", counter: str = "o200k_base", limits: Limits = LIMITS
) -> Measurement:
    meter, info = Meter(parse_counter(counter)), resolve_model(model)
    framed = RequestMeter(meter, overhead_for(info, meter.counter))
    return Measurement(model=info, meter=meter, framed=framed, limits=limits)
