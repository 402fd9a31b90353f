"""Plans of conversations: what happens in them, step by step, for any format to write down.

A plan is a list of small tuples, so that a failing example shrinks to the few steps that matter.
"""

from typing import Literal, NamedTuple, get_args

from hypothesis import strategies as st

Kind = Literal[
    "prompt", "say", "think", "call", "parallel", "late result", "lost call", "reminder",
    "system", "image", "edit", "side", "noise", "fork", "boundary", "preserved", "cleared",
    "client error", "blank", "garbage", "torn", "padded", "glued", "twice",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
# Kinds that every conversation is mostly made of come up more often.
_COMMON: tuple[Kind, ...] = (
    "prompt",
    "say",
    "call",
    "call",
    "call",
    "parallel",
    "edit",
    "noise",
)
# Texts that are easy to take for something else when a line is cut and put together again.
_ODD = (
    "",
    "plain",
    "naïve ☃ 🙂",
    "\u2028 \x85 \x0b",
    '"}],"condenseParent":"x"',
    '\\"{[ \\u0041 /\t',
    "\ud83d alone",
    "C:\\new\\table\r\n",
)


class Step(NamedTuple):
    """One thing that happens: ``number`` chooses files and texts, ``size`` is in words.

    ``style`` chooses how the line is spelled.
    """

    kind: Kind
    number: int
    size: int
    style: int

    @property
    def text(self) -> str:
        """A text of ``size`` words that some other steps have as well."""
        odd = _ODD[self.number % len(_ODD)]
        words = " ".join(f"w{(self.number + n) % 7}" for n in range(self.size))
        return f"{odd} {words}".strip() or "nothing"

    @property
    def file(self) -> str:
        """The file this step is about."""
        return f"/app/src/file{self.number % 3}.py"

    @property
    def content(self) -> str:
        """The content of that file, one of two versions."""
        return "\n".join(f"value_{n} = {self.number % 2}" for n in range(self.size))


Plan = tuple[Step, ...]

STEPS = st.builds(
    Step,
    kind=st.sampled_from((*_COMMON, *_COMMON, *KINDS)),
    number=st.integers(0, 7),
    size=st.sampled_from((0, 1, 5, 30, 120, 120, 300)),
    style=st.integers(0, 11),
)
PLANS = st.lists(STEPS, min_size=1, max_size=40).map(tuple)
LONG_PLANS = st.lists(STEPS, min_size=12, max_size=40).map(tuple)
