"""When Claude Code auto-compacts, and what it sends beside a conversation."""

from compactctl.tokens.budget import Budget
from compactctl.tokens.client_sizes import ClientRule, ClientSizes, UsualTokens, answer_reserve

_SHORTER_RESERVE = (2, 1, 21)


def _threshold_before_2_1_21(budget: Budget) -> int:
    return budget.window - answer_reserve(budget, 32_000) - 13_000


def _threshold(budget: Budget) -> int:
    return budget.window - answer_reserve(budget, 20_000) - 13_000


SIZES = ClientSizes(
    rules=(
        ClientRule(
            format="claude-code",
            name="Claude Code",
            formula="window - longest answer (at most 32,000) - 13,000",
            threshold=_threshold_before_2_1_21,
            source=(
                "the program of 2.1.19, as published; eight compactions of 2.0.76 to 2.1.20,"
                " seven at 155,258 to 157,925 of 200,000, one at 176,700"
            ),
            date="2026-01",
            below_version=_SHORTER_RESERVE,
        ),
        ClientRule(
            format="claude-code",
            name="Claude Code",
            formula="window - longest answer (at most 20,000) - 13,000",
            threshold=_threshold,
            source=(
                "anthropics/claude-code, changelog of 2.1.21 and issue 31806; eight compactions of"
                " 2.1.37 to 2.1.49, seven at 167,081 to 171,656 of 200,000, one at 178,144; one of"
                " 2.1.219 at 998,659 of 1,000,000; 2.1.331 let reports of 966,500 tokens (Opus 4.8)"
                " and 166,500 (Opus 4.6) pass and compacted at 967,100 and 167,100"
            ),
            date="2026-11",
            since_version=_SHORTER_RESERVE,
        ),
    ),
    overhead=UsualTokens(usual=35_500, least=17_800, most=43_100),
    restored=UsualTokens(usual=10_000, least=0, most=19_000),
    # It does not learn the window from the provider: its published programs return 200,000 up to
    # 2.1.322 (seen in 2.1.300, 2.1.319, 2.1.321 and 2.1.322; users report the same for 2.1.173 and
    # 2.1.259), and 1,000,000 from 2.1.323 on (2.1.324 to 2.1.326 and 2.1.332).
    # CLAUDE_CODE_MAX_CONTEXT_TOKENS sets it.
    assumed_windows=(((2, 1, 323), 200_000), ((), 1_000_000)),
)
