"""A rule of what providers and clients refuse, and what an error says about one."""

from collections.abc import Mapping

from compactctl.model.bounds import Positive
from compactctl.records import Record, field

APIS = frozenset({"anthropic", "bedrock", "openai", "openai-responses", "gemini", "mistral"})
"""The APIs that refuse requests; OpenAI's without a suffix is Chat Completions."""


class RefusalRule(Record):
    """Why a provider refuses a request, or a client a session.

    Attributes:
        id: the name that users see.
        providers: who refuses: an API (anthropic, bedrock, openai for Chat Completions,
            openai-responses, gemini, mistral), or the display name of a client for a fault of its
            files.
        limits: by provider, the largest number that it accepts, in the unit of the rule.
        sentences: words of the errors that say so; "…" matches up to 200 characters.
        places: how the errors name the place, such as ``messages.{message}.content.{block}``;
            the placeholders are the fields of ``ErrorPlace``.
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

    @property
    def is_of_api(self) -> bool:
        """Whether an API refuses requests by it, instead of a client its files."""
        return not APIS.isdisjoint(self.providers)


UNKNOWN = RefusalRule(
    id="unknown",
    providers=(),
    says="refused for a reason that the error does not tell",
    advice="paste the whole error",
    source="errors that are cut off, or new",
)
"""The rule of an error that names a place, and no reason."""


class ErrorPlace(Record):
    """Where an error says that the fault is; None for what it does not say.

    Attributes:
        message: index of the message in the request.
        block: index of the block in the message.
        medium: index of the block in the content of a tool result.
        call: index of the call in the message.
        item: index of the item in the input of a request to the Responses API.
        line: line of the file, from 1.
        call_id: id of the tool call.
        item_id: id of the item.
    """

    message: int | None = None
    block: int | None = None
    medium: int | None = None
    call: int | None = None
    item: int | None = None
    line: int | None = None
    call_id: str | None = None
    item_id: str | None = None


class RefusalError(Record):
    """An error by which a request, or a session, was refused for what is in it.

    Attributes:
        rules: the rules that it may be about, the most likely one first; only the transcript tells
            which of them is meant.
        sentence: the words by which they were recognized, as the rules have them; "" for the size
            of a request.
        provider: the API that the error names, among those of the rules; None for none.
        place: where it says that the fault is.
        limit: the bytes that a request may have; None if it does not say.
    """

    rules: tuple[RefusalRule, ...]
    sentence: str = ""
    provider: str | None = None
    place: ErrorPlace = ErrorPlace()
    limit: int | None = None
