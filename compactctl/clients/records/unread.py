"""Measure the text of a file that was not read: what a model may be sent, but was not counted.

Everything in a record that is not at or below the path of a part is unread, whatever it is called.
Only the fields that clients and APIs never send are listed, in ``UnsentFields``.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from compactctl.clients.records.decode import complete_value
from compactctl.model.json_paths import json_in
from compactctl.model.message import (
    JsonPath,
    MediaPart,
    OmittedPart,
    Part,
    ToolCallPart,
    media_of,
)
from compactctl.model.tags import TAG_NAMES
from compactctl.model.transcript import Unread
from compactctl.records import Record
from compactctl.tokens.media import is_unsized

# Beside text that was read, shorter texts are names, titles or dates.
_MIN_TEXT = 32
# Longer words are not ids, paths or URLs. A list of many short strings is one text.
_MAX_WORD, _MIN_LIST = 512, 512
# Longer words in an answer are ids.
_MAX_PIECE = 15
# Pieces of a text in objects of a list: how many at least, and what they look like.
_MIN_PIECES = 16
_WORD = re.compile(r"(?=.*[^\W\d_])[^\d_]{1,40}", re.DOTALL)
# Limit on the characters searched for copies in one value; beyond it only whole texts are compared.
_MAX_COMPARED = 2_000_000_000
# A single word of these characters may be an id, a URL, a path or a hash. Prose has spaces or other
# letters; JSON and code have brackets or quotes.
_ONE_WORD = re.compile(r"[\w+/=.:,;@~%?&#$*!|-]*", re.ASCII)
# Lists of alternative answers; the conversation continues with the first.
_ALTERNATIVES = ("choices", "candidates")
# A record with one of these keys, or an object in it, may be a message.
_MESSAGE_KEYS = frozenset(
    {"content", "parts", "blocks", "text", "message", "messages"}
    | {"arguments", "input", "output", "result", "instructions", "base_instructions"}
)
# The field name of text outside of any field, and of a line that is not JSON.
_NO_FIELD, _DAMAGED = "values", "damaged lines"


_Test = Callable[[Mapping[str, Any]], bool]


class UnsentFields(Record):
    """The fields of a format's records that hold no text for a model beside that of the parts.

    Attributes:
        keys: keys of what is never sent, or is counted with a part.
        labels: keys of facts about a message: never sent beside a text. A message that has nothing
            else may have its text there.
        is_unsent: whether a block of a message is never sent.
    """

    keys: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    is_unsent: _Test | None = None

    def __or__(self, other: "UnsentFields") -> "UnsentFields":
        """Return the fields of either."""
        return UnsentFields(
            keys=self.keys | other.keys,
            labels=self.labels | other.labels,
            is_unsent=_either(self.is_unsent, other.is_unsent),
        )


def _either(first: _Test | None, second: _Test | None) -> _Test | None:
    if first is None or second is None:
        return first or second
    return lambda block: first(block) or second(block)


# Of all formats: ids and names, and what only its provider can read, which is a single word.
_NAME_KEYS = frozenset(
    {"id", "type", "role", "timestamp", "model", "name", "cwd", "signature", "thoughtSignature"}
    | {"thought_signature", "encrypted_content", "redactedData", "reasoningEncryptedContent"}
)
COMMON_UNSENT = UnsentFields(
    keys=TAG_NAMES,
    labels=frozenset(
        {
            # Labels that a user attaches to a request; no API sends them to a model.
            "metadata",
            # Facts about an answer: cost, probabilities, citations of the request.
            "usage",
            "logprobs",
            "annotations",
            "citations",
            "citationMetadata",
            "groundingMetadata",
            "stop_details",
        }
    ),
)


# Around messages also what gateways note: HTTP headers, errors of requests that got no answer,
# tags, costs and ratings (LiteLLM, Helicone, Langfuse, LangSmith).
_ROW_LABELS = frozenset(
    {
        "cost_breakdown",
        "error",
        "error_information",
        "error_str",
        "exception",
        "feedback_stats",
        "finishMessage",
        "guardrail_information",
        "headers",
        "hidden_params",
        "promptFeedback",
        "request_properties",
        "request_tags",
        "response_headers",
        "scores",
        "statusMessage",
        "status_message",
        "tags",
        "traceback",
        "user_agent",
    }
)
REQUEST_PARAMETERS = frozenset(
    {
        "additionalModelRequestFields",
        "additionalModelResponseFieldPaths",
        "betas",
        "client_metadata",
        "context_management",
        "extra_body",
        "extra_headers",
        "generationConfig",
        "generation_config",
        "guardrailConfig",
        "guardrails",
        "headers",
        "include",
        "inferenceConfig",
        "labels",
        "litellm_metadata",
        "litellm_params",
        "logit_bias",
        "mcp_servers",
        "metadata",
        "modelArmorConfig",
        "output_config",
        "plugins",
        "prompt_cache_key",
        "provider",
        "requestMetadata",
        "response_format",
        "safetySettings",
        "safety_identifier",
        "safety_settings",
        "stop",
        "stop_sequences",
        "text",
        "toolConfig",
        "tool_choice",
        "tool_config",
        "url",
        "user",
        "web_search_options",
    }
)
"""Keys of requests whose texts say how to answer, and not what."""
# Fields of requests with less text are parameters, and those beside the text of a message are
# titles or states of a screen.
_MIN_FIELD = 512


class _Text(Record, kw_only=False):
    """A text that was not read: its field, and whether its object was read but for the field."""

    field: str
    text: str
    is_beside: bool = False


class _Loss(NamedTuple):
    """Bytes of text that a model may be sent, by line and field."""

    line: int
    field: str
    n_bytes: int


class UnreadText:
    """Add up read and unread text of a file, record by record, in bytes of UTF-8."""

    def __init__(self, fields: UnsentFields = COMMON_UNSENT) -> None:
        labels = fields.keys | fields.labels
        row_labels = labels | _ROW_LABELS | REQUEST_PARAMETERS
        self._beside_text = _Search(labels, fields.is_unsent, _MIN_TEXT, skips_alternatives=True)
        self._without_text = _Search(fields.keys, fields.is_unsent, 1)
        self._unknown = _Search(fields.keys, fields.is_unsent, _MIN_TEXT)
        self._around = _Search(row_labels, fields.is_unsent, _MIN_TEXT, skips_alternatives=True)
        self._pieces = _Search(row_labels, fields.is_unsent, 1, counts_words=True)
        self._read = 0
        self._n_elsewhere = 0
        self._losses: list[_Loss] = []
        self._around_messages: list[_Loss] = []

    def add_message(
        self, record: object, path: JsonPath, parts: Sequence[Part], line: int, name: str = ""
    ) -> None:
        """Add a message at ``path`` of which ``parts`` were read; () if it is not understood.

        ``name`` is the field of its unread text, "" for the names of its fields.
        """
        self._read += sum(_utf8_size(text_in(part)) for part in parts)
        # What only its provider can read is part of an answer, and not a file.
        media = [media for part in parts for media in media_of(part) if not media.embedded]
        self._n_elsewhere += sum(map(is_unsized, media))
        self.add_rest(record, path, parts, line, name)

    def add_rest(
        self, record: object, path: JsonPath, parts: Sequence[Part], line: int, name: str = ""
    ) -> None:
        """Add what is beside the ``parts`` of a message that were added already."""
        texts = [text for text in map(text_in, parts) if text]
        # A part without a text may have another value at its path.
        read = [part for part in parts if text_in(part) or isinstance(part, MediaPart)]
        paths = {part.path for part in read} | {m.path for part in parts for m in media_of(part)}
        if path in paths or () in paths:
            return
        search = self._beside_text if texts else self._without_text
        unread = search.find(record, path, paths)
        sizes: Counter[str] = Counter()
        for text in unread:
            sizes[text.field] += len(text.text) if text.is_beside else _MIN_FIELD
        labels = [text for text in unread if sizes[text.field] < _MIN_FIELD]
        self._note(self._around_messages, labels, texts, line, name)
        lost = [text for text in unread if sizes[text.field] >= _MIN_FIELD] if labels else unread
        self._note(self._losses, lost, texts, line, name)

    def add_row(
        self, row: object, path: JsonPath, paths: set[JsonPath], texts: Sequence[str], line: int
    ) -> None:
        """Add what is around the messages of a row.

        ``paths`` lead to whatever was read or added in it, and ``texts`` were read.
        """
        if path not in paths:
            self._note(self._around_messages, self._around.find(row, path, paths), texts, line)

    def add_answer(self, answer: object, path: JsonPath, line: int) -> None:
        """Add the logged answer to a request if nothing of it was read.

        Its pieces may be short. What is shorter than a text in all may be a status.
        """
        texts = self._pieces.find(answer, path)
        is_status = sum(len(text.text) for text in texts) < _MIN_TEXT
        losses = self._around_messages if is_status else self._losses
        self._note(losses, texts, (), line, _last_key(path))

    def add_field(self, value: object, texts: Sequence[str], line: int, name: str) -> None:
        """Add a field of a request that may be its system prompt or tools; ``texts`` were read."""
        unread = self._unknown.find(value)
        if sum(len(text.text) for text in unread) >= _MIN_FIELD:
            self._note(self._losses, unread, texts, line, name)

    def add_reference(self, n_references: int = 1) -> None:
        """Add what a request holds and the file does not: a cached content or a stored item."""
        self._n_elsewhere += n_references

    def add_unknown(self, value: object, line: int, name: str = "") -> None:
        """Add a record of unknown type, which may be a message or hold one."""
        self._note(self._losses, self._unknown.find(value), (), line, name)

    def add_others(
        self, value: object, path: JsonPath, paths: set[JsonPath], texts: Sequence[str], line: int
    ) -> None:
        """Add what may be messages in the value at ``path``, beside those at ``paths``.

        What repeats one of the ``texts`` that were read does not count.
        """
        self._note(self._losses, self._unknown.find(value, path, paths), texts, line)

    def add_message_like(self, record: Mapping[str, Any], line: int) -> None:
        """Add a record of unknown type, if it looks like a message and not like a state."""
        inner = (value for value in record.values() if isinstance(value, Mapping))
        if any(not _MESSAGE_KEYS.isdisjoint(fields) for fields in (record, *inner)):
            self.add_message(record, (), (), line)

    def add_damaged(self, data: bytes, line: int) -> None:
        """Add what is not JSON: a record that was cut, or a text of any kind."""
        value = complete_value(data)
        if isinstance(value, Mapping | list):
            self.add_message(value, (), (), line, _DAMAGED)
            return
        text = data.decode(errors="replace").strip("\0 \t\r\n")
        if _is_text(text, _MIN_TEXT):
            # What a program printed between the records is of none of them.
            is_piece = text.startswith(("{", "[")) or text.endswith(("}", "]"))
            losses = self._losses if is_piece else self._around_messages
            self._note(losses, [_Text("", text)], (), line, _DAMAGED)

    def total(self, last_unsent: int) -> Unread:
        """Return the sums of a file, fields with the most text first.

        Nothing on the lines before ``last_unsent`` is sent any more.
        """
        sent = [loss for loss in self._losses if loss.line >= last_unsent]
        sizes: Counter[str] = Counter()
        for loss in (*sent, *self._around_messages):
            sizes[loss.field] += loss.n_bytes
        return Unread(
            read=self._read,
            lost=sum(loss.n_bytes for loss in sent),
            fields=dict(sizes.most_common()),
            first_line=min((loss.line for loss in (*sent, *self._around_messages)), default=0),
            elsewhere=self._n_elsewhere,
        )

    def _note(
        self,
        losses: list[_Loss],
        unread: Sequence[_Text],
        texts: Sequence[str],
        line: int,
        name: str = "",
    ) -> None:
        if not unread:
            return
        is_repeated = _repeat_checker(texts, len(unread))
        losses += [
            _Loss(line, name or text.field, _utf8_size(text.text))
            for text in unread
            # Exporters repeat in one field what stands in another.
            if not is_repeated(text.text)
        ]


def text_in(part: Part) -> str:
    """Return the text of a part; "" for media and for what is not sent."""
    match part:
        case ToolCallPart():
            return part.arguments
        case MediaPart() | OmittedPart():
            return ""
        case _:
            return part.text


_Tree = dict[str | int, Any]
# Marks the end of a path in a tree of paths.
_READ: _Tree = {}


class _Search(Record, kw_only=False):
    """A search for strings of at least ``min_text`` characters that are text for a model.

    What stands under the keys ``unsent``, and in blocks that are not sent, is none.
    """

    unsent: frozenset[str]
    is_unsent: _Test | None
    min_text: int
    skips_alternatives: bool = False
    counts_words: bool = False

    def find(  # noqa: C901, PLR0912 - one loop, since all values of a file pass through it
        self, value: object, path: JsonPath = (), paths: Iterable[JsonPath] = ()
    ) -> list[_Text]:
        """Return the texts in the value at ``path`` that are not at or below ``paths``.

        Each has the name of its field, the outermost key below which nothing was read::

            {"messages": [{"content": TEXT}], "extra": {"note": NOTE}}    ("extra", NOTE)
        """
        # Looked up once: all values of a file pass through this loop.
        min_text, unsent, is_unsent = self.min_text, self.unsent, self.is_unsent
        texts: list[_Text] = []
        # A value, the read paths below it, its field if nothing below it was read, its last key,
        # and whether it is beside what was read.
        pending: list[tuple[Any, _Tree | None, str, str, bool]] = [
            (value, _tree(paths, len(path)), "", _last_key(path), False)
        ]
        while pending:
            item, read, field, name, is_beside = pending.pop()
            if read is not None and isinstance(item, str):
                # A text above a part contains it as JSON.
                item = json_in(item)
            if isinstance(item, list):
                if read is None and (strings := self._list_texts(item)) is not None:
                    texts += [_Text(field or name, string, is_beside) for string in strings]
                    continue
                is_first = read is None and self.skips_alternatives and name in _ALTERNATIVES
                items: Iterable[tuple[Any, Any]] = enumerate(item[:1] if is_first else item)
            elif isinstance(item, dict):
                if is_unsent is not None and is_unsent(item):
                    continue
                if read is not None and read.keys().isdisjoint(item):
                    # A call is read even if its arguments are missing.
                    read = None
                items = item.items()
            else:
                if isinstance(item, str) and self._is_text(item):
                    texts.append(_Text(field or name, item, is_beside))
                continue
            for key, inner in items:
                kind = type(inner)
                if kind is str:
                    if len(inner) < min_text:
                        continue
                elif kind is not dict and kind is not list:
                    continue
                below = None if read is None else read.get(key)
                if below is _READ:
                    continue
                key_name = key if type(key) is str else name
                if below is not None:
                    pending.append((inner, below, "", key_name, False))
                    continue
                if key in unsent:
                    continue
                # A list that was read in part has elements of one kind, an object other fields.
                beside = is_beside or (
                    read is not None and key_name is key and key not in _MESSAGE_KEYS
                )
                if kind is not str:
                    pending.append((inner, None, field or key_name, key_name, beside))
                elif self._is_text(inner) and (key not in _NAME_KEYS or _is_prose(inner)):
                    texts.append(_Text(field or key_name, inner, beside))
        return texts

    def _is_text(self, value: str) -> bool:
        if _is_text(value, self.min_text):
            return True
        return self.counts_words and len(value) <= _MAX_PIECE

    def _list_texts(self, items: list[Any]) -> list[str] | None:
        """Return the texts of a list of strings, or of objects with pieces; None for others."""
        if all(isinstance(item, str) for item in items):
            if sum(map(len, items)) >= _MIN_LIST:
                return items
            return [item for item in items if self._is_text(item)]
        pieces = _pieces_of(items)
        return [pieces] if pieces else None


def _is_prose(value: str) -> bool:
    """Whether the value of a key that names something is too long for a name."""
    return len(value) >= _MAX_WORD and not _ONE_WORD.fullmatch(value)


def _pieces_of(elements: Sequence[Any]) -> str:
    """Return the pieces of a text in a long list of objects, joined; "" if they hold none.

    Of ``[{"tok": "The "}, {"tok": "tide "}, …]`` that is "The tide …".
    """
    if len(elements) < _MIN_PIECES or not all(isinstance(item, dict) for item in elements):
        return ""
    for key in elements[0]:
        values = [item.get(key) for item in elements] if key not in _NAME_KEYS else []
        pieces = [value for value in values if isinstance(value, str)]
        are_words = sum(_WORD.fullmatch(piece) is not None for piece in pieces) * 2 > len(elements)
        if are_words and sum(map(len, pieces)) >= _MIN_LIST and len({*pieces}) >= _MIN_PIECES:
            return "".join(pieces)
    return ""


def _is_text(value: str, min_text: int) -> bool:
    """Whether a string may be text for a model, and is not an id, a name or a date."""
    if len(value) < min_text or value.isspace():
        return False
    return len(value) >= _MAX_WORD or not _ONE_WORD.fullmatch(value)


def _repeat_checker(texts: Sequence[str], n_unread: int) -> Callable[[str], bool]:
    """Return a predicate: is a text contained in the read ``texts``, or every text of its JSON?"""
    embedded = (inner for text in texts for inner in _texts_in_json(text))
    read_text = "\n".join([*texts, *embedded])
    if n_unread * len(read_text) > _MAX_COMPARED:
        return {text.strip() for text in texts}.__contains__

    def is_repeated(text: str) -> bool:
        if text.strip() in read_text:
            return True
        inner_texts = _texts_in_json(text)
        return bool(inner_texts) and all(inner.strip() in read_text for inner in inner_texts)

    return is_repeated


_ALL_TEXTS = _Search(frozenset(), None, _MIN_TEXT)


def _texts_in_json(text: str) -> list[str]:
    """Return the texts of a JSON text; [] for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    value = json_in(text)
    if isinstance(value, str):
        return []
    return [inner.text for inner in _ALL_TEXTS.find(value)]


def _tree(paths: Iterable[JsonPath], start: int) -> _Tree | None:
    """Return paths as nested objects, each without its first ``start`` keys; None without any."""
    root: _Tree | None = None
    for path in paths:
        root = {} if root is None else root
        node = root
        for key in path[start:-1]:
            node = node.setdefault(key, {})
            if node is _READ:
                break
        else:
            node[path[-1]] = _READ
    return root


def _last_key(path: JsonPath) -> str:
    return next((key for key in reversed(path) if isinstance(key, str)), _NO_FIELD)


def _utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
