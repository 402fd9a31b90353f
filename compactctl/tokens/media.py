"""Token estimates for images and documents; base64 is never counted as text."""

from compactctl.model.message import MediaPart

# Flat estimate for an image whose size is unknown; observed mean in Claude Code sessions was
# about 1,175 and NeuroLink documents 1,024.
UNKNOWN_IMAGE_TOKENS = 1_024
# Anthropic documents width x height / 750 with the longest edge scaled down to 1,568 pixels.
PIXELS_PER_TOKEN = 750
LONGEST_EDGE = 1_568
# Larger images are scaled down to about this many tokens (Anthropic, vision documentation).
LARGEST_IMAGE_TOKENS = 1_600
# agent-code estimates a base64 document at 0.75 x length / 4, which is decoded bytes / 4.
DOCUMENT_BYTES_PER_TOKEN = 4


def media_tokens(part: MediaPart, image_tokens: int | None = None) -> int:
    """Estimate the tokens of a medium from its pixel size, else from its kind and byte size.

    ``image_tokens`` is what every image counts as instead, where that is given.
    """
    if part.media_type.lower().startswith("image/"):
        return _image_tokens(part.width, part.height) if image_tokens is None else image_tokens
    return part.n_bytes // DOCUMENT_BYTES_PER_TOKEN


def is_unsized(part: MediaPart) -> bool:
    """Whether a medium counts no tokens because its size is unknown: a link or id is stored."""
    return not (part.n_bytes or part.media_type.lower().startswith("image/"))


def _image_tokens(width: int, height: int) -> int:
    if width <= 0 or height <= 0:
        return UNKNOWN_IMAGE_TOKENS
    scale = min(1.0, LONGEST_EDGE / max(width, height))
    tokens = int(width * scale * height * scale) // PIXELS_PER_TOKEN
    return min(max(1, tokens), LARGEST_IMAGE_TOKENS)
