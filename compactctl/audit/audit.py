"""Audit one compaction: compare the facts before it with the context after it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from compactctl.audit.findings import LOSS_KINDS, Audit, Loss, UnsupportedClaim
from compactctl.audit.losses import KnownFact, find_known_facts, later_mentions
from compactctl.audit.mention_index import MentionIndex, visible_texts
from compactctl.audit.rereads import SeenLines, find_read_calls, find_rereads
from compactctl.model.message import Message
from compactctl.model.own_texts import FIRST_LINE, LAST_LINE
from compactctl.records import Record, replace
from compactctl.summaries.by_model.unsupported_claims import (
    plain_quotes,
    source_texts,
    unsupported_claims,
)
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.passages import Passage, ToolPair, read_passages

CountTokens = Callable[[str], int]
# Kinds of losses that are searched for in the agent's later messages.
_KINDS_USED_LATER = ("file", "read", "identifier")
# Claude Code 2.0.76 to 2.1.217 append this to a summary.
_TRANSCRIPT_PATH = re.compile(r"read the full transcript at: .+")
# Sentences that compactctl's summarizers and stages add: the label of a summary, the note on its
# sources, the location of the originals, and the placeholders of omitted texts.
_BOILERPLATE = re.compile(
    r"\A\[[^\]\n]*\]:?$"
    rf"|^{FIRST_LINE}.*$"
    rf"|^{LAST_LINE}$"
    r"|^User messages: [\d,]+, Assistant responses: [\d,]+, Tool calls: [\d,]+$"
    r"|; [\d,]+ tokens hold no summary of them\."
    r"|^The messages that this summary stands for are kept word for word in .*$"
    r"|^At the time this summary was created, the transcript had [\d,]+ lines\.$"
    r"|\[Large \w+ message \(~[\d,]+K? tokens\) omitted from summary\]"
    r"|\[\.\.\. [\d,]+ chars truncated\]",
    re.MULTILINE,
)
# These sections of a digest are lists; its other quotations are verbatim.
_DIGEST_LISTS = re.compile(r"^## (?:Files|Also named)\n(?:> .*(?:\n|\Z))+", re.MULTILINE)
_QUOTE_MARK = re.compile(r"^> ", re.MULTILINE)


class AuditInput(Record):
    """A compaction to audit; messages are in file order.

    Attributes:
        before: the messages that were sent before it.
        after: the messages sent after it: the summary, kept messages, what the client restored.
        summary: the text of the summary, None if it cannot be read.
        source: the messages that the summary may take its facts from, in any order.
        client_context: what the client knows besides the messages; supports claims, except those
            of numbers.
        later: the messages that followed, up to the next compaction.
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
    """Find the losses, unsupported claims and re-reads of a compaction.

    Without a readable summary, only the re-reads are known.
    """
    cwd = compaction.cwd
    before = read_passages(compaction.before, cwd)
    after = read_passages(compaction.after, cwd)
    # Read both together: a message alone does not show whether others are on its line.
    later = read_passages((*compaction.after, *compaction.later), cwd)[len(after) :]
    index = MentionIndex(visible_texts(after, cwd), Lexicon(cwd))
    is_readable = compaction.summary is not None
    known_facts = list(find_known_facts(before, index, cwd)) if is_readable else []
    read_calls = list(find_read_calls(later))
    rereads = find_rereads(
        read_calls,
        SeenLines(before, cwd),
        SeenLines(after, cwd),
        lambda pair: _count_pair(pair, count),
    )
    return Audit(
        known_counts=Counter(fact.loss.kind for fact in known_facts),
        lost=_find_losses(known_facts, later, cwd),
        invented=_find_unsupported_claims(compaction) if is_readable else None,
        rereads=tuple(rereads),
        read_calls=len(read_calls),
        read_tokens=sum(_count_pair(call.pair, count) for call in read_calls),
    )


def _find_losses(
    known_facts: Iterable[KnownFact], later: Sequence[Passage], cwd: str | None
) -> tuple[Loss, ...]:
    """Return the facts that are no longer mentioned, by kind; those used later come first."""
    mentions = later_mentions(later, cwd)
    lost = [
        replace(fact.loss, mentioned_again=mentions.get(fact.loss.text))
        if fact.loss.kind in _KINDS_USED_LATER
        else fact.loss
        for fact in known_facts
        if not fact.is_mentioned
    ]
    return tuple(
        sorted(lost, key=lambda loss: (LOSS_KINDS.index(loss.kind), loss.mentioned_again is None))
    )


def _find_unsupported_claims(compaction: AuditInput) -> tuple[UnsupportedClaim, ...]:
    summary, cwd = compaction.summary or "", compaction.cwd
    source = "\n".join((*source_texts(compaction.source), cwd or ""))
    claims = dict.fromkeys(unsupported_claims(summary, source, cwd))
    if compaction.client_context and claims:
        unknown = set(unsupported_claims(summary, compaction.client_context, cwd))
        claims = {claim: None for claim in claims if claim.kind == "number" or claim in unknown}
    lines = plain_quotes(summary).splitlines()
    return tuple(
        UnsupportedClaim(kind=claim.kind, text=claim.text, line=_line_number(lines, claim.text))
        for claim in claims
    )


def _line_number(lines: Sequence[str], text: str) -> int:
    return next((number for number, line in enumerate(lines, 1) if text in line), 0)


def _count_pair(pair: ToolPair, count: CountTokens) -> int:
    return count(pair.text) + (count(pair.result.text) if pair.result else 0)


def without_transcript_path(summary: str) -> str:
    """Remove the sentence with the transcript's path, with which a client's summary ends."""
    return _TRANSCRIPT_PATH.sub("", summary)


def without_boilerplate(summary: str) -> str:
    """Remove the sentences that compactctl adds to a summary; line numbers do not change."""
    without_lists = _DIGEST_LISTS.sub(lambda match: _QUOTE_MARK.sub("  ", match[0]), summary)
    return _BOILERPLATE.sub("", without_lists)
