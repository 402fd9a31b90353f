"""When Qwen Code auto-compacts, and what it sends beside a conversation."""

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule, ClientSizes

# What it keeps free for its summary, and beside that.
_RESERVE = 20_000 + 13_000


def _threshold(budget: Budget) -> int:
    share, ceiling = budget.window * 85 // 100, budget.window - _RESERVE
    return min(share, ceiling) if ceiling > 0 else share


SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="qwen-code",
            name="Qwen Code",
            formula="85% of the window, at most window - 33,000",
            threshold=_threshold,
            source="@qwen-code/qwen-code 0.24.4, computeThresholds",
            date="2026-11",
        ),
    ),
)
