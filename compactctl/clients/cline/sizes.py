"""When Cline and Roo Code auto-compact, and what they send beside a conversation."""

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule, ClientSizes


def _cline(budget: Budget) -> int:
    default = max(budget.window - 40_000, budget.window * 8 // 10)
    return {64_000: 37_000, 128_000: 98_000}.get(budget.window, default)


def _roo(budget: Budget) -> int:
    max_output = budget.max_output or 8_192
    return budget.window * 9 // 10 - min(max_output, -(-budget.window // 5))


CLINE_SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="cline",
            name="Cline",
            formula=(
                "window - 40,000 or 80% of it, which is more; 98,000 of 128,000, 37,000 of 64,000"
            ),
            threshold=_cline,
            source=(
                "cline/cline, context-window-utils.ts; its SDK takes 81% of the window (issue"
                " 14329)"
            ),
            date="2026-09",
        ),
    ),
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
