"""What is put into settings and taken out again leaves every other byte as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.commands.integrations.settings_text import (
    value_at,
    with_item,
    with_member,
    without,
)
from compactctl.errors import NotUnderstoodError

OURS = {"command": "ours"}
HOOKS = ("hooks", "PostCompact")


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
        installed = with_item(text, HOOKS, OURS)
    except NotUnderstoodError:
        return
    assert without(installed, (*HOOKS, 0), text) == text


@given(settings_texts())
def test_a_member_comes_and_goes(text: str) -> None:
    if value_at(text, "ours") is None:
        installed = with_member(text, ("ours",), OURS)
        assert value_at(installed, "ours") == OURS
        assert without(installed, ("ours",), text) == text


@given(settings_texts())
def test_without_what_is_not_there_nothing_changes(text: str) -> None:
    assert without(text, (*HOOKS, 9), text) == text
    assert without(text, ("ours", "deeper"), text) == text


@given(settings_texts(), st.integers(0, 3))
def test_comments_stay_when_what_they_are_in_goes(text: str, number: int) -> None:
    members = [each for each in ("model", "Stop", "statusLine", "hooks") if value_at(text, each)]
    if members:
        name = members[number % len(members)]
        wanted = {key: value for key, value in value_at(text).items() if key != name}
        left = without(text, (name,), text)
        assert value_at(left) == wanted
        assert left.count("a note") == text.count("a note")
        assert left.count('"quoted"') == text.count('"quoted"')


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
