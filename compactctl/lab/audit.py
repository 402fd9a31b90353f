"""Judges one compaction by what was known before it, what is told after it, and what followed."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from compactctl.history.stand_ins import NOTE
from compactctl.lab.audit_findings import LOSS_KINDS, Audit, Loss, UnsupportedClaim
from compactctl.lab.losses import KnownFact, find_known_facts, later_mentions
from compactctl.lab.mention_index import MentionIndex, visible_texts
from compactctl.lab.rereads import SeenLines, find_read_calls, find_rereads
from compactctl.model.message import Message
from compactctl.summaries.by_model.unsupported_claims import (
    plain_quotes,
    source_texts,
    unsupported_claims,
)
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage, ToolPair, read_passages

CountTokens = Callable[[str], int]
_AFTERWARDS = ("file", "read", "identifier")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditInput:
    """What an audit needs to know of a compaction; messages are in the order of the file.

    Attributes:
        before: what was sent before it.
        after: what is sent after it: its summary, what it kept, what the client restored.
        summary: the text that was written for it, None where none can be read.
        source: what the summary may take its facts from, in any order.
        client_context: what is known to the client beside messages; numbers are not looked up in
            it.
        later: what followed, up to the next compaction.
        cwd: the session's working folder.
    """

    before: tuple[Message, ...]
    after: tuple[Message, ...]
    summary: str | None
    source: tuple[Message, ...]
    client_context: str = ""
    later: tuple[Message, ...] = ()
    cwd: str | None = None


def audit(compaction: AuditInput, count: CountTokens) -> Audit:
    """Judge a compaction; ``count`` counts the tokens of a text.

    Where no summary can be read, nobody can tell what was lost; what was looked at again can be.
    """
    cwd = compaction.cwd
    before = read_passages(compaction.before, cwd)
    after = read_passages(compaction.after, cwd)
    # Read together: a single message does not tell whether it is one of many on its line.
    later = read_passages((*compaction.after, *compaction.later), cwd)[len(after) :]
    told = MentionIndex(visible_texts(after, cwd), Lexicon(cwd))
    is_told = compaction.summary is not None
    known_facts = list(find_known_facts(before, told, cwd)) if is_told else []
    found = list(find_read_calls(later))
    sizes = [_tokens(look.pair, count) for look in found]
    again = find_rereads(
        found, SeenLines(before, cwd), SeenLines(after, cwd), lambda pair: _tokens(pair, count)
    )
    return Audit(
        known_counts=Counter(thing.loss.kind for thing in known_facts),
        lost=_lost(known_facts, later, cwd),
        invented=_invented(compaction) if is_told else None,
        rereads=tuple(again),
        read_calls=len(found),
        read_tokens=sum(sizes),
    )


def _lost(
    known_facts: Iterable[KnownFact], later: Sequence[Passage], cwd: str | None
) -> tuple[Loss, ...]:
    """Return what is told nowhere, what came up again first among its kind."""
    mentions = later_mentions(later, cwd)
    lost = [
        replace(thing.loss, mentioned_again=mentions.get(thing.loss.text))
        if thing.loss.kind in _AFTERWARDS
        else thing.loss
        for thing in known_facts
        if not thing.is_mentioned
    ]
    return tuple(
        sorted(lost, key=lambda loss: (LOSS_KINDS.index(loss.kind), loss.mentioned_again is None))
    )


def _invented(compaction: AuditInput) -> tuple[UnsupportedClaim, ...]:
    summary, cwd = compaction.summary or "", compaction.cwd
    source = "\n".join((*source_texts(compaction.source), cwd or ""))
    claims = dict.fromkeys(unsupported_claims(summary, source, cwd))
    if compaction.client_context and claims:
        foreign = set(unsupported_claims(summary, compaction.client_context, cwd))
        claims = {claim: None for claim in claims if claim.kind == "number" or claim in foreign}
    rows = plain_quotes(summary).splitlines()
    return tuple(
        UnsupportedClaim(kind=claim.kind, text=claim.text, line=_row(rows, claim.text))
        for claim in claims
    )


def _row(rows: Sequence[str], text: str) -> int:
    return next((number for number, row in enumerate(rows, 1) if text in row), 0)


def _tokens(pair: ToolPair, count: CountTokens) -> int:
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


def without_transcript_path(summary: str) -> str:
    """Return a client's summary without the path at which it kept the transcript."""
    return _TRANSCRIPT.sub("", summary)


def without_boilerplate(summary: str) -> str:
    """Return a summary by compactctl without what it says itself; its lines stay where they are."""
    unlisted = _LISTS.sub(lambda found: _MARK.sub("  ", found[0]), summary)
    return _STATEMENTS.sub("", unlisted)
