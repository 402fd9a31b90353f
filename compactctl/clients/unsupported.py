"""Recognize formats that are not supported, so that errors can name them and say what to type.

For some of them jq converts the file to messages, with all of their text.
"""

import codecs
import re
import shlex
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from compactctl.clients.records.decode import DOCKER_PIECE, KUBERNETES_PIECE, is_value, parse_value
from compactctl.clients.records.envelope import find_list, format_path
from compactctl.clients.records.json_values import list_or_empty
from compactctl.clients.records.streams import is_gemini_stream
from compactctl.model.json_paths import json_in
from compactctl.pipeline.quoted_json import docker_text

# Headers and first messages identify a file; later records may quote anything.
_MAX_RECORDS = 5
_MAX_TEXT = 4_096
_MAX_LINE_BYTES = 1 << 16
_MAX_VALUES = 500
# Characters of a line that an error quotes.
_MAX_QUOTED = 40


class UnsupportedClient(NamedTuple):
    """A client whose sessions cannot be read.

    Attributes:
        name: the client's display name.
        places: where it keeps its sessions, in a user's words.
        folder: the part of a path that leads only to its databases; "" if it has none.
        tables: what SQLite writes of its tables at the beginning of such a database.
    """

    name: str
    places: str
    folder: str = ""
    tables: tuple[bytes, ...] = ()

    @property
    def statement(self) -> str:
        """A clause that says where its sessions are."""
        return f"{self.name} is not supported; it keeps its sessions in {self.places}"


FACTORY_DROID = UnsupportedClient("Factory Droid", "~/.factory/sessions")
KIMI_CODE = UnsupportedClient(
    "Kimi Code", "~/.kimi-code/sessions, which its documentation says not to edit"
)
GOOSE = UnsupportedClient(
    "Goose",
    "~/.local/share/goose/sessions/sessions.db",
    folder="/goose/sessions/",
    tables=(b"CREATE TABLE sessions", b"working_dir"),
)
CURSOR = UnsupportedClient(
    "Cursor",
    "~/.cursor/chats and ~/.cursor/projects/FOLDER/agent-transcripts",
    folder="/.cursor/chats/",
    tables=(b"CREATE TABLE blobs", b"CREATE TABLE meta"),
)
ANTIGRAVITY = UnsupportedClient(
    "Antigravity",
    "~/.gemini/antigravity-cli/conversations",
    folder="/.gemini/antigravity-cli/conversations/",
    tables=(b"CREATE TABLE", b"step_payload"),
)
# As of November 2026, from reports of other programs that read them.
UNSUPPORTED_CLIENTS = (FACTORY_DROID, KIMI_CODE, GOOSE, CURSOR, ANTIGRAVITY)


class _Signature(NamedTuple):
    """Identifies records with all ``keys``, and with one of the texts for each key of ``values``.

    ``jq`` are arguments of jq that convert the file to messages, or ""; ``client`` writes them.
    """

    title: str
    keys: frozenset[str]
    values: Mapping[str, frozenset[str]] = {}
    jq: str = ""
    client: UnsupportedClient | None = None


def _signature(title: str, *keys: str, jq: str = "", **values: str) -> _Signature:
    allowed = {name: frozenset(text.split()) for name, text in values.items()}
    return _Signature(title, frozenset(keys) | allowed.keys(), allowed, jq)


def _of_client(client: UnsupportedClient, title: str, *keys: str, **values: str) -> _Signature:
    return _signature(title, *keys, **values)._replace(client=client)


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
# Runs of the Agents SDKs for Python and JavaScript; calls that await approval are stored twice.
_AGENT_RUN = (
    '(.originalInput // .original_input | if type == "string" then {role: "user", content: .} '
    "else .[] end), ((.generatedItems // .generated_items)[] | select(.type != "
    '"tool_approval_item") | .rawItem // .raw_item)'
)
_ADK = "'(.events[]? // .) | .content // empty'"
# Exports and logs, mostly with jq arguments; from published types and files of these programs.
_EXPORT_SIGNATURES = (
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
# Docker omits the line break where it cut a line; Kubernetes marks the pieces.
_JOIN_COMMANDS = {
    DOCKER_PIECE: "jq -j .log",
    KUBERNETES_PIECE: 'awk \'{p = $3; sub(/^[^ ]+ [^ ]+ [FP] /, ""); '
    'printf "%s%s", $0, p == "P" ? "" : "\\n"}\'',
}
_STRIP_PREFIX = "sed 's/^[^{]*//'"
# Commands that decompress files, by suffix.
_UNPACK_COMMANDS = {".gz": "gzip -dc", ".zst": "zstd -dc"}
# From published types and files of these clients.
_RECORD_SIGNATURES = (
    _of_client(FACTORY_DROID, "a Factory Droid session", "id", type="session_start"),
    _of_client(KIMI_CODE, "a Kimi Code session", "protocol_version", type="metadata"),
    _of_client(KIMI_CODE, "a Kimi Code session", "input", "time", type="turn.prompt"),
    _signature("the screen file of a Cline or Roo Code task", "ts", type="say ask"),
    _signature("the metadata file of a Cline or Roo Code task", "files_in_context"),
    _signature("the transcript of a hosted agent", "role", "kind", "raw"),
    _of_client(GOOSE, "a Goose session", "working_dir", "message_count"),
    _of_client(GOOSE, "a Goose session", "role", "content", "created"),
    _of_client(CURSOR, "a Cursor agent transcript", "message", role="user assistant"),
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
    *_EXPORT_SIGNATURES,
)
_SQLITE = b"SQLite format 3\0"
_MAGIC_NUMBERS = (
    (b"PK\x03\x04", "a zip archive, perhaps an Inspect log"),
    (b"PAR1", "a Parquet file, of which compactctl batch measures or compacts all conversations"),
    (_SQLITE, "an SQLite database; export the session with its own client first"),
    (b"\x1f\x8b", "a gzip file; unpack it first"),
)
# Compressed files and archives: offset and magic number, title, and what to type.
_ARCHIVES = (
    (0, b"BZh", "a bzip2 file", "unpack it: bzip2 -dc {} > messages.jsonl"),
    (0, b"\xfd7zXZ\0", "an xz file", "unpack it: xz -dc {} > messages.jsonl"),
    (257, b"ustar", "a tar archive", "unpack it: tar -xf {}"),
)
_TEXT_MARKS = (
    (b"# aider chat started at", "an Aider chat history"),
    (b"<!-- Generated by SpecStory", "a SpecStory export"),
)


class ForeignFile(NamedTuple):
    """A file that is not supported, and how to convert it.

    Attributes:
        description: what the file is, in a user's words.
        jq: arguments of jq that convert it to lines, or "".
        advice: what else to type, with {} for the file, or "".
    """

    description: str
    jq: str = ""
    advice: str = ""

    def hint(self, where: str) -> str:
        """Return what to type to convert the file, or ""."""
        return jq_hint(self.jq, where) if self.jq else self.advice.format(_quoted_path(where))


def describe_records(records: Sequence[Mapping[str, Any]]) -> ForeignFile | None:
    """Describe a file by its first records; None if no signature fits."""
    for record in _with_messages(records[:_MAX_RECORDS]):
        for signature in _RECORD_SIGNATURES:
            if _fits(record, signature):
                if signature.client is not None:
                    looks = f"this looks like {signature.title}"
                    return ForeignFile(f"{looks}; {signature.client.statement}")
                return ForeignFile(_unsupported(signature.title), signature.jq)
    return None


def describe_chunks(values: Sequence[Any]) -> ForeignFile | None:
    """Describe a file of chunks of Gemini's API, one per line; an array of them can be read."""
    if not is_gemini_stream(values):
        return None
    return ForeignFile(_unsupported("chunks of a streamed answer"), "-s .")


def jq_hint(arguments: str, where: str) -> str:
    """Return what to type to convert the file at ``where`` to messages with jq."""
    return f"convert it to lines: {feed_command(f'jq -c {arguments}', where)} > messages.jsonl"


def feed_command(command: str, where: str, arguments: str = "") -> str:
    """Return the command line that runs a command on a file, decompressed if necessary.

    ``where`` is the path of the file. ``arguments`` follow the path, or "-" for standard input.
    """
    unpack = next(
        (program for end, program in _UNPACK_COMMANDS.items() if where.endswith(end)), None
    )
    if unpack is None:
        return f"{command} {_quoted_path(where)}{arguments and f' {arguments}'}"
    return f"{unpack} {_quoted_path(where)} | {command}{arguments and f' - {arguments}'}"


def describe_file(head: bytes, where: str = "") -> ForeignFile | None:
    """Describe the file at ``where``, which starts with ``head``; None if it may be JSON."""
    if head.startswith(_SQLITE):
        for client in UNSUPPORTED_CLIENTS:
            if verb := _database_verb(client, head, where):
                return ForeignFile(f"this {verb} a database of {client.name}; {client.statement}")
    for magic, title in _MAGIC_NUMBERS:
        if head.startswith(magic):
            return ForeignFile(f"this is {title}")
    for start, magic, title, advice in _ARCHIVES:
        if head.startswith(magic, start):
            return ForeignFile(f"this is {title}", advice=advice)
    for text, title in _TEXT_MARKS:
        if text in head[:_MAX_TEXT] and head.lstrip()[:1] not in (b"{", b"["):
            return ForeignFile(_unsupported(title))
    return None


def _database_verb(client: UnsupportedClient, head: bytes, where: str) -> str:
    """Return "is" for a client's database, "looks like" if only its tables say so, else ""."""
    if client.folder and client.folder in where:
        return "is"
    words = (rb"%s\b" % re.escape(text) for text in client.tables)
    is_alike = bool(client.tables) and all(re.search(word, head) for word in words)
    return "looks like" if is_alike else ""


def unsupported_client(name: str) -> UnsupportedClient | None:
    """Return the unsupported client of this name, in any spelling; None if there is none."""
    letters = _letters(name)
    return next(
        (client for client in UNSUPPORTED_CLIENTS if letters and letters in _names(client)), None
    )


def _names(client: UnsupportedClient) -> tuple[str, str]:
    """Return the letters of a client's name, and of its first word."""
    return _letters(client.name), _letters(client.name.split()[0])


def _letters(name: str) -> str:
    return "".join(filter(str.isalpha, name.casefold()))


def _unsupported(title: str) -> str:
    return f"this looks like {title}; that format cannot be read yet"


def guess_messages_field(record: Mapping[str, Any]) -> str | None:
    """Return the shortest path to a list that looks like messages, as the user types it, or None.

    It may lead through objects and JSON texts.
    """
    queue: deque[tuple[tuple[str, ...], Any]] = deque([((), record)])
    for _ in range(_MAX_VALUES):
        if not queue:
            break
        path, value = queue.popleft()
        if isinstance(value, str):
            value = json_in(value) if value.lstrip()[:1] in ("{", "[") else None
        if path and isinstance(value, list) and any(map(_is_message, value)):
            field = format_path(path)
            # Another list may be written like this one.
            if field.isprintable() and find_list(record, field.removeprefix(".")) == path:
                return field
        if isinstance(value, Mapping):
            queue.extend(((*path, name), member) for name, member in value.items())
    return None


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("role"), str)


def docker_advice(head: bytes, where: str) -> str | None:
    """Return the problem and advice for a Docker log without JSON lines; None for other files."""
    line, _, _ = head.partition(b"\n")
    try:
        record = parse_value(line)
    except ValueError:
        return None
    if not isinstance(record, dict) or docker_text(record) is None:
        return None
    command = f"{feed_command('jq -j .log', where)} | jq -c . > lines.jsonl"
    return f"is Docker's log, and no line in it is JSON; if JSON spans several lines: {command}"


def join_advice(damage: str | None, where: str) -> str | None:
    """Return how to join the pieces of cut lines; None for other damage."""
    if damage is None or damage not in _JOIN_COMMANDS:
        return None
    return f"join its pieces: {feed_command(_JOIN_COMMANDS[damage], where)} > lines.jsonl"


def describe_non_json(head: bytes, where: str) -> str:
    """Describe a file without any JSON."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        converted = feed_command("iconv -f UTF-16 -t UTF-8", where)
        return f"is UTF-16, and JSON is UTF-8; convert it: {converted} > messages.jsonl"
    return "holds no JSON; transcripts are JSON or JSON lines"


def prefix_advice(head: bytes, where: str) -> str | None:
    """Return which line has JSON after other text, and how to remove that text, or None."""
    for line_number, line in enumerate(head[:_MAX_LINE_BYTES].split(b"\n")[:-1], 1):
        start = line.find(b"{")
        if start > 0 and is_value(line[start:]):
            prefix = line[:start].decode("utf-8", "replace").strip()[:_MAX_QUOTED]
            return (
                f"line {line_number} has JSON after other text ({prefix!r}); remove it: "
                f"{feed_command(_STRIP_PREFIX, where)} > lines.jsonl"
            )
    return None


def _quoted_path(where: str) -> str:
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
