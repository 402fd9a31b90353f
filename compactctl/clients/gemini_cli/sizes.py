"""When Gemini CLI auto-compacts, and what it sends beside a conversation."""

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule, ClientSizes


def _threshold(budget: Budget) -> int:
    return budget.window // 2


SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="gemini-cli",
            name="Gemini CLI",
            formula="50% of the window",
            threshold=_threshold,
            source="google-gemini/gemini-cli, chatCompressionService.ts of 0.61",
            date="2026-11",
        ),
    ),
)
