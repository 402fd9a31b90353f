"""The interface of external summarizers: a prompt goes in, an answer comes out."""

from collections.abc import Callable

from compactctl.secrets.mask import mask_secrets
from compactctl.summaries.by_model.answers import ModelAnswer

AskModel = Callable[[str, int], ModelAnswer]
"""Takes a prompt and the maximum tokens of the answer; raises NoAnswerError if none comes."""

_MAX_REASON = 200


class NoAnswerError(Exception):
    """An external summarizer failed; the text says why, on one line.

    A server or program may quote its key in an error, so secrets in the text are masked. Callers
    turn this into a fallback or an error of their own: it never reaches the user.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(mask_secrets(" ".join(reason.split()))[:_MAX_REASON])
