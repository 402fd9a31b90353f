"""What is asked of a page."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChoice:
    """A page to be written to the file ``path``.

    ``redact`` leaves out all texts and names that are the transcript's own, ``mask`` what looks
    like a secret in them; ``force`` overwrites what compactctl did not write.
    """

    path: str
    redact: bool = False
    mask: bool = True
    force: bool = False
