"""Sessions of Claude Code: ``projects/<folder>/<uuid>.jsonl``; subagents in folders beside them."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.clients.claude_code.wrapping import CLAUDE_CODE
from compactctl.clients.content.anthropic import usage_iterations
from compactctl.clients.fork import ID_KEY, Fork, ForkIdentity, with_session_id
from compactctl.clients.reading.documents import read_small_object
from compactctl.clients.reading.fields import first_title, sum_counts, user_text
from compactctl.clients.reading.file_ends import FileEnds, read_ends
from compactctl.clients.reading.folders import FolderScanner, is_alive
from compactctl.clients.records.json_values import object_or_empty, text_or_empty
from compactctl.clients.session import Session, SessionDetails, SessionEntry, SessionKind
from compactctl.clients.store import SessionStore
from compactctl.pipeline.record_splice import dump
from compactctl.store import client_folders
from compactctl.store.client_folders import UserEnvironment

NAME = "claude-code"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SUBAGENT_PREFIX = "agent-"
_SUBAGENT_FOLDER = "subagents"
_NOT_ALPHANUMERIC = re.compile(r"[^a-zA-Z0-9]")
# In JavaScript these are two code units, and the client writes a dash for each.
_ASTRAL = re.compile(r"[\U00010000-\U0010ffff]")
# Folder names are cut to this length; a hash follows.
_MAX_NAME = 200
# ``claude -p``, which the client's own list hides.
_HEADLESS = "sdk-cli"
# In the client's order of precedence; the newest record of a type counts.
_TITLES = {
    "custom-title": "customTitle",
    "agent-name": "agentName",
    "ai-title": "aiTitle",
    "summary": "summary",
}
# Slash commands, except the one that clears the history.
_COMMAND = re.compile(r"<command-name>(?!/clear<)([^<]+)</command-name>")
_NOT_PROMPT_FLAGS = ("isMeta", "isCompactSummary", "condenseId", "truncationId")
_USAGE = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    root = client_folders.claude_code_folder(machine)
    open_ids = _open_ids(root, folders)
    for project in folders.folders(root / "projects"):
        yield from _sessions(project, folders, open_ids)
        for subfolder in folders.folders(project):
            if _UUID.fullmatch(subfolder.name):
                yield from _sessions(subfolder / _SUBAGENT_FOLDER, folders, open_ids)


def _sessions(
    folder: Path, folders: FolderScanner, open_ids: frozenset[str]
) -> Iterator[SessionEntry]:
    for path, status in folders.files(folder, ".jsonl"):
        is_subagent = path.name.startswith(_SUBAGENT_PREFIX)
        if not is_subagent and not _UUID.fullmatch(path.stem):
            continue
        kind: SessionKind = "subagent" if is_subagent else "main"
        yield SessionEntry.of_file(
            NAME, path.stem, (path, status), SessionDetails(kind=kind, open=path.stem in open_ids)
        )


def _open_ids(root: Path, folders: FolderScanner) -> frozenset[str]:
    """Return the ids of open sessions. A client removes its note at exit, unless it is killed."""
    notes = (read_small_object(path) for path, _ in folders.files(root / "sessions", ".json"))
    return frozenset(
        text_or_empty(note.get("sessionId")) for note in notes if is_alive(note.get("pid"))
    )


def _details(entry: SessionEntry) -> SessionDetails:
    ends = read_ends(entry.path)
    context, model = _newest_request(ends)
    return SessionDetails(
        title=_title(ends),
        project=_project(ends),
        model=model,
        context=context,
        kind=_kind(ends),
    )


def _title(ends: FileEnds) -> str:
    titles: dict[str, str] = {}
    for record in ends.records_newest_first():
        kind = text_or_empty(record.get("type"))
        if kind in _TITLES and kind not in titles:
            titles[kind] = text_or_empty(record.get(_TITLES[kind]))
    return first_title(*map(titles.get, _TITLES)) or first_title(_first_prompt(ends))


def _first_prompt(ends: FileEnds) -> str:
    """Return the first prompt of the conversation, else the first command or subagent's prompt."""
    fallback = ""
    for record in filter(_may_be_prompt, ends.forward_records()):
        content = object_or_empty(record.get("message")).get("content")
        text = user_text(content, CLAUDE_CODE)
        if text and not record.get("isSidechain"):
            return text
        fallback = fallback or text or _command(content)
    return fallback


def _command(content: object) -> str:
    match = _COMMAND.search(content) if isinstance(content, str) else None
    return match[1] if match else ""


def _may_be_prompt(record: Mapping[str, Any]) -> bool:
    """Return whether this is a user record that neither the client nor a compaction wrote."""
    return record.get("type") == "user" and not any(record.get(flag) for flag in _NOT_PROMPT_FLAGS)


def _project(ends: FileEnds) -> str:
    moves = (
        r.get("relocatedCwd") for r in ends.records_newest_first() if r.get("type") == "relocated"
    )
    folders = (record.get("cwd") for record in ends.head_records() if record.get("cwd"))
    return text_or_empty(next(moves, None)) or text_or_empty(next(folders, None))


def _kind(ends: FileEnds) -> SessionKind:
    records = [record for record in ends.head_records() if "isSidechain" in record]
    if records and all(record["isSidechain"] for record in records):
        return "subagent"
    if any(record.get("entrypoint") == _HEADLESS for record in records[:1]):
        return "headless"
    return "main"


def _newest_request(ends: FileEnds) -> tuple[int | None, str]:
    """Return the tokens of the newest request and its answer, and the model that answered.

    Usage reported before a compaction does not count; a boundary may record the tokens after it.
    """
    for record in ends.backward_records():
        if record.get("subtype") == "compact_boundary":
            metadata = object_or_empty(record.get("compactMetadata"))
            return sum_counts(metadata, "postTokens"), _model(ends)
        message = _answer(record)
        newest = usage_iterations(object_or_empty(message.get("usage")))[-1]
        context = sum_counts(newest, *_USAGE)
        if context is not None:
            return context, text_or_empty(message.get("model"))
    return None, _model(ends)


def _model(ends: FileEnds) -> str:
    models = (text_or_empty(_answer(record).get("model")) for record in ends.records_newest_first())
    return next(filter(None, models), "")


def _answer(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the API message of an answer in the main conversation; {} for any other record."""
    message = object_or_empty(record.get("message"))
    is_answer = record.get("type") == "assistant" and not record.get("isSidechain")
    return message if is_answer and message.get("model") != "<synthetic>" else {}


def _may_be_in_project(entry: SessionEntry, folder: Path) -> bool:
    """Compare folder names, which are made from the folder in which a session was started."""
    is_subagent = entry.path.parent.name == _SUBAGENT_FOLDER
    name = entry.path.parents[2 if is_subagent else 0].name
    prefix = _NOT_ALPHANUMERIC.sub("-", _ASTRAL.sub("--", str(folder)))[:_MAX_NAME].rstrip("-")
    return name[:_MAX_NAME].startswith(prefix)


def fork(session: Session, identity: ForkIdentity) -> Fork:
    """Fork under a new file name and a new id in every record, with a title record at the end.

    If a session has an agent's name, the client shows that at its prompt, so the fork gets one too.
    """
    new, old = identity.random_id, session.id
    title = identity.fork_title(session.details.title)
    records: list[dict[str, object]] = [
        {"type": "custom-title", "customTitle": title, ID_KEY: new, "forkedFrom": {ID_KEY: old}}
    ]
    if _has_agent_name(session):
        records.append({"type": "agent-name", "agentName": title, ID_KEY: new})
    return Fork(
        id=new,
        path=session.entry.path.with_name(f"{new}.jsonl"),
        original=session,
        rewrite_line=lambda _, line: with_session_id(line, (ID_KEY,), old, new),
        trailing_lines=tuple(f"{dump(record)}\n".encode() for record in records),
    )


def _has_agent_name(session: Session) -> bool:
    try:
        ends = read_ends(session.entry.path)
    except OSError:
        return False
    return any(record.get("type") == "agent-name" for record in ends.records_newest_first())


STORE = SessionStore(
    client=NAME,
    alias="claude",
    title="Claude Code",
    entries=_entries,
    details=_details,
    fork=fork,
    is_in_one_file=True,
    may_be_in_project=_may_be_in_project,
    resume_command="claude --resume {id}",
    resume_model=" --model {model}",
    resumes_in_project_only=True,
    reload_command="/resume {id}",
)
