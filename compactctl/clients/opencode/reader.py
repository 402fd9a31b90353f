"""Reads OpenCode's sessions: the message of each record, and the usage reported for it."""

from collections.abc import Mapping, Sequence
from typing import Any

from compactctl.clients.opencode.effective import OpenCodeRecord, by_time, effective
from compactctl.clients.opencode.parts import (
    COUNTS,
    NAME,
    NextRequest,
    is_encrypted,
    is_message,
    is_typed,
    message_parts,
    next_request,
)
from compactctl.clients.opencode.unsent import UNSENT, without_unsent
from compactctl.clients.opencode.wrapping import OPENCODE
from compactctl.clients.records.builder import TranscriptBuilder
from compactctl.clients.records.containers import ContainedRecord, Container
from compactctl.clients.records.copied import answers_before
from compactctl.clients.records.json_values import (
    count_or_none,
    object_or_empty,
    parse_time,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.usage import sum_usages
from compactctl.model.json_paths import value_at
from compactctl.model.message import Message, MessageId, ReportedUsage
from compactctl.model.transcript import Cleared, PastCompactions, SessionInfo, Transcript
from compactctl.model.usage_fields import with_reported_usage
from compactctl.records import replace

# In published sessions, tools have replaced ids that looked like a secret.
_NO_IDS = ("", "REDACTED")
# When times in ids began anew, as milliseconds since the epoch: on 14 August 2026.
_IDS_BEGAN_ANEW = 26 * 2**36
_OLD_IDS = (
    "Kilo leaves out prompts with greater ids than the next one, as those from before"
    " 14 August 2026 have"
)


class OpenCodeReader:
    """Reads whole conversations and determines their effective histories."""

    def __init__(self) -> None:
        self.builder = TranscriptBuilder(wrapping=OPENCODE, unsent_fields=UNSENT)
        self.effective: list[Message] = []
        self.cwd: str | None = None
        self._client: str | None = None
        self._count = 0
        self._copied: set[MessageId] = set()
        self._is_encrypted = False
        self._cleared: Cleared | None = None

    def add_container(self, container: Container) -> None:
        """Add one session."""
        session = object_or_empty(container.document.get("info"))
        self.cwd = text_or_none(session.get("directory")) or self.cwd
        infos = [object_or_empty(entry.record.get("info")) for entry in container.entries]
        request = next_request(session, infos)
        self._client = "Kilo" if request.is_of_kilo else None
        added = (self._add_record(entry, request) for entry in container.entries)
        records = [record for record in added if record is not None]
        created = parse_time(object_or_empty(session.get("time")).get("created"))
        messages = [record.message for record in records if record.message is not None]
        self._copied |= answers_before(messages, created)
        if not container.entries:
            self.builder.add_metadata("empty conversation", container.decoded.n_bytes)
        sent, self._cleared = effective(by_time(records), session, request)
        if request.is_of_kilo and _has_old_id(infos):
            self.builder.add_unmodeled("prompt", container.decoded.index, _OLD_IDS)
        self.effective += sent
        self._count += 1

    def finish(self) -> Transcript:
        """Return the transcript."""
        models = (message.model for message in reversed(self.builder.messages) if message.model)
        return self.builder.build(
            NAME,
            tuple(self.effective),
            session=SessionInfo(
                model=next(models, None),
                client=self._client,
                cwd=self.cwd,
                # Inferred from the contexts reported around 33 turns of client 1.2.20.
                drops_past_reasoning=self._is_encrypted,
                copied=frozenset(self._copied),
            ),
            compactions=PastCompactions(cleared=self._cleared),
        )

    def _add_record(self, entry: ContainedRecord, request: NextRequest) -> OpenCodeRecord | None:
        if isinstance(entry.value, Mapping):
            entry = replace(entry, value=with_reported_usage(entry.value, COUNTS))
        error = value_at(entry.record, ("info", "error", "data", "message"))
        self.builder.add_error(text_or_none(error), entry.decoded.index)
        draft = _draft(entry, request)
        if draft is None:
            self.builder.add_opaque(
                entry.decoded, "a record that is not a message", entry.n_bytes, value=entry.value
            )
            return None
        if draft.is_empty:
            self.builder.add_empty(
                "empty message",
                without_unsent(entry.record, request),
                entry.decoded,
                entry.n_bytes,
                entry.record_path,
            )
            return OpenCodeRecord(entry.record, None)
        parts = map(object_or_empty, entry.record["parts"])
        self._is_encrypted = self._is_encrypted or any(map(is_encrypted, parts))
        message = self.builder.add_message(
            draft,
            entry.record,
            entry.decoded,
            record_path=entry.record_path,
            conversation=self._count,
            measured=without_unsent(entry.record, request),
        )
        return OpenCodeRecord(entry.record, message)


def _has_old_id(infos: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the newest prompt has an id from before times in ids began anew.

    Those of forks begin with a zero, and stay less than newer ones.
    """
    prompts = [info for info in infos if info.get("role") == "user"]
    newest = object_or_empty(prompts[-1] if prompts else None)
    created = count_or_none(object_or_empty(newest.get("time")).get("created"))
    is_old = created is not None and created < _IDS_BEGAN_ANEW
    return is_old and not text_or_empty(newest.get("id")).startswith("msg_0")


def _draft(entry: ContainedRecord, request: NextRequest) -> MessageDraft | None:
    record = entry.record
    info = object_or_empty(record.get("info"))
    if not is_message(record) or info.get("role") not in ("user", "assistant"):
        return None
    parts = message_parts(record, (*entry.record_path, "parts"), request)
    recorded_id = text_or_empty(info.get("id"))
    record_id = None if recorded_id in _NO_IDS else recorded_id
    if info["role"] == "user":
        return MessageDraft(
            role="user",
            parts=parts,
            record_id=record_id,
            is_injected=not any(map(is_typed, record["parts"])),
            timestamp=_time(info),
        )
    position = ".".join(map(str, entry.record_path)) or str(entry.decoded.index)
    return MessageDraft(
        role="assistant",
        parts=parts,
        record_id=record_id,
        # Each record is a response, but redacted ids may be equal.
        response_id=f"{record_id} {position}",
        model=text_or_none(info.get("modelID")),
        is_summary=info.get("summary") is True,
        usage=_usage(info, record["parts"]),
        timestamp=_time(info),
    )


def _usage(info: Mapping[str, Any], parts: Sequence[Any]) -> ReportedUsage | None:
    """Return the usage reported for an answer's requests, or None.

    An answer of several steps has the numbers of its last request, and each step its own.
    """
    tokens = object_or_empty(info.get("tokens"))
    steps = [part for part in map(object_or_empty, parts) if part.get("type") == "step-finish"]
    if len(steps) > 1:
        usages = [_reported(object_or_empty(step.get("tokens"))) for step in steps]
        return sum_usages(usages) if all(usage.context > 0 for usage in usages) else None
    usage = _reported(tokens)
    return None if not tokens or (usage.context <= 0 and info.get("error")) else usage


def _reported(tokens: Mapping[str, Any]) -> ReportedUsage:
    cache = object_or_empty(tokens.get("cache"))
    sent, read, write = map(
        count_or_none, (tokens.get("input"), cache.get("read"), cache.get("write"))
    )
    context = sum(count or 0 for count in (sent, read, write))
    total, output = (count_or_none(tokens.get(name)) for name in ("total", "output"))
    if total is not None and total >= context:
        # Only some versions include the reasoning in ``output``; the total always does.
        output = total - context
    return ReportedUsage(
        context=context,
        output=output,
        reasoning=count_or_none(tokens.get("reasoning")) or 0,
        cache_read=read,
        cache_write=write,
        is_sum=True,
    )


def _time(info: Mapping[str, Any]) -> float | None:
    """Return when a message was completed, else when it was created, or None."""
    time = object_or_empty(info.get("time"))
    return parse_time(time.get("completed")) or parse_time(time.get("created"))
