"""Test cases of the systems' own repositories, as command lines of compactctl.

``recorded.json.gz`` is a list of cases. Each has a name, the ``origin`` of the case (system, commit
and test), the ``files`` in its folder, the ``runs`` (command lines without the program), and the
``checks``: what the system's own test expects, of the last run's output and of what is then
visible::

    {"name": "sliding-03", "origin": "spring-ai-session SlidingWindow…Tests.eventsOverLimit…",
     "files": {"in.jsonl": "…"}, "runs": [["compact", "in.jsonl", "--stages", "window", …]],
     "checks": {"kept": ["msg-3", "msg-4", "msg-5"], "archived": ["msg-1", "msg-2"]}}

The cases are about the systems' code, so the variant of a profile that follows the code is used
where there is one.
"""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from compactctl.__main__ import run
from compactctl.profiles.registry import PROFILES

RECORDED = Path(__file__).with_name("recorded.json.gz")
OUTPUT = "out.jsonl"
_PRINT_JSON = {
    "compact",
    "check",
    "models",
    "overflow",
    "file-budget",
    "limit-output",
    "stats",
    "view",
}
_SHADOW = "Summarize the conversation we had so far"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A case; see above."""

    name: str
    origin: str
    files: Mapping[str, Any]
    runs: Sequence[Sequence[str]]
    checks: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command line printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        try:
            return json.loads(self.out)
        except ValueError:
            return None


def recorded_cases() -> tuple[Case, ...]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as file:
        return tuple(Case(**case) for case in json.load(file))


def differences(case: Case) -> list[str]:
    """Run a case in the current folder, and return in what it comes out otherwise than upstream."""
    for name, content in case.files.items():
        Path(name).write_bytes(_content(name, content))
    outcome = Outcome(code=0, out="", err="")
    for words in case.runs:
        outcome = ask(_completed(words))
    return [*_of_output(case, outcome), *_of_visible(case)]


def _content(name: str, content: object) -> bytes:
    if isinstance(content, dict):
        return b"x" * int(content["size"])
    text = str(content)
    if name.endswith(".toml"):
        text = text.replace('base="neurolink"', f'base="{_by_code("neurolink")}"')
    return text.encode()


def _by_code(profile: str) -> str:
    return f"{profile}@code" if f"{profile}@code" in PROFILES else profile


def _completed(words: Sequence[str]) -> tuple[str, ...]:
    before = ("", *words)
    named = [
        _by_code(word) if previous == "--profile" and not word.endswith(".toml") else word
        for previous, word in zip(before, words, strict=False)
    ]
    output = ("-o", OUTPUT) if words[0] == "compact" and "-o" not in words else ()
    return (*named, *output, *(("--json",) if words[0] in _PRINT_JSON else ()))


def ask(words: Sequence[str]) -> Outcome:
    """Run a command line in this process."""
    out, err = (
        TextIOWrapper(BytesIO(), encoding="utf-8"),
        TextIOWrapper(BytesIO(), encoding="utf-8"),
    )
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(words))
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Outcome(code=code, out=texts[0], err=texts[1])


def _of_output(case: Case, outcome: Outcome) -> Iterator[str]:
    checks = case.checks
    codes = (checks["exit"],) if "exit" in checks else (0, 1)
    if outcome.code not in codes:
        yield f"exit {outcome.code}, not {codes}: {outcome.err or outcome.out}"
    yield from _of_document(checks, outcome.document)
    yield from _texts("standard error", outcome.err, checks.get("err", ()), ())
    yield from _texts("the output", outcome.out, checks.get("out", ()), checks.get("out_lacks", ()))
    holds, lacks = checks.get("file_contains", {}), checks.get("file_lacks", {})
    for name in holds.keys() | lacks.keys():
        text = Path(name).read_text() if Path(name).exists() else ""
        yield from _texts(name, text, holds.get(name, ()), lacks.get(name, ()))
    if checks.get("unchanged") and Path(OUTPUT).read_bytes() != Path(_input(case)).read_bytes():
        yield "the transcript is changed"


def _of_document(checks: Mapping[str, Any], document: Any) -> Iterator[str]:
    for path, expected in checks.get("json", {}).items():
        if (value := _value_at(document, path)) != expected:
            yield f"{path} is {value!r}, not {expected!r}"
    for path, allowed in checks.get("json_in", {}).items():
        if (value := _value_at(document, path)) not in allowed:
            yield f"{path} is {value!r}, not one of {allowed!r}"
    for path in checks.get("positive", ()):
        if not (value := _value_at(document, path)) or value <= 0:
            yield f"{path} is {value!r}, not positive"
    for stage in checks.get("stages_include", ()):
        if stage not in document["stagesUsed"]:
            yield f"{stage} is not used"


def _value_at(document: Any, path: str) -> Any:
    """Return a value by its path, also by a name within the first stage; None if it is missing."""
    for keys in (path.split("."), ["stages", "0", *path.split(".")]):
        value = document
        try:
            for key in keys:
                value = value[int(key)] if isinstance(value, list) else value[key]
        except (LookupError, TypeError, ValueError):
            continue
        return value
    return None


def _texts(where: str, text: str, holds: Sequence[str], lacks: Sequence[str]) -> Iterator[str]:
    yield from (f"{where} lacks {part!r}" for part in holds if part not in text)
    yield from (f"{where} has {part!r}" for part in lacks if part in text)


def _input(case: Case) -> str:
    return next(name for name in case.files if name.startswith("in."))


def _shown(name: str, *more: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = ask(("view", name, "--json", "--full", *more)).document[
        "messages"
    ]
    return messages


def _ids(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    return [message["id"] for message in messages]


def _of_visible(case: Case) -> Iterator[str]:
    """Yield what differs in the messages that are visible, and in those that are hidden."""
    checks = case.checks
    if "view_ids" in checks:
        if (ids := _ids(_shown(_input(case)))) != checks["view_ids"]:
            yield f"visible are {ids}"
        if (ids := _ids(_shown(_input(case), "--archived"))) != checks["view_archived"]:
            yield f"archived are {ids}"
    if not checks.keys() & _VISIBLE or not Path(OUTPUT).exists():
        return
    visible, before = _shown(OUTPUT), _shown(_input(case), "--all")
    yield from _of_ids(checks, _ids(visible), _ids(before))
    yield from _of_messages(checks, {message["id"]: message for message in visible}, before)
    yield from _of_records(checks)
    if checks.get("pairs_ok"):
        repaired = ask(("compact", OUTPUT, "--stages", "repair", "-n"))
        if "every tool call has its result and every result its call" not in repaired.out:
            yield "a pair is broken"


def _of_ids(
    checks: Mapping[str, Any], visible: Sequence[str], before: Sequence[str]
) -> Iterator[str]:
    if "kept" in checks:
        kept, expected = [name for name in visible if name in before], checks["kept"]
        if kept != expected if checks.get("ordered") else sorted(kept) != sorted(expected):
            yield f"kept are {kept}, not {expected}"
    missing = set(checks.get("archived", ())) - set(_ids(_shown(OUTPUT, "--archived")))
    if missing:
        yield f"not archived are {sorted(missing)}"


_VISIBLE = frozenset({
    "kept", "archived", "contains", "lacks", "contains_raw", "cleared", "whole",
    "replaced_by_notice", "spring_pair", "marker_role", "pairs_ok",
})  # fmt: skip


def _of_messages(
    checks: Mapping[str, Any],
    visible: Mapping[str, Mapping[str, Any]],
    before: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    original = {message["id"]: message for message in before}
    for name, text in (
        ("cleared", "[Tool result cleared]"),
        ("replaced_by_notice", "refer to latest read below"),
    ):
        for message_id in checks.get(name, ()):
            if text not in json.dumps(visible.get(message_id)):
                yield f"{message_id} is not {name.replace('_', ' ')}"
    for message_id in checks.get("whole", ()):
        if visible.get(message_id, {}).get("parts") != original[message_id]["parts"]:
            yield f"{message_id} is not whole"


def _of_records(checks: Mapping[str, Any]) -> Iterator[str]:
    text = ask(("view", OUTPUT, "--jsonl")).out
    records = [json.loads(line) for line in text.splitlines() if line.strip()]
    spelled = json.dumps(records, ensure_ascii=False, separators=(",", ":"))
    holds = [json.dumps(part, ensure_ascii=False)[1:-1] for part in checks.get("contains", ())]
    yield from _texts("the records", spelled, holds, checks.get("lacks", ()))
    yield from _texts("the records", spelled, checks.get("contains_raw", ()), ())
    if "marker_role" in checks:
        roles = {record["role"] for record in records if record.get("isTruncationMarker")}
        if roles != {checks["marker_role"]}:
            yield f"the marker has the role {roles}"
    if "spring_pair" in checks:
        yield from _of_pair(records[:2], checks["spring_pair"])


def _of_pair(records: Sequence[Mapping[str, Any]], summary: str) -> Iterator[str]:
    expected: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("USER", lambda text: text.startswith(_SHADOW)),
        ("ASSISTANT", lambda text: text == summary),
    )
    for record, (kind, is_right) in zip(records, expected, strict=True):
        message, is_synthetic = record["message"], record["metadata"].get("synthetic")
        if message["messageType"] != kind or not is_synthetic or not is_right(message["text"]):
            yield f"instead of the {kind} event of a summary there is {record}"
