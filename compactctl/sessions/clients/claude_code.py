"""Sessions of Claude Code: ``projects/<folder>/<uuid>.jsonl``, their helpers' in folders beside."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.formats.content.anthropic import usage_iterations
from compactctl.formats.records.json_values import object_or_empty, text_or_empty
from compactctl.pipeline.record_splice import dump
from compactctl.sessions.fork import ID_KEY, Fork, ForkIdentity, with_session_id
from compactctl.sessions.reading.documents import read_small_object
from compactctl.sessions.reading.fields import first_title, sum_counts, user_text
from compactctl.sessions.reading.file_ends import FileEnds, read_ends
from compactctl.sessions.reading.folders import FolderScanner, is_alive
from compactctl.sessions.session import (
    Session,
    SessionDetails,
    SessionEntry,
    SessionKind,
    SessionStore,
)
from compactctl.store import client_folders
from compactctl.store.client_folders import UserEnvironment

NAME = "claude-code"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HELPER = "agent-"
_HELPERS = "subagents"
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9]")
# JavaScript has two units for each of these, and the client writes a dash for each unit.
_TWO_UNITS = re.compile(r"[\U00010000-\U0010ffff]")
# The name of a longer folder ends in a hash instead.
_MAX_NAME = 200
# What the client's own list leaves out: claude -p.
_HEADLESS = "sdk-cli"
# As the client's own list has it; the newest of a type counts.
_TITLES = {
    "custom-title": "customTitle",
    "agent-name": "agentName",
    "ai-title": "aiTitle",
    "summary": "summary",
}
# What people typed with a slash, but for what clears the history before it.
_COMMAND = re.compile(r"<command-name>(?!/clear<)([^<]+)</command-name>")
_NOT_ASKED = ("isMeta", "isCompactSummary", "condenseId", "truncationId")
_USAGE = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def _entries(machine: UserEnvironment, folders: FolderScanner) -> Iterator[SessionEntry]:
    root = client_folders.claude_code_folder(machine)
    opened = _open_ids(root, folders)
    for project in folders.folders(root / "projects"):
        yield from _sessions(project, folders, opened)
        for beside in folders.folders(project):
            if _UUID.fullmatch(beside.name):
                yield from _sessions(beside / _HELPERS, folders, opened)


def _sessions(
    folder: Path, folders: FolderScanner, opened: frozenset[str]
) -> Iterator[SessionEntry]:
    for path, status in folders.files(folder, ".jsonl"):
        is_helper = path.name.startswith(_HELPER)
        if not is_helper and not _UUID.fullmatch(path.stem):
            continue
        kind: SessionKind = "subagent" if is_helper else "main"
        yield SessionEntry.of_file(
            NAME, path.stem, (path, status), SessionDetails(kind=kind, open=path.stem in opened)
        )


def _open_ids(root: Path, folders: FolderScanner) -> frozenset[str]:
    """Return the ids that running clients have left; they take them away when they end."""
    left = (read_small_object(path) for path, _ in folders.files(root / "sessions", ".json"))
    return frozenset(text_or_empty(each.get("sessionId")) for each in left if _is_running(each))


def _is_running(left: Mapping[str, Any]) -> bool:
    return is_alive(left.get("pid"))


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
    found: dict[str, str] = {}
    for record in ends.newest_first():
        kind = text_or_empty(record.get("type"))
        if kind in _TITLES and kind not in found:
            found[kind] = text_or_empty(record.get(_TITLES[kind]))
    return first_title(*(found.get(kind) for kind in _TITLES)) or first_title(_first_prompt(ends))


def _first_prompt(ends: FileEnds) -> str:
    """Return the first prompt of the conversation, else the first command, or a helper's prompt."""
    otherwise = ""
    for record in filter(_is_asked, ends.forward_records()):
        content = object_or_empty(record.get("message")).get("content")
        text = user_text(content)
        if text and not record.get("isSidechain"):
            return text
        otherwise = otherwise or text or _command(content)
    return otherwise


def _command(content: object) -> str:
    found = _COMMAND.search(content) if isinstance(content, str) else None
    return found[1] if found else ""


def _is_asked(record: Mapping[str, Any]) -> bool:
    """Tell whether a record may be a prompt: none that a client or a compaction has written."""
    return record.get("type") == "user" and not any(record.get(mark) for mark in _NOT_ASKED)


def _project(ends: FileEnds) -> str:
    moved = (r.get("relocatedCwd") for r in ends.newest_first() if r.get("type") == "relocated")
    first = (record.get("cwd") for record in ends.head_records() if record.get("cwd"))
    return text_or_empty(next(moved, None)) or text_or_empty(next(first, None))


def _kind(ends: FileEnds) -> SessionKind:
    told = [record for record in ends.head_records() if "isSidechain" in record]
    if told and all(record["isSidechain"] for record in told):
        return "subagent"
    if any(record.get("entrypoint") == _HEADLESS for record in told[:1]):
        return "headless"
    return "main"


def _newest_request(ends: FileEnds) -> tuple[int | None, str]:
    """Return the tokens of the newest request and its answer, and the model that answered.

    What was reported before a compaction says nothing of what is sent now.
    """
    for record in ends.backward_records():
        if record.get("subtype") == "compact_boundary":
            left = object_or_empty(record.get("compactMetadata"))
            return sum_counts(left, "postTokens"), _model(ends)
        message = _answer(record)
        newest = usage_iterations(object_or_empty(message.get("usage")))[-1]
        context = sum_counts(newest, *_USAGE)
        if context is not None:
            return context, text_or_empty(message.get("model"))
    return None, _model(ends)


def _model(ends: FileEnds) -> str:
    found = (text_or_empty(_answer(record).get("model")) for record in ends.newest_first())
    return next(filter(None, found), "")


def _answer(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message of an answer in the main conversation, an empty one for anything else."""
    message = object_or_empty(record.get("message"))
    is_answer = record.get("type") == "assistant" and not record.get("isSidechain")
    return message if is_answer and message.get("model") != "<synthetic>" else {}


def _may_be_below(entry: SessionEntry, folder: Path) -> bool:
    """Compare names of folders, which is where a session was begun."""
    is_helper = entry.path.parent.name == _HELPERS
    name = entry.path.parents[2 if is_helper else 0].name
    wanted = _NOT_IN_NAMES.sub("-", _TWO_UNITS.sub("--", str(folder)))[:_MAX_NAME].rstrip("-")
    return name[:_MAX_NAME].startswith(wanted)


STORE = SessionStore(
    client=NAME,
    alias="claude",
    title="Claude Code",
    entries=_entries,
    details=_details,
    may_be_in_project=_may_be_below,
    resume_command="claude --resume {id}",
    resume_model=" --model {model}",
    resumes_in_project_only=True,
    reload_command="/resume {id}",
)


def fork(session: Session, fresh: ForkIdentity) -> Fork:
    """Name the file anew, and the session in every record; a title tells the two apart.

    Where a session has the name of an agent, the client's prompt shows that, so both are said.
    """
    new, old = fresh.random_id, session.id
    title = fresh.fork_title(session.details.title)
    said = [{"type": "custom-title", "customTitle": title, ID_KEY: new}]
    if _has_agent_name(session):
        said.append({"type": "agent-name", "agentName": title, ID_KEY: new})
    return Fork(
        id=new,
        path=session.entry.path.with_name(f"{new}.jsonl"),
        original=session,
        rewrite_line=lambda _, line: with_session_id(line, (ID_KEY,), old, new),
        trailing_lines=tuple(f"{dump(each)}\n".encode() for each in said),
    )


def _has_agent_name(session: Session) -> bool:
    try:
        ends = read_ends(session.entry.path)
    except OSError:
        return False
    return any(record.get("type") == "agent-name" for record in ends.newest_first())
