"""What is put into settings and taken out again leaves every other byte as it was."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.commands.integrations.settings_text import (
    value_at,
    with_item,
    with_member,
    without_items,
    without_member,
)
from compactctl.errors import NotUnderstoodError

OURS = {"command": "ours"}
HOOKS = ("hooks", "PostCompact")


def is_ours(item: Any) -> bool:
    return bool(item == OURS)


# What people write around values: indents, comments, line ends of another system.
SPACE = st.text(" \t", max_size=4) | st.sampled_from(
    ["\n", "\r\n  ", "\n// a note, {not} [read]\n", ' /* "quoted": } */ ', "\n\n\t"]
)
NAMES = st.sampled_from(["model", "hooks", "PostCompact", "Stop", 'a"b', "é\\", "{", "statusLine"])
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)


@st.composite
def values(draw: st.DrawFn, depth: int = 3) -> str:
    """Draw a value as text."""
    kind = draw(st.sampled_from(["scalar", "object", "array"] if depth else ["scalar"]))
    if kind == "scalar":
        return json.dumps(draw(SCALARS))
    count = draw(st.integers(0, 3))
    inner = [draw(values(depth=depth - 1)) for _ in range(count)]
    if kind == "object":
        names = draw(st.lists(NAMES, min_size=count, max_size=count, unique=True))
        inner = [
            f"{json.dumps(name)}{draw(SPACE)}:{draw(SPACE)}{value}"
            for name, value in zip(names, inner, strict=True)
        ]
    body = ",".join(f"{draw(SPACE)}{each}{draw(SPACE)}" for each in inner)
    # Some write a comma behind the last one.
    body += draw(st.just("") | SPACE.map(lambda space: f",{space}")) if inner else ""
    opens, closes = "{}" if kind == "object" else "[]"
    return f"{opens}{body}{closes}"


@st.composite
def settings_texts(draw: st.DrawFn) -> str:
    """Draw settings."""
    text = draw(values().filter(lambda value: value.startswith("{")))
    return f"{draw(SPACE)}{text}{draw(SPACE)}"


@given(settings_texts())
def test_an_item_is_there_and_leaves_the_rest_as_it_was(text: str) -> None:
    try:
        before = value_at(text)
        installed = with_item(text, HOOKS, OURS)
    except NotUnderstoodError:
        return
    wanted = json.loads(json.dumps(before))
    wanted.setdefault("hooks", {}).setdefault("PostCompact", []).insert(0, OURS)
    assert value_at(installed) == wanted
    added = len(installed) - len(text)
    left = (installed[:i] + installed[i + added :] for i in range(len(text)))
    assert text in left


@given(settings_texts())
def test_what_is_taken_out_again_leaves_the_bytes_as_they_were(text: str) -> None:
    try:
        hooks = value_at(text, "hooks")
        has_hooks = bool(hooks) and bool(hooks.get("PostCompact", True))
        installed = with_item(text, HOOKS, OURS)
    except (NotUnderstoodError, AttributeError):
        return
    if has_hooks or hooks is None:
        assert without_items(installed, HOOKS, is_ours) == text


@given(settings_texts())
def test_a_member_comes_and_goes(text: str) -> None:
    if value_at(text, "ours") is None:
        installed = with_member(text, ("ours",), OURS)
        assert value_at(installed, "ours") == OURS
        assert without_member(installed, ("ours",)) == text


@given(settings_texts())
def test_without_what_is_not_there_nothing_changes(text: str) -> None:
    assert without_items(text, HOOKS, is_ours) == text
    assert without_member(text, ("ours", "deeper")) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "{",
        '{"a": }',
        '{"a" 1}',
        '{"a": 1} {}',
        "{1: 2}",
        '{"a": 01}',
        "{,}",
        "{" * 9,
    ],
)
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstoodError, match=r"not JSON in line \d|not a JSON object"):
        with_item(text, HOOKS, OURS)


@pytest.mark.parametrize(
    "text", ['{"hooks": []}', '{"hooks": {"PostCompact": {}}}', '{"hooks": 1}']
)
def test_what_stands_in_the_way_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstoodError, match="is not an"):
        with_item(text, HOOKS, OURS)


def test_line_ends_are_those_of_the_file() -> None:
    installed = with_member('{\r\n  "a": 1\r\n}\r\n', ("ours",), OURS)
    assert installed.count("\n") == installed.count("\r\n") == 6
