"""When pi auto-compacts, and what it sends beside a conversation."""

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule, ClientSizes


def _threshold(budget: Budget) -> int:
    return budget.window - 16_384


SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="pi",
            name="pi",
            formula="window - 16,384",
            threshold=_threshold,
            source="earendil-works/pi 1.6.0, compaction.ts of its coding agent, and its pages",
            date="2026-11",
        ),
    ),
)
