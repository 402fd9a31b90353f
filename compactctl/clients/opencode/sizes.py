"""When OpenCode auto-compacts, and what it sends beside a conversation."""

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule, ClientSizes, UsualTokens, answer_reserve


def _threshold(budget: Budget) -> int:
    reserve = answer_reserve(budget, 32_000)
    return budget.window - (min(20_000, reserve) if budget.is_input_only else reserve)


SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="opencode",
            name="OpenCode",
            formula=(
                "window - longest answer (at most 32,000); of a window for input alone - 20,000"
            ),
            threshold=_threshold,
            source="anomalyco/opencode, src/session/overflow.ts and pull request 48813",
            date="2026-09",
        ),
    ),
    overhead=UsualTokens(usual=6_200, least=6_100, most=9_300),
)
