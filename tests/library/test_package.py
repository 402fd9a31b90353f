"""The package gives its functions, and loads none of them before they are used."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import compactctl

PACKAGE = Path(compactctl.__file__).parent


def test_importing_it_loads_nothing() -> None:
    program = (
        "import sys; before = set(sys.modules); import compactctl; "
        "print(sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    names = [name for name in ast.literal_eval(loaded) if not is_of_python(name)]
    assert names == ["compactctl"]


def is_of_python(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def test_the_stub_names_what_there_is() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    imported = {
        name.name for node in stub.body if isinstance(node, ast.ImportFrom) for name in node.names
    }
    assert imported == set(compactctl.__all__), (
        "compactctl/__init__.pyi: import what _HOLDERS in compactctl/__init__.py names"
    )
    assert set(compactctl.__all__) <= set(dir(compactctl))


@pytest.mark.parametrize("name", compactctl.__all__)
def test_everything_is_documented_and_typed(name: str) -> None:
    found = getattr(compactctl, name)
    assert inspect.getdoc(found), f"compactctl/library: give {name} a docstring"
    if inspect.isfunction(found):
        assert "return" in get_type_hints(found), f"compactctl/library: say what {name} returns"
        page = (PACKAGE.parent / "docs" / "library.md").read_text()
        assert f"`{name}(" in page, f"docs/library.md: describe `{name}(…)`"


def test_a_name_there_is_not() -> None:
    with pytest.raises(AttributeError, match="compakt"):
        _ = compactctl.compakt  # type: ignore[attr-defined]
