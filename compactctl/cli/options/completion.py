"""What a shell offers on the tab key, beside the files there are."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_MOST = 20


def complete_file(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Return files, and the references to sessions that begin so, the newest first."""
    from compactctl.commands.session_finder import SessionFinder
    from compactctl.store.client_folders import this_machine

    sessions = SessionFinder(machine=this_machine(), here=Path.cwd(), now=time.time())
    return [_files(incomplete), *_items(islice(sessions.references(incomplete), _MOST))]


def complete_format(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Return the formats whose names begin so."""
    from compactctl.formats.registry import ALL_FORMATS

    return list(_items((each.name, "") for each in ALL_FORMATS if each.name.startswith(incomplete)))


def complete_stages(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Return lists of stages: the stages before the last comma stay."""
    from compactctl.stages.registry import ALL_STAGES

    before, comma, beginning = incomplete.rpartition(",")
    given = before.split(",")
    names = (stage.name for stage in ALL_STAGES if stage.name.startswith(beginning))
    return list(_items((f"{before}{comma}{name}", "") for name in names if name not in given))


def complete_profile(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Return the profiles whose names begin so, and files."""
    from compactctl.profiles.registry import PROFILES

    names = ((name, "") for name in PROFILES if name.startswith(incomplete))
    return [_files(incomplete), *_items(names)]


def complete_model(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Return the models of the built-in tables whose names begin so."""
    from compactctl.tokens.models.lookup import all_models

    names = dict.fromkeys(model.name for model in all_models())
    return list(_items((name, "") for name in names if name.startswith(incomplete)))


def complete_client(
    context: click.Context,
    parameter: click.Parameter,
    incomplete: str,
) -> list["CompletionItem"]:
    """Return the clients whose names begin so."""
    from compactctl.sessions.registry import ALL_STORES

    return list(
        _items((each.alias, each.title) for each in ALL_STORES if each.alias.startswith(incomplete))
    )


def _files(incomplete: str) -> "CompletionItem":
    """Return what makes a shell offer its files as well."""
    from click.shell_completion import CompletionItem

    return CompletionItem(incomplete, type="file")


def _items(found: Iterable[tuple[str, str]]) -> Iterator["CompletionItem"]:
    from click.shell_completion import CompletionItem

    return (CompletionItem(name, help=said or None) for name, said in found)
