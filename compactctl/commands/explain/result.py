"""What is asked of a message, and what there is to say about it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from compactctl.commands.explain.links import MessageLink
from compactctl.commands.loading.load import InputOptions
from compactctl.commands.planning.explain import Explained
from compactctl.commands.sizing.measure import Measure, MeasureOptions
from compactctl.history.categories import Category
from compactctl.model.message import Message
from compactctl.profiles.profile import Profile

Way = Literal["group", "operation", "client", "client, all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """Which message: ``message`` is an id, the beginning of one, or a line from 1.

    ``archive`` is that of the transcript where it is not in its place.
    """

    input: InputOptions
    message: str
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    archive: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """Since when a message is sent: ``first`` of ``requests``, counted from 1.

    ``is_reported`` tells whether the provider reported the requests, or they were counted.
    """

    first: int
    requests: int
    is_reported: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """How to get back what is hidden: by its group, or by undoing what hid it."""

    way: Way
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainResult:
    """All there is to say about one message.

    Attributes:
        line: where it stands, from 1; None where it stands in the archive only.
        tokens: its size; ``category`` is where most of that belongs, None of what is archived.
        is_sent: whether the next request sends it.
        sending: since when requests send it, None where none did or nothing tells.
        fate: what the profile would make of it, None of what is not sent.
        hidden_by: the group, or the client's compaction, that hides it; ``hider`` is the stage or
            the client.
        way_back: to what is hidden, it or what it stands for; None where nothing is.
    """

    path: str
    format: str
    measure: Measure
    message: Message
    line: int | None
    tools: tuple[str, ...]
    tokens: int
    category: Category | None
    is_sent: bool
    sending: Sending | None
    profile: Profile
    fate: Explained | None
    hidden_by: str | None
    hider: str | None
    links: tuple[MessageLink, ...]
    way_back: WayBack | None
    warnings: tuple[str, ...]
