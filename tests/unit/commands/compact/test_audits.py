"""Which audits of a summary let it through."""

import pytest

from compactctl.audit.findings import Audit, Loss, LossKind, UnsupportedClaim
from compactctl.commands.compact.audits import WrittenSummary
from compactctl.history.references import SourceRef


def audit_of(known: dict[LossKind, int], lost: dict[LossKind, int], *invented: str) -> Audit:
    losses = (kind for kind, count in lost.items() for _ in range(count))
    return Audit(
        known_counts=known,
        lost=tuple(Loss(kind=kind, text="it", ref=SourceRef(1)) for kind in losses),
        invented=tuple(UnsupportedClaim(kind="path", text=text, line=1) for text in invented),
    )


@pytest.mark.parametrize(
    ("audit", "unrelated", "failed"),
    [
        (audit_of({}, {}), "", False),
        (audit_of({"file": 6, "identifier": 4}, {"file": 6, "identifier": 3}), "", False),
        (audit_of({"file": 6, "identifier": 4}, {"file": 6, "identifier": 4}), "", True),
        (audit_of({"rule": 2, "file": 1}, {"rule": 1}), "", True),
        (audit_of({"file": 1}, {}, "a/b.py"), "", True),
        (audit_of({}, {}), "'no' names nothing from the messages it replaces", True),
    ],
)
def test_what_lost_a_rule_or_everything_or_names_nothing_fails(
    audit: Audit,
    unrelated: str,
    failed: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    found = WrittenSummary(group="g", writer="command", text="t", audit=audit, unrelated=unrelated)
    assert found.failed is failed
    assert unrelated in found.findings
