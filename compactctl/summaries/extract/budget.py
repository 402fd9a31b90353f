"""How large summaries are, in tokens."""

# Measured on real sessions with prefixes of 20,000 to 200,000 tokens: at 3% to 6% a summary holds
# most of what is needed again, and a larger one costs more in every later request than it saves.
_PERCENT = 6
_MIN_BUDGET = 2_000
_MAX_BUDGET = 8_000
MIN_USEFUL = 600
"""Tokens below which a summary holds little more than names."""


def summary_budget(prefix_tokens: int) -> int:
    """Return the tokens that a summary of a prefix of this size should have."""
    return max(_MIN_BUDGET, min(prefix_tokens * _PERCENT // 100, _MAX_BUDGET))
