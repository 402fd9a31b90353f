"""What drawings and lists on a page are made of."""

from dataclasses import dataclass

from compactctl.reports.html.areas import Area, GridLine


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLine:
    """A named line, so many per cent from the top or from the left."""

    label: str
    at: float
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Stacked areas over the requests, their scale, and lines across and down."""

    label: str
    columns: int
    areas: tuple[Area, ...]
    grid: tuple[GridLine, ...]
    limits: tuple[ChartLine, ...] = ()
    marks: tuple[ChartLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a bar, in per cent of its width."""

    name: str
    at: float
    width: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A row of a list: what it is called, how large it is, and where more is told of it."""

    label: str
    figure: str
    width: float
    name: str = ""
    note: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarList:
    """Rows, the largest first, and what is not among them; ``paths`` are cut at their start."""

    title: str
    note: str
    rows: tuple[Bar, ...]
    rest: str = ""
    paths: bool = False


def class_of(name: str) -> str:
    """Return the class that has the colour of a category."""
    return f"c-{name.replace(' ', '-')}"


def dollars(amount: float) -> str:
    """Return an amount in US dollars."""
    return f"$ {amount:,.2f}" if amount >= 1 else f"$ {amount:,.4f}"


def percent(part: float, whole: float) -> float:
    """Return a part in per cent, 0 of nothing."""
    return round(100 * part / whole, 3) if whole else 0.0
