"""Completions for shells, in addition to file names."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_MAX_SESSIONS = 20


def complete_file(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Complete files and references to sessions, newest first."""
    from compactctl.commands.session_finder import SessionFinder
    from compactctl.store.client_folders import this_machine

    sessions = SessionFinder(machine=this_machine(), here=Path(), now=time.time())
    return [_files(incomplete), *_items(islice(sessions.references(incomplete), _MAX_SESSIONS))]


def complete_format(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Complete the name of a format."""
    from compactctl.clients.registry import ALL_FORMATS

    names = (format_.name for format_ in ALL_FORMATS)
    return list(_items((name, "") for name in names if name.startswith(incomplete)))


def complete_stages(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Complete the last stage of a comma-separated list."""
    from compactctl.stages.registry import ALL_STAGES

    before, comma, beginning = incomplete.rpartition(",")
    chosen = before.split(",")
    names = (stage.name for stage in ALL_STAGES if stage.name.startswith(beginning))
    return list(_items((f"{before}{comma}{name}", "") for name in names if name not in chosen))


def complete_profile(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Complete the name of a profile, or a file."""
    from compactctl.profiles.registry import PROFILES

    names = ((name, "") for name in PROFILES if name.startswith(incomplete))
    return [_files(incomplete), *_items(names)]


def complete_model(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Complete the name of a model in the built-in table."""
    from compactctl.tokens.models.lookup import all_models

    names = dict.fromkeys(model.name for model in all_models())
    return list(_items((name, "") for name in names if name.startswith(incomplete)))


def complete_client(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Complete the alias of a client."""
    from compactctl.clients.stores import ALL_STORES

    return list(
        _items(
            (store.alias, store.title) for store in ALL_STORES if store.alias.startswith(incomplete)
        )
    )


def _files(incomplete: str) -> "CompletionItem":
    """Return the item that makes a shell complete file names too."""
    from click.shell_completion import CompletionItem

    return CompletionItem(incomplete, type="file")


def _items(completions: Iterable[tuple[str, str]]) -> Iterator["CompletionItem"]:
    from click.shell_completion import CompletionItem

    return (CompletionItem(name, help=text or None) for name, text in completions)
