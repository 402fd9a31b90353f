"""The module and the help line of each command, for pages that import none of them.

Written by ``python tests/docs/generate.py command_index``.
"""

from collections.abc import Mapping

COMMAND_INDEX: Mapping[str, tuple[str, str]] = {
    "archive": ("verify", "List archives and delete those no longer needed."),
    "audit": ("audit", "Show what each compaction lost or made up."),
    "batch": ("batch", "Measure or compact many transcripts, with gates for CI."),
    "cache": ("reference", "Show the cache of batches and session lists."),
    "check": ("stats", "Exit 1 if the next request is refused or compaction is due."),
    "chunks": ("prompts", "Show how the chunk stage would split older messages."),
    "compact": ("compact", "Compact a transcript; every byte stays restorable."),
    "eval": ("lab", "Measure how much of what a session needed later survives compaction."),
    "file-budget": ("file_budget", "Show which files fit in a request, and how much of each."),
    "hook": ("clients", "Report what a compaction lost. Clients run this as a hook."),
    "integrate": ("clients", "Install compactctl's hooks and skill in a client, or remove them."),
    "limit-output": ("harness", "Truncate tool output before an agent sees it."),
    "log": ("log", "List the compactions of a transcript."),
    "mcp": ("clients", "Serve a project's sessions to an agent over MCP."),
    "models": ("models", "List known models, or show how a model name is resolved."),
    "overflow": ("harness", "Classify an API error: overflow, refusal or rate limit."),
    "profiles": ("reference", "List the profiles of known systems, or explain one."),
    "prompt": ("prompts", "Print the prompt that a summarizer would get."),
    "report": ("report", "Summarize the reports of one or more batches."),
    "rescue": ("compact", "Repair or shrink a session and print how to resume it."),
    "rewind": ("rewind", "Restore an earlier state, byte for byte."),
    "sessions": ("sessions", "List the sessions of your coding agents, newest first."),
    "settings": ("reference", "Show a command's settings, and where each comes from."),
    "simulate": ("lab", "Show when each profile would have compacted, and to what size."),
    "stages": ("reference", "List the stages of a compaction, or explain some of them."),
    "stats": ("stats", "Show token usage by category, against the model's window."),
    "statusline": ("clients", "Print a session's context usage for a client's status line."),
    "verify": ("verify", "Check that every archived byte can be restored."),
    "view": ("view", "Show the messages the model sees, or those hidden from it."),
}
