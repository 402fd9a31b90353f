"""What is known of a client is in its folder: the code elsewhere names none."""

import ast
from collections.abc import Iterator

from docs.generate import ROOT
from modules import modules_of

from compactctl.clients.registry import ALL_FORMATS
from compactctl.clients.sizes import CLIENT_SIZES
from compactctl.clients.stores import ALL_STORES

PACKAGE = ROOT / "compactctl"
NAMES = {
    *CLIENT_SIZES,
    *(rule.name for sizes in CLIENT_SIZES.values() for rule in sizes.rules),
    *(store.client for store in ALL_STORES),
    *(store.title for store in ALL_STORES),
}
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
