"""What all writers of summaries have in common: a prompt goes in, an answer comes out."""

from collections.abc import Callable

from compactctl.summaries.by_model.answers import ModelAnswer
from compactctl.summaries.by_model.secrets import mask_secrets

AskModel = Callable[[str, int], ModelAnswer]
"""Takes a prompt and the tokens the answer may have; raises NoAnswerError when there is none."""

_MAX_REASON = 200


class NoAnswerError(Exception):
    """A writer gave no answer; the text says why, on one line. Never reaches the user as it is.

    A server or program may quote the key that it was given: secrets in the text are masked.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(mask_secrets(" ".join(reason.split()))[:_MAX_REASON])
