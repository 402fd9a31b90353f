"""Which options a project's settings file may set: an allow-list, and for the others why not.

A project is often somebody else's. Its file may choose how things are measured and which stages
run with which options, nothing else. Every option stands here once, by its name without dashes;
those of the stages are judged by their type. One that stands nowhere is refused, and fails the
tests until somebody has judged it.
"""

import click

from compactctl.cli.options.sections import StageOption
from compactctl.cli.settings.names import flag_of, variable_of
from compactctl.store.settings import user_settings

_MEASURING = frozenset({
    "format", "messages-at", "scope", "top", "strict",
    "fail-over", "fail-over-tokens", "fail-base", "fail-on", "tolerance", "require-fit",
    "require-audit",
    "model", "window", "windows", "max-tokens", "counter", "chars-per-token", "image-tokens",
    "seed", "at", "every", "gate", "used", "share", "aggregate", "proportional", "neurolink",
})  # fmt: skip
_STAGES = frozenset({
    "profile", "stages", "target", "keep", "trigger", "if-needed", "template",
    "protect-tool", "pin", "keep-turns", "freeze-before", "keep-prefix",
    "max-bytes", "max-lines", "direction", "head-ratio",
})  # fmt: skip
ALLOWED = _MEASURING | _STAGES

_TEXT = "puts text into a transcript or a prompt"
# What an option does that no project decides -> the options.
REFUSED = {
    "says where or whether something is written": frozenset({
        "output", "out", "report", "report-format", "junit", "annotate", "plot", "rounds-out",
        "messages-out", "html", "plan-out", "archived-out", "spill-dir", "in-place", "native",
        "while-open", "force", "dry-run", "layout", "tags", "to", "group", "check", "repair",
        "forget", "dead",
        "print", "install", "uninstall", "block-manual",
    }),
    "says who writes summaries, or what leaves this machine": frozenset({
        "summarizer", "summarizer-cmd", "summarizer-model", "summarizer-timeout",
        "summarizer-context", "label-style", "base-url", "api-key-env", "allow-network",
        "mask-secrets", "on-summarizer-failure", "answers", "answers-timeout",
    }),
    "says what else is read": frozenset({
        "archive", "system", "tools", "prompt", "attach", "files-from", "summary-file",
        "from-error", "include", "exclude", "skip-unknown", "column", "prices", "baseline", "plan",
        "all-projects",
    }),
    "says which program counts": frozenset({"counter-cmd"}),
    "says how much of this machine may be used": frozenset({
        "jobs", "max-line", "max-unpacked", "timeout",
    }),
    "is about a single run": frozenset({
        "redact", "graph",
        "all", "archived", "cache", "clear", "client", "condense", "explain", "full", "grep",
        "json", "jsonl", "limit", "merge", "over", "page", "project", "redo", "resume", "rounds",
        "shard", "since", "toml", "truncate", "verify-cache", "widen",
    }),
    _TEXT: frozenset({"marker"}),
}  # fmt: skip
NOT_JUDGED = "has not been judged yet and may write, run or read anything"


def why_not(option: click.Option) -> str | None:
    """Return what an option does that no project decides; None for one that a project may set."""
    flag = flag_of(option)
    if isinstance(option, StageOption):
        return _TEXT if option.field.kind == "text" else None
    if flag in ALLOWED:
        return None
    return next((reason for reason, flags in REFUSED.items() if flag in flags), NOT_JUDGED)


def elsewhere(flag: str) -> str:
    """Return where an option may stand that a project may not set."""
    own = user_settings()
    places = [f"on the command line (--{flag})", f"in the environment ({variable_of(flag)})"]
    if own is not None:
        places.append(f"in your own settings ({own})")
    return f"set it {', '.join(places[:-1])} or {places[-1]}"
