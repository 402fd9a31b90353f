"""Values of every type that a settings file, a profile or a plan can hold, mostly out of place."""

from datetime import UTC, date, datetime, time
from typing import Any

# What JSON can hold, and TOML but for None.
WRONG_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 5, 2**63, 10**400, 1.5, 1e308, float("inf"), float("nan"),
    "", "x", "a\nb", "200%", [], [1], ["x"], [[]], [{}], {}, {"a": 1}, {"stage": "prune"},
)  # fmt: skip
# What TOML can hold besides.
TOML_DATES = (date(2026, 1, 2), time(3, 4, 5), datetime(2026, 1, 2, tzinfo=UTC))
