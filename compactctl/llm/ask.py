"""What all writers of summaries have in common: a prompt goes in, an answer comes out."""

from collections.abc import Callable

from compactctl.summaries.by_model.answers import Answer

Ask = Callable[[str, int], Answer]
"""Takes a prompt and the tokens the answer may have; raises NoAnswerError when there is none."""

_LONGEST_REASON = 200


class NoAnswerError(Exception):
    """A writer gave no answer; the text says why, on one line. Never reaches the user as it is."""

    def __init__(self, reason: str) -> None:
        super().__init__(" ".join(reason.split())[:_LONGEST_REASON])
