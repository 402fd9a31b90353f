"""What is known of a client is in its folder: the code elsewhere names none."""

import ast
import re
from collections.abc import Iterator

import pytest
from docs.generate import ROOT
from modules import modules_of
from sessions.homes import WRITERS as ONE_SESSION
from sessions.long_sessions import WRITERS as LONG_SESSIONS

from compactctl.clients.registry import ALL_FORMATS
from compactctl.clients.sizes import CLIENT_SIZES
from compactctl.clients.store import SessionStore
from compactctl.clients.stores import ALL_STORES
from compactctl.tokens.client_sizes import ClientSizes

PACKAGE = ROOT / "compactctl"
NAMES = {
    *CLIENT_SIZES,
    *(rule.name for sizes in CLIENT_SIZES.values() for rule in sizes.rules),
    *(store.client for store in ALL_STORES),
    *(store.title for store in ALL_STORES),
}
# Whose forks are documents: tests/sessions/test_forks_of_documents.py.
FORKED_ELSEWHERE = {"opencode", "kilo", "cline"}
# Lists of data: the systems that profiles emulate, and folders.
DATA = {PACKAGE / "profiles" / "registry.py", PACKAGE / "store" / "client_folders.py"}


def named() -> Iterator[str]:
    """Yield the places outside of ``clients`` that depend on a client's name."""
    for path, module in modules_of(PACKAGE).items():
        if PACKAGE / "clients" in path.parents or path in DATA:
            continue
        for node in module.nodes:
            if isinstance(node, ast.Constant) and node.value in NAMES:
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"


def test_nobody_else_names_a_client() -> None:
    assert {known.name for known in ALL_FORMATS} >= set(CLIENT_SIZES)
    assert list(named()) == [], "ask the client's format, store or sizes instead"


def rows(page: str, heading: str) -> list[str]:
    """Return the first cells of the rows of all tables in a section of a page."""
    text = (ROOT / "docs" / page).read_text()
    section = re.split(r"^## ", text, flags=re.MULTILINE)
    (part,) = (part for part in section if part.startswith(f"{heading}\n"))
    return [line.split("|")[1].strip() for line in part.splitlines() if line.startswith("| ")]


@pytest.mark.parametrize("store", ALL_STORES, ids=lambda store: store.client)
def test_every_store_is_described(store: SessionStore) -> None:
    described = {"Stores": True, "Continue in your client": bool(store.resume_command)}
    described["A new session"] = store.fork is not None
    missing = [
        heading
        for heading, is_due in described.items()
        if is_due and not any(row.startswith(store.title) for row in rows("sessions.md", heading))
    ]
    assert missing == [], f"docs/sessions.md: add a row of {store.title} in these sections"


@pytest.mark.parametrize("sizes", CLIENT_SIZES.values(), ids=CLIENT_SIZES)
def test_every_rule_is_described(sizes: ClientSizes) -> None:
    named = {f"{rule.name} {rule.versions}".strip() for rule in sizes.rules}
    missing = named - set(rows("counting.md", "How much fits"))
    assert not missing, "docs/counting.md, ## How much fits: add a row for each of these rules"


@pytest.mark.parametrize("store", ALL_STORES, ids=lambda store: store.client)
def test_every_store_has_sessions_to_test_it_with(store: SessionStore) -> None:
    assert store.client in ONE_SESSION, "tests/sessions/homes.py: write a session, in WRITERS too"
    if store.fork is not None and store.client not in FORKED_ELSEWHERE:
        where = "tests/sessions/long_sessions.py"
        assert store.client in LONG_SESSIONS, f"{where}: write a long one, in WRITERS too"
