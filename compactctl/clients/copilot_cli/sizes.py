"""When Copilot CLI auto-compacts, and what it sends beside a conversation."""

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule, ClientSizes


def _threshold(budget: Budget) -> int:
    return budget.window * 8 // 10


SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="copilot-cli",
            name="Copilot CLI",
            formula="80% of the window; from 95% on it waits for that",
            threshold=_threshold,
            source="GitHub's documentation of Copilot CLI (context management) and of its SDK",
            date="2026-04",
        ),
    ),
)
