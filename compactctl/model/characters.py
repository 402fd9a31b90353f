"""Characters of which a text has only one half, which no API accepts."""


def has_halves(text: str) -> bool:
    """Whether a text has half of a character, a lone surrogate, which is not valid Unicode."""
    if text.isascii():
        return False
    try:
        # Far faster than a search for them.
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def without_halves(text: str) -> str:
    r"""Replace lone surrogates by U+FFFD, and join what is a pair of them.

    "\ud83d" alone becomes U+FFFD.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
