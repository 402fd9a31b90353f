"""Names that commands had before, which work for one more version."""

from collections.abc import Sequence

import click

# Clients run these, and some of them show what is written to standard error.
_RUN_BY_CLIENTS = {"hook", "statusline", "mcp"}


def renamed_note(name: str, successor: str, arguments: Sequence[str]) -> str | None:
    """Return the line that names the successor of an old name, None if programs call it."""
    if name in _RUN_BY_CLIENTS:
        return None
    if name == "cache" and "--clear" in arguments:
        successor = "batch --clear-cache"
    return f"compactctl {name} is now compactctl {successor}"


def renamed_arguments(
    name: str, successor: str, arguments: Sequence[str], view: click.Command
) -> list[str]:
    """Return the words that do today what an old name with its arguments did.

    ``view`` tells the message of ``explain`` from the values of options.
    """
    if name == "cache" and "--clear" in arguments:
        return ["batch", "--clear-cache", *(word for word in arguments if word != "--clear")]
    if name == "tag":
        return ["compact", *map(_hide_option, arguments)]
    if name == "explain":
        return ["view", *_with_message(arguments, view)]
    return [*successor.split(), *arguments]


def _hide_option(word: str) -> str:
    flag, equals, value = word.partition("=")
    return f"--hide{equals}{value}" if flag in {"--condense", "--truncate"} else word


def _with_message(arguments: Sequence[str], view: click.Command) -> list[str]:
    """Return the arguments with the second positional one as ``--message``."""
    _, rest, _ = view.make_parser(click.Context(view)).parse_args(args=list(arguments))
    words = list(arguments)
    for message in rest[:1]:
        del words[len(words) - 1 - words[::-1].index(message)]
        words.append(f"--message={message}")
    return words
