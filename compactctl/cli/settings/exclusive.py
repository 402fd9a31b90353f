"""Which options exclude one another, which need another one, and which are set for another's sake.

A term is the name of an option without dashes, as ``counter``, which stands for any value that
switches something on; or one of its values, as ``layout=inline`` or ``tags=false``; or all values
but one, as ``output!=-``.
"""

from dataclasses import dataclass
from itertools import combinations, product
from typing import Literal

OF_STAGES = "<options of stages>"
"""The term for every option of every stage."""

# What two options from one source do: contradict each other, or go together. "one way": a nearer
# first one overrules a farther second one, never the other way round.
Relation = Literal["contradict", "together", "one way"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusive:
    """Options of which one at most has an effect: all ``terms``, or each and each ``against``.

    ``commands`` are those in which that is so, none for all that have the options.
    """

    terms: tuple[str, ...]
    against: tuple[str, ...] = ()
    commands: frozenset[str] = frozenset()
    relation: Relation = "contradict"

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The terms that exclude each other."""
        if self.against:
            return tuple(product(self.terms, self.against))
        return tuple(combinations(self.terms, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A term that has no effect without one of the ``needed``, in ``commands`` or in all."""

    term: str
    needed: tuple[str, ...]
    commands: frozenset[str] = frozenset()


EXCLUSIVE = (
    Exclusive(terms=("counter", "counter-cmd", "chars-per-token")),
    Exclusive(terms=("target", "keep")),
    Exclusive(terms=("keep", "from-error")),
    Exclusive(terms=("summarizer", "summarizer-cmd", "summary-file")),
    Exclusive(terms=("template", "summarize-template")),
    # A profile says itself which stages run, when, and down to which size.
    Exclusive(
        terms=("profile",),
        against=("stages", "target", "keep", "trigger"),
        commands=frozenset({"compact", "batch", "check"}),
        relation="one way",
    ),
    # Both say what is evaluated.
    Exclusive(
        terms=("profile", "stages"), commands=frozenset({"eval"}), relation="together"
    ),
    # A plan leaves nothing to decide.
    Exclusive(
        terms=("plan",),
        against=(
            "profile", "stages", "trigger", "if-needed", "target", "keep", "from-error",
            "protect-tool", "pin", "keep-turns", "freeze-before", "keep-prefix",
            "redo", "summary-file", "template", "summarizer", "summarizer-cmd", "summarizer-model",
            "base-url", "api-key-env", "allow-network", "summarizer-timeout", "summarizer-context",
            "on-summarizer-failure", "label-style", OF_STAGES,
        ),
        commands=frozenset({"compact"}),
    ),
    Exclusive(terms=("plan",), against=("at", "every", "keep"), commands=frozenset({"eval"})),
    Exclusive(terms=("at", "every")),
    Exclusive(
        terms=("native",),
        against=("in-place", "output", "layout=inline", "layout=messages", "tags=false", "redo"),
    ),
    Exclusive(terms=("in-place", "output")),
    Exclusive(
        terms=("layout=messages",),
        against=("in-place", "output!=-"),
        commands=frozenset({"compact"}),
    ),
    Exclusive(terms=("layout=inline", "redo")),
    Exclusive(terms=("jsonl", "json"), commands=frozenset({"view"})),
    Exclusive(terms=("jsonl", "full"), commands=frozenset({"view"}), relation="together"),
    Exclusive(terms=("archived", "all"), commands=frozenset({"view"}), relation="together"),
    Exclusive(terms=("to", "group", "all"), commands=frozenset({"rewind"})),
    Exclusive(terms=("client", "group"), commands=frozenset({"rewind"})),
    Exclusive(terms=("aggregate", "proportional", "neurolink")),
    Exclusive(terms=("resume",), against=("cache=false", "messages-out", "rounds-out")),
    Exclusive(terms=("condense", "truncate")),
)  # fmt: skip

NEEDS = (
    Need(term="redact", needed=("html",)),
    Need(term="mask-secrets=false", needed=("html",), commands=frozenset({"stats"})),
    Need(term="page", needed=("limit",), commands=frozenset({"view"})),
    Need(term="in-place", needed=("client", "group"), commands=frozenset({"rewind"})),
    Need(term="native", needed=("client", "group"), commands=frozenset({"rewind"})),
    Need(term="resume", needed=("out",)),
    Need(term="summary-file", needed=("condense",), commands=frozenset({"tag"})),
)

# An option -> those that are set for the sake of its value: where another value counts instead,
# they do not count either. The key is one for the server, and goes to no other.
FOLLOWERS = {
    "summarizer": ("summarizer-model", "base-url", "api-key-env"),
    "base-url": ("api-key-env",),
}
