"""Base64 text as the bytes that it stands for."""

import base64
import binascii


def base64_bytes(data: str) -> int:
    """Return how many bytes base64 text stands for, without decoding it."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def base64_data(data: str, most: int | None = None) -> bytes:
    """Return what base64 text stands for, of its first ``most`` characters; b"" for other text."""
    if most is not None and len(data) > most:
        data = data[: most // 4 * 4]
    text = data.rstrip("=")
    try:
        # Google's SDK writes the alphabet that is safe in URLs; this reads both.
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""
