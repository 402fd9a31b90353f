"""Integrations of a client: its setup, its hooks, its status line."""

import json
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from itertools import islice
from typing import Any, assert_never

from compactctl.commands.integrations.hook import HookResult
from compactctl.commands.integrations.integrate import STARTED, FileChange, IntegrateResult
from compactctl.commands.integrations.statusline import StatusLineResult
from compactctl.views.encode import encoded, record
from compactctl.views.terminal.screen import Raw, ScreenItem, Verbatim
from compactctl.views.terminal.text import line_text, one_line, plural, safe_text

_NO_CHANGES = {
    "print": "there is nothing to add: it is set up",
    "install": "there is nothing to add: it is set up",
    "uninstall": "nothing of compactctl's to remove",
}
# Clients show it above the conversation, or hand it to the agent.
_MAX_TEXT = 2_000
_SEPARATOR = " · "
_NO_CONTEXT = "context: unknown"
_THOUSAND = 1_000


def integrate_terminal(result: IntegrateResult) -> Iterator[ScreenItem]:
    """Yield the output: how each file changes, as diff shows it."""
    if not result.changes:
        yield _NO_CHANGES[result.action]
    for change in result.changes:
        yield Verbatim("\n".join(_diff_lines(change)))


def integrate_document(result: IntegrateResult) -> dict[str, Any]:
    """Return each file that changes, with its current and new content."""
    return {
        "schema": "compactctl.integrate/1",
        "client": result.request.client,
        **record(result, without=("request",)),
    }


def integrate_messages(result: IntegrateResult) -> Iterator[str]:
    """Yield what was done, and what remains to be done by the user."""
    if result.changes and result.action == "print":
        client = result.request.client
        yield f"nothing was written; to install: compactctl client integrate {client} --install"
    yield from (result.notes if result.changes else ())


def _diff_lines(change: FileChange) -> Iterator[str]:
    what = "new" if change.before is None else "removed" if change.after is None else "changed"
    yield f"{what}: {line_text(str(change.path))}"
    old, new = (
        (data or b"").decode("utf-8", "replace").splitlines()
        for data in (change.before, change.after)
    )
    # Indented, no line can be taken for a command by a CI runner or the client.
    yield from (
        f"  {safe_text(line)}" for line in islice(unified_diff(old, new, lineterm=""), 2, None)
    )


@encoded.register
def _file_text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def hook_terminal(result: HookResult) -> Iterator[Raw]:
    """Yield what the client reads: JSON or text, or nothing."""
    match result.options.integration.answer:
        case "decision":
            answer = _answer(result, {"decision": "block", "reason": result.refusal})
        case "continue":
            answer = _answer(result, {"continue": False, "stopReason": result.refusal})
        case "text":
            answer = one_line(result.message or result.context, _MAX_TEXT)
        case _:
            assert_never(result.options.integration.answer)
    if answer:
        yield Raw([answer.encode("utf-8", "replace"), b"\n"])


def hook_document(result: HookResult) -> dict[str, Any]:
    """Return the message, and who receives it."""
    return {
        "schema": "compactctl.hook/1",
        "client": result.options.integration.client,
        **record(result, without=("options",)),
    }


def _answer(result: HookResult, refusal: Mapping[str, Any]) -> str:
    answer: dict[str, Any] = dict(refusal) if result.refusal else {}
    if result.message:
        answer["systemMessage"] = one_line(result.message, _MAX_TEXT)
    if result.context:
        answer["hookSpecificOutput"] = {
            "hookEventName": STARTED,
            "additionalContext": result.context,
        }
    return json.dumps(answer) if answer else ""


def statusline_terminal(result: StatusLineResult) -> Iterator[str]:
    """Yield the status line."""
    yield _SEPARATOR.join(_pieces(result))


def statusline_document(result: StatusLineResult) -> dict[str, Any]:
    """Return the figures of the status line."""
    return {"schema": "compactctl.statusline/1", **record(result)}


def _pieces(result: StatusLineResult) -> Iterator[str]:
    yield _context(result)
    if result.compacts_at:
        yield f"compacts at {_short(result.compacts_at)}"
    if result.compactions:
        yield f"compacted {plural(result.compactions, 'time')}"


def _context(result: StatusLineResult) -> str:
    if result.context is None:
        return _NO_CONTEXT
    if not result.window:
        return f"context {_short(result.context)}"
    share = round(result.context * 100 / result.window)
    return f"context {_short(result.context)} of {_short(result.window)} ({share}%)"


def _short(tokens: int) -> str:
    """Return a short number of tokens: 950, 68k, 1.2M."""
    if tokens < _THOUSAND:
        return str(tokens)
    thousands = round(tokens / _THOUSAND)
    return f"{thousands}k" if thousands < _THOUSAND else f"{thousands / _THOUSAND:.3g}M"
