"""Keeps the messages of an agent loop within the model's window."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self, Unpack, cast, get_type_hints

from compactctl.clients.records.json_values import json_text
from compactctl.clients.registry import format_named, usage_in
from compactctl.commands.measuring.measure import measure
from compactctl.commands.measuring.next_request import (
    CacheUse,
    system_prompt,
    tool_definitions,
)
from compactctl.commands.reading.transcript import parse
from compactctl.errors import UsageError
from compactctl.history.unread import describe_unread
from compactctl.library.choices import (
    CompactKwargs,
    Size,
    StageKwargs,
    check_keywords,
    parse_keyword,
    parse_recipe,
)
from compactctl.library.loop_cut import CutSettings, LoopCut, cut_to, line_sizes
from compactctl.library.message_list import (
    CompactedMessages,
    Cut,
    check_messages,
    check_pairs,
    encode_messages,
    function_summarizer,
)
from compactctl.library.reported_size import ReportedSize
from compactctl.library.tracked import JsonMessage, Match, TrackedMessages, common_length
from compactctl.model.edit import Insert
from compactctl.model.message import ToolCallPart
from compactctl.model.transcript import Transcript
from compactctl.model.validation import validated
from compactctl.profiles.overflow import Overflow, classify_error
from compactctl.records import asdict
from compactctl.tokens.budget import parse_target
from compactctl.tokens.models.prices import BUILTIN_PRICES, Price

Summarize = Callable[[str], str]
OnCut = Callable[[Cut], object]

STATE_VERSION = 1
_CHOICES = tuple(get_type_hints(StageKwargs))
# A refused request is made smaller so often, each time to at most this share of its size.
_MAX_RECOVERIES, _RECOVERY_SHARE = 3, 0.75
# How many times a smaller target is tried until the request gets smaller at all.
_MAX_ATTEMPTS = 4
# For a model without a price: what most providers charge, relative to input that is not cached.
_USUAL_PRICE = Price(
    model="", input=1, cache_read=0.1, cache_write=1.25, cache_write_1h=2, output=5
)


class Compactor:
    """Keeps the messages of one conversation within a window.

    ``fit`` returns what to send: below ``trigger`` the same beginning as last time, so that the
    provider's prompt cache holds it, and above it one cut to ``target``, made from the originals.
    Sizes are shares of the window (``0.8``, ``"80%"``) or tokens (``100_000``, ``"100k"``). A cut
    that would save less than ``min_saving`` is only made if the request does not fit otherwise.

    ``system`` and ``tools`` are what is sent beside the messages; they are only counted. Messages
    of the user of up to ``keep_user`` tokens stay whole in a fifth of the room. ``summarizer``
    takes a prompt and returns a summary; if it fails, the built-in one writes it. ``on_cut`` is
    called with each cut. All else is as for ``compact_messages``.

    It holds the conversation: make one for each. Methods raise UsageError if another call is still
    at work, and for messages that are not JSON objects, NotUnderstoodError for those that are not
    of the format; nothing else in a loop raises.
    """

    def __init__(
        self,
        *,
        trigger: Size = 0.8,
        target: Size = 0.4,
        min_saving: Size = 0.1,
        format: str = "openai-chat",
        system: object = None,
        tools: Sequence[object] | None = None,
        keep_user: int = 2_000,
        summarizer: Summarize | None = None,
        on_cut: OnCut | None = None,
        **choices: Unpack[StageKwargs],
    ) -> None:
        """Raise UsageError for an invalid value, TypeError for an unknown keyword."""
        options = {
            "trigger": trigger,
            "target": target,
            "min_saving": min_saving,
            "format": format,
            "system": system,
            "tools": tools,
            "keep_user": keep_user,
            **choices,
        }
        check_keywords(choices, StageKwargs, "Compactor")
        self._options = {key: value for key, value in options.items() if value is not None}
        self._on_cut = on_cut
        self._settings = _settings(self._options, summarizer)
        budget = self._settings.measured.budget
        self._limit = budget.window - (choices.get("max_tokens") or 0)
        self._trigger, self._target, self._min_saving = (
            _tokens(self._options, key, self._limit) for key in ("trigger", "target", "min_saving")
        )
        if not self._target < self._trigger <= self._limit:
            raise UsageError(
                f"target is {self._target:,}, trigger {self._trigger:,} and the limit "
                f"{self._limit:,} tokens; each must be smaller than the next"
            )
        self._busy = threading.Lock()
        self._history = TrackedMessages()
        self._calls: set[str] = set()
        self._unread = ""
        self._reported = ReportedSize()
        self._sent_tokens: float | None = None
        self._recoveries = 0
        self._forget_cut()

    def fit(self, messages: Sequence[JsonMessage]) -> CompactedMessages:
        """Return what to send instead of ``messages``.

        They are the whole history, or what was last returned with what came since; both give the
        same. A message that was changed in place counts as it is now, and a shorter history as one
        that goes on from there.
        """
        with self._alone("fit"):
            self._recoveries = 0
            self._take(messages)
            size = self._size
            if size > self._trigger and size >= self._not_before:
                return self._cut(size)
            return self._result()

    async def afit(self, messages: Sequence[JsonMessage]) -> CompactedMessages:
        """Return what ``fit`` does, from a thread."""
        return await asyncio.to_thread(self.fit, messages)

    def after(self, usage: object) -> None:
        """Take what the provider reported for the request that was last returned.

        ``usage`` is that of an answer, as an object or a dict; later sizes follow it.
        """
        report = usage_in(dict.fromkeys(("usage", "usageMetadata"), _plain(usage)))
        if report is not None and self._sent_tokens is not None:
            self._reported = self._reported.with_report(self._sent_tokens, report.context)

    def recover(
        self, error: Exception, messages: Sequence[JsonMessage] | None = None
    ) -> CompactedMessages:
        """Return less than was sent, after an error that says that it was too large.

        What the error says of the window and of the size is remembered. It is raised again if it
        says anything else, such as that there were too many requests, if nothing more can be left
        out, and the fourth time in a row. ``messages`` are what was sent, if not by ``fit``.
        """
        overflow = classify_error(_text_of(error))
        with self._alone("recover"):
            if messages is not None:
                self._take(messages)
            sent = self._sent_tokens if messages is None else self._counted
            if not (overflow.overflow and sent) or self._recoveries == _MAX_RECOVERIES:
                raise error
            self._recoveries += 1
            self._learn(overflow, sent)
            target = min(self._target, int(self._reported.tokens(sent) * _RECOVERY_SHARE))
            for _ in range(_MAX_ATTEMPTS):
                result = self._cut(self._size, target, must=True)
                if self._counted < sent:
                    return result
                target //= 2
            raise error

    def originals(self) -> list[JsonMessage]:
        """Return the whole history, as it was before any cut."""
        return list(self._history.messages)

    def groups(self) -> list[int | None]:
        """Return for each message that is sent the index of its original, None for a digest."""
        return [*self._origins, *range(self._covered, len(self._history))]

    def rewind(self) -> list[JsonMessage]:
        """Forget the cut, so that the whole history is sent again; return it."""
        with self._alone("rewind"):
            self._forget_cut()
            return self.originals()

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON values, without ``summarizer`` and ``on_cut``."""
        sent = zip(self._sent.messages, self._origins, strict=False)
        return {
            "version": STATE_VERSION,
            "options": self._options,
            "limits": [self._limit, self._trigger, self._target, self._min_saving],
            "reported": asdict(self._reported),
            "history": self.originals(),
            "covered": self._covered,
            "not_before": self._not_before,
            # What is sent as it was is only named.
            "sent": [
                [origin, None if self._is_original(message, origin) else message]
                for message, origin in sent
            ],
        }

    @classmethod
    def from_dict(
        cls,
        state: Mapping[str, Any],
        *,
        summarizer: Summarize | None = None,
        on_cut: OnCut | None = None,
    ) -> Self:
        """Return a compactor that goes on from the state that ``to_dict`` returned."""
        if state.get("version") != STATE_VERSION:
            raise UsageError(
                f"the state is of version {state.get('version')!r}; this compactctl reads version "
                f"{STATE_VERSION}"
            )
        compactor = cls(**state["options"], summarizer=summarizer, on_cut=on_cut)
        compactor._limit, compactor._trigger, compactor._target, compactor._min_saving = state[
            "limits"
        ]
        compactor._reported = validated(state["reported"], ReportedSize)
        compactor._add(state["history"])
        if state["covered"]:
            history = compactor._history.messages
            origins = [origin for origin, _ in state["sent"]]
            sent = [history[origin] if new is None else new for origin, new in state["sent"]]
            compactor._begin_with(sent, compactor._sizes_of(sent), origins, state["covered"])
        compactor._not_before = state["not_before"]
        return compactor

    @contextmanager
    def _alone(self, call: str) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise UsageError(
                f"{call}: another call of this Compactor is at work; make one for each conversation"
            )
        try:
            yield
        finally:
            self._busy.release()

    @property
    def _counted(self) -> float:
        """Our count of what would be sent."""
        return self._settings.fixed + self._sent.tokens

    @property
    def _size(self) -> int:
        """The size of what would be sent, as the provider counts it."""
        return self._reported.tokens(self._counted)

    def _result(self, cut: Cut | None = None) -> CompactedMessages:
        self._sent_tokens = self._counted
        return CompactedMessages(
            self._sent.messages, tokens=self._size, limit=self._limit, unread=self._unread, cut=cut
        )

    # What was cut: ``_sent`` begins with messages that have ``_origins`` and stand for ``_covered``
    # messages of the history; the rest is that of the history. Without a cut it is the history.
    def _forget_cut(self) -> None:
        self._sent, self._origins, self._covered = self._history, list[int | None](), 0
        self._not_before = 0

    def _begin_with(
        self,
        messages: Sequence[JsonMessage],
        sizes: Sequence[float],
        origins: Sequence[int | None],
        covered: int,
    ) -> None:
        """Send these messages instead of the first ``covered`` ones of the history."""
        history = self._history
        self._sent = TrackedMessages()
        self._sent.extend(messages, sizes)
        self._sent.extend(history.messages[covered:], history.sizes[covered:])
        self._origins, self._covered = list(origins), covered

    def _is_original(self, message: JsonMessage, origin: int | None) -> bool:
        return origin is not None and self._history.messages[origin] is message

    def _take(self, messages: Sequence[JsonMessage]) -> None:
        """Find out what is new in a list, and add it."""
        given = messages if isinstance(messages, list) else list(messages)
        of_history = self._history.match(given)
        if of_history.length == len(self._history):
            self._take_changes(of_history.changed, given)
            self._add(given[of_history.length :])
            return
        of_sent = self._sent.match(given) if self._covered else Match(0)
        n_origins = len(self._origins)
        if of_sent.length >= max(n_origins, of_history.length + 1):
            # It goes on from what was sent, or from a point since then.
            self._truncate(self._covered + of_sent.length - n_origins)
            self._take_changes_of_sent(of_sent.changed, given)
            self._add(given[of_sent.length :])
            return
        if of_history.length < self._covered:
            self._forget_cut()
        self._truncate(of_history.length)
        self._take_changes(of_history.changed, given)
        self._add(given[of_history.length :])

    def _truncate(self, length: int) -> None:
        """Drop the history from ``length`` on, which is not covered by the cut."""
        self._history.truncate(length)
        if self._sent is not self._history:
            self._sent.truncate(len(self._origins) + length - self._covered)

    def _take_changes(self, changed: Sequence[int], given: Sequence[JsonMessage]) -> None:
        """Take messages of the history as they are in ``given`` now.

        A cut that says something of one of them, and does not send it as it is, is forgotten.
        """
        for index in changed:
            [size] = self._sizes_of([given[index]], index)
            place = next((n for n, o in enumerate(self.groups()) if o == index), None)
            is_sent = place is not None and self._is_original(self._sent.messages[place], index)
            self._history.replace(index, given[index], size)
            if not is_sent:
                self._forget_cut()
            elif place is not None and self._sent is not self._history:
                self._sent.replace(place, given[index], size)

    def _take_changes_of_sent(self, changed: Sequence[int], given: Sequence[JsonMessage]) -> None:
        """Take messages that were sent as they are in ``given`` now."""
        origins = self.groups()
        for place in changed:
            [size] = self._sizes_of([given[place]], place)
            origin = origins[place]
            if origin is not None and self._is_original(self._sent.messages[place], origin):
                self._history.replace(origin, given[place], size)
            self._sent.replace(place, given[place], size)

    def _sizes_of(self, messages: Sequence[JsonMessage], start: int = 0) -> list[float]:
        sizes, _ = self._read(messages, start)
        return sizes

    def _read(self, messages: Sequence[JsonMessage], start: int) -> tuple[list[float], Transcript]:
        """Return the tokens of messages, and what was read of them; ``start`` is the first's index.

        Raises UsageError and NotUnderstoodError.
        """
        settings = self._settings
        lines = encode_messages(messages, start)
        transcript = parse(lines, settings.format)
        check_messages(messages, transcript, settings.format.name, start)
        return line_sizes(transcript, len(lines), settings.measured.framed), transcript

    def _add(self, messages: Sequence[JsonMessage]) -> None:
        """Add messages at the end."""
        if not messages:
            return
        sizes, transcript = self._read(messages, len(self._history))
        if not self._settings.repairs:
            check_pairs(transcript.effective, self._calls, len(self._history))
        self._calls |= {
            part.call_id
            for message in transcript.effective
            for part in message.parts
            if isinstance(part, ToolCallPart)
        }
        self._unread = self._unread or describe_unread(transcript.unread)
        self._history.extend(messages, sizes)
        if self._sent is not self._history:
            self._sent.extend(messages, sizes)

    def _cut(
        self, before: int, target: int | None = None, *, must: bool = False
    ) -> CompactedMessages:
        """Send less, unless it saves too little; the result may still be what it was."""
        counted = self._reported.counted(self._target if target is None else target)
        source = self._history if self._settings.summarizer is None else self._sent
        origins = list(range(len(source))) if source is self._history else self.groups()
        made = cut_to(encode_messages(source.messages), counted, self._settings)
        messages = [
            source.messages[new.origin]
            if new.message is None and new.origin is not None
            else new.message or {}
            for new in made.messages
        ]
        after = self._reported.tokens(self._settings.fixed + sum(new.size for new in made.messages))
        saves_enough = before - after >= self._min_saving
        if not (saves_enough or (after < before and (must or before > self._limit))):
            self._not_before = before + self._min_saving
            return self._result()
        cut = self._describe(made, before, after, common_length(messages, self._sent.messages))
        self._begin_with(
            messages,
            [new.size for new in made.messages],
            [None if new.origin is None else origins[new.origin] for new in made.messages],
            len(self._history),
        )
        self._not_before = after + self._min_saving
        if self._on_cut is not None:
            self._on_cut(cut)
        return self._result(cut)

    def _describe(self, made: LoopCut, before: int, after: int, n_alike: int) -> Cut:
        held = self._reported.tokens(
            self._settings.fixed + sum(new.size for new in made.messages[:n_alike])
        )
        use = CacheUse(line=n_alike, held=held, resent=after - held, saved=before - after)
        model = self._settings.measured.model.name
        price = BUILTIN_PRICES.price_for(model, before) or _USUAL_PRICE
        return Cut(
            before=before,
            after=after,
            resent=use.resent,
            pays_after=use.pays_after(price),
            note=_fallback(made),
        )

    def _learn(self, overflow: Overflow, sent: float) -> None:
        """Remember what an error says of the window and of the request that was sent."""
        if overflow.prompt is not None:
            self._reported = self._reported.with_report(sent, overflow.prompt)
        limit = self._reported.tokens(sent) - 1
        if overflow.is_of_tokens and overflow.limit is not None:
            limit = overflow.limit - overflow.answer
        if 0 < limit < self._limit:
            self._trigger, self._target, self._min_saving = (
                size * limit // self._limit
                for size in (self._trigger, self._target, self._min_saving)
            )
            self._limit = limit


def _settings(options: Mapping[str, Any], summarizer: Summarize | None) -> CutSettings:
    """Return how to measure and cut, from the options of a Compactor. Raises UsageError."""
    choices: dict[str, Any] = {key: options[key] for key in _CHOICES if key in options}
    settings = {name: dict(values) for name, values in choices.get("stage_options", {}).items()}
    if summarizer is not None and not {"stages", "profile"} & choices.keys():
        choices["stages"] = ["dedup", "summarize"]
        settings.setdefault("summarize", {}).setdefault("fill", True)
    choices["stage_options"] = settings
    recipe = parse_recipe(cast("CompactKwargs", choices))
    chosen = format_named(options["format"]).for_list()
    measured = measure(parse([], chosen), recipe.measure)
    beside = []
    if "system" in options:
        beside.append(system_prompt(json_text(options["system"])))
    if "tools" in options:
        beside.append(tool_definitions(options["tools"]))
    return CutSettings(
        format=chosen,
        recipe=recipe,
        measured=measured,
        fixed=sum(map(measured.framed.total, beside)),
        summarizer=summarizer and function_summarizer(summarizer, recipe.profile),
    )


def _tokens(options: Mapping[str, Any], key: str, limit: int) -> int:
    size = parse_keyword(options, key, parse_target)
    if size is None:
        raise UsageError(f"{key}: is None; pass tokens or a share")
    return size.resolve(limit)


def _plain(usage: object) -> object:
    """Return the usage of an SDK as a dict."""
    if isinstance(usage, Mapping):
        return usage
    dump = getattr(usage, "model_dump", None)
    return dump() if callable(dump) else getattr(usage, "__dict__", {})


def _text_of(error: Exception) -> str:
    """Return all that an error of an SDK says: its text, the body and the status."""
    values = (error, getattr(error, "body", None), getattr(error, "status_code", None))
    return " ".join(str(value) for value in values if value)


def _fallback(made: LoopCut) -> str:
    """Return why the built-in summarizer wrote instead of the caller's, "" if it did not."""
    inserted = (e for e in made.compacted.run.applied.edits if isinstance(e, Insert))
    notes = (str(edit.message.details.get("fallback") or "") for edit in inserted)
    return next(filter(None, notes), "")
