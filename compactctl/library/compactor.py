"""Keeps the messages of an agent loop within the model's window."""

import asyncio
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sys import maxsize
from typing import Any, Self, Unpack

from msgspec import to_builtins

from compactctl.clients.registry import list_reader, usage_in
from compactctl.commands.measuring.next_request import CacheUse
from compactctl.errors import CompactctlError, UsageError
from compactctl.library.ahead import CutAhead, cut_in_process
from compactctl.library.choices import (
    PathLike,
    Size,
    StageKwargs,
    check_keywords,
    parse_keyword,
)
from compactctl.library.conversation import Conversation
from compactctl.library.loop_cut import (
    KEEP_USER,
    DetailedCut,
    LoopCut,
    cut_settings,
    cut_to,
    inserted,
    line_sizes,
)
from compactctl.library.loop_file import LoopFile
from compactctl.library.merging import Summarized
from compactctl.library.message_list import (
    CompactedMessages,
    CutResult,
    check_list,
    check_messages,
    check_pairs,
    encode_messages,
)
from compactctl.library.reported_size import ReportedSize
from compactctl.library.sdk_values import plain_option, plain_usage, text_of_error
from compactctl.library.tracked import JsonMessage, MessageFacts, common_length
from compactctl.model.message import ToolCallPart
from compactctl.model.validation import validated
from compactctl.profiles.overflow import Overflow, classify_error
from compactctl.tokens.budget import parse_target
from compactctl.tokens.models.prices import BUILTIN_PRICES, Price

Summarize = Callable[[str], str]
OnCut = Callable[[CutResult], object]

STATE_VERSION = 1
# A refused request is made smaller so often, each time to at most this share of its size.
_MAX_RECOVERIES, _RECOVERY_SHARE = 3, 0.75
_FEWER_BYTES = 0.9
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

    It holds the conversation: make one for each. Methods raise UsageError while another call runs,
    and for messages that are not JSON objects; NotUnderstoodError for those that are not of the
    format. Whatever else fails is a RuntimeWarning, and the messages are sent as they are.
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
        keep_user: int = KEEP_USER,
        summarizer: Summarize | None = None,
        on_cut: OnCut | None = None,
        archive: PathLike | None = None,
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
            "archive": None if archive is None else str(Path(archive).absolute()),
            **choices,
        }
        check_keywords(choices, StageKwargs, "Compactor")
        for name, value in (("summarizer", summarizer), ("on_cut", on_cut)):
            if value is not None and not callable(value):
                raise UsageError(f"{name}: is {type(value).__name__}; pass a function")
        self._options = {
            key: plain_option(value) for key, value in options.items() if value is not None
        }
        self._on_cut = on_cut
        self._settings = cut_settings(self._options, summarizer)
        budget = self._settings.measured.budget
        self._reserve = self._settings.recipe.measure.max_tokens or 0
        self._limit = budget.window - self._reserve
        self._trigger, self._target = (
            _tokens(self._options, key, self._limit) for key in ("trigger", "target")
        )
        self._min_saving = _tokens(self._options, "min_saving", self._limit) if min_saving else 0
        if not self._target < self._trigger <= self._limit:
            raise UsageError(
                f"target is {self._target:,}, trigger {self._trigger:,} and the limit "
                f"{self._limit:,} tokens; each must be smaller than the next"
            )
        self._file = None if archive is None else LoopFile(Path(archive))
        self._busy = threading.Lock()
        # One reads the conversation, and the other what is compared with it.
        self._reader, self._comparer = list_reader(format), list_reader(format)
        self._conversation = Conversation(self._read_facts, self._says_same)
        self._reported = ReportedSize()
        self._sent_tokens: float | None = None
        self._recoveries = self._not_before = 0
        self._ahead: CutAhead | None = None
        self._overflow: Overflow | None = None
        # The tokens of the largest request that was answered.
        self._accepted = 0

    def fit(self, messages: Sequence[JsonMessage]) -> CompactedMessages:
        """Return what to send instead of ``messages``.

        They are the whole history, or what was last returned with what came since; both give the
        same. A message that was changed in place counts as it is now, and a shorter history as one
        that goes on from there.
        """
        check_list(messages)
        with self._alone("fit"):
            self._recoveries = 0
            self._take(messages)
            if self._is_due:
                self._take(messages, all_at_once=True)
            return self._cut_if_due()

    async def afit(self, messages: Sequence[JsonMessage]) -> CompactedMessages:
        """Return what ``fit`` does, from a thread."""
        return await asyncio.to_thread(self.fit, messages)

    def prepare(self) -> bool:
        """Begin the next cut in another process, if it is near; return whether one is being made.

        To be called while the model answers: a later ``fit`` takes the cut when it is ready, and
        sends the messages as they are until then if they fit. With a summarizer or an archive, it
        is a thread of this process.
        """
        with self._alone("prepare"):
            is_near = self._size > self._trigger - self._min_saving
            if self._ahead is None and is_near and self._size >= self._not_before:
                self._ahead = CutAhead(len(self._conversation.history), self._cutting())
                self._conversation.changed_from = maxsize
            return self._ahead is not None

    def after(self, usage: object) -> None:
        """Take what the provider reported for the request that was last returned.

        ``usage`` is that of an answer, as an object or a dict; later sizes follow it.
        """
        report = usage_in(dict.fromkeys(("usage", "usageMetadata"), plain_usage(usage)))
        if report is not None and self._sent_tokens is not None:
            self._accepted = max(self._accepted, report.context)
            self._reported = self._reported.with_report(self._sent_tokens, report.context)

    def recover(
        self, error: Exception, messages: Sequence[JsonMessage] | None = None
    ) -> CompactedMessages:
        """Return less than was sent, after an error that says that it was too large.

        What the error says of the window and of the size is remembered. It is raised again if it
        says anything else, such as that there were too many requests, if nothing more can be left
        out, and the fourth time in a row. ``messages`` are what was sent, if not by ``fit``.
        """
        overflow = classify_error(text_of_error(error))
        with self._alone("recover"):
            if messages is not None:
                self._take(messages)
            sent = self._sent_tokens if messages is None else self._counted
            is_repeated = self._recoveries == _MAX_RECOVERIES
            if is_repeated or not sent or not self._learn(overflow, sent):
                raise error
            self._recoveries += 1
            self._ahead = None
            n_bytes = None if overflow.is_of_tokens else _bytes(self._conversation.sent.messages)
            target = min(self._reported.counted(self._target), int(sent * _RECOVERY_SHARE))
            state = self._conversation.cut_state
            for _ in range(_MAX_ATTEMPTS):
                result = self._cut(self._size, target, must=True)
                if self._is_less(result, sent, n_bytes):
                    return result
                target //= 2
            self._conversation.cut_state = state
            if self._file is not None:
                self._file.fall_behind()
            raise error

    def _is_less(self, result: CompactedMessages, sent: float, n_bytes: int | None) -> bool:
        """Whether a result is fewer tokens than were sent, or clearly fewer bytes if these count.

        If images are too many bytes, it does not help to send less text.
        """
        if n_bytes is None:
            return self._counted < sent
        return _bytes(result) <= n_bytes * _FEWER_BYTES

    def originals(self) -> list[JsonMessage]:
        """Return the whole history, as it was before any cut."""
        return list(self._conversation.history.messages)

    def groups(self) -> list[int | None]:
        """Return for each message that is sent the index of its original, None for a digest."""
        return self._conversation.groups

    def rewind(self) -> list[JsonMessage]:
        """Forget the cut, so that the whole history is sent again; return it."""
        with self._alone("rewind"):
            self._conversation.forget_cut()
            is_fitting = self._size <= self._limit
            self._not_before = self._size + self._min_saving if is_fitting else 0
            self._ahead = None
            history = self.originals()
            if self._file is not None:
                self._file.follow(history, 0)
            return history

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON values, without ``summarizer`` and ``on_cut``."""
        conversation, summarizer = self._conversation, self._settings.summarizer
        places = range(len(conversation.origins))
        return {
            "version": STATE_VERSION,
            "options": self._options,
            "limits": [self._limit, self._trigger, self._target, self._min_saving],
            "reported": to_builtins(self._reported),
            "history": self.originals(),
            "covered": conversation.covered,
            "not_before": self._not_before,
            # What is sent as it was is only named.
            "sent": [
                [
                    conversation.origins[place],
                    conversation.sent.messages[place]
                    if conversation.unchanged_origin(place) is None
                    else None,
                ]
                for place in places
            ],
            "summary": None if summarizer is None else to_builtins(summarizer.newest),
            "archive_size": None if self._file is None else self._file.size,
        }

    @classmethod
    def from_dict(
        cls,
        state: Mapping[str, Any],
        *,
        summarizer: Summarize | None = None,
        on_cut: OnCut | None = None,
        archive: PathLike | None = None,
    ) -> Self:
        """Return a compactor that goes on from the state that ``to_dict`` returned.

        ``archive`` is another file to write, such as after a crash, with which the file may have
        more than the state. Raises UsageError if the file is not as it was then.
        """
        if state.get("version") != STATE_VERSION:
            raise UsageError(
                f"the state is of version {state.get('version')!r}; this compactctl reads version "
                f"{STATE_VERSION}"
            )
        options = dict(state["options"])
        path = options.pop("archive", None)
        compactor = cls(**options, summarizer=summarizer, on_cut=on_cut)
        compactor._go_on(state)
        if archive is not None:
            # The new file begins with the whole history.
            compactor._conversation.forget_cut()
            path = str(Path(archive).absolute())
        if path is not None:
            compactor._options["archive"] = path
            size = state["archive_size"] if archive is None else None
            compactor._file = LoopFile(Path(path), size)
        return compactor

    def _go_on(self, state: Mapping[str, Any]) -> None:
        """Take the history, the cut and the sizes of a state."""
        self._limit, self._trigger, self._target, self._min_saving = state["limits"]
        self._reported = validated(state["reported"], ReportedSize)
        history = state["history"]
        self._conversation.take(history)
        origins = [origin for origin, _ in state["sent"]]
        sent = [history[origin] if new is None else new for origin, new in state["sent"]]
        if state["covered"]:
            calls = self._conversation.calls
            tokens = [facts.tokens for facts in self._read_facts(sent, 0, calls)]
            self._conversation.begin_with(sent, tokens, origins, state["covered"])
        self._not_before = state["not_before"]
        if self._settings.summarizer is not None and state["summary"] is not None:
            self._settings.summarizer.newest = validated(state["summary"], Summarized)

    @contextmanager
    def _alone(self, call: str) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise UsageError(
                f"{call}: another call of this Compactor is running; make one for each conversation"
            )
        try:
            yield
        finally:
            self._busy.release()

    @property
    def _counted(self) -> float:
        """Our count of what would be sent."""
        return self._settings.fixed + self._conversation.sent.tokens

    def _cutting(self) -> Callable[[], LoopCut]:
        """Return a function that makes the next cut from the messages as they are now."""
        history = self.originals()
        target, settings = self._reported.counted(self._target), self._settings
        if self._file is None and settings.summarizer is None:
            return lambda: cut_in_process(self._options, history, target)
        lines = encode_messages(history)
        return lambda: cut_to(lines, target, settings)

    def _cut_if_due(self) -> CompactedMessages:
        ahead, size = self._ahead, self._size
        if not self._is_due or (ahead and not ahead.is_done and size <= self._limit):
            return self._result()
        self._ahead = None
        cut = ahead.result() if ahead else None
        if ahead and cut and self._size_with(cut, ahead.covered) <= self._stale_from:
            return self._use(cut, size, ahead.covered)
        return self._cut(size, self._reported.counted(self._target))

    @property
    def _stale_from(self) -> int:
        """The size from which a cut that was made ahead is no longer worth it."""
        return (self._target + self._trigger) // 2

    def _size_with(self, cut: LoopCut, covered: int) -> int:
        """Return the size with a cut of the first ``covered`` messages."""
        later = sum(facts.tokens for facts in self._conversation.history.facts[covered:])
        sizes = sum(new.size for new in cut.messages)
        return self._reported.tokens(self._settings.fixed + sizes + later)

    @property
    def _is_due(self) -> bool:
        return self._size > self._trigger and self._size >= self._not_before

    @property
    def _size(self) -> int:
        """The size of what would be sent, as the provider counts it."""
        return self._reported.tokens(self._counted)

    def _result(self, cut: CutResult | None = None) -> CompactedMessages:
        self._sent_tokens = self._counted
        return CompactedMessages(
            self._conversation.sent.messages,
            tokens=self._size,
            limit=self._limit,
            unread=self._conversation.sent.unread,
            cut=cut,
        )

    def _take(self, messages: Sequence[JsonMessage], *, all_at_once: bool = False) -> None:
        """Take in what is new in a list, and write it to the file, if there is one."""
        conversation = self._conversation
        was_cut = conversation.covered > 0
        n_before = conversation.take(messages, all_at_once=all_at_once)
        if was_cut and not conversation.covered:
            self._not_before = 0
        if self._ahead is not None and conversation.changed_from < self._ahead.covered:
            self._ahead = None
        if self._file is not None:
            self._file.follow(conversation.sent.messages, n_before)

    def _read_facts(
        self, messages: Sequence[JsonMessage], start: int, calls: Collection[str]
    ) -> list[MessageFacts]:
        """Return the facts of messages; see ``ReadFacts``.

        Raises UsageError and NotUnderstoodError.
        """
        settings = self._settings
        lines = encode_messages(messages, start)
        if not lines:
            return []
        added = self._reader.read_added(lines)
        check_messages(messages, added.messages, added.opaque, settings.format.name, start)
        if not settings.repairs:
            check_pairs(added.messages, calls, start)
        unread = [added.unread] * len(lines)
        if added.unread:
            unread = [self._comparer.read_added([line]).unread for line in lines]
        settings.measured.meter.prime(added.messages)
        sizes = line_sizes(added.messages, len(lines), settings.measured)
        call_ids: list[list[str]] = [[] for _ in lines]
        for message in added.messages:
            parts = (part for part in message.parts if isinstance(part, ToolCallPart))
            call_ids[message.line] += (part.call_id for part in parts)
        return [
            MessageFacts(tokens=size, calls=tuple(ids), unread=where)
            for size, ids, where in zip(sizes, call_ids, unread, strict=True)
        ]

    def _says_same(self, first: JsonMessage, second: JsonMessage) -> bool:
        """Whether the model reads the same of two messages."""
        try:
            read = [self._comparer.read_added(encode_messages([m])) for m in (first, second)]
        except UsageError:
            return False
        said, other = ([(m.role, m.parts) for m in added.messages] for added in read)
        return bool(said) and said == other and not any(added.unread for added in read)

    def _cut(self, before: int, target: int, *, must: bool = False) -> CompactedMessages:
        """Send so many counted tokens, unless that saves too little and is not a ``must``."""
        lines = encode_messages(self._conversation.history.messages)
        try:
            cut = cut_to(lines, target, self._settings)
        except CompactctlError as error:
            warnings.warn(f"compactctl: {error}", RuntimeWarning, stacklevel=4)
            self._not_before = before + self._min_saving
            return self._result()
        return self._use(cut, before, len(lines), must=must)

    def _use(
        self, cut: LoopCut, before: int, covered: int, *, must: bool = False
    ) -> CompactedMessages:
        """Send a cut of the first ``covered`` messages, if that saves enough."""
        conversation = self._conversation
        history, sizes = conversation.history.messages, [new.size for new in cut.messages]
        after = self._size_with(cut, covered)
        least = 1 if must or before > self._limit else self._min_saving
        if before - after < least:
            self._not_before = before + self._min_saving
            return self._result()
        messages = [new.message or history[new.origin or 0] for new in cut.messages]
        n_alike = common_length(messages, conversation.sent.messages)
        alike = self._reported.tokens(self._settings.fixed + sum(sizes[:n_alike]))
        origins = [new.origin for new in cut.messages]
        conversation.begin_with(messages, sizes, origins, covered)
        self._not_before = after + self._min_saving
        if isinstance(cut, DetailedCut):
            self._follow(cut)
        result = self._describe(before, after, alike, cut.note)
        self._tell(result)
        return self._result(result)

    def _tell(self, result: CutResult) -> None:
        if self._on_cut is None:
            return
        try:
            self._on_cut(result)
        except Exception as error:  # noqa: BLE001 - it is the caller's, and the loop goes on
            warnings.warn(f"on_cut: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=4)

    def _follow(self, cut: DetailedCut) -> None:
        """Let the summarizer and the file go on from a cut."""
        if self._settings.summarizer is not None:
            self._settings.summarizer.accept(item.text for item in inserted(cut.compacted))
        if self._file is not None:
            self._file.follow_cut(cut, self._conversation.sent.messages)

    def _describe(self, before: int, after: int, alike: int, note: str) -> CutResult:
        """Describe a cut, of which the first ``alike`` tokens are what was sent before."""
        use = CacheUse(line=0, held=alike, resent=after - alike, saved=before - after)
        model = self._settings.measured.model.name
        price = BUILTIN_PRICES.price_for(model, before) or _USUAL_PRICE
        return CutResult(
            before=before,
            after=after,
            resent=use.resent,
            pays_after=use.pays_after(price),
            note=note,
        )

    def _learn(self, overflow: Overflow, sent: float) -> bool:
        """Remember what an error says of a request that was sent; return whether it was too large.

        The same error about a smaller request says only that this is too large as well. What was
        accepted is not: an error may quote anything.
        """
        if not overflow.overflow:
            return False
        if not overflow.is_of_tokens:
            self._settings = self._settings.without_images()
            return True
        is_new, self._overflow = overflow != self._overflow, overflow
        if is_new and overflow.prompt is not None:
            self._reported = self._reported.with_report(sent, overflow.prompt)
        limit = self._reported.tokens(sent) - 1
        if is_new and overflow.limit is not None:
            limit = overflow.limit - max(overflow.answer, self._reserve)
        if limit <= max(self._accepted, self._settings.fixed):
            return False
        if limit < self._limit:
            self._trigger, self._target, self._min_saving = (
                size * limit // self._limit
                for size in (self._trigger, self._target, self._min_saving)
            )
            self._limit = limit
        return True


def _tokens(options: Mapping[str, Any], key: str, limit: int) -> int:
    size = parse_keyword(options, key, parse_target)
    if size is None:
        raise UsageError(f"{key}: is None; pass tokens or a share")
    return size.resolve(limit)


def _bytes(messages: Sequence[JsonMessage]) -> int:
    return sum(map(len, encode_messages(messages)))
