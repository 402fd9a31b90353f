"""Contexts of one size, in the tokens of the model that judges them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.reader_cuts import SessionCut, context_text
from compactctl.commands.lab.eval_session import Policy, PrefixCompactor, policies_of
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.profiles.registry import DEFAULT_PROFILE

SHARES = (0.1, 0.05)
NEWEST, SUMMARIZE = "newest", "summarize"
PROFILES = ("neurolink", "codebuddy", "agent-code", "spring-recursive", "copilot")
# How often a policy is asked for another size to come closer to the size of all, and how close is
# close enough: the rest is cut.
_MAX_TRIES, _CLOSE = 6, 0.03

Tokenizer = Callable[[str], list[int]]
"""Returns where the tokens of a text begin, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The text that a policy made of a prefix, when it was asked to keep a share of it."""

    policy: str
    share: float
    text: str


def find_policies() -> tuple[Policy, ...]:
    """Return the policies but the newest text, which needs none."""
    return policies_of((DEFAULT_PROFILE, *PROFILES), ((SUMMARIZE,),), {})


def make_contexts(
    cut: SessionCut, policies: Sequence[Policy], offsets: Tokenizer
) -> Iterator[Context]:
    """Yield what each policy keeps of a cut's prefix, all in a share of the prefix's tokens."""
    whole = context_text(cut.cut.prefix)
    starts = offsets(whole)
    compactor = PrefixCompactor(cut.transcript, cut.measured, MeasureOptions(), 0)
    for share in SHARES:
        size = int(share * len(starts))
        yield Context(policy=NEWEST, share=share, text=newest(whole, starts, size))
        for policy in policies:

            def compact(asked: float, policy: Policy = policy) -> str:
                return context_text(compactor.context(policy, cut.cut.prefix, asked))

            yield Context(policy=policy.name, share=share, text=fit(compact, share, size, offsets))


def fit(compact: Callable[[float], str], share: float, size: int, offsets: Tokenizer) -> str:
    """Return a context of at most ``size`` tokens, and as near as a policy comes to it.

    The policy is asked for other shares until its context comes near. Of one that is still larger
    the middle is cut out, so that both a summary and the newest messages lose the same.
    """
    tries: list[tuple[float, int]] = [(0.0, 0)]
    texts: list[tuple[str, list[int]]] = []
    while len(texts) < _MAX_TRIES:
        texts.append((text := compact(share), starts := offsets(text)))
        tries.append((share, len(starts)))
        if abs(len(starts) - size) <= _CLOSE * size or (share >= 1 and len(starts) < size):
            break
        share = _next_share(tries, size)
    text, starts = min(texts, key=lambda tried: abs(len(tried[1]) - size))
    return cut_middle(text, starts, size)


def _next_share(tries: Sequence[tuple[float, int]], size: int) -> float:
    """Return where a line through the nearest tries below and above a size reaches it."""
    low, low_size = max(tried for tried in tries if tried[1] <= size)
    larger = [tried for tried in tries if tried[1] > size]
    if not larger:
        return min(1.0, 2 * low)
    high, high_size = min(larger)
    return low + (high - low) * (size - low_size) / (high_size - low_size)


def cut_middle(text: str, starts: Sequence[int], size: int) -> str:
    """Return the first and last tokens of a text, ``size`` in all; ``starts`` are its tokens'."""
    if len(starts) <= size:
        return text
    return text[: starts[size // 2]] + newest(text, starts, size - size // 2)


def newest(text: str, starts: Sequence[int], size: int) -> str:
    """Return the last ``size`` tokens of a text; ``starts`` are its tokens'."""
    return text[starts[-size] :] if 0 < size <= len(starts) else text if size else ""
