"""Plain: replace older messages with a note of how many there were, and the user's words."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from compactctl.history.conversation_view import ConversationView
from compactctl.history.stand_ins import own_texts
from compactctl.history.turns import find_steps
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import MediaPart, Message, media_text
from compactctl.model.own_texts import TOPICS, HandOver, HandOverItem, HandOverSection, read_lines
from compactctl.model.summary import COUNTS, Summary
from compactctl.records import Record, replace
from compactctl.stages.support.condensation import (
    CondenseSpec,
    SummaryFormat,
    condense,
    end_of_older,
    hideable_before,
    skip_if_nothing_older,
    summary_request,
)
from compactctl.stages.support.stage import Stage, option
from compactctl.stages.support.user_media import with_user_media
from compactctl.summaries.extract.words import word_end
from compactctl.tokens.meter import Meter

NAME = "plain"
_FORMAT = SummaryFormat(prefix="")
# As in Codebuddy: the length of a topic, and the end of a longer one. Codebuddy also cuts inside
# words; we do so only if the topic is a single word.
TOPIC_CHARS = 80
ELLIPSIS = "..."


class PlainOptions(Record):
    """What to keep and to list; the defaults are those of Codebuddy."""

    keep_recent: int = option(4, "Number of the newest messages to keep.")
    topics: int = option(10, "Number of topics to list: first lines of the oldest user messages.")


def propose(view: ConversationView, meter: Meter, options: PlainOptions) -> Proposal | SkippedStage:
    """Propose to hide all but the newest messages behind a count, topics and the user's words."""
    view = with_user_media(view, meter)
    hidden = hideable_before(view, end_of_older(view, options.keep_recent))
    refusal = skip_if_nothing_older(NAME, view, hidden, "see --plain-keep-recent and --keep-turns")
    if refusal:
        return refusal
    from compactctl.summaries.document.offline import word_document

    request = summary_request(view, meter, hidden, _FORMAT)
    document = word_document(request, meter.text_retried)
    topics = islice(_topics(request.messages), options.topics)
    items = (*(HandOverItem(topic, TOPICS) for topic in topics), *document.items)
    sections = (HandOverSection("", items),) if items else ()
    document = replace(document, tally=_tally(request.messages), sections=sections)
    spec = CondenseSpec(stage=NAME, options=options, format=_FORMAT)
    return condense(view, meter, hidden, Summary(text=document.encode(), writer=COUNTS), spec)


def _tally(messages: Sequence[Message]) -> tuple[int, int, int]:
    """Count the prompts, responses and calls, also those that an earlier note counts."""
    notes = (note for message in messages for note in _notes(message))
    earlier = [note.tally for note in notes if note.tally]
    newer = (
        sum(message.starts_turn for message in messages),
        len(find_steps(messages)),
        sum(len(message.calls) for message in messages),
    )
    prompts, responses, calls = map(sum, zip(newer, *earlier, strict=True))
    return prompts, responses, calls


def _notes(message: Message) -> Iterator[HandOver]:
    yield from (text for text in own_texts(message) if isinstance(text, HandOver))


def _topics(messages: Iterable[Message]) -> Iterator[str]:
    """Yield the first line of what the user wrote in each prompt, with what they attached."""
    for message in messages:
        items = (item for note in _notes(message) for item in note.items)
        yield from (item.text for item in items if item.label == TOPICS)
        if not (own_texts(message) or message.starts_turn):
            continue
        text = "\n".join(filter(None, map(message.words, message.parts))).strip()
        media = [media_text(part) for part in message.parts if isinstance(part, MediaPart)]
        topic = " ".join(filter(None, (_cut(text), *media)))
        if topic:
            yield topic


def _cut(text: str) -> str:
    line = read_lines(text)[0].strip()
    max_chars = TOPIC_CHARS - len(ELLIPSIS)
    cut = line[: word_end(line, max_chars) or max_chars].rstrip() + ELLIPSIS
    return cut if len(line) > TOPIC_CHARS else line


STAGE = Stage(
    name=NAME,
    title="replace older messages with a note of how many there were, and the user's words",
    options=PlainOptions,
    propose=propose,
    example=PlainOptions(keep_recent=2),
    keeps_lasting_words=True,
    codebuddy_tier=4,
)
