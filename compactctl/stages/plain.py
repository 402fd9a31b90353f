"""Plain: replace older messages with a note of how many there were, and the user's words."""

from collections.abc import Iterator, Sequence

from compactctl.history.conversation_view import ConversationView
from compactctl.history.turns import find_steps
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import MediaPart, Message, media_text
from compactctl.model.summary import COUNTS, Summary
from compactctl.records import dataclass
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
LABEL = "[Conversation context — {count} earlier messages removed to fit context window]\n"
# As in Codebuddy: the length of a topic, and the end of a longer one. Codebuddy also cuts inside
# words; we do so only if the topic is a single word.
TOPIC_CHARS = 80
ELLIPSIS = "..."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainOptions:
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
    from compactctl.summaries.document.offline import quote_words

    request = summary_request(view, meter, hidden, SummaryFormat(prefix=LABEL))
    counts = "\n".join(_summary_lines(request.messages, options.topics))
    text = "\n".join(filter(None, (counts, quote_words(request, meter.text_retried))))
    spec = CondenseSpec(stage=NAME, options=options, format=SummaryFormat(prefix=LABEL))
    return condense(view, meter, hidden, Summary(text=text, writer=COUNTS), spec)


def _summary_lines(messages: Sequence[Message], max_topics: int) -> Iterator[str]:
    prompts = sum(message.starts_turn for message in messages)
    calls = sum(len(message.calls) for message in messages)
    responses = len(find_steps(messages))
    yield f"User messages: {prompts:,}, Assistant responses: {responses:,}, Tool calls: {calls:,}"
    topics = [topic for message in messages if message.starts_turn for topic in _topic(message)]
    if topics[:max_topics]:
        yield "Topics discussed:"
        yield from (f"- {topic}" for topic in topics[:max_topics])


def _topic(message: Message) -> Iterator[str]:
    """Yield the first line of what the user wrote, with what they attached, if there is any."""
    text = "\n".join(filter(None, map(message.words, message.parts))).strip()
    line = text.partition("\n")[0].strip()
    max_chars = TOPIC_CHARS - len(ELLIPSIS)
    cut = line[: word_end(line, max_chars) or max_chars].rstrip() + ELLIPSIS
    media = [media_text(part) for part in message.parts if isinstance(part, MediaPart)]
    topic = " ".join(filter(None, (cut if len(line) > TOPIC_CHARS else line, *media)))
    if topic:
        yield topic


STAGE = Stage(
    name=NAME,
    title="replace older messages with a note of how many there were, and the user's words",
    options=PlainOptions,
    propose=propose,
    example=PlainOptions(keep_recent=2),
    keeps_lasting_words=True,
    codebuddy_tier=4,
)
