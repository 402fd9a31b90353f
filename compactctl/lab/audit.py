"""Judges one compaction by what was known before it, what is told after it, and what followed."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from compactctl.history.stand_ins import NOTE
from compactctl.lab.audit_findings import LOSS_KINDS, Audit, Invention, Loss
from compactctl.lab.losses import Known, known_things, later_mentions
from compactctl.lab.mention_index import Told, told_texts
from compactctl.lab.rereads import Seen, looks, rereads
from compactctl.model.message import Message
from compactctl.summaries.by_model.unsupported_claims import (
    foreign_claims,
    plain_quotes,
    source_texts,
)
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage, ToolPair, passages

Count = Callable[[str], int]
_AFTERWARDS = ("file", "read", "identifier")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What an audit needs to know of a compaction; messages are in the order of the file.

    Attributes:
        before: what was sent before it.
        after: what is sent after it: its summary, what it kept, what the client restored.
        summary: the text that was written for it, None where none can be read.
        source: what the summary may take its facts from, in any order.
        aside: what is known to the client beside messages; numbers are not looked up in it.
        later: what followed, up to the next compaction.
        cwd: the session's working folder.
    """

    before: tuple[Message, ...]
    after: tuple[Message, ...]
    summary: str | None
    source: tuple[Message, ...]
    aside: str = ""
    later: tuple[Message, ...] = ()
    cwd: str | None = None


def audit(compaction: Compaction, count: Count) -> Audit:
    """Judge a compaction; ``count`` counts the tokens of a text.

    Where no summary can be read, nobody can tell what was lost; what was looked at again can be.
    """
    cwd = compaction.cwd
    before = passages(compaction.before, cwd)
    after = passages(compaction.after, cwd)
    # Read together: a single message does not tell whether it is one of many on its line.
    later = passages((*compaction.after, *compaction.later), cwd)[len(after) :]
    told = Told(told_texts(after, cwd), Lexicon(cwd))
    is_told = compaction.summary is not None
    things = list(known_things(before, told, cwd)) if is_told else []
    found = list(looks(later))
    sizes = [_tokens(look.pair, count) for look in found]
    again = rereads(found, Seen(before, cwd), Seen(after, cwd), lambda pair: _tokens(pair, count))
    return Audit(
        known=Counter(thing.loss.kind for thing in things),
        lost=_lost(things, later, cwd),
        invented=_invented(compaction) if is_told else None,
        rereads=tuple(again),
        looks=len(found),
        look_tokens=sum(sizes),
    )


def _lost(things: Iterable[Known], later: Sequence[Passage], cwd: str | None) -> tuple[Loss, ...]:
    """Return what is told nowhere, what came up again first among its kind."""
    mentions = later_mentions(later, cwd)
    lost = [
        replace(thing.loss, again=mentions.get(thing.loss.text))
        if thing.loss.kind in _AFTERWARDS
        else thing.loss
        for thing in things
        if not thing.told
    ]
    return tuple(sorted(lost, key=lambda loss: (LOSS_KINDS.index(loss.kind), loss.again is None)))


def _invented(compaction: Compaction) -> tuple[Invention, ...]:
    summary, cwd = compaction.summary or "", compaction.cwd
    source = "\n".join((*source_texts(compaction.source), cwd or ""))
    claims = dict.fromkeys(foreign_claims(summary, source, cwd))
    if compaction.aside and claims:
        foreign = set(foreign_claims(summary, compaction.aside, cwd))
        claims = {claim: None for claim in claims if claim.kind == "number" or claim in foreign}
    rows = plain_quotes(summary).splitlines()
    return tuple(
        Invention(kind=claim.kind, text=claim.text, row=_row(rows, claim.text)) for claim in claims
    )


def _row(rows: Sequence[str], text: str) -> int:
    return next((number for number, row in enumerate(rows, 1) if text in row), 0)


def _tokens(pair: ToolPair, count: Count) -> int:
    return count(pair.text) + (count(pair.result.text) if pair.result else 0)


# Claude Code 2.0.76 to 2.1.217 say so behind a summary.
_TRANSCRIPT = re.compile(r"read the full transcript at: .+")
# What compactctl's summarizers and stages write: the label of a summary, the note on what it is
# made from, where the originals are, and what takes the place of a text that is left out.
_STATEMENTS = re.compile(
    r"\A\[[^\]\n]*\]:?$"
    rf"|^{NOTE}.*$"
    r"|^User messages: [\d,]+, Assistant responses: [\d,]+, Tool calls: [\d,]+$"
    r"|; [\d,]+ tokens hold no summary of them\."
    r"|^The messages that this summary stands for are kept word for word in .*$"
    r"|^At the time this summary was created, the transcript had [\d,]+ lines\.$"
    r"|\[Large \w+ message \(~[\d,]+K? tokens\) omitted from summary\]"
    r"|\[\.\.\. [\d,]+ chars truncated\]",
    re.MULTILINE,
)
# In a digest these are lists; what is quoted elsewhere in it is verbatim.
_LISTS = re.compile(r"^## (?:Files|Also named)\n(?:> .*(?:\n|\Z))+", re.MULTILINE)
_MARK = re.compile(r"^> ", re.MULTILINE)


def without_frame(summary: str) -> str:
    """Return a client's summary without the path at which it kept the transcript."""
    return _TRANSCRIPT.sub("", summary)


def without_own_words(summary: str) -> str:
    """Return a summary by compactctl without what it says itself; its lines stay where they are."""
    unlisted = _LISTS.sub(lambda found: _MARK.sub("  ", found[0]), summary)
    return _STATEMENTS.sub("", unlisted)
