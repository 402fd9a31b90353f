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


def group_id(stage: str, options: Any, ids: Iterable[str]) -> GroupId:  # noqa: ANN401
    """Derive the id of a group of edits from the stage, its options and the messages it edits."""
    content = "\n".join((stage, repr(sorted(asdict(options).items())), *ids))
    return GroupId(hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12])
