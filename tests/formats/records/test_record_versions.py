"""Of records with one id the last counts; the others tell where it stands."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.record_versions import RecordVersions, mark_appended
from compactctl.model.tags import read_metadata


@dataclass
class Chain:
    """Records that each name the one before, from the newest back."""

    path: tuple[str, ...]
    included: frozenset[str]


def chain_of(lines: Iterable[Decoded]) -> Chain:
    parents: dict[str, str | None] = {}
    name = None
    for line in lines:
        for value in line.values:
            if isinstance(value, dict) and value.get("id"):
                name = value["id"]
                parents[name] = value.get("parent")
    path = []
    while name:
        path.append(name)
        name = parents.get(name)
    return Chain(tuple(path), frozenset(path))


def line(name: str, parent: str | None, text: str = "") -> bytes:
    return f"{json.dumps({'id': name, 'parent': parent, 'text': text or name})}\n".encode()


def versions(*lines: bytes) -> RecordVersions[Chain]:
    return RecordVersions(lines, "id", chain_of)


def appended(name: str, parent: str | None, text: str = "") -> bytes:
    return mark_appended(line(name, parent, text), "0123456789ab")


OTHER = b'{"type": "title"}\n'
A, B, C = line("A", None), line("B", "A"), line("C", "B")
DAMAGED, GLUED = b"\0" + C, B.strip() + C
S, C_AFTER_S = appended("S", "B"), appended("C", "S")


@pytest.mark.parametrize(
    ("lines", "normalized"),
    [
        ((A, OTHER, B, C), (A, OTHER, B, C)),
        ((A, B, C, S, C_AFTER_S), (A, B, S, C_AFTER_S)),
        # Two in a row, one at the end, and one that is not part of the conversation.
        (
            (A, B, C, S, appended("T", "S"), appended("C", "T")),
            (A, B, S, appended("T", "S"), appended("C", "T")),
        ),
        ((A, OTHER, S, appended("T", "A")), (A, OTHER, appended("T", "A"))),
        # The client's own newer version of a record stands where the first one did.
        ((A, B, line("A", None, "new"), C), (line("A", None, "new"), B, C)),
        # A damaged line stays, and what is appended before its records goes before it.
        ((A, B, DAMAGED, S, appended("C", "S")), (A, B, S, DAMAGED)),
        ((A, GLUED, appended("S", "A"), appended("B", "S"), C), (A, appended("S", "A"), GLUED)),
    ],
    ids=["none appended", "one", "two", "last", "by the client", "damaged", "glued"],
)
def test_each_record_is_once_at_its_place(
    lines: tuple[bytes, ...], normalized: tuple[bytes, ...]
) -> None:
    assert tuple(versions(*lines).normalized()) == normalized


def test_what_differs_is_named_with_its_newest_line() -> None:
    new = line("B", "A", "new")
    assert versions(A, B, C).changes_to(versions(A, B, C)) == {}
    assert versions(A, B).changes_to(versions(A, B, new, C)) == {"B": new, "C": C}
    # Neither a mark nor blanks are content.
    again = appended("B", "A")
    spaced = B.replace(b'": ', b'":   ')
    assert versions(A, again).changes_to(versions(A, B)) == {}
    assert versions(A, again).changes_to(versions(A, spaced)) == {}


def test_a_record_on_a_damaged_line_is_named_with_what_was_salvaged() -> None:
    assert [json.loads(versions(A, GLUED).line(name))["id"] for name in "ABC"] == ["A", "B", "C"]
    assert versions(A, B, DAMAGED).changes_to(versions(A, B, C)) == {}


def test_a_chain_is_the_same_records_in_the_same_order() -> None:
    assert versions(A, B).same_chain(versions(A, B, line("B", "A", "new")))
    assert not versions(A, B).same_chain(versions(A, B, C))
    assert not versions(A, B).same_chain(versions(line("B", None), line("A", "B")))


def test_a_mark_names_the_operation_and_keeps_what_else_the_program_wrote() -> None:
    marked = b'{"id": "A", "compactctl": {"note": 1, "appended": "ba9876543210"}}'
    for record, others in ((A, {}), (marked, {"note": 1})):
        once = mark_appended(record, "0123456789ab")
        assert once.endswith(b"}\n")
        assert read_metadata(json.loads(once)) == {**others, "appended": "0123456789ab"}
