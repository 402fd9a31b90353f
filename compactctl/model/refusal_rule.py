"""A rule of what providers and clients refuse."""

from collections.abc import Mapping

from compactctl.model.bounds import Positive
from compactctl.records import Record, field


class RefusalRule(Record):
    """Why a provider refuses a request, or a client a session.

    Attributes:
        id: the name that users see.
        providers: who refuses: an API (anthropic, bedrock, openai for Chat Completions,
            openai-responses, gemini, mistral), or the display name of a client for a fault of its
            files.
        limits: by provider, the largest number that it accepts, in the unit of the rule.
        sentences: words of the errors that say so; "…" matches up to 200 characters.
        places: how the errors name the place, such as ``messages.{m}.content.{b}``; the
            placeholders are the fields of ``ErrorPlace``.
        fixed_by: by the display name of a client, the oldest version that was seen to fix such a
            session by itself.
        says: what is wrong, as a clause in which {actual} and {limit} may stand.
        repaired: what a repair did, as a clause after the place; "" if only the user can fix it.
        advice: what the user can do, if only the user can fix it.
        certain: whether the transcript alone shows that the request will be refused.
        source: who documents the rule, or where it was seen, with the date.
    """

    id: str
    providers: tuple[str, ...]
    limits: Mapping[str, Positive] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    fixed_by: Mapping[str, str] = field(default_factory=dict)
    says: str
    repaired: str = ""
    advice: str = ""
    certain: bool = True
    source: str
