"""Finds out what the provider, or the client, will refuse in the next request."""

import re
from collections.abc import Iterator, Mapping, Sequence

from compactctl.clients.format import Format
from compactctl.clients.registry import format_of
from compactctl.commands.measuring.measure import Measurement
from compactctl.commands.measuring.next_request import NO_EXTRAS, Extras
from compactctl.history.error_subject import ErrorSubject, find_subject
from compactctl.history.faults import Fault, Recipient, find_faults, request_size
from compactctl.history.turns import split_conversations
from compactctl.model.message import Message
from compactctl.model.refusal_rule import RefusalError, RefusalRule
from compactctl.model.transcript import Transcript
from compactctl.profiles.refusals import load_refusals
from compactctl.records import replace

# The API by the beginning of a model's name.
_PROVIDERS: Mapping[str, str] = {
    "claude": "anthropic",
    "gpt": "openai",
    "chatgpt": "openai",
    "gemini": "gemini",
    "mistral": "mistral",
    "magistral": "mistral",
    "devstral": "mistral",
    "codestral": "mistral",
    "ministral": "mistral",
}
# The API of items, whose rules make no sense for the messages of others.
_ITEMS = "openai-responses"
# APIs that the same client may ask.
_ALIKE = (frozenset({"anthropic", "bedrock"}), frozenset({"openai", _ITEMS}))
REQUEST_SIZE = "request-bytes"
"""The rule on the bytes of a request."""
_FAMILY = re.compile(r"[a-z]+")


def recipient_of(transcript: Transcript, measured: Measurement) -> Recipient:
    """Return who gets the next request of a transcript."""
    chosen = format_of(transcript.format)
    model = (transcript.session.model or "").rpartition("/")[2].lower()
    return Recipient(
        provider=_provider(chosen, model),
        client=chosen.client,
        version=transcript.session.client_version,
        model=model,
        window=measured.budget.window,
        rules=load_refusals(),
        pair_order=chosen.pair_order,
        is_request=not chosen.client and _is_request(transcript),
        sees_all=not transcript.unread.lost,
    )


def _provider(chosen: Format, model: str) -> str:
    """Return the API that requests go to; Mistral's takes the messages of OpenAI's chat."""
    family = _FAMILY.match(model)
    of_model = _PROVIDERS.get(family[0], "") if family else ""
    return of_model if not chosen.provider or of_model == "mistral" else chosen.provider


def _is_request(transcript: Transcript) -> bool:
    """Whether the file is one request, which names its model, without an answer.

    One on a line of its own is of a log, which may have an answer added to its messages.
    """
    messages = transcript.effective
    return (
        transcript.is_document
        and transcript.session.model is not None
        and bool(messages)
        and all(m.record_path and not m.conversation for m in messages)
        and not messages[-1].origin.is_logged_answer
    )


def subject_of(error: RefusalError, transcript: Transcript, measured: Measurement) -> ErrorSubject:
    """Return what an error is about, which a request of a transcript got."""
    recipient = recipient_of(transcript, measured)
    if not _may_come_from(error, recipient, format_of(transcript.format)):
        return ErrorSubject(recipient=recipient, rule=error.rules[0])
    rules = {rule.id: rule for rule in _rules_in_force(error, recipient, transcript)}
    recipient = replace(recipient, rules={**recipient.rules, **rules})
    error = replace(error, rules=tuple(rules.values()), provider=_provider_of(error, recipient))
    subjects = [
        find_subject(
            error,
            _faults_in(transcript, sent, recipient, number),
            sent,
            stored_of(transcript, sent),
            recipient,
        )
        for number, sent in enumerate(split_conversations(transcript.effective) or ((),))
    ]
    exact = (subject for subject in subjects if subject.is_exact)
    others = (subject for subject in subjects if subject.faults)
    subject = next(exact, next(others, subjects[0]))
    return subject.in_document if transcript.n_lines == 1 else subject


def _provider_of(error: RefusalError, recipient: Recipient) -> str:
    """Return the provider that an error comes from: the recipient's own, if that is possible."""
    providers = {name for rule in error.rules for name in rule.providers}
    if error.provider is None and recipient.provider in providers:
        return recipient.provider
    return error.provider or next(iter(error.rules[0].providers), recipient.provider)


def _may_come_from(error: RefusalError, recipient: Recipient, chosen: Format) -> bool:
    """Whether requests of a format can get an error; a client may ask a single API."""
    rule = error.rules[0]
    if rule.id == REQUEST_SIZE or not rule.is_of_api:
        return True
    if set(rule.providers) == {_ITEMS} and recipient.provider not in ("", "openai", _ITEMS):
        return False
    if not (chosen.client and chosen.provider):
        return True
    apis = next((apis for apis in _ALIKE if chosen.provider in apis), {chosen.provider})
    return _provider_of(error, recipient) in apis


def _rules_in_force(
    error: RefusalError, recipient: Recipient, transcript: Transcript
) -> Iterator[RefusalRule]:
    """Yield the rules of an error as they hold for the recipient, whoever has sent it on."""
    name = recipient.provider
    for rule in error.rules:
        if rule.id == REQUEST_SIZE:
            yield _with_size(rule, error.limit, recipient, transcript)
        elif rule.is_of_api:
            limit = rule.limits.get(error.provider or name, max(rule.limits.values(), default=0))
            yield replace(rule, providers=(name,), limits={name: limit} if limit else {})
        else:
            yield rule


def _with_size(
    rule: RefusalRule, limit: int | None, recipient: Recipient, transcript: Transcript
) -> RefusalRule:
    """Return the rule on the size of requests, with the limit of an error.

    One that it does not name is half of what was sent, if that is within the known limit.
    """
    # An older client may have sent all that is stored.
    conversations = split_conversations(transcript.history)
    n_bytes = max(map(request_size, conversations), default=0)
    limit = limit or recipient.limit(rule)
    if not 0 < limit < n_bytes:
        limit, rule = max(1, n_bytes // 2), replace(rule, says="request of {actual} is too large")
    return replace(rule, providers=(recipient.provider,), limits={recipient.provider: limit})


def faults_of(
    transcript: Transcript,
    measured: Measurement,
    extras: Extras = NO_EXTRAS,
    recipient: Recipient | None = None,
) -> tuple[Fault, ...]:
    """Return what will be refused, or would be if the client did not fix it, line by line.

    ``extras`` are sent with a request, to the ``recipient`` if one is named.
    """
    recipient = recipient or recipient_of(transcript, measured)
    conversations = split_conversations(transcript.effective) or ((),)
    faults: list[Fault] = []
    for number, sent in enumerate(conversations):
        faults += _faults_in(transcript, sent, recipient, number, extras)
    # What was given beside the transcript has no line.
    return tuple(fault for fault in faults if fault.line >= 0)


def _faults_in(
    transcript: Transcript,
    sent: Sequence[Message],
    recipient: Recipient,
    number: int,
    extras: Extras = NO_EXTRAS,
) -> Iterator[Fault]:
    """Yield the faults of one conversation; the first one has those of the file."""
    refused = () if number else transcript.refused
    messages = extras.around(sent) if recipient.is_request else sent
    for fault in find_faults(messages, stored_of(transcript, sent), refused, recipient):
        yield replace(fault, is_in_document=transcript.n_lines == 1)


def stored_of(transcript: Transcript, sent: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages of one conversation as the file has them, () if they are sent so."""
    if not transcript.with_omitted or not sent:
        return ()
    number = sent[0].conversation
    return tuple(message for message in transcript.history if message.conversation == number)
