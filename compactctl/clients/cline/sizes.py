"""When Cline and Roo Code auto-compact, and what they send beside a conversation."""

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule, ClientSizes


def _cline(budget: Budget) -> int:
    return budget.window * 9 // 10


def _roo(budget: Budget) -> int:
    max_output = budget.max_output or 8_192
    return budget.window * 9 // 10 - min(max_output, -(-budget.window // 5))


CLINE_SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="cline",
            name="Cline",
            formula="90% of the longest input, or 81% of the window where that is unknown",
            threshold=_cline,
            source="cline/cline, compaction.ts of its SDK, as in version 3.0.65",
            date="2026-11",
        ),
    ),
    assumed_windows=(((), 128_000),),
)

ROO_SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="roo",
            name="Roo Code",
            formula="90% of the window - longest answer (at most 20% of the window, else 8,192)",
            threshold=_roo,
            source="RooCodeInc/Roo-Code, src/core/context-management and src/shared/api.ts",
            date="2026-04",
        ),
    ),
)
