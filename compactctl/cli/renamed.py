"""Other names of commands: those they had before, for one more version, and what people type."""

from collections.abc import Callable, Mapping, Sequence

import click

ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("undo", "revert", "restore", "rollback"), "rewind"),
    **dict.fromkeys(("trim", "compress", "shrink", "reduce"), "compact"),
    **dict.fromkeys(("analyze", "analyse", "count", "usage", "info"), "stats"),
    **dict.fromkeys(("fix", "repair", "recover"), "rescue"),
    **dict.fromkeys(("list", "ls"), "sessions"),
    **dict.fromkeys(("cat", "print"), "view"),
    **dict.fromkeys(("doctor", "validate"), "check"),
    "history": "log",
}
"""The command that does what other programs call so; no help lists these."""

HINTS: Mapping[str, str] = {
    "compare": "compactctl lab simulate compares profiles, compactctl lab eval what they keep",
    "diff": "compactctl view --archived shows what a compaction hid",
}
"""What to type instead of a word that no single command stands for."""

# Clients run these, and some of them show what is written to standard error.
_RUN_BY_CLIENTS = {"hook", "statusline", "mcp"}
_CLEAR = "--clear"


def current_name(name: str, successor: str, arguments: Sequence[str]) -> str:
    """Return what to type today instead of an old name, which may depend on its arguments."""
    return "batch --clear-cache" if name == "cache" and _CLEAR in arguments else successor


def renamed_note(name: str, successor: str) -> str | None:
    """Return the line that names the successor of an old name, None if programs call it."""
    return None if name in _RUN_BY_CLIENTS else f"compactctl {name} is now compactctl {successor}"


def renamed_arguments(
    name: str, successor: str, arguments: Sequence[str], view: Callable[[], click.Context]
) -> list[str]:
    """Return the words that do today what an old name with its arguments did.

    ``view`` makes a context of that command, whose parser finds the message among the arguments of
    ``explain``.
    """
    match name:
        case "tag":
            return ["compact", *map(_hide_option, arguments)]
        case "explain":
            return ["view", *_with_message(arguments, view())]
        case "cache":
            return [*successor.split(), *(word for word in arguments if word != _CLEAR)]
        case _:
            return [*successor.split(), *arguments]


def _hide_option(word: str) -> str:
    flag, equals, value = word.partition("=")
    return f"--hide{equals}{value}" if flag in {"--condense", "--truncate"} else word


def _with_message(arguments: Sequence[str], view: click.Context) -> list[str]:
    """Return the arguments with the second positional one as ``--message``."""
    _, rest, _ = view.command.make_parser(view).parse_args(args=list(arguments))
    words = list(arguments)
    for message in rest[:1]:
        del words[len(words) - 1 - words[::-1].index(message)]
        words.append(f"--message={message}")
    return words
