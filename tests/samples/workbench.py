"""Carries out the tool calls of a story on the invented project, all in memory."""

import fnmatch
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from samples import outputs, tree

ROOT = "/home/dev/quayside"
CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Hunk:
    """One replaced span of a file; line numbers count from 1 in the state before and after."""

    path: str
    old_start: int
    old_lines: int
    new_lines: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call printed, whether it failed, and what the client notes beside it."""

    text: str
    failed: bool = False
    detail: dict[str, Any] = field(default_factory=dict[str, Any])


class Workbench:
    """The project on its way through a story."""

    def __init__(self, seed: str) -> None:
        self.files = tree.fresh()
        self.rng = Random(seed)
        self.hunks: list[Hunk] = []

    def carry_out(self, call: dict[str, Any]) -> Outcome:
        """Run one call of the story; a call that cannot succeed says so in its outcome."""
        work: Callable[[dict[str, Any]], Outcome] = getattr(self, f"_{call['do']}")
        return work(call)

    def _read(self, call: dict[str, Any]) -> Outcome:
        path = call["path"]
        if path not in self.files:
            return Outcome(f"File does not exist: {ROOT}/{path}", failed=True)
        lines = self.files[path].splitlines()
        start = call.get("offset", 1)
        shown = lines[start - 1 : start - 1 + call.get("limit", 2000)]
        detail = {"content": "\n".join(shown), "start": start, "total": len(lines)}
        numbered = (f"{number:6}→{line}" for number, line in enumerate(shown, start))
        return Outcome("\n".join(numbered), detail=detail)

    def _edit(self, call: dict[str, Any]) -> Outcome:
        path, old, new = call["path"], call["old"].strip("\n"), call["new"].strip("\n")
        before = self.files[path]
        if old not in before:
            return Outcome(f"String to replace not found in file.\nString: {old}", failed=True)
        self.files[path] = before.replace(old, new, 1)
        hunk = _hunk(path, before, old, new)
        self.hunks.append(hunk)
        return Outcome(
            f"The file {ROOT}/{path} has been updated.",
            detail={"old": old, "new": new, "hunk": hunk},
        )

    def _write(self, call: dict[str, Any]) -> Outcome:
        path, text = call["path"], call["text"]
        self.files[path] = text
        added = tuple(f"+{line}" for line in text.splitlines())
        self.hunks.append(Hunk(path, 0, 0, len(added), added))
        return Outcome(f"File created successfully at: {ROOT}/{path}", detail={"content": text})

    def _search(self, call: dict[str, Any]) -> Outcome:
        pattern, folder = re.compile(call["pattern"]), call.get("path", "")
        found = [
            f"{path}:{number}:{line}"
            for path, text in sorted(self.files.items())
            if path.startswith(folder)
            for number, line in enumerate(text.splitlines(), start=1)
            if pattern.search(line)
        ]
        detail = {"files": sorted({hit.split(":")[0] for hit in found}), "lines": len(found)}
        return Outcome("\n".join(found) or "No matches found", detail=detail)

    def _find(self, call: dict[str, Any]) -> Outcome:
        names = fnmatch.filter(sorted(self.files), call["pattern"])
        text = "\n".join(f"{ROOT}/{name}" for name in names) or "No files found"
        return Outcome(text, detail={"files": names})

    def _todo(self, call: dict[str, Any]) -> Outcome:
        return Outcome(
            "Todos have been modified successfully. Continue with the current task.",
            detail={"items": call["items"]},
        )

    def _run(self, call: dict[str, Any]) -> Outcome:
        if "changes" in call:
            self._swap(**call["changes"])
        kind = call["prints"]
        text = call["text"].strip("\n") if kind == "text" else getattr(self, f"_print_{kind}")(call)
        return Outcome(text, failed=call.get("failed", False))

    def _swap(self, under: str, swaps: list[list[str]]) -> None:
        for path in (path for path in self.files if path.startswith(under)):
            for old, new in swaps:
                self.files[path] = self.files[path].replace(old, new)

    def _print_log(self, call: dict[str, Any]) -> str:
        return outputs.log(call["about"], call["lines"], self.rng)

    def _print_tests(self, call: dict[str, Any]) -> str:
        paths = [path for path in self.files if re.fullmatch(call["paths"], path)]
        printed = outputs.suite(self.files, paths, call.get("failing", {}), self.rng)
        return f"{printed}{call.get('also', '')}"

    def _print_json(self, call: dict[str, Any]) -> str:
        return outputs.rows_json(call["about"], call["lines"], self.rng)

    def _print_table(self, call: dict[str, Any]) -> str:
        return outputs.rows_table(call["about"], call["lines"], self.rng)

    def _print_profile(self, call: dict[str, Any]) -> str:
        return outputs.timings(call["lines"], self.rng)

    def _print_history(self, call: dict[str, Any]) -> str:
        return outputs.history(call["lines"], self.rng)

    def _print_diff(self, call: dict[str, Any]) -> str:
        wanted = [hunk for hunk in self.hunks if hunk.path.startswith(call.get("path", ""))]
        return "\n".join(_diff(hunk) for hunk in wanted)


def _hunk(path: str, before: str, old: str, new: str) -> Hunk:
    lines, first = before.split("\n"), before[: before.index(old)].count("\n")
    count = old.count("\n") + 1
    replaced = "\n".join(lines[first : first + count]).replace(old, new).split("\n")
    top = max(0, first - CONTEXT)
    above, below = lines[top:first], lines[first + count : first + count + CONTEXT]
    printed = (
        *(f" {line}" for line in above),
        *(f"-{line}" for line in lines[first : first + count]),
        *(f"+{line}" for line in replaced),
        *(f" {line}" for line in below),
    )
    around = len(above) + len(below)
    return Hunk(path, top + 1, around + count, around + len(replaced), printed)


def _diff(hunk: Hunk) -> str:
    head = f"--- a/{hunk.path}\n+++ b/{hunk.path}"
    span = f"@@ -{hunk.old_start},{hunk.old_lines} +{hunk.old_start or 1},{hunk.new_lines} @@"
    return "\n".join([head, span, *hunk.lines])
