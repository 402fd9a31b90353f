"""What the program says holds for an installed package, which has no checkout around it."""

import re

import pytest
from docs.texts import PACKAGE, strings, texts
from modules import Module

# A page of the documentation by its path, and an extra of an index that compactctl is not on.
ONLY_ELSEWHERE = re.compile(r"(?<![\w./-])docs/\w|install '?compactctl\[")


@pytest.mark.parametrize("ending", [".py", ".toml", ".txt", ".md", ".jinja", ".js", ".ts"])
def test_no_text_points_outside_of_the_package(ending: str) -> None:
    paths = [path for path in PACKAGE.rglob(f"*{ending}") if path.is_file()]
    assert paths
    wrong = {
        str(path.relative_to(PACKAGE)): found
        for path in paths
        if (found := [text for text in texts(path) if ONLY_ELSEWHERE.search(text)])
    }
    assert wrong == {}, (
        "the package is installed without docs/ and from no index: name a command instead, such as "
        "compactctl show stages, or compactctl.extras.install_command for an extra"
    )


@pytest.mark.parametrize(
    "text",
    ["docs/sessions.md says where", "see docs/stages", "pip install 'compactctl[html]'"],
)
def test_what_is_looked_for_is_found(text: str) -> None:
    (constant,) = strings(Module(f"'''docs/stages.md'''\nx = \"{text}\"").nodes)
    assert ONLY_ELSEWHERE.search(constant)
    assert not ONLY_ELSEWHERE.search("https://example.com/docs/pricing")
