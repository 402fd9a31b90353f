"""What every stage is made of."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from compactctl.history.view import View
from compactctl.model.edit import Proposal, Skipped
from compactctl.model.message import GroupId
from compactctl.tokens.meter import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage's name, the type of its options and the function that proposes its edits.

    A stage that ``repairs`` runs whatever the target is, and may make the context larger.
    """

    name: str
    options: Callable[..., Any]
    propose: Callable[[View, Meter, Any], Proposal | Skipped]
    repairs: bool = False


def within_target(stage: str, target: int) -> Skipped:
    """Refuse because the view is small enough as it is."""
    return Skipped(stage=stage, reason=f"already within the target of {target:,} tokens")


def without_target(stage: str) -> Skipped:
    """Refuse because the stage works towards a size, and none is given."""
    reason = "how much has to go is not known"
    return Skipped(stage=stage, reason=reason, detail="give a size to reach with --target")


def group_id(stage: str, options: Any, ids: Iterable[str]) -> GroupId:  # noqa: ANN401
    """Derive the id of a group of edits from the stage, its options and the messages it edits."""
    content = "\n".join((stage, repr(sorted(asdict(options).items())), *ids))
    return GroupId(hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12])
