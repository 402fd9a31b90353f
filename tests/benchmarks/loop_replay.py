"""Replays a recorded session as an agent loop, and measures what a system would send in it.

Before each recorded answer, the system gets the history so far and returns the request. No model is
asked: the answers are the recorded ones, and ``StandInModel`` writes summaries. All sizes are in
one unit, ``o200k_base`` of the texts and 4 tokens per message, whatever a system counts with.
"""

import json
import re
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from itertools import accumulate, chain
from pathlib import Path
from statistics import fmean, median
from typing import Any, ClassVar

from benchmarks.loop import FORMATS, OPENAI, Chat, lines_of, quotation_depth, read_steps
from compactctl.records import Record
from compactctl.tokens.counters.selection import parse_counter

UNIT = "o200k_base"
_PER_MESSAGE = 4
_SYSTEM_PROMPT = "You are a coding agent. Work in the user's repository with the tools given."
# A word that was last in the history more tokens ago than this is far.
_FAR = 20_000
# Providers cache no shorter prefix.
_MIN_CACHED = 1_024
# What the user said is looked up in every nth request, because it takes long.
_EVERY = 5
_WORD = re.compile(r"[A-Za-z0-9_./\-]{5,80}")
_PLAIN_WORD = re.compile(r"[a-z]+[.\-/]*|[A-Z][a-z]+[.\-/]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_SENTENCE_LENGTHS = range(12, 601)
_RULE = re.compile(
    r"\b(?:must|never|always|do not|don'?t|should(?: not|n't)|only|make sure|ensure|prefer"
    r"|instead of|rather than|without|avoid|no need|stop|remember|important|exactly|i want|i need"
    r"|not allowed|ha(?:s|ve) to|needs? to)\b",
    re.IGNORECASE,
)
_GENERATION = re.compile(r"⟦generation (\d+)⟧")
_SUMMARY_CHARS = 3_000
_QUOTED_TWICE = re.compile(r"^> ?>", re.MULTILINE)


class Request(Record):
    """A request of the recorded agent.

    Attributes:
        incoming: what was added to the history since its last answer.
        words: what the user wrote in these messages.
        answer: the recorded answer.
    """

    incoming: tuple[Chat, ...]
    words: tuple[str, ...]
    answer: Chat


class Session(Record):
    """A recorded session: its requests, and the tokens of all their messages."""

    name: str
    requests: tuple[Request, ...]
    tokens: int


class Setting(Record):
    """What a system is asked for: a window in tokens, and shares of it.

    From ``trigger`` on, messages are to be compacted to ``target``.
    """

    format: str
    window: int
    trigger: float = 0.8
    target: float = 0.4

    @property
    def trigger_tokens(self) -> int:
        """The trigger in tokens."""
        return int(self.trigger * self.window)

    @property
    def target_tokens(self) -> int:
        """The target in tokens."""
        return int(self.target * self.window)


class Row(Record):
    """The figures of one replay.

    A request is *full* if the whole history before it is larger than the trigger.

    Attributes:
        requests: the number of requests, ``full`` of them full.
        cuts: requests whose beginning is not the whole of the request before.
        tokens: the sum of all requests, ``cached`` of them in the longest prefix that an earlier
            request had too.
        summarized, summaries: tokens that summaries were made from, and theirs.
        invalid: how many requests a provider would refuse, by reason.
        over: how many are larger than the window.
        depth: the most generations of summaries, or marks of quotations, within one another.
        asks, rules: the mean share of the user's sentences so far, and of those that set a rule,
            that full requests hold word for word; None if there are none.
        far: rare words of the recorded answers that were last in the history over 20,000 tokens
            before; ``far_held`` of them are in the request.
        size: mean tokens of the full requests; None if there are none.
        idle, idle_p95: CPU seconds for a request without a cut, the median and 95th percentile.
        cut: median CPU seconds for a request with one.
        error: what ended the replay, "" if nothing did.
    """

    system: str
    version: str
    session: str
    setting: Setting
    requests: int
    full: int
    cuts: int
    tokens: int
    cached: int
    summarized: int
    summaries: int
    invalid: dict[str, int]
    over: int
    depth: int
    asks: float | None
    rules: float | None
    far: int
    far_held: int
    size: float | None
    idle: float | None
    idle_p95: float | None
    cut: float | None
    error: str = ""


class Traits(Record):
    """What is measured of one message; ``key`` is equal for equal messages."""

    key: str
    size: int
    text: str
    words: frozenset[str]


class Reader:
    """Reads messages, each of them once. A message must not change after it was read."""

    def __init__(self) -> None:
        self._counter = parse_counter(UNIT)
        # An object is held, so that no other one gets its id.
        self._by_object: dict[int, tuple[Chat, Traits]] = {}
        self._by_key: dict[str, Traits] = {}

    def read(self, message: Chat) -> Traits:
        """Return what is measured of a message."""
        if id(message) not in self._by_object:
            key = json.dumps(message, sort_keys=True, ensure_ascii=False)
            if key not in self._by_key:
                self._by_key[key] = self._measure(key, list(message_texts(message)))
            self._by_object[id(message)] = message, self._by_key[key]
        return self._by_object[id(message)][1]

    def size(self, messages: Iterable[Chat]) -> int:
        """Return the tokens of messages."""
        return sum(self.read(message).size for message in messages)

    def count(self, texts: Sequence[str]) -> int:
        """Return the tokens of texts."""
        return sum(self._counter.count_many(texts))

    def _measure(self, key: str, texts: Sequence[str]) -> Traits:
        words = {word.strip("./-") for text in texts for word in _WORD.findall(text)}
        return Traits(
            key=key,
            size=_PER_MESSAGE + self.count(texts),
            text=_on_one_line("\n".join(texts)),
            words=frozenset(word for word in words if not _PLAIN_WORD.fullmatch(word)),
        )


class StandInModel:
    """Stands in for a model that writes summaries: repeats the beginning of what it is given.

    A summary names its generation, one more than the newest in its text.

    Attributes:
        read, written: the tokens of all texts and summaries.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.read = self.written = 0

    def summarize(self, text: str) -> str:
        """Return a summary of a text."""
        generation = 1 + max(map(int, _GENERATION.findall(text)), default=0)
        summary = f"⟦generation {generation}⟧ {_GENERATION.sub('', text)[:_SUMMARY_CHARS]}"
        self.read += self._reader.count([text])
        self.written += self._reader.count([summary])
        return summary


class System(ABC):
    """What is measured: something that makes requests from a history.

    An instance is for one replay, and works in the unit of ``size``. ``is_swept`` says that it is
    run with several targets, to be compared at one size.
    """

    name: ClassVar[str]
    package: ClassVar[str] = "compactctl"
    formats: ClassVar[Sequence[str]] = FORMATS
    is_swept: ClassVar[bool] = True

    def __init__(self, setting: Setting, reader: Reader, model: StandInModel) -> None:
        self.setting = setting
        self.size = reader.size
        self.model = model

    @classmethod
    def version(cls) -> str:
        """Return its package and version."""
        return f"{cls.package} {metadata.version(cls.package)}"

    @abstractmethod
    def fit(self, history: list[Chat], new: Sequence[Chat]) -> Sequence[Chat]:
        """Return the next request.

        ``history`` is the whole history, and ``new`` the end of it that the system was not given
        yet. Neither may be changed.
        """

    def after(self, tokens: int) -> None:  # noqa: B027 - most count for themselves
        """Take the size of the request that was sent, as a provider reports it."""


def read_session(path: Path, format: str, reader: Reader, max_tokens: int) -> Session:
    """Read a session, up to the answer with which it is larger than ``max_tokens``.

    It has the messages that the client's compactions replaced, and not their summaries. It begins
    with a message of the user; a short system prompt stands for the client's.
    """
    requests, size, is_begun = list[Request](), 0, False
    incoming, words = list[Chat](), list[str]()
    if format == OPENAI:
        incoming.append({"role": "system", "content": _SYSTEM_PROMPT})
    for step in read_steps(path, whole=True):
        messages = step.messages[format]
        is_begun = is_begun or any(message["role"] == "user" for message in messages[:1])
        if not is_begun:
            continue
        size += reader.size(messages)
        if messages and messages[0]["role"] == "assistant":
            request = Request(incoming=tuple(incoming), words=tuple(words), answer=messages[0])
            requests.append(request)
            if size > max_tokens:
                break
            incoming, words, messages = [], [], messages[1:]
        incoming += messages
        words += step.words
    return Session(name=path.stem, requests=tuple(requests), tokens=size)


def replay(session: Session, setting: Setting, kind: type[System], reader: Reader) -> Row:
    """Run the loop with a system, and return its figures; an exception of the system ends it."""
    model = StandInModel(reader)
    system = kind(setting, reader, model)
    past, tally = Past(reader), Tally(setting, reader, _find_quotations(session.requests))
    history, new, error = list[Chat](), list[Chat](), ""
    for request in session.requests:
        history += request.incoming
        new += request.incoming
        past.add(request.incoming, request.words)
        started = time.process_time()
        try:
            sent = system.fit(history, new)
        except Exception as raised:  # noqa: BLE001 - whatever a system raises, the loop ends
            error = f"{type(raised).__name__}: {raised}"
            break
        tally.add(sent, time.process_time() - started, past, request.answer)
        system.after(reader.size(sent))
        history.append(request.answer)
        new = [request.answer]
        past.add(new)
    return Row(
        system=kind.name,
        version=kind.version(),
        session=session.name,
        setting=setting,
        summarized=model.read,
        summaries=model.written,
        error=error,
        **tally.figures(),
    )


class Past:
    """What was in the history so far.

    Attributes:
        position: its tokens.
        keys: the keys of its messages.
        asks, rules: the sentences of the user, and those of them that set a rule.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._last: dict[str, int] = {}
        self.position = 0
        self.keys: set[str] = set()
        self.asks: dict[str, None] = {}
        self.rules: dict[str, None] = {}

    def add(self, messages: Sequence[Chat], words: Iterable[str] = ()) -> None:
        """Add messages, with what the user wrote in them."""
        text = ""
        for traits in map(self._reader.read, messages):
            self._last |= dict.fromkeys(traits.words, self.position)
            self.position += traits.size
            self.keys.add(traits.key)
            text += f"\n{traits.text}"
        # An answer to a tool's question is worded otherwise in its result.
        for sentence in filter(text.__contains__, chain.from_iterable(map(_sentences, words))):
            self.asks[sentence] = None
            if _RULE.search(sentence):
                self.rules[sentence] = None

    def far_words(self, answer: Chat) -> frozenset[str]:
        """Return the words of an answer that were in the history, but not lately."""
        newest = self.position - _FAR
        return frozenset(
            word
            for word in self._reader.read(answer).words
            if self._last.get(word, newest) < newest
        )


@dataclass(slots=True)
class Tally:
    """Counts what a system sends; ``quotations`` are the lines of the session that quote."""

    setting: Setting
    reader: Reader
    quotations: str
    requests: int = 0
    cuts: int = 0
    tokens: int = 0
    cached: int = 0
    over: int = 0
    depth: int = 0
    far: int = 0
    far_held: int = 0
    invalid: Counter[str] = field(default_factory=Counter)
    asks: list[float] = field(default_factory=list)
    rules: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    idle_seconds: list[float] = field(default_factory=list)
    cut_seconds: list[float] = field(default_factory=list)
    prefixes: set[int] = field(default_factory=set)
    last: Sequence[int] = ()

    def add(self, sent: Sequence[Chat], seconds: float, past: Past, answer: Chat) -> None:
        """Count a request, which took so many CPU seconds to make."""
        size = self.reader.size(sent)
        self.requests += 1
        self.tokens += size
        self.over += size > self.setting.window
        self.invalid.update(filter(None, [find_fault(sent, self.setting.format)]))
        if self._count_prefix(sent):
            self.cut_seconds.append(seconds)
            self.depth = max(self.depth, self._depth(sent, past))
        else:
            self.idle_seconds.append(seconds)
        if past.position > self.setting.trigger_tokens:
            self.sizes.append(size)
            self._look_up(sent, past, answer)

    def _count_prefix(self, sent: Sequence[Chat]) -> bool:
        """Count what is cached; return whether the request is a cut."""
        traits = [self.reader.read(message) for message in sent]
        keys = (each.key for each in traits)
        hashes = list(accumulate(keys, lambda prefix, key: hash((prefix, key)), initial=0))[1:]
        n_cached = next(
            (n for n, prefix in enumerate(hashes) if prefix not in self.prefixes), len(hashes)
        )
        cached = sum(each.size for each in traits[:n_cached])
        self.cached += cached if cached >= _MIN_CACHED else 0
        n_last = len(self.last)
        is_cut = n_last > 0 and (n_last > len(hashes) or hashes[n_last - 1] != self.last[-1])
        self.prefixes.update(hashes)
        self.last = hashes
        self.cuts += is_cut
        return is_cut

    def _depth(self, sent: Sequence[Chat], past: Past) -> int:
        """Return how deep the texts that the system wrote are."""
        texts = [
            text
            for message in sent
            if message["role"] != "tool" and self.reader.read(message).key not in past.keys
            for text in message_texts(message)
        ]
        generations = (int(number) for text in texts for number in _GENERATION.findall(text))
        quoting = (text for text in texts if _QUOTED_TWICE.search(text))
        marks = (quotation_depth(line, self.quotations) for line in lines_of(quoting))
        return max(*generations, *marks, 0, 0)

    def _look_up(self, sent: Sequence[Chat], past: Past, answer: Chat) -> None:
        """Look up in a full request what the user said, and the far words of the answer."""
        traits = [self.reader.read(message) for message in sent]
        words = past.far_words(answer)
        self.far += len(words)
        self.far_held += len(words & frozenset().union(*(words & each.words for each in traits)))
        if len(self.sizes) % _EVERY == 0:
            text = "\n".join(each.text for each in traits)
            texts = (text, text.replace("> ", ""))
            for sentences, shares in ((past.asks, self.asks), (past.rules, self.rules)):
                if sentences:
                    shares.append(fmean(any(s in text for text in texts) for s in sentences))

    def figures(self) -> dict[str, Any]:
        """Return the figures of a row."""
        return {
            "requests": self.requests,
            "full": len(self.sizes),
            "cuts": self.cuts,
            "tokens": self.tokens,
            "cached": self.cached,
            "invalid": dict(self.invalid),
            "over": self.over,
            "depth": self.depth,
            "asks": fmean(self.asks) if self.asks else None,
            "rules": fmean(self.rules) if self.rules else None,
            "far": self.far,
            "far_held": self.far_held,
            "size": fmean(self.sizes) if self.sizes else None,
            "idle": median(self.idle_seconds) if self.idle_seconds else None,
            "idle_p95": _percentile(self.idle_seconds, 0.95),
            "cut": median(self.cut_seconds) if self.cut_seconds else None,
        }


def _find_quotations(requests: Sequence[Request]) -> str:
    """Return the lines of a session that quote others."""
    messages = (m for request in requests for m in (*request.incoming, request.answer))
    return "\n".join(line for line in lines_of(messages) if "> " in line)


def find_fault(sent: Sequence[Chat], format: str) -> str:
    """Return why a provider would refuse a request, "" if it would not."""
    body = [message for message in sent if message["role"] not in ("system", "developer")]
    if not any(message["role"] == "user" for message in body):
        return "nothing from the user"
    if format != OPENAI and body[0]["role"] != "user":
        return "does not begin with the user"
    unanswered = set[str]()
    for message in body:
        results = set(result_ids(message))
        if results - unanswered:
            return "result without call"
        if unanswered and (not results or (format != OPENAI and unanswered - results)):
            return "call without result"
        unanswered = (unanswered - results) | set(call_ids(message))
        if not results and not any(text.strip() for text in message_texts(message)):
            return "empty message"
    return "call without result" if unanswered else ""


def message_texts(message: Chat) -> Iterator[str]:
    """Yield the texts of a message: contents, and calls with their arguments."""
    yield from _content_texts(message.get("content"))
    for call in message.get("tool_calls") or ():
        yield f"{call['function']['name']} {call['function']['arguments']}"


def _content_texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "tool_use", "name": tool, "input": arguments}:
                yield f"{tool} {json.dumps(arguments, ensure_ascii=False)}"
            case {"type": "tool_result", "content": result}:
                yield from _content_texts(result)
            case {"text": str(text)}:
                yield text
            case _:
                pass


def call_ids(message: Chat) -> Iterator[str]:
    """Yield the ids of the calls in a message."""
    yield from (call["id"] for call in message.get("tool_calls") or ())
    yield from (block["id"] for block in _blocks(message, "tool_use"))


def result_ids(message: Chat) -> Iterator[str]:
    """Yield the ids of the calls whose results are in a message."""
    if message["role"] == "tool":
        yield message["tool_call_id"]
    yield from (block["tool_use_id"] for block in _blocks(message, "tool_result"))


def _blocks(message: Chat, kind: str) -> Iterator[Chat]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    return (block for block in blocks if block.get("type") == kind)


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(text):
        if len(sentence.strip()) in _SENTENCE_LENGTHS:
            yield _on_one_line(sentence)


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _percentile(values: Sequence[float], share: float) -> float | None:
    """Return the value at a share of the sorted values."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else None
