"""Types that say which numbers are valid."""

import sys
from typing import Annotated

from msgspec import Meta

MAX_INT64 = 2**63 - 1
"""The largest integer that Parquet and most languages can hold."""
Integer = Annotated[int, Meta()]
"""Any integer; users who are asked for an ``int`` may not set a negative one."""
Count = Annotated[int, Meta(ge=0, le=MAX_INT64)]
Positive = Annotated[int, Meta(ge=1, le=MAX_INT64)]
Share = Annotated[float, Meta(ge=0, le=1)]
Whole = Annotated[int, Meta(ge=-MAX_INT64, le=MAX_INT64)]
Number = Whole | Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
"""A number as it is written, whole or not, but neither infinity nor NaN."""
Scalar = str | Whole | float | bool | None
