"""Shorten: cut the longest texts to a common length until the target is reached."""

from collections.abc import Iterator, Sequence

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.history.reads import is_stub, stub_targets
from compactctl.history.stand_ins import is_stand_in
from compactctl.history.turns import preamble
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message, Part, TextPart, ToolResultPart, is_replaceable
from compactctl.records import Record
from compactctl.stages.support.cutting import shorten
from compactctl.stages.support.replacement import (
    Rewrite,
    can_rewrite,
    count_saved_tokens,
    propose_rewrites,
)
from compactctl.stages.support.stage import Stage, option, skip_within_target, skip_without_target
from compactctl.stages.support.truncation import room_for_words
from compactctl.tokens.meter import Meter

NAME = "shorten"


class ShortenOptions(Record):
    """How to shorten; the minimum and the mark are those of NeuroLink."""

    min_tokens: int = option(200, "Cut no text below this many tokens.")
    mark: str = option("...", "Text at the end of a cut text.")


class _LongText(Record):
    """A text that may be cut, and its size in tokens."""

    part_index: PartIndex
    text: str
    tokens: int


def propose(
    view: ConversationView, meter: Meter, options: ShortenOptions
) -> Proposal | SkippedStage:
    """Propose to cut the longest texts to the length with which the target fits."""
    if view.target is None:
        return skip_without_target(NAME)
    total = meter.total(view.messages)
    if total <= view.target:
        return skip_within_target(NAME, view.target)
    candidates = tuple(_candidates(view, meter))
    room = view.target - total + sum(candidate.tokens for candidate in candidates)
    length = _common_length(
        [candidate.tokens for candidate in candidates], room, options.min_tokens
    )
    rewrites = tuple(_rewrites(view, meter, options, candidates, length))
    if not rewrites:
        reason = f"no text that can be cut has more than {length:,} tokens"
        return SkippedStage(stage=NAME, reason=reason, detail="lower it with --shorten-min-tokens")
    after = total - sum(rewrite.tokens_saved for rewrite in rewrites)
    note = f"texts cut to {length:,} tokens: {len(rewrites):,}"
    if after > view.target:
        note += "; still over the target"
    return propose_rewrites(view, rewrites, stage=NAME, options=options, note=note)


def _common_length(sizes: Sequence[int], room: int, min_length: int) -> int:
    """Return the length to which all longer texts are cut so that together they fit in ``room``.

    It is at least ``min_length``. Sizes 10, 50, 90 and room 100: 10 stays, and the other two share
    90, so both are cut to 45.
    """
    remaining = room
    for index, size in enumerate(sorted(sizes)):
        share = remaining // (len(sizes) - index)
        if size > share:
            return max(min_length, share)
        remaining -= size
    return max(min_length, *sizes, 0)


def _rewrites(
    view: ConversationView,
    meter: Meter,
    options: ShortenOptions,
    candidates: Sequence[_LongText],
    length: int,
) -> Iterator[Rewrite]:
    reason = f"longer than the {length:,} tokens that fit"
    for candidate in candidates:
        if candidate.tokens <= length:
            continue
        text = shorten(candidate.text, length, meter.text_uncached, options.mark)
        saved = count_saved_tokens(view, meter, candidate.part_index, text)
        if text and saved:
            yield Rewrite(
                part_index=candidate.part_index, text=text, tokens_saved=saved, reason=reason
            )


def _candidates(view: ConversationView, meter: Meter) -> Iterator[_LongText]:
    needed = {*stub_targets(view.messages, cwd=view.cwd), *_lasting_parts(view, meter)}
    for part_index, part in iter_parts(view.messages):
        message = view.messages[part_index.message]
        if part_index in needed or not can_rewrite(view, message):
            continue
        text = _shortenable_text(message, part)
        if text:
            yield _LongText(part_index=part_index, text=text, tokens=meter.text(text))


def _lasting_parts(view: ConversationView, meter: Meter) -> Iterator[PartIndex]:
    """Yield the parts with words of the user that would stay if all messages were summarized."""
    from compactctl.summaries.extract.passages import read_passages
    from compactctl.summaries.extract.user_words import choose_words

    fixed = {message.id for message in preamble(view.messages)}
    passages = [
        passage
        for passage in read_passages(view.messages, view.cwd)
        if view.messages[passage.part_index.message].id not in fixed
    ]
    words = choose_words(passages, room_for_words(view, meter, ()) or 0, meter.text)
    return (passages[index].part_index for index in words.texts)


def _shortenable_text(message: Message, part: Part) -> str:
    """Return the text of a part that may be cut: of users, of the model, and of tool results."""
    if not is_replaceable(part):
        return ""
    if isinstance(part, ToolResultPart):
        return "" if part.cleared or part.media or is_stub(part.text) else part.text
    is_prose = message.role in {"user", "assistant"} and not (
        message.origin.is_injected or message.origin.is_summary or is_stand_in(message)
    )
    return part.text if is_prose and isinstance(part, TextPart) else ""


STAGE = Stage(
    name=NAME,
    title="cut the longest texts to a common length until the target is reached",
    options=ShortenOptions,
    propose=propose,
    example=ShortenOptions(min_tokens=5),
)
