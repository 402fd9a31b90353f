"""The operation in an archive is read strictly: types, sizes and names are what they must be."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from store.states import AFTER, BEFORE, operation

from compactctl.errors import ArchiveError
from compactctl.records import replace
from compactctl.store.archive.operation_codec import VERSION, decode_operation, encode_operation

RECORD = json.loads(encode_operation(operation(BEFORE, AFTER, parent="0123456789ab")))


def with_value(path: str, value: object) -> bytes:
    """Return the operation's text with another value at a path such as ``after.n_bytes``."""
    found = json.loads(json.dumps(RECORD))
    at: Any = found
    *outer, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in outer:
        at = at[step]
    at[last] = value
    return json.dumps(found).encode()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("id", 3),
        ("id", "../../etc/passwd"),
        ("id", ""),
        ("parent", ["x"]),
        ("parent", "a b"),
        ("head", {}),
        ("kind", "destroy"),
        ("before", None),
        ("before.sha256", "x"),
        ("before.sha256", "A" * 64),
        ("after.n_bytes", "x"),
        ("after.n_bytes", -1),
        ("after.n_bytes", True),
        ("after.n_bytes", 2.0),
        ("after.n_bytes", 1 << 60),
        ("after.n_lines", 10**30),
        ("after", RECORD["after"] | {"n_lines": RECORD["after"]["n_bytes"] + 1}),
        ("format", 1),
        ("counter", None),
        ("stages", {}),
        ("stages", [RECORD["stages"][0]] * 20_000),
        ("stages.0", "prune"),
        ("stages.0.name", None),
        ("stages.0.options", []),
        ("stages.0.options.tools", {"a": 1}),
        ("stages.0.options.tools", [1]),
        ("stages.0.options.min_savings", 1 << 70),
        ("stages.0.outcome", "maybe"),
        ("stages.0.tokens_before", "many"),
        ("stages.0.tokens_after", -5),
        ("stages.0.hidden", 0.5),
        ("stages.0.figures", {"files": "3"}),
        ("stages.0.colour", "red"),
        ("detail", 5),
        ("tool_version", None),
        ("recorded_at", 5),
        ("colour", "red"),
    ],
)
def test_a_field_that_is_not_what_it_must_be_is_refused_by_its_name(
    path: str, value: object
) -> None:
    with pytest.raises(ArchiveError) as refused:
        decode_operation(with_value(path, value), "0001.parquet")
    assert str(refused.value).startswith("0001.parquet: its operation cannot be read (")
    assert path.rpartition(".")[2].rstrip("0") in str(refused.value)


@pytest.mark.parametrize("name", [each for each in RECORD if each not in ("stages", "version")])
def test_a_missing_field_is_refused_or_has_its_default(name: str) -> None:
    found = {key: value for key, value in RECORD.items() if key != name}
    text = json.dumps(found).encode()
    if name in ("detail", "tool_version", "recorded_at"):
        assert getattr(decode_operation(text, "x"), name) == ""
    else:
        with pytest.raises(ArchiveError, match="missing"):
            decode_operation(text, "x")


def test_an_appended_operation_says_so_and_others_say_nothing() -> None:
    assert "appended" not in RECORD
    for appended in (True, False):
        each = replace(operation(BEFORE, AFTER), appended=appended)
        text = encode_operation(each)
        assert json.loads(text).get("appended") is (appended or None)
        assert decode_operation(text, "x") == each


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 100_000,
        b'{"version": 1, "detail": ' + b"[" * 100_000,
        b'{"version": 1, "detail": ' + b'{"a":' * 100_000,
        b'{"version": ' + b"1" * 5_000 + b"}",
        b"\xff\xfe",
        b"null",
    ],
)
def test_what_is_no_json_of_ours_is_refused(text: bytes) -> None:
    with pytest.raises(ArchiveError, match="its operation cannot be read"):
        decode_operation(text, "x")


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda r: r | {"tool_version": "3.1.0"}, "use compactctl 3.1.0 or newer"),
        (lambda r: r | {"tool_version": "3.1.0", "new": {"x": 1}}, "use compactctl 3.1.0 or newer"),
        (lambda r: r | {"tool_version": "; rm -rf /"}, "use a newer compactctl"),
        (lambda r: {"version": r["version"]}, "use a newer compactctl"),
    ],
)
def test_a_newer_archive_says_which_version_it_needs(
    change: Callable[[dict[str, Any]], dict[str, Any]], wanted: str
) -> None:
    text = json.dumps(change(RECORD | {"version": VERSION + 1})).encode()
    with pytest.raises(ArchiveError, match=f"has version {VERSION + 1} .*{wanted}") as refused:
        decode_operation(text, "x")
    assert refused.value.exit_code == 6


@pytest.mark.parametrize("version", [True, "1", None, -1])
def test_a_version_that_is_no_number_is_refused(version: object) -> None:
    with pytest.raises(ArchiveError, match="its operation cannot be read"):
        decode_operation(json.dumps(RECORD | {"version": version}).encode(), "x")
