"""Formats that are known by sight but cannot be read, so that errors can name them.

For some of them jq makes a file that can be read; the text of the messages is then all there.
"""

import codecs
import shlex
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from compactctl.formats.records.decode import DOCKER_PIECE, KUBERNETES_PIECE, is_value, parse_value
from compactctl.formats.records.json_values import list_or_empty
from compactctl.model.json_paths import json_in
from compactctl.pipeline.quoted_json import docker_text

# Headers and the first messages show what a file is; later records may quote anything.
_MAX_RECORDS = 5
_TEXT_LOOKED_AT = 4_096
_LINES_LOOKED_AT = 1 << 16
_VALUES_LOOKED_AT = 500
# Characters of a line that an error quotes.
_SHOWN = 40


class _Signature(NamedTuple):
    """A record has all of ``keys``, and under each name in ``values`` one of those values.

    ``jq`` holds the arguments of jq that make messages of the file, if any do.
    """

    title: str
    keys: frozenset[str]
    values: Mapping[str, frozenset[str]] = {}
    jq: str = ""


def _signature(title: str, *keys: str, jq: str = "", **values: str) -> _Signature:
    allowed = {name: frozenset(text.split()) for name, text in values.items()}
    return _Signature(title, frozenset(keys) | allowed.keys(), allowed, jq)


_CHATGPT = (
    ".[] | .mapping as $m | {messages: ([.current_node | recurse($m[.].parent // empty) | "
    "$m[.].message // empty | {role: .author.role, content: ([.content | .parts[]?, .text? | "
    'strings] | join("\\n"))} | select(.content != "")] | reverse)}'
)
_CLAUDE = (
    '.[] | {messages: [.chat_messages[] | {role: (if .sender == "human" then "user" else '
    '"assistant" end), content: .text}]}'
)
_OPEN_WEBUI = (
    ".[] | .chat.history as $h | {messages: ([$h.currentId | "
    "recurse($h.messages[.].parentId // empty) | $h.messages[.] | {role, content}] | reverse)}"
)
_LM_STUDIO = (
    "{messages: [.messages[] | .versions[.currentlySelected] | {role, content: ([.content, "
    '.steps[]?.content | arrays[].text // empty] | join("\\n"))}]}'
)
_PYDANTIC_AI = (
    'def text: if type == "string" then . else tojson end; {messages: [.[].parts[] | '
    'if .part_kind == "tool-call" then {role: "assistant", tool_calls: [{id: .tool_call_id, type: '
    '"function", function: {name: .tool_name, arguments: (.args | text)}}]} elif .part_kind == '
    '"tool-return" then {role: "tool", tool_call_id, content: (.content | text)} else {role: '
    '({"system-prompt": "system", "text": "assistant", "thinking": "assistant"}[.part_kind] // '
    '"user"), content: (.content | text)} end]}'
)
_OTEL_SPANS = (
    "{messages: [.resourceSpans[].scopeSpans[].spans[].attributes[] | select(.key | "
    'test("^gen_ai.(input|output).messages$")) | .value.stringValue | fromjson[] | {role, content: '
    '([.parts[] | .content // .response // empty | if type == "string" then . else tojson end] | '
    'join("\\n"))}]}'
)
_CHUNKS = (
    '-Rn \'[inputs | capture("(?<j>{.*)").j | fromjson?] | group_by(.id)[] | {role: '
    '"assistant", content: ([.[].choices[]?.delta.content // empty] | join(""))}\''
)
_CHUNK_TEXTS = (
    '-Rn \'{role: "assistant", content: ([inputs | capture("(?<j>{.*)").j | fromjson? | '
    '.delta?.text? // empty] | join(""))}\''
)
# Of the Agents SDKs for Python and JavaScript; calls that wait for approval stand there twice.
_AGENT_RUN = (
    '(.originalInput // .original_input | if type == "string" then {role: "user", content: .} '
    "else .[] end), ((.generatedItems // .generated_items)[] | select(.type != "
    '"tool_approval_item") | .rawItem // .raw_item)'
)
_ADK = "'(.events[]? // .) | .content // empty'"
# Exports and logs of which jq makes messages. From published types and files of these programs.
_EXPORTS = (
    _signature("ChatGPT's export", "mapping", "current_node", jq=f"'{_CHATGPT}'"),
    _signature("Claude's export", "uuid", "chat_messages", jq=f"'{_CLAUDE}'"),
    _signature("Open WebUI's export", "chat", "title", "user_id", jq=f"'{_OPEN_WEBUI}'"),
    _signature("an LM Studio chat", "versions", "currentlySelected", jq=f"'{_LM_STUDIO}'"),
    _signature("Pydantic AI messages", "parts", kind="request response", jq=f"'{_PYDANTIC_AI}'"),
    _signature(
        "a saved run of an Agents SDK", "$schemaVersion", "originalInput", jq=f"'{_AGENT_RUN}'"
    ),
    _signature(
        "a saved run of an Agents SDK", "$schemaVersion", "original_input", jq=f"'{_AGENT_RUN}'"
    ),
    _signature("a session of Strands Agents", "message", "message_id", jq=".message"),
    _signature("a session of Google's ADK", "events", "app_name", jq=_ADK),
    _signature("a session of Google's ADK", "events", "appName", jq=_ADK),
    _signature("events of Google's ADK", "author", "actions", "invocation_id", jq=_ADK),
    _signature("events of Google's ADK", "author", "actions", "invocationId", jq=_ADK),
    _signature("OpenTelemetry spans", "resourceSpans", jq=f"'{_OTEL_SPANS}'"),
    _signature("OpenTelemetry log records", "resourceLogs"),
    _signature("an OpenTelemetry span", "parent_id", "start_time", "attributes"),
    _signature(
        "preference pairs for OpenAI's fine-tuning",
        "input",
        "preferred_output",
        jq="'{messages: (.input.messages + .preferred_output)}'",
    ),
    _signature(
        "preference pairs (DPO)",
        "chosen",
        "rejected",
        jq='\'{messages: ([.prompt // [] | if type == "string" then {role: "user", '
        'content: .} else .[] end] + [.chosen | if type == "string" then {role: "assistant", '
        "content: .} else .[] end])}'",
    ),
    _signature("chunks of a streamed answer", object="chat.completion.chunk", jq=_CHUNKS),
    _signature(
        "events of a streamed answer",
        type="message_start content_block_start content_block_delta",
        jq=_CHUNK_TEXTS,
    ),
)
# Docker leaves out the line break where it cut a line, and Kubernetes marks the pieces.
_JOINS = {
    DOCKER_PIECE: "jq -j .log",
    KUBERNETES_PIECE: 'awk \'{p = $3; sub(/^[^ ]+ [^ ]+ [FP] /, ""); '
    'printf "%s%s", $0, p == "P" ? "" : "\\n"}\'',
}
_TAKE_OFF = "sed 's/^[^{]*//'"
# What compressed files are unpacked with, by the endings of their names.
_UNPACKING = {".gz": "gzip -dc", ".zst": "zstd -dc"}
# From files of these clients and their published types.
_RECORDS = (
    _signature("a Factory Droid session", "id", type="session_start"),
    _signature("the screen file of a Cline or Roo Code task", "ts", type="say ask"),
    _signature("the metadata file of a Cline or Roo Code task", "files_in_context"),
    _signature("the transcript of a hosted agent", "role", "kind", "raw"),
    _signature("a Goose session", "working_dir", "message_count"),
    _signature("a Goose session", "role", "content", "created"),
    _signature("a Cursor agent transcript", "message", role="user assistant"),
    _signature("a SWE-agent trajectory", "trajectory", "history"),
    _signature("an OpenHands evaluation", "history", "instance_id"),
    _signature("an OpenHands trajectory", "id", "source", "action"),
    _signature("an OpenHands trajectory", "id", "source", "observation"),
    _signature("an OpenHands trajectory", "id", "source", "kind"),
    _signature("an Inspect log", "eval", "status"),
    _signature("tau-bench results", "task_id", "traj"),
    _signature("tau2-bench results", "simulations"),
    _signature("an ATIF trajectory", "schema_version", "steps"),
    _signature("a dump of LangChain messages", "lc", "kwargs"),
    _signature("a dump of LangChain messages", "data", type="human ai system tool function chat"),
    _signature("a ShareGPT data set", "conversations"),
    _signature("a ShareGPT conversation", "value", **{"from": "human gpt system user assistant"}),
    _signature("a Kiro conversation", "conversation_id", "history"),
    *_EXPORTS,
)
_MAGIC = (
    (b"PK\x03\x04", "a zip archive, perhaps an Inspect log"),
    (b"PAR1", "a Parquet file, of which compactctl batch measures or compacts all conversations"),
    (b"SQLite format 3\0", "an SQLite database; export the session with its own client first"),
    (b"\x1f\x8b", "a gzip file; unpack it first"),
)
# What holds files or one: where its magic number stands, and what to type.
_HOLDS_FILES = (
    (0, b"BZh", "a bzip2 file", "unpack it: bzip2 -dc {} > messages.jsonl"),
    (0, b"\xfd7zXZ\0", "an xz file", "unpack it: xz -dc {} > messages.jsonl"),
    (257, b"ustar", "a tar archive", "take its files out: tar -xf {}"),
)
_TEXTS = (
    (b"# aider chat started at", "an Aider chat history"),
    (b"<!-- Generated by SpecStory", "a SpecStory export"),
)


class ForeignFile(NamedTuple):
    """What a file is that cannot be read, in words, and what makes one of it that can be.

    That is ``jq``, arguments that make lines of it, or ``advice``, with {} for the file.
    """

    description: str
    jq: str = ""
    advice: str = ""

    def hint(self, where: str) -> str:
        """Return what to type to make a file that can be read; "" where nothing does."""
        return jq_hint(self.jq, where) if self.jq else self.advice.format(_file(where))


def describe_records(records: Sequence[Mapping[str, Any]]) -> ForeignFile | None:
    """Return what the first records are, None when no signature fits."""
    for record in _with_messages(records[:_MAX_RECORDS]):
        for signature in _RECORDS:
            if _fits(record, signature):
                return ForeignFile(_looks_like(signature.title), signature.jq)
    return None


def jq_hint(arguments: str, where: str) -> str:
    """Return what to type to make messages of a file with jq; ``where`` is its path."""
    return f"make lines of it: {feed_command(f'jq -c {arguments}', where)} > messages.jsonl"


def feed_command(command: str, where: str, more: str = "") -> str:
    """Return what to type for a command to read a file, and unpack that first if need be.

    ``where`` is the path; ``more`` are arguments behind it, where "-" means standard input.
    """
    unpacking = next((each for end, each in _UNPACKING.items() if where.endswith(end)), None)
    if unpacking is None:
        return f"{command} {_file(where)}{more and f' {more}'}"
    return f"{unpacking} {_file(where)} | {command}{more and f' - {more}'}"


def describe_file(head: bytes) -> ForeignFile | None:
    """Return what a file that starts with ``head`` is, None when it may be JSON."""
    for magic, title in _MAGIC:
        if head.startswith(magic):
            return ForeignFile(f"this is {title}")
    for start, magic, title, helps in _HOLDS_FILES:
        if head.startswith(magic, start):
            return ForeignFile(f"this is {title}", advice=helps)
    for text, title in _TEXTS:
        if text in head[:_TEXT_LOOKED_AT] and head.lstrip()[:1] not in (b"{", b"["):
            return ForeignFile(_looks_like(title))
    return None


def _looks_like(title: str) -> str:
    return f"this looks like {title}; that format cannot be read yet"


def guess_messages_path(record: Mapping[str, Any]) -> str | None:
    """Return the path in a row at which messages seem to stand, as it is typed; None without one.

    It leads through objects, and through texts that hold JSON. The shortest one is returned.
    """
    waiting: deque[tuple[str, Any]] = deque([("", record)])
    for _ in range(_VALUES_LOOKED_AT):
        if not waiting:
            break
        path, value = waiting.popleft()
        if isinstance(value, str):
            value = json_in(value) if value.lstrip()[:1] in ("{", "[") else None
        if path and isinstance(value, list) and any(map(_is_message, value)):
            return path.removeprefix(".")
        if isinstance(value, Mapping):
            names = (name for name in value if name and "." not in name)
            waiting.extend((f"{path}.{name}", value[name]) for name in names)
    return None


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("role"), str)


def docker_advice(head: bytes, where: str) -> str | None:
    """Return what helps with Docker's log in which no line is JSON; None for any other file."""
    line, _, _ = head.partition(b"\n")
    try:
        record = parse_value(line)
    except ValueError:
        return None
    if not isinstance(record, dict) or docker_text(record) is None:
        return None
    joined = f"{feed_command('jq -j .log', where)} | jq -c . > lines.jsonl"
    return f"is Docker's log, and no line in it is JSON; if JSON is over several lines: {joined}"


def join_advice(damage: str | None, where: str) -> str | None:
    """Return what joins the pieces of lines that are damaged in this way, None for other damage."""
    if damage is None or damage not in _JOINS:
        return None
    return f"join its pieces: {feed_command(_JOINS[damage], where)} > lines.jsonl"


def describe_non_json(head: bytes, where: str) -> str:
    """Return what to say of a file in which nothing is JSON."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        converted = feed_command("iconv -f UTF-16 -t UTF-8", where)
        return f"is UTF-16, and JSON is UTF-8; convert it: {converted} > messages.jsonl"
    return "holds no JSON; transcripts are JSON or JSON lines"


def prefix_advice(head: bytes, where: str) -> str | None:
    """Return which line of a file starts with JSON behind text, and how to take that off.

    None where no line of the start does.
    """
    for number, line in enumerate(head[:_LINES_LOOKED_AT].split(b"\n")[:-1], 1):
        at = line.find(b"{")
        if at > 0 and is_value(line[at:]):
            before = line[:at].decode("utf-8", "replace").strip()[:_SHOWN]
            return (
                f"line {number} has JSON behind other text ({before!r}); "
                f"take that off: {feed_command(_TAKE_OFF, where)} > lines.jsonl"
            )
    return None


def _file(where: str) -> str:
    is_file = where and where != "-" and not where.startswith("standard input")
    return shlex.quote(where) if is_file else "FILE"


def _with_messages(records: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for record in records:
        yield record
        inner = list_or_empty(record.get("messages"))[:_MAX_RECORDS]
        yield from (item for item in inner if isinstance(item, Mapping))


def _fits(record: Mapping[str, Any], signature: _Signature) -> bool:
    if not signature.keys <= record.keys():
        return False
    return all(
        isinstance(record[name], str) and record[name] in allowed
        for name, allowed in signature.values.items()
    )
