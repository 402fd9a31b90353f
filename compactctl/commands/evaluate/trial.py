"""One context of one session at one cut, and what it still held."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from compactctl.evaluation.score import Tally
from compactctl.model.exact import exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a policy left of a prefix, and what that was worth to the session's future.

    Attributes:
        session: the path of the transcript.
        project: the working folder of the session, "" where the file does not tell it.
        cut: the part of the stretch's requests before the cut; ``requests`` are those after it.
        policy: its name; ``asked`` the share of the prefix's tokens that it was to keep.
        prefix, tokens: the sizes of the prefix and of what was left, without the system prompt and
            definitions of tools, which stay.
        tallies: what was asked for and what of it was there, by measure.
        chance: recall of random lines of the same size; None for controls.
        pair_errors: tool pairs that were whole before.
        milliseconds: how long it took, which says as much about the machine.
    """

    session: str
    project: str
    cut: float
    requests: int
    policy: str
    asked: float
    prefix: int
    tokens: int
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    chance: Tally | None = None
    pair_errors: int = 0
    milliseconds: float = 0.0

    @property
    def kept(self) -> float:
        """The part of the prefix's tokens that is left."""
        return self.tokens / self.prefix

    @property
    def is_over(self) -> bool:
        """Whether more is left than was asked for."""
        return self.tokens > int(exact(self.asked) * self.prefix)
