"""What a provider counts of a request, by our count of it."""

from compactctl.records import Record

# Tokenizers and what an API adds differ by no more than this from what is counted.
_MIN_SLOPE, _FIRST_SLOPE, _MAX_SLOPE = 0.25, 1.5, 3.0


class Sample(Record, kw_only=False):
    """Our count of a request, and the provider's."""

    counted: float
    reported: int


class ReportedSize(Record):
    """The line ``base + slope * counted`` through what was reported, in tokens.

    What is sent and not counted, such as tools that were not named, is in ``base``::

        counted 1,000, reported 9,100    base 7,600, slope 1.5
        counted 21,000, reported 31,100  base 8,000, slope 1.1

    A single report does not tell which of both it is; more than half again is not the tokenizer's.
    """

    base: float = 0.0
    slope: float = 1.0
    first: Sample | None = None

    def tokens(self, counted: float) -> int:
        """Return what the provider will count."""
        return round(self.base + self.slope * counted)

    def counted(self, tokens: float) -> int:
        """Return what we count of a request of so many tokens, at least 0."""
        return max(0, int((tokens - self.base) / self.slope))

    def with_report(self, counted: float, reported: int) -> "ReportedSize":
        """Return the line through one more report, and the first that is far enough from it."""
        if counted <= 0 or reported <= 0:
            return self
        first = self.first or Sample(counted, reported)
        grown = counted - first.counted
        slope = self.slope if self.first else min(_FIRST_SLOPE, reported / counted)
        if abs(grown) > first.counted / 2:
            slope = (reported - first.reported) / grown
        slope = max(1.0, min(_MAX_SLOPE, slope))
        base = reported - slope * counted
        if base < 0:
            base, slope = 0.0, max(_MIN_SLOPE, reported / counted)
        return ReportedSize(base=base, slope=slope, first=first)
