"""When Codex auto-compacts, and what it sends beside a conversation."""

from fractions import Fraction

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule, ClientSizes, UsualTokens

# Codex records what it is going to fill, 95% of the model's input: 258,400 of 272,000.
_RECORDED_SHARE = Fraction(95, 100)


def _threshold(budget: Budget) -> int:
    window = Fraction(budget.window)
    if budget.is_recorded:
        window /= _RECORDED_SHARE
    return int(window * Fraction(9, 10))


SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="codex",
            name="Codex",
            formula="90% of the model's input, of which it records 95% as its window",
            threshold=_threshold,
            source=(
                "openai/codex, protocol/src/openai_models.rs and issue 40095; seven compactions of"
                " 0.140 to 0.142, seen from 188,493 to 240,937 where 258,400 are recorded"
            ),
            date="2026-08",
            records_input_window=True,
        ),
    ),
    overhead=UsualTokens(usual=6_600, least=4_000, most=19_300),
    restored=UsualTokens(usual=2_000, least=0, most=4_000),
)
